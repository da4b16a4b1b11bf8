/**
 * Compares the effects of runs with the expected effects of their programs.
 *
 *  WCJ1 a run ends in the state and with the result that its program has; the failure function of a failed run is
 *       called
 *  WCJ2 each step gets the results of the steps before it and runs after them; no step runs that the program does not
 *       reach
 *  WCJ3 the list of a run's entries grows only at its end and has each step once; the last entry of a delivery is the
 *       delivered step
 *  WCJ4 an acknowledged result is the one that is replayed, unless an earlier result was stored
 *  WCJ5 a delivery is repeated only if its answer was no success, was lost, or a fault may have hidden it
 *  WCJ6 a wait has one outcome; if a notification races with the timeout, the outcome is the one that the notifying
 *       client got
 *  WCJ7 a program has one run, and calls a third party as often as the program says
 *  WCJ8 without faults, each function runs and each request is sent exactly as often as the program says
 */
import type { RaceOutcome } from './workflow-chaos-agents.js';
import type { EndpointPost } from './workflow-chaos-endpoint.js';
import type { Fault } from './workflow-chaos-stand.js';
import type { Execution, WorkflowLedger } from './workflow-ledger.js';
import type { Effect, ExpectedRun } from './workflow-model.js';

export interface WorkflowHistory {
  readonly isFaulty: boolean;
  readonly ledger: WorkflowLedger;
  /** Programs with an unknown outcome of their start. */
  readonly unknown: ReadonlySet<string>;
  readonly posts: readonly EndpointPost[];
  readonly faults: readonly Fault[];
  readonly calls: ReadonlyMap<string, readonly number[]>;
  readonly races: ReadonlyMap<string, RaceOutcome>;
}

/** The number of reported violations, enough to show a pattern. */
const MAX_VIOLATIONS = 20;
/** The time between an answer and its journal entry. */
const RECORDING_MS = 1000;

/** @returns one line for each violation */
export function judgeRuns(expected: readonly ExpectedRun[], history: WorkflowHistory): string[] {
  const judge = new Judge(history);
  for (const run of expected) judge.run(run, history.unknown.has(run.program.id));
  judge.everything();
  return judge.violations.slice(0, MAX_VIOLATIONS);
}

class Judge {
  readonly violations: string[] = [];
  readonly #posts: ReadonlyMap<string, EndpointPost[]>;
  readonly #executions: ReadonlyMap<string, Execution[]>;
  readonly #judged = new Set<string>();

  constructor(private readonly history: WorkflowHistory) {
    this.#posts = grouped(history.posts, ({ runId }) => runId);
    this.#executions = grouped(history.ledger.executions, ({ program }) => program);
  }

  run(expected: ExpectedRun, isOptional: boolean): void {
    const { id } = expected.program;
    const { ledger } = this.history;
    this.#judged.add(id);
    const runIds = [...(ledger.runIds.get(id) ?? [])];
    const isThere = runIds.length > 0;
    for (const child of expected.children) this.run(child.run, isOptional || child.isOptional || !isThere);
    if (!isThere) {
      if (!isOptional) this.#violated(id, 'never ran');
      return;
    }
    if (runIds.length > 1) this.#violated(id, `has the runs ${runIds}`);
    this.#end(expected);
    this.#effects(expected);
    for (const runId of runIds) this.#deliveries(expected, this.#posts.get(runId) ?? []);
    for (const [key, times] of expected.calls) this.#calls(key, times);
  }

  everything(): void {
    const { ledger, races } = this.history;
    this.violations.push(...ledger.problems);
    for (const id of ledger.runIds.keys()) if (!this.#judged.has(id)) this.#violated(id, 'is no program');
    for (const [event, outs] of ledger.waits) if (outs.size > 1) this.#violated(event, `came to ${[...outs]}`);
    for (const [event, told] of races) {
      const out = [...(ledger.waits.get(event) ?? [])][0];
      // A run may not have received the outcome if a parallel step failed.
      if (out === undefined || told === 'unknown') continue;
      const isMet = (JSON.parse(out) as { timeout: boolean }).timeout === false;
      if (isMet !== (told === 'met')) this.#violated(event, `was ${told}, and the run has ${out}`);
    }
  }

  /** WCJ1. */
  #end({ program, state, result, failure }: ExpectedRun): void {
    const { ledger, isFaulty } = this.history;
    const { id } = program;
    const results = [...(ledger.results.get(id) ?? [])];
    const wanted = state === 'RUN_SUCCESS' ? [JSON.stringify(result)] : [];
    if (JSON.stringify(results) !== JSON.stringify(wanted))
      this.#violated(id, `returned ${results} instead of ${wanted}`);
    const told = ledger.failures.filter(({ program: of }) => of === id);
    if (told.length === 0 && failure !== undefined) this.#violated(id, 'did not tell its failure function');
    if (told.length > 1 && !isFaulty) this.#violated(id, 'told its failure function twice');
    for (const { status, message } of told) {
      // For a step of a parallel group the client adds a prefix to the message.
      if (status === failure?.status && message.endsWith(failure.message)) continue;
      this.#violated(id, `told its failure function ${status} ${message} instead of ${failure?.message}`);
    }
  }

