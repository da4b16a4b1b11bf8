/** The ledger of endpoints: each execution of a step function with its input and result. */
import type { WorkflowContext } from '@upstash/workflow';
import { currentPost, type EndpointPost } from './workflow-chaos-endpoint.js';

export interface Execution {
  /** The number of the execution in this ledger, from 1. */
  readonly number: number;
  readonly program: string;
  readonly runId: string;
  readonly name: string;
  readonly saw: string;
  /** The number of executions of this step so far, including this one. */
  readonly times: number;
  readonly atMs: number;
  /** The request that caused the execution. */
  readonly post: EndpointPost | undefined;
}

export interface FailureTold {
  readonly program: string;
  readonly runId: string;
  readonly status: number;
  readonly message: string;
}

export interface LedgerWatcher {
  /** Called when the function reaches a wait, also in a replay of it. */
  onWait(eventId: string, how: string, runId: string): void;
  onHook(url: string, calls: number): void;
}

export class WorkflowLedger {
  readonly executions: Execution[] = [];
  readonly failures: FailureTold[] = [];
  readonly problems: string[] = [];
  /** The run ids, by program. */
  readonly runIds = new Map<string, Set<string>>();
  /** The distinct results of each program's function, as JSON. */
  readonly results = new Map<string, Set<string>>();
  /** The distinct outcomes of each event's wait, as JSON. */
  readonly waits = new Map<string, Set<string>>();
  /** Programs that have ended in any way. */
  readonly over = new Set<string>();
  /** Waits that have ended, as `<run> <event>`. */
  readonly endedWaits = new Set<string>();
  /** The executions with a result that appeared in a replay. */
  readonly recorded = new Set<number>();
  readonly #times = new Map<string, number>();
  /** While it is true, permanent failures are repaired. */
  isMended = false;
  watcher: LedgerWatcher | undefined;

  executed(what: Pick<Execution, 'program' | 'runId' | 'name' | 'saw'>): Execution {
    const step = `${what.runId} ${what.name}`;
    const times = (this.#times.get(step) ?? 0) + 1;
    this.#times.set(step, times);
    const execution = { ...what, number: this.executions.length + 1, times, atMs: Date.now(), post: currentPost() };
    this.executions.push(execution);
    return execution;
  }

  replayed(execution: number): void {
    this.recorded.add(execution);
  }

  ran(program: string, runId: string): void {
    noted(this.runIds, program, runId);
  }

  /** Records that the function cancels its run. */
  cancelled(program: string): void {
    this.over.add(program);
  }

  returned(program: string, result: unknown): void {
    this.over.add(program);
    noted(this.results, program, JSON.stringify(result));
  }

  failed(told: FailureTold): void {
    this.over.add(told.program);
    this.failures.push(told);
  }

  reached(eventId: string, how: string, { workflowRunId }: Pick<WorkflowContext, 'workflowRunId'>): void {
    this.watcher?.onWait(eventId, how, workflowRunId);
  }

  waited(eventId: string, out: unknown, { workflowRunId }: Pick<WorkflowContext, 'workflowRunId'>): void {
    this.endedWaits.add(`${workflowRunId} ${eventId}`);
    noted(this.waits, eventId, JSON.stringify(out));
  }

  hooked(url: string, calls: number): void {
    this.watcher?.onHook(url, calls);
  }

  problem(line: string): void {
    this.problems.push(line);
  }
}

function noted(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}
