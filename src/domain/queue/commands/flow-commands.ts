/**
 * Commands about flow-control keys. Pausing or pinning creates an unused key, so that it can be set up before its
 * first message. Resuming, unpinning and resetting need an existing key.
 */
import type { QueueTurn } from '../messages/turn.js';
import type { FlowView, QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { MAX_FLOW_PERIOD_SECONDS } from '../model/limits.js';
import type { FlowKey } from '../model/state/flow-key.js';

const DONE: QueueReply = { type: 'Done' };
/** The limit exists because paused and pinned keys are never forgotten. */
const MAX_HELD_FLOW_KEYS = 100_000;
/** Keys in one answer. */
const MAX_LISTED_FLOW_KEYS = 10_000;
const LOOKED_AT_ONCE = 1000;

export function getFlow({ key }: QueueCommandOf<'GetFlow'>, turn: QueueTurn): QueueReply {
  const flow = turn.state.flows.get(key);
  if (flow === undefined) return rejection('NOT_FOUND', `flow control key ${key} not found`);
  return { type: 'Flows', flows: [turn.flows.viewOf(flow, turn.context.nowMs)] };
}

/** Keys that contain the searched text, ignoring case. */
export function* listFlows({ search }: QueueCommandOf<'ListFlows'>, turn: QueueTurn): Generator<void, QueueReply> {
  const wanted = search?.toLowerCase() ?? '';
  const flows: FlowView[] = [];
  let looked = 0;
  for (const flow of turn.state.flows.all()) {
    if (flow.key.toLowerCase().includes(wanted)) flows.push(turn.flows.viewOf(flow, turn.context.nowMs));
    if (flows.length >= MAX_LISTED_FLOW_KEYS) break;
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
  }
  return { type: 'Flows', flows };
}

export function pauseFlow({ key, isPaused }: QueueCommandOf<'PauseFlow'>, turn: QueueTurn): QueueReply {
  const flow = turn.state.flows.get(key);
  if (flow === undefined && !isPaused) return missing(key);
  if (flow?.isPaused === isPaused) return DONE;
  const refusal = isPaused ? heldRefusal(flow, turn) : undefined;
  if (refusal !== undefined) return refusal;
  turn.evolve({ type: 'FlowPaused', key, isPaused, atMs: turn.context.nowMs });
  return DONE;
}

export function pinFlow(command: QueueCommandOf<'PinFlow'>, turn: QueueTurn): QueueReply {
  const { key, parallelism, rate, periodSeconds } = command;
  const problem = pinProblem(command);
  if (problem !== undefined) return rejection('INVALID', problem);
  const refusal = heldRefusal(turn.state.flows.get(key), turn);
  if (refusal !== undefined) return refusal;
  turn.evolve({ type: 'FlowPinned', key, parallelism, rate, periodSeconds, atMs: turn.context.nowMs });
  return DONE;
}

export function unpinFlow({ key, parallelism, rate }: QueueCommandOf<'UnpinFlow'>, turn: QueueTurn): QueueReply {
  const flow = turn.state.flows.get(key);
  if (flow === undefined) return missing(key);
  const changes = (parallelism && flow.isParallelismPinned) || (rate && flow.isRatePinned);
  if (changes) turn.evolve({ type: 'FlowUnpinned', key, parallelism, rate, atMs: turn.context.nowMs });
  return DONE;
}

export function resetFlow({ key, all }: QueueCommandOf<'ResetFlow'>, turn: QueueTurn): QueueReply {
  if (turn.state.flows.get(key) === undefined) return missing(key);
  turn.evolve({ type: 'FlowReset', key, all, atMs: turn.context.nowMs });
  return DONE;
}

function pinProblem({ parallelism, rate, periodSeconds }: QueueCommandOf<'PinFlow'>): string | undefined {
  if (parallelism === undefined && rate === undefined && periodSeconds === undefined) {
    return 'at least one of parallelism, rate and period is needed';
  }
  if (parallelism !== undefined && !isCount(parallelism)) return 'parallelism must be a positive integer';
  if (rate !== undefined && !isCount(rate)) return 'rate must be a positive integer';
  if (periodSeconds === undefined) return undefined;
  if (!isCount(periodSeconds)) return 'period must be a positive integer of seconds';
  return periodSeconds > MAX_FLOW_PERIOD_SECONDS ? `period is at most ${MAX_FLOW_PERIOD_SECONDS} seconds` : undefined;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

function heldRefusal(flow: FlowKey | undefined, { state }: QueueTurn): QueueReply | undefined {
  if (flow?.isHeld === true || state.flows.heldCount < MAX_HELD_FLOW_KEYS) return undefined;
  return rejection('TOO_MANY', `at most ${MAX_HELD_FLOW_KEYS} flow control keys may be paused or pinned`);
}

function missing(key: string): QueueReply {
  return rejection('INVALID', `flow control key ${key} not found`);
}

export function getGlobalParallelism(
  _: QueueCommandOf<'GetGlobalParallelism'>,
  { state, context }: QueueTurn,
): QueueReply {
  const { maxGlobalParallelism: max } = context.account.limits;
  return { type: 'GlobalParallelism', max, active: state.messages.active.size };
}
