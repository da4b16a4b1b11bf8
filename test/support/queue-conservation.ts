/**
 * Compares the calls at destinations with the answers to the producer.
 *
 *  QCO1 an accepted message was delivered, or is pending, in the DLQ or cancelled; a refused one has no call
 *  QCO2 every call belongs to a publish; all calls of a publish have one message id
 *  QCO3 retries are counted up from 0 to their maximum; an attempt is repeated only after a fault, and at most as
 *       often as restarts of an attempt are allowed
 *  QCO4 a delivered message is not sent again, unless a fault may have hidden the answer
 *  QCO5 no queue or flow-control key has more open calls than its parallelism; calls of a dead or frozen process do
 *       not count
 *  QCO6 no key starts more calls than its rate allows, for any position of the windows
 *  QCO7 a queue with a parallelism of one delivers in the order of acceptance, and a message's callbacks before the
 *       next message
 *  QCO8 every call has a valid signature of its URL and body
 *  QCO9 the outcome of a message with callbacks is sent, once for each attempt
 */
import { MAX_ATTEMPT_RESTARTS } from '../../src/domain/queue/index.js';
import { byKey, inOrder, isTouched } from './queue-conservation-calls.js';
import {
  type CallRecord,
  type ConservationHistory,
  type FaultRecord,
  isDelivery,
} from './queue-conservation-history.js';
import { judgeOrder, judgeParallelism, judgeRates } from './queue-conservation-limits.js';

/** The number of reported violations, enough to show a pattern. */
const MAX_VIOLATIONS = 20;
/** The time between an answer and its journal entry. */
const RECORDING_MS = 1000;

/** @returns one line for each violation */
export function judgeConservation(history: ConservationHistory): string[] {
  const violations = [
    ...judgeEnds(history),
    ...judgeOrigins(history),
    ...judgeAttempts(history),
    ...judgeParallelism(history),
    ...judgeRates(history),
    ...judgeOrder(history),
    ...judgeCallbacks(history),
  ];
  for (const { id, retried, isGenuine } of history.calls) {
    if (!isGenuine) violations.push(`${id}: attempt ${retried} is not signed for what it brought`);
  }
  return violations.slice(0, MAX_VIOLATIONS);
}

/** QCO1. */
function judgeEnds({ publishes, calls, faults, dlq, pending }: ConservationHistory): string[] {
  const violations: string[] = [];
  const callsByNumber = byKey(calls, ({ number }) => number);
  const dead = new Set(dlq.map(({ messageId }) => messageId));
  const waiting = new Set(pending);
  for (const { number, is, id, why, isFar, cancel } of publishes) {
    const own = callsByNumber.get(number) ?? [];
    const name = `publish ${number} (${id ?? is})`;
    if (is === 'refused') {
      if (own.length > 0) violations.push(`${name} was refused (${why}) and is delivered all the same`);
      continue;
    }
    if (isFar && own.length > 0) violations.push(`${name} was sent long before it is due`);
    if (id === undefined) continue;
    const delivery = own.find(isDelivery);
    const isDead = dead.has(id);
    const mayBeCancelled = cancel === 'acked' || cancel === 'unknown';
    if (delivery === undefined && !isDead && !waiting.has(id) && !mayBeCancelled) {
      violations.push(`${name} was accepted and is lost: ${own.length} calls`);
    }
    if (isFar && !waiting.has(id) && !mayBeCancelled) violations.push(`${name} is not pending, though not due yet`);
    if (isDead && waiting.has(id)) violations.push(`${name} is pending and in the DLQ`);
    if (isDead && cancel === 'acked') violations.push(`${name} was cancelled and is in the DLQ`);
    if (isDead && delivery !== undefined && !isHidden(delivery, faults)) {
      violations.push(`${name} was delivered and is in the DLQ`);
    }
  }
  return violations;
}

/** QCO2. */
function judgeOrigins({ publishes, calls }: ConservationHistory): string[] {
  const violations: string[] = [];
  const idByNumber = new Map<number, string | undefined>(publishes.map(({ number, id }) => [number, id]));
  for (const { id, number, carries } of calls) {
    if (carries !== undefined) continue;
    if (number === undefined || !idByNumber.has(number)) {
      violations.push(`${id} was delivered and nobody published it`);
      continue;
    }
    // If the answer to a publish was lost, its message id is taken from its first call.
    const known = idByNumber.get(number);
    if (known === undefined) idByNumber.set(number, id);
    else if (known !== id) violations.push(`publish ${number} is delivered as ${known} and as ${id}`);
  }
  return [...new Set(violations)];
}

