/** Commands about breakers of destinations: their rules, their list, and changes by hand. */
import { close, disable } from '../delivery/breaker.js';
import type { QueueTurn } from '../messages/turn.js';
import type { BreakerView, QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import type { BreakerRules } from '../model/records.js';
import { breakerUrlOf } from '../model/state/breakers.js';

const DONE: QueueReply = { type: 'Done' };
const MONTH_SECONDS = 30 * 86_400;
/** The bounds of each number of the rules. */
export const BREAKER_BOUNDS = {
  failures: [1, 1000],
  seconds: [0, 86_400],
  probeSeconds: [1, 3600],
  disableAfterSeconds: [60, MONTH_SECONDS],
} as const satisfies Partial<Record<keyof BreakerRules, readonly [number, number]>>;
/** For members that a caller leaves out: ten failures in a row over a minute; disabled after five days. */
export const USUAL_BREAKER_RULES: BreakerRules = {
  failures: 10,
  seconds: 60,
  probeSeconds: 60,
  disableAfterSeconds: 5 * 86_400,
  messages: 'wait',
};
const LOOKED_AT_ONCE = 1000;

export function setBreakerRules({ rules }: QueueCommandOf<'SetBreakerRules'>, turn: QueueTurn): QueueReply {
  const problem = rules === undefined ? undefined : breakerRulesProblem(rules);
  if (problem !== undefined) return rejection('INVALID', problem);
  const { rules: before } = turn.state.breakers;
  const isSame = JSON.stringify(before) === JSON.stringify(rules);
  if (!isSame) turn.evolve({ type: 'BreakerRulesSet', rules, atMs: turn.context.nowMs });
  return DONE;
}

function breakerRulesProblem(rules: BreakerRules): string | undefined {
  for (const [name, [least, most]] of Object.entries(BREAKER_BOUNDS)) {
    const value = rules[name as keyof typeof BREAKER_BOUNDS];
    if (Number.isSafeInteger(value) && value >= least && value <= most) continue;
    return `${name} must be a whole number from ${least} to ${most}, not ${value}`;
  }
  return undefined;
}

/** The latest change first. */
export function* listBreakers(
  { onlyStopped }: QueueCommandOf<'ListBreakers'>,
  { state, flows }: QueueTurn,
): Generator<void, QueueReply> {
  const views: BreakerView[] = [];
  let looked = 0;
  for (const breaker of state.breakers.all()) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    if (onlyStopped && breaker.state === 'closed') continue;
    views.push({ ...breaker, waiting: flows.stoppedAt(breaker.url) });
  }
  return { type: 'Breakers', rules: state.breakers.rules, breakers: views.reverse() };
}

export function setBreaker({ url: given, isDisabled }: QueueCommandOf<'SetBreaker'>, turn: QueueTurn): QueueReply {
  const { breakers } = turn.state;
  const url = breakerUrlOf(given);
  const before = breakers.get(url);
  if (breakers.rules === undefined) return rejection('INVALID', 'breakers are off: set their rules first');
  if (!isDisabled && before === undefined) return rejection('NOT_FOUND', `destination ${url} has no failures`);
  if (!isDisabled) close(url, turn);
  else if (before?.state !== 'disabled') {
    if (before === undefined && breakers.isFull && breakers.oldestClosed() === undefined) {
      return rejection('TOO_MANY', `at most ${breakers.size} destinations may be stopped`);
    }
    disable(url, turn);
  }
  return DONE;
}