  /** WCJ2, WCJ4, WCJ8. */
  #effects({ program: { id }, stages }: ExpectedRun): void {
    const { isFaulty, ledger } = this.history;
    const byName = grouped(this.#executions.get(id) ?? [], ({ name }) => name);
    const known = new Set(stages.flat().map(({ name }) => name));
    for (const name of byName.keys())
      if (!known.has(name)) this.#violated(id, `executed ${name}, which is out of reach`);
    let done = 0;
    for (const stage of stages) {
      const before = done;
      for (const effect of stage) {
        const executions = byName.get(effect.name) ?? [];
        this.#times(id, effect, executions.length);
        const first = executions[0];
        if (first !== undefined && first.number < before) this.#violated(id, `executed ${effect.name} too early`);
        for (const { saw } of executions) if (saw !== effect.saw) this.#violated(id, `${effect.name} saw ${saw}`);
        const recorded = executions.filter(({ number }) => ledger.recorded.has(number));
        if (recorded.length > 1) this.#violated(id, `${effect.name} was replayed with different results`);
        this.#acknowledged(id, effect, executions, recorded[0]);
        const last = isFaulty ? recorded[0] : executions.at(-1);
        done = Math.max(done, effect.isOptional ? 0 : (last?.number ?? 0));
      }
    }
  }

  #times(id: string, { name, times, isOptional }: Effect, made: number): void {
    const { isFaulty } = this.history;
    const isTooFew = made < times && !isOptional;
    if (isTooFew || (made > times && !isFaulty))
      this.#violated(id, `executed ${name} ${made} times instead of ${times}`);
  }

  #acknowledged(
    id: string,
    { name, times }: Effect,
    executions: readonly Execution[],
    recorded: Execution | undefined,
  ) {
    if (recorded === undefined) return;
    const lost = executions.find(
      // Earlier executions threw an error.
      ({ post, times: at }) => at >= times && post?.done?.status === 200 && post.done.atMs < recorded.atMs,
    );
    if (lost !== undefined) {
      this.#violated(id, `${name}: execution ${lost.number} was acknowledged, and ${recorded.number} is replayed`);
    }
  }

  /** WCJ3, WCJ5, WCJ8. */
  #deliveries({ program: { id }, posts: { least, most } }: ExpectedRun, posts: readonly EndpointPost[]): void {
    const { isFaulty } = this.history;
    if (!isFaulty && (posts.length < least || posts.length > most)) {
      this.#violated(
        id,
        `had ${posts.length} requests instead of ${least} to ${most}: ${posts.map(toldOf).join('; ')}`,
      );
    }
    let longest: readonly string[] = [];
    for (const post of posts) {
      const entries = post.isFailure ? undefined : entriesOf(post);
      if (entries === undefined) continue;
      if (entries.at(-1)?.messageId !== post.messageId) this.#violated(id, `${post.messageId} brings another's entry`);
      const lines = entries.map(({ messageId, body }) => `${messageId} ${body}`);
      const [shorter, longer] = lines.length < longest.length ? [lines, longest] : [longest, lines];
      const at = shorter.findIndex((line, index) => line !== longer[index]);
      if (at !== -1) this.#violated(id, `entry ${at} was ${shorter[at]} and is ${longer[at]}`);
      longest = longer;
    }
    const steps = longest.slice(1).map((line) => stepOf(line.slice(line.indexOf(' ') + 1)));
    if (new Set(steps).size < steps.length) this.#violated(id, `has entries twice: ${steps}`);
    for (const [messageId, own] of grouped(posts, (post) => post.messageId)) this.#attempts(id, messageId, own);
  }

  #attempts(id: string, messageId: string, posts: readonly EndpointPost[]): void {
    for (const [at, next] of posts.entries()) {
      const last = posts[at - 1];
      if (last === undefined) continue;
      const { done, isAnswered, isCut, startedAtMs, retried } = last;
      const isHidden = this.history.faults.some(
        ({ fromMs, untilMs }) =>
          fromMs <= Math.max(next.startedAtMs, (done?.atMs ?? 0) + RECORDING_MS) && untilMs >= startedAtMs,
      );
      if (isHidden) continue;
      const isReplaced = isCut === true && next.retried === retried;
      if (next.retried <= retried && !isReplaced)
        this.#violated(id, `${messageId} was attempted again as ${next.retried}`);
      if (isAnswered && done !== undefined && done.status < 300) {
        this.#violated(id, `${messageId} was sent again after ${done.status} ${done.answer}`);
      }
    }
  }

  /** WCJ7. */
  #calls(key: string, times: number): void {
    const { calls, isFaulty } = this.history;
    const made = calls.get(key) ?? [];
    const wanted = Array.from({ length: times }, (_, at) => at);
    const seen = isFaulty ? [...new Set(made)].sort((a, b) => a - b) : made;
    if (seen.join() !== wanted.join()) this.#violated(key, `was called as ${made} instead of ${wanted}`);
  }

  #violated(what: string, how: string): void {
    this.violations.push(`${what} ${how}`);
  }
}

/** @returns undefined if the request has no list */
function entriesOf({
  body,
}: EndpointPost): readonly { readonly messageId: string; readonly body: string }[] | undefined {
  return body.startsWith('[') ? JSON.parse(body) : undefined;
}

function stepOf(body: string): string {
  const { stepId, targetStep = 0 } = JSON.parse(Buffer.from(body, 'base64').toString()) as Record<string, number>;
  return `${stepId}>${targetStep}`;
}

function toldOf({ messageId, retried, done }: EndpointPost): string {
  return `${messageId} ${retried} ${done?.status} ${done?.answer.slice(0, 120)}`;
}

function grouped<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}
