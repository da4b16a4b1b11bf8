/**
 * Computes a run's groups of steps with their states from its entries and open work. Pure; the caller adds the
 * contents of the steps.
 *
 *  RGR1 a plan entry announces a member of a parallel group; its result, call, wait or child is found by the step's
 *       id
 *  RGR2 `next` has deliveries to the endpoint without a known outcome: that of the newest entry, and each with a
 *       failed attempt
 *  RGR3 in a run that has ended no step is in progress: open steps are cancelled, except the delivery that failed
 */
import type { Envelope } from '../../domain/queue/index.js';
import type { RunState, StepMark } from '../../domain/queue/runs/index.js';
import type { MessageId } from '../../kernel/index.js';
import type { StepState } from '../../ports/index.js';
import { MESSAGE } from './schema.js';

/** A message of the run. */
export interface RunDelivery {
  readonly id: number;
  readonly messageId: MessageId;
  readonly role: number;
  readonly place: number;
  readonly step: StepMark | undefined;
  readonly envelope: Envelope;
  /** The row of its body (0: empty) and its length. */
  readonly body: number;
  readonly bodyBytes: number;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  /** One of `MESSAGE`. */
  readonly state: number;
  /** Also true if the message had no delay. */
  readonly isStarted: boolean;
  readonly nextMs: number | undefined;
  readonly hasFailed: boolean;
}

/** A step that waits for an event or a child run. */
export interface WaitingStep {
  readonly step: StepMark;
  readonly kind: number;
  readonly messageId: MessageId;
  readonly atMs: number;
  /** JSON. */
  readonly detail: string;
  /** The end of a child run, if it came after the end of the run. */
  readonly record: Uint8Array | undefined;
}

export interface RunContents {
  readonly state: RunState;
  /** In order; for each index the newest delivery. */
  readonly entries: readonly RunDelivery[];
  /** Keyed by step id. */
  readonly calls: ReadonlyMap<number, RunDelivery>;
  readonly results: ReadonlyMap<number, RunDelivery>;
  readonly waiting: ReadonlyMap<number, WaitingStep>;
  /** The message that failed the run. */
  readonly failedMessage: MessageId | undefined;
}

export interface StepShape {
  readonly mark: StepMark | undefined;
  readonly state: StepState;
  readonly callType: 'step' | 'toCallback' | 'fromCallback';
  readonly plan: RunDelivery | undefined;
  readonly entry: RunDelivery | undefined;
  readonly call: RunDelivery | undefined;
  readonly result: RunDelivery | undefined;
  readonly waiting: WaitingStep | undefined;
  /** The delivery that determines the state while there is no result. */
  readonly open: RunDelivery | undefined;
}

export interface NextShape {
  readonly messageId: MessageId;
  readonly state: StepState;
  /** Undefined: the message is unknown. */
  readonly delivery: RunDelivery | undefined;
}

export type GroupShape =
  | { readonly type: 'sequential' | 'parallel'; readonly steps: readonly StepShape[] }
  | { readonly type: 'next'; readonly deliveries: readonly NextShape[] };

interface KnownStep {
  mark: StepMark;
  plan?: RunDelivery;
  entry?: RunDelivery;
}

interface Group {
  readonly isParallel: boolean;
  readonly first: number;
  readonly size: number;
  readonly knownSteps: Map<number, KnownStep>;
}

export function groupsOf(contents: RunContents): readonly GroupShape[] {
  const { entries, calls, results, waiting } = contents;
  const [init, ...later] = entries;
  const groups: Group[] = [];
  const groupOfStep = new Map<number, Group>();
  const slotOf = (mark: StepMark, stepId: number): KnownStep => {
    let group = groupOfStep.get(stepId);
    if (group === undefined) {
      group = newGroup(mark, stepId);
      groups.push(group);
      for (let id = group.first; id < group.first + group.size; id += 1) groupOfStep.set(id, group);
    }
    const known = group.knownSteps.get(stepId);
    // The later entry has more details of the step than the announcement.
    const knownStep: KnownStep = { ...known, mark: { ...mark, stepId, targetStep: 0 } };
    group.knownSteps.set(stepId, knownStep);
    return knownStep;
  };
  for (const entry of later) {
    const mark = entry.step;
    if (mark === undefined) continue;
    if (mark.stepId === 0) slotOf(mark, mark.targetStep).plan = entry;
    else slotOf(mark, mark.stepId).entry = entry;
  }
  for (const { step } of [...calls.values(), ...results.values(), ...waiting.values()]) {
    const isDone = step !== undefined && groupOfStep.get(step.stepId)?.knownSteps.get(step.stepId)?.entry !== undefined;
    if (step !== undefined && step.stepId > 0 && !isDone) slotOf(step, step.stepId);
  }
  const shapes: GroupShape[] = init === undefined ? [] : [{ type: 'sequential', steps: [initStep(init)] }];
  for (const { isParallel, knownSteps } of groups) {
    const steps = [...knownSteps].sort(([a], [b]) => a - b).map(([, knownStep]) => stepOf(knownStep, contents));
    shapes.push({ type: isParallel ? 'parallel' : 'sequential', steps });
  }
  const deliveries = nextOf(contents, groups, groupOfStep);
  const { failedMessage: messageId } = contents;
  if (messageId !== undefined && !hasFailed(shapes, deliveries)) {
    // The failed message belongs to a step with a result, or to an unknown step.
    const delivery = [...entries, ...calls.values(), ...results.values()].find((one) => one.messageId === messageId);
    deliveries.push({ messageId, state: 'STEP_FAILED', delivery });
  }
  if (deliveries.length > 0) shapes.push({ type: 'next', deliveries });
  return shapes;
}

