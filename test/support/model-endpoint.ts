/**
 * A model of a workflow endpoint. Functions are lists of steps and groups of steps, replayed from the start at each
 * delivery, as clients do. It also plays third parties, children and notifying clients. The caller decides its
 * answers, lost answers and crashes of owners.
 */
import { expect } from 'chai';
import type { RunEntry } from '../../src/domain/queue/runs/index.js';
import { NOW_MS, response } from './queue-spec.js';
import { answered, callItem, entryItem, invokeItem, planItem, type WorkflowSpec } from './workflow-spec.js';

export type ModelStep =
  | { readonly kind: 'run' | 'call' }
  | { readonly kind: 'sleep'; readonly seconds: number }
  | { readonly kind: 'wait'; readonly eventId: string; readonly seconds: number }
  /** Invokes another function. */
  | { readonly kind: 'invoke'; readonly url: string };

export type ModelFunction = readonly (ModelStep | readonly ModelStep[])[];

/** A choice from 0 to count - 1. */
export type Pick = (count: number) => number;

type Attempt = ReturnType<WorkflowSpec['attempt']>;

export interface ModelOptions {
  /** One of this number of answers is lost, or an owner crashes; 0 for no faults. */
  readonly faultOneIn: number;
  readonly maxRetries: number;
}

const MAX_TURNS = 20_000;
const HOUR_MS = 3_600_000;

export class ModelEndpoint {
  /** The delivered list of each run that ended its function. */
  readonly finished = new Map<string, readonly RunEntry[]>();
  /** The number of deliveries of each run. */
  readonly deliveries = new Map<string, number>();
  /** The number of requests to third parties, by run and step. */
  readonly asked = new Map<string, number>();
  #requests = 0;

  constructor(
    private readonly functions: Readonly<Record<string, ModelFunction>>,
    private readonly pick: Pick,
    private readonly options: ModelOptions = { faultOneIn: 0, maxRetries: 0 },
  ) {}