/** QCO3, QCO4. */
function judgeAttempts({ publishes, calls, faults }: ConservationHistory): string[] {
  const violations: string[] = [];
  const retriesByNumber = new Map(publishes.map(({ number, maxRetries }) => [number, maxRetries]));
  for (const [id, own] of byKey(calls, (call) => call.id)) {
    const made = new Map<number, number>();
    let last: CallRecord | undefined;
    let delivery: CallRecord | undefined;
    for (const call of inOrder(own)) {
      const { retried, number } = call;
      const maxRetries = number === undefined ? undefined : retriesByNumber.get(number);
      if (maxRetries !== undefined && retried > maxRetries) violations.push(`${id}: retry ${retried} of ${maxRetries}`);
      const before = made.get(retried) ?? 0;
      made.set(retried, before + 1);
      if (before > MAX_ATTEMPT_RESTARTS) violations.push(`${id}: attempt ${retried} was made ${before + 1} times`);
      if (before > 0 && !isExcused(last as CallRecord, call, faults)) {
        violations.push(`${id}: attempt ${retried} was made again without a fault`);
      }
      // An attempt that reached no destination is not recorded, so numbers may be missing, but they never decrease.
      if (last !== undefined && retried < last.retried && !isExcused(last, call, faults)) {
        violations.push(`${id}: attempt ${retried} after attempt ${last.retried}`);
      }
      if (delivery !== undefined && before === 0 && !isExcused(delivery, call, faults)) {
        violations.push(`${id}: sent again, as attempt ${retried}, after it was delivered`);
      }
      if (isDelivery(call)) delivery = call;
      last = call;
    }
  }
  return violations;
}

/** QCO9. */
function judgeCallbacks({ publishes, calls, dlq }: ConservationHistory): string[] {
  const violations: string[] = [];
  const callsByNumber = byKey(calls, ({ number }) => number);
  const idsByNumber = new Map(publishes.map(({ number, id }) => [number, id ?? callsByNumber.get(number)?.[0]?.id]));
  const known = new Set(idsByNumber.values());
  const dlqIds = new Map(dlq.map(({ messageId, dlqId }) => [messageId, dlqId]));
  const heardOf = new Set<string>();
  const idByOutcome = new Map<string, string>();
  for (const { id, carries } of calls) {
    if (carries === undefined) continue;
    const { source, retried, status, dlqId } = carries;
    if (!known.has(source)) violations.push(`${id} carries the outcome of ${source}, which nobody published`);
    const outcome = `${source} ${dlqId === undefined ? `attempt ${retried}` : 'failure'}`;
    const told = idByOutcome.get(outcome) ?? id;
    idByOutcome.set(outcome, told);
    if (told !== id) violations.push(`${outcome} is told by ${told} and by ${id}`);
    if (dlqId === undefined && status >= 200 && status < 300) heardOf.add(`${source} delivered`);
    if (dlqId !== undefined) heardOf.add(`${source} ${dlqId}`);
  }
  for (const { number, hasCallbacks, cancel } of publishes) {
    const id = idsByNumber.get(number);
    if (!hasCallbacks || id === undefined || cancel !== undefined) continue;
    const dlqId = dlqIds.get(id);
    if (dlqId !== undefined) {
      if (!heardOf.has(`${id} ${dlqId}`)) violations.push(`${id} is in the DLQ as ${dlqId}, and nobody was told`);
    } else if ((callsByNumber.get(number) ?? []).some(isDelivery) && !heardOf.has(`${id} delivered`)) {
      violations.push(`${id} was delivered, and nobody was told`);
    }
  }
  return violations;
}

/** Returns true if a fault explains that `next` follows `last`. */
function isExcused(last: CallRecord, next: CallRecord, faults: readonly FaultRecord[]): boolean {
  if (last.isCut === true && last.retried === next.retried) return true;
  return isTouched(last.startedAtMs, next.startedAtMs, faults);
}

function isHidden({ startedAtMs, endedAtMs }: CallRecord, faults: readonly FaultRecord[]): boolean {
  return isTouched(startedAtMs, (endedAtMs ?? startedAtMs) + RECORDING_MS, faults);
}