function hasFailed(groups: readonly GroupShape[], deliveries: readonly NextShape[]): boolean {
  const steps = groups.flatMap((group) => (group.type === 'next' ? [] : group.steps));
  return [...steps, ...deliveries].some(({ state }) => state === 'STEP_FAILED');
}

/** The group starts at the first announced member; the members tell its size. */
function newGroup({ concurrent }: StepMark, stepId: number): Group {
  const isParallel = concurrent > 1;
  return { isParallel, first: stepId, size: isParallel ? concurrent : 1, knownSteps: new Map() };
}

function initStep(entry: RunDelivery): StepShape {
  return { mark: undefined, state: 'STEP_SUCCESS', callType: 'step', ...NOTHING, entry };
}

const NOTHING = {
  plan: undefined,
  entry: undefined,
  call: undefined,
  result: undefined,
  waiting: undefined,
  open: undefined,
} as const;

function stepOf({ mark, plan, entry }: KnownStep, { state, calls, results, waiting: all }: RunContents): StepShape {
  const call = calls.get(mark.stepId);
  const result = results.get(mark.stepId);
  const waiting = all.get(mark.stepId);
  const parts = { mark, plan, entry, call, result, waiting };
  const isOver = state !== 'RUN_STARTED';
  if (entry !== undefined) {
    const open = isOver ? 'STEP_CANCELED' : 'STEP_PROGRESS';
    return { ...parts, callType: 'step', open: undefined, state: isAsleep(entry) ? open : 'STEP_SUCCESS' };
  }
  const callType = result !== undefined ? 'fromCallback' : call !== undefined ? 'toCallback' : 'step';
  const dead = [plan, call, result].find((one) => one?.state === MESSAGE.DEAD);
  if (dead !== undefined) return { ...parts, callType, open: dead, state: 'STEP_FAILED' };
  // A failed run still shows the results of its children.
  if (waiting?.record !== undefined && state === 'RUN_FAILED') {
    return { ...parts, callType, open: undefined, state: 'STEP_SUCCESS' };
  }
  const open = result ?? call ?? (waiting === undefined ? plan : undefined);
  if (isOver) return { ...parts, callType, open, state: 'STEP_CANCELED' };
  return { ...parts, callType, open, state: open?.state === MESSAGE.RETRY ? 'STEP_RETRY' : 'STEP_PROGRESS' };
}

/** A sleeping step that is not due yet; for other steps the next delivery has the delay. */
function isAsleep({ step, isStarted, state }: RunDelivery): boolean {
  if (isStarted || (step?.stepType !== 'SleepFor' && step?.stepType !== 'SleepUntil')) return false;
  return state === MESSAGE.PROGRESS || state === MESSAGE.CANCELED;
}

function nextOf(
  { state, entries }: RunContents,
  groups: readonly Group[],
  groupOfStep: ReadonlyMap<number, Group>,
): NextShape[] {
  if (state === 'RUN_SUCCESS') return [];
  const isOver = state !== 'RUN_STARTED';
  const last = entries.at(-1);
  // A step without an entry outside a parallel group was started by the newest delivery.
  const isAnswered = groups.some(
    ({ isParallel, knownSteps }) => !isParallel && [...knownSteps.values()].some(({ entry }) => entry === undefined),
  );
  const isPing = (entry: RunDelivery) => {
    const group = entry.step && groupOfStep.get(entry.step.stepId);
    if (group?.isParallel !== true) return false;
    return [...group.knownSteps.values()].filter((knownStep) => knownStep.entry !== undefined).length < group.size;
  };
  const deliveries: NextShape[] = [];
  for (const delivery of entries) {
    const { messageId } = delivery;
    if (delivery.state === MESSAGE.DELIVERED || delivery.step?.stepId === 0) continue;
    if (delivery.state === MESSAGE.DEAD) deliveries.push({ messageId, state: 'STEP_FAILED', delivery });
    else if (delivery.hasFailed) {
      deliveries.push({ messageId, state: isOver ? 'STEP_CANCELED' : 'STEP_RETRY', delivery });
    } else if (delivery === last && !isAnswered && !isPing(delivery) && !isAsleep(delivery)) {
      deliveries.push({ messageId, state: isOver ? 'STEP_CANCELED' : 'STEP_PROGRESS', delivery });
    }
  }
  return deliveries;
}