  /** Runs until no work is left. @returns the final spec, which is a new one after each crash */
  drive(begun: WorkflowSpec): WorkflowSpec {
    let flow = begun;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      flow.work();
      const open = [...flow.queue.engine.rebuildingEvents()].flatMap((event) =>
        event.type === 'MessageRestored' && event.status === 'active' ? [event.id] : [],
      );
      if (this.#hasFault()) flow = flow.rebuilt();
      else if (open.length > 0) this.#perform(flow, open[this.pick(open.length)] as string);
      else if (!this.#goOn(flow)) return flow;
    }
    throw new Error(`not at its end after ${MAX_TURNS} turns`);
  }

  /** Sends an event or advances the clock. @returns true if something was waiting */
  #goOn(flow: WorkflowSpec): boolean {
    const { engine, context } = flow.queue;
    const dueAtMs = engine.nextDueAtMs(context);
    if (dueAtMs === undefined) return false;
    if (this.pick(3) === 0) flow.notify('e', this.#newId());
    else flow.pass(Math.min(HOUR_MS, Math.max(1, dueAtMs - flow.queue.nowMs)));
    expect(flow.queue.nowMs - NOW_MS, 'time that a run takes').to.be.lessThan(10_000 * HOUR_MS);
    return true;
  }

  #perform(flow: WorkflowSpec, id: string): void {
    const attempt = flow.queue.engine.attemptOf(id as never) as Attempt;
    const part = attempt.run?.part;
    if (part === undefined) throw new Error(`${id} is not of a run`);
    const { runId } = part;
    if (part.role === 'step' || part.role === 'result') add(this.deliveries, runId);
    if (part.role === 'step') this.#replay(flow, attempt, runId, attempt.run?.entries ?? []);
    if (part.role === 'call') add(this.asked, `${runId} ${part.step.stepId}`);
    if (part.role === 'result') {
      const { stepId, concurrent } = part.step;
      flow.submit(entryItem(runId, stepId, { id: this.#newId(), type: 'Call', concurrent, url: attempt.envelope.url }));
    }
    const lost = this.#hasFault();
    const sent = Buffer.from('sent');
    if (part.role === 'call') flow.queue.outcome(id, response(lost ? 500 : 200, [], 'answer'), sent);
    else flow.queue.outcome(id, lost ? answered(500) : answered(200), sent);
  }

  /** Replays the function: the first step without a result is executed. */
  #replay(flow: WorkflowSpec, { envelope: { url } }: Attempt, runId: string, list: readonly RunEntry[]): void {
    const last = list.at(-1)?.step;
    let next = 1;
    for (const node of this.functions[url] ?? []) {
      const members = Array.isArray(node) ? (node as readonly ModelStep[]) : [node as ModelStep];
      const count = members.length;
      if (count === 1) {
        if (!list.some(({ step }) => step?.stepId === next)) {
          this.#execute(flow, members[0] as ModelStep, { runId, stepId: next, concurrent: 1, url });
          return;
        }
      } else {
        const ofGroup = list.filter(({ step }) => step !== undefined && (step.targetStep || step.stepId) >= next);
        if (ofGroup.length === 0) {
          this.#plan(flow, members, { runId, stepId: next, concurrent: count, url });
          return;
        }
        if (ofGroup.length < 2 * count) {
          if (!last?.targetStep) return;
          const member = members[last.targetStep - next] as ModelStep;
          this.#execute(flow, member, { runId, stepId: last.targetStep, concurrent: count, url });
          return;
        }
      }
      next += count;
    }
    flow.finish(runId, `result of ${runId}`);
    if (!this.finished.has(runId)) this.finished.set(runId, list);
  }

  #plan(flow: WorkflowSpec, members: readonly ModelStep[], { runId, stepId, concurrent, url }: Place): void {
    const plans = members.map((member, at) => {
      const delaySeconds = member.kind === 'sleep' ? member.seconds : 0;
      return planItem(runId, stepId + at, { id: this.#newId(), concurrent, delaySeconds, url, type: member.kind });
    });
    flow.submit(...plans);
  }

  #execute(flow: WorkflowSpec, step: ModelStep, { runId, stepId, concurrent, url }: Place): void {
    const id = this.#newId();
    switch (step.kind) {
      case 'run':
        flow.submit(entryItem(runId, stepId, { id, concurrent, url }));
        return;
      case 'sleep': {
        // In a group the delay was in the announcement.
        const delaySeconds = concurrent === 1 ? step.seconds : 0;
        flow.submit(entryItem(runId, stepId, { id, concurrent, url, delaySeconds, type: 'SleepFor' }));
        return;
      }
      case 'call':
        flow.submit(callItem(runId, stepId, { id, concurrent, maxRetries: 2, retryDelay: '100', callbackUrl: url }));
        return;
      case 'wait':
        flow.wait(runId, stepId, step.eventId, { seconds: step.seconds, resultId: id, url });
        return;
      default: {
        const { maxRetries } = this.options;
        const child = `${runId}.${stepId}_${id}`;
        const own = { id, concurrent, maxRetries, retryDelay: '100', url: step.url, parentUrl: url };
        flow.submit(invokeItem(runId, stepId, child, own));
      }
    }
  }

  #newId(): string {
    this.#requests += 1;
    return `q${this.#requests}`;
  }

  #hasFault(): boolean {
    const { faultOneIn } = this.options;
    return faultOneIn > 0 && this.pick(faultOneIn) === 0;
  }
}

interface Place {
  readonly runId: string;
  readonly stepId: number;
  readonly concurrent: number;
  readonly url: string;
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The number of requests to the endpoint for a run without faults. */
export function callsFor(steps: ModelFunction): number {
  const costOf = ({ kind }: ModelStep) => (kind === 'call' ? 2 : 1);
  const costs = steps.map((node) => {
    if (!Array.isArray(node)) return costOf(node as ModelStep);
    const members = node as readonly ModelStep[];
    return members.reduce((sum, member) => sum + costOf(member), members.length);
  });
  return costs.reduce((sum, cost) => sum + cost, 1);
}

/** The ids of all steps, 1 … n, and of the announced ones. */
export function stepsOf(steps: ModelFunction): { readonly all: number[]; readonly announced: number[] } {
  const all: number[] = [];
  const announced: number[] = [];
  for (const node of steps) {
    const members = Array.isArray(node) ? (node as readonly ModelStep[]) : [node as ModelStep];
    for (const _ of members) {
      all.push(all.length + 1);
      if (members.length > 1) announced.push(all.length);
    }
  }
  return { all, announced };
}
