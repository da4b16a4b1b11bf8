/**
 * A run in layers of steps for display, the first on top, with the start, end, spans and attempts of each step.
 *
 * The log has the time of a step's result. Its start is derived from the previous step, or for a parallel step from its
 * events. Messages carry out a step: the delivery of the previous step's message runs it, and a step may
 * send an announcement, a call and its answer.
 */
import type { NextStep, Run, RunEvent, Step } from './records.js';
import { attemptsIn, type Life, lifeOf, painted, type Span, type SpanKind, type StepAttempt } from './run-life.js';
import { untilOf } from './run-now.js';

export interface Node {
  /** Its word in the address. */
  readonly key: string;
  readonly name: string;
  /** The client's name; `Next` is a delivery whose step is not known yet. */
  readonly kind: string;
  readonly state: Step['state'];
  readonly fromMs: number;
  /** Undefined: not finished. */
  readonly toMs: number | undefined;
  /** Until its end, or now. */
  readonly spans: readonly Span[];
  readonly attempts: readonly StepAttempt[];
  readonly step: Step | undefined;
  readonly next: NextStep | undefined;
}

export interface Layer {
  readonly key: string;
  readonly isParallel: boolean;
  readonly nodes: readonly Node[];
}

const OVER: ReadonlySet<string> = new Set(['STEP_SUCCESS', 'STEP_FAILED', 'STEP_CANCELED']);
const IDLE_KINDS = /^(Sleep|Wait|Invoke)/;

export function layersOf(run: Run, events: readonly RunEvent[], nowMs: number): readonly Layer[] {
  const byMessage = grouped(events, ({ messageId }) => messageId);
  const byStep = grouped(events, ({ stepInfo }) => stepInfo?.stepId);
  const lives = new Map<string, Life>();
  const lifeOfMessage = (id: string): Life => {
    const life = lives.get(id) ?? lifeOf(byMessage.get(id) ?? [], nowMs);
    lives.set(id, life);
    return life;
  };
  const endedMs = run.workflowRunCompletedAt;
  let beganMs = run.workflowRunCreatedAt;
  let before: readonly string[] = [];
  return run.steps.map((group, at) => {
    const isParallel = group.type === 'parallel';
    const known = { byMessage, byStep, lifeOfMessage, beganMs, before, endedMs, nowMs, isParallel };
    const nodes =
      group.type === 'next'
        ? group.steps.map((next, place) => nextNode(next, `next-${place}`, known))
        : group.steps.map((step) => stepNode(step, known));
    beganMs = Math.max(beganMs, ...nodes.map(({ toMs }) => toMs ?? 0));
    before = group.steps.map(({ messageId }) => messageId);
    return { key: String(at), isParallel, nodes };
  });
}

interface Known {
  readonly byMessage: ReadonlyMap<unknown, readonly RunEvent[]>;
  readonly byStep: ReadonlyMap<unknown, readonly RunEvent[]>;
  lifeOfMessage(id: string): Life;
  /** When the previous steps finished. */
  readonly beganMs: number;
  /** The previous steps' messages, whose deliveries run the next steps. */
  readonly before: readonly string[];
  readonly endedMs: number | undefined;
  readonly nowMs: number;
  readonly isParallel: boolean;
}

function stepNode(step: Step, known: Known): Node {
  const { stepId, stepName, stepType, state } = step;
  const fromMs = beganOf(step, known);
  const toMs = endOf(step, known);
  const untilMs = toMs ?? known.nowMs;
  const carriers = stepId === undefined ? [] : carriersOf(step, untilMs, known);
  return {
    key: stepId === undefined ? 'init' : String(stepId),
    name: stepName,
    kind: stepType,
    state,
    fromMs,
    toMs,
    ...lived(carriers, { fromMs, untilMs, kind: stepType, errors: step.errors }, known),
    step,
    next: undefined,
  };
}

function nextNode(next: NextStep, key: string, known: Known): Node {
  const { beganMs: fromMs, endedMs, nowMs } = known;
  const toMs = OVER.has(next.state) ? (endedMs ?? next.errors?.at(-1)?.time) : undefined;
  return {
    key,
    name: next.stepName ?? 'next step',
    kind: 'Next',
    state: next.state,
    fromMs,
    toMs,
    ...lived([next.messageId], { fromMs, untilMs: toMs ?? nowMs, kind: 'Next', errors: next.errors }, known),
    step: undefined,
    next,
  };
}

interface Lived {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly kind: string;
  /** Shown if the events are not known. */
  readonly errors: Step['errors'];
}

function lived(
  carriers: readonly string[],
  { fromMs, untilMs, kind, errors = [] }: Lived,
  { byMessage, lifeOfMessage }: Known,
): Pick<Node, 'spans' | 'attempts'> {
  const lives = carriers.map(lifeOfMessage);
  const isKnown = carriers.some((id) => byMessage.has(id));
  const gap: SpanKind = IDLE_KINDS.test(kind) ? 'idle' : isKnown ? 'queued' : 'executing';
  const period = { fromMs, toMs: untilMs };
  const attempts = attemptsIn(
    lives.flatMap((life) => life.attempts),
    period,
  );
  const spans = painted(
    lives.flatMap((life) => life.spans),
    period,
    gap,
  );
  return { spans, attempts: attempts.length > 0 ? attempts : errors.map(failedAttempt) };
}

function failedAttempt({ time, error, status, body }: NonNullable<Step['errors']>[number]): StepAttempt {
  return { fromMs: time, toMs: time, outcome: 'failed', error, status, body };
}

function carriersOf(step: Step, untilMs: number, { byStep, before, isParallel, lifeOfMessage }: Known): string[] {
  // The message of a result runs the next steps, except that of a sleep, which waits for the step's end first.
  const isResult = step.state === 'STEP_SUCCESS' && !step.stepType.startsWith('Sleep');
  const own = (byStep.get(step.stepId) ?? []).flatMap(({ messageId }) => messageId ?? []);
  const ofWork = [...new Set(own)].filter((id) => !isResult || id !== step.messageId);
  if (isParallel) return ofWork;
  // Of several previous messages, the one that was being delivered at the end of the step.
  const delivering = before.find((id) =>
    lifeOfMessage(id).attempts.some(
      ({ fromMs, toMs = Number.POSITIVE_INFINITY }) => fromMs <= untilMs && toMs >= untilMs,
    ),
  );
  return [...(delivering === undefined ? before : [delivering]), ...ofWork];
}

/** A parallel step has a separate message with its start. */
function beganOf({ stepId }: Step, { byStep, beganMs, isParallel }: Known): number {
  const first = isParallel && stepId !== undefined ? byStep.get(stepId)?.[0] : undefined;
  return first?.time ?? beganMs;
}

function endOf(step: Step, { byMessage, endedMs }: Known): number | undefined {
  if (!OVER.has(step.state)) return undefined;
  if (step.state !== 'STEP_SUCCESS') return endedMs ?? step.createdAt;
  if (!step.stepType.startsWith('Sleep')) return step.createdAt;
  const woken = byMessage.get(step.messageId)?.find(({ state }) => state === 'ACTIVE');
  return woken?.time ?? untilOf(step) ?? step.createdAt;
}

function grouped<Key>(events: readonly RunEvent[], keyOf: (event: RunEvent) => Key | undefined) {
  const groups = new Map<unknown, RunEvent[]>();
  for (const event of events) {
    const key = keyOf(event);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
  }
  return groups;
}
