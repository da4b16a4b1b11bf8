/**
 * Decides the changes of breakers: by outcomes of attempts, by starts of probes, and by commands.
 *
 *  BRD1 a destination is stopped by consecutive failures over a time; a success closes its breaker at any time
 *  BRD2 an open breaker lets one attempt through after each wait; the wait doubles with each failure of such a probe
 *  BRD3 a destination that has failed for the time of the rules, or answers 410, is disabled: only a command starts it
 *       again
 *  BRD4 in the open state only the outcome of the probe counts as a failure: an attempt from before began in the known outage
 */
import { mailAddressIn } from '../../../kernel/index.js';
import { isFinalRefusal } from '../messages/retry-policy.js';
import type { QueueTurn } from '../messages/turn.js';
import type { AttemptOutcome } from '../model/commands.js';
import { LONGEST_PROBE_WAIT_MS } from '../model/limits.js';
import type { Message } from '../model/messages/message.js';
import type { Breaker, BreakerRules } from '../model/records.js';
import { breakerUrlOf } from '../model/state/breakers.js';
import { notifyOf } from './breaker-notices.js';

const GONE = 410;
const NO_PROBE = { nextProbeAtMs: 0, probes: 0, probe: undefined };

/** Called after the outcome of an attempt was recorded. A mail server is no destination, so mails have no breakers. */
export function noteOutcome(message: Message, outcome: AttemptOutcome, turn: QueueTurn): void {
  const { rules } = turn.state.breakers;
  if (rules === undefined || mailAddressIn(message.shared.envelope.url) !== undefined) return;
  const url = breakerUrlOf(message.shared.envelope.url);
  const known = turn.state.breakers.get(url);
  const status = outcome.kind === 'response' ? outcome.status : 0;
  const isAlive =
    (status >= 200 && status < 300) ||
    (outcome.kind === 'response' && isFinalRefusal(status, outcome.header, turn.words.nonRetryableNames));
  if (known?.state === 'disabled' || (isAlive && known === undefined)) return;
  if (isAlive) {
    close(url, turn, message);
    return;
  }
  const error = outcome.kind === 'response' ? `HTTP status ${status}` : outcome.error;
  const atMs = turn.context.nowMs;
  const before = known ?? closedBreaker(url, atMs);
  const failed: Breaker = { ...before, failures: before.failures + 1, status, error };
  if (status === GONE) change({ ...failed, ...disabled('gone', atMs) }, turn, message);
  else if (before.state === 'closed') change(afterFailure(failed, rules, atMs), turn, message);
  else if (before.probe === message.id) change(afterProbe(failed, rules, atMs), turn, message);
}

/** Whether an attempt at the stopped destination may start: it is then the probe. */
export function mayProbe({ state, nextProbeAtMs }: Breaker, nowMs: number): boolean {
  return state === 'open' && nowMs >= nextProbeAtMs;
}

/** The message is the probe: no other starts until its outcome, or until it should have one. */
export function noteProbe(breaker: Breaker, message: Message, turn: QueueTurn): void {
  const { nowMs, account } = turn.context;
  const most = account.limits.timeoutSeconds;
  const seconds = Math.min(most, message.shared.envelope.settings.timeoutSeconds ?? most);
  const nextProbeAtMs = nowMs + Math.max(seconds * 1000, LONGEST_PROBE_WAIT_MS);
  change({ ...breaker, probe: message.id, nextProbeAtMs }, turn);
}

/** @param message of the attempt that succeeded; undefined: by a command */
export function close(url: string, turn: QueueTurn, message?: Message): void {
  change({ ...closedBreaker(url, turn.context.nowMs), changedAtMs: turn.context.nowMs }, turn, message);
}

export function disable(url: string, turn: QueueTurn): void {
  const atMs = turn.context.nowMs;
  const before = turn.state.breakers.get(url) ?? closedBreaker(url, atMs);
  change({ ...before, ...disabled('request', atMs) }, turn);
}

function afterFailure(failed: Breaker, rules: BreakerRules, atMs: number): Breaker {
  const isOpen = failed.failures >= rules.failures && atMs - failed.failingSinceMs >= rules.seconds * 1000;
  if (!isOpen) return failed;
  return { ...failed, ...NO_PROBE, state: 'open', changedAtMs: atMs, nextProbeAtMs: atMs + rules.probeSeconds * 1000 };
}

function afterProbe(failed: Breaker, rules: BreakerRules, atMs: number): Breaker {
  if (atMs - failed.failingSinceMs >= rules.disableAfterSeconds * 1000) {
    return { ...failed, ...disabled('failures', atMs) };
  }
  const probes = failed.probes + 1;
  const waitMs = Math.min(rules.probeSeconds * 1000 * 2 ** probes, LONGEST_PROBE_WAIT_MS);
  return { ...failed, probes, probe: undefined, nextProbeAtMs: atMs + waitMs };
}

function disabled(reason: Breaker['reason'], changedAtMs: number) {
  return { ...NO_PROBE, state: 'disabled', reason, changedAtMs } as const;
}

function closedBreaker(url: string, atMs: number): Breaker {
  return {
    url,
    state: 'closed',
    reason: 'failures',
    failures: 0,
    failingSinceMs: atMs,
    changedAtMs: atMs,
    ...NO_PROBE,
    status: 0,
    error: '',
  };
}

/** A new breaker takes the place of the closed one with the oldest failure; without one, it is not kept. */
function change(breaker: Breaker, turn: QueueTurn, message?: Message): void {
  const { breakers } = turn.state;
  const atMs = turn.context.nowMs;
  if (breakers.isFull && breakers.get(breaker.url) === undefined) {
    const oldest = breakers.oldestClosed();
    if (oldest === undefined) return;
    turn.evolve({ type: 'BreakerChanged', breaker: closedBreaker(oldest.url, atMs), atMs });
  }
  notifyOf(breaker, message, turn);
  turn.evolve({ type: 'BreakerChanged', breaker, atMs });
}
