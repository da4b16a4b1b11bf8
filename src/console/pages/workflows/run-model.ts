/**
 * A run in layers of steps for display, the first on top, with the start, end and failed attempts of each step.
 *
 * The log has the time of a step's result. Its start is derived from the previous step, or for a parallel step from
 * its events.
 */
import type { NextStep, Run, RunEvent, Step } from './records.js';
import { untilOf } from './run-now.js';

export interface FailedAttempt {
  readonly atMs: number;
  readonly error: string;
  /** 0: no answer. */
  readonly status: number;
  readonly body: string;
}

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
  readonly attempts: readonly FailedAttempt[];
  readonly step: Step | undefined;
  readonly next: NextStep | undefined;
}

export interface Layer {
  readonly key: string;
  readonly isParallel: boolean;
  readonly nodes: readonly Node[];
}

const OVER: ReadonlySet<string> = new Set(['STEP_SUCCESS', 'STEP_FAILED', 'STEP_CANCELED']);

export function layersOf(run: Run, events: readonly RunEvent[]): readonly Layer[] {
  const byMessage = grouped(events, ({ messageId }) => messageId);
  const byStep = grouped(events, ({ stepInfo }) => stepInfo?.stepId);
  const endedMs = run.workflowRunCompletedAt;
  let beganMs = run.workflowRunCreatedAt;
  let before: readonly string[] = [];
  return run.steps.map((group, at) => {
    const known = { byMessage, byStep, beganMs, before, endedMs, isParallel: group.type === 'parallel' };
    const nodes =
      group.type === 'next'
        ? group.steps.map((next, place) => nextNode(next, `next-${place}`, known))
        : group.steps.map((step) => stepNode(step, known));
    beganMs = Math.max(beganMs, ...nodes.map(({ toMs }) => toMs ?? 0));
    before = group.steps.map(({ messageId }) => messageId);
    return { key: String(at), isParallel: group.type === 'parallel', nodes };
  });
}

interface Known {
  readonly byMessage: ReadonlyMap<unknown, readonly RunEvent[]>;
  readonly byStep: ReadonlyMap<unknown, readonly RunEvent[]>;
  /** When the previous steps finished. */
  readonly beganMs: number;
  /** The previous steps' messages, whose deliveries run the next steps. */
  readonly before: readonly string[];
  readonly endedMs: number | undefined;
  readonly isParallel: boolean;
}

function stepNode(step: Step, known: Known): Node {
  const { stepId, stepName, stepType, state } = step;
  return {
    key: stepId === undefined ? 'init' : String(stepId),
    name: stepName,
    kind: stepType,
    state,
    fromMs: beganOf(step, known),
    toMs: endOf(step, known),
    attempts: attemptsOf(step, known),
    step,
    next: undefined,
  };
}

function nextNode(next: NextStep, key: string, { beganMs, endedMs }: Known): Node {
  return {
    key,
    name: next.stepName ?? 'next step',
    kind: 'Next',
    state: next.state,
    fromMs: beganMs,
    toMs: OVER.has(next.state) ? (endedMs ?? next.errors?.at(-1)?.time) : undefined,
    attempts: (next.errors ?? []).map(({ time, error, status, body }) => ({ atMs: time, error, status, body })),
    step: undefined,
    next,
  };
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

function attemptsOf(step: Step, { byMessage, byStep, before, isParallel }: Known): FailedAttempt[] {
  const own = (byStep.get(step.stepId) ?? []).filter(
    ({ stepInfo, messageId }) => stepInfo?.callType !== 'step' || messageId !== step.messageId,
  );
  const ofBefore = isParallel || step.stepId === undefined ? [] : before.flatMap((id) => byMessage.get(id) ?? []);
  return [...new Set([...own, ...ofBefore])]
    .filter(({ state }) => state === 'ERROR')
    .sort((a, b) => a.time - b.time)
    .map(({ time, error = '', responseStatus = 0, responseBody = '' }) => ({
      atMs: time,
      error,
      status: responseStatus,
      body: responseBody,
    }));
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
