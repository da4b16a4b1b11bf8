/** Calls, put in order and into groups, and held against what was broken meanwhile. */
import type { CallRecord, ConservationHistory, FaultRecord, PublishRecord } from './queue-conservation-history.js';

/** A caller that hangs up goes on before its destination has heard of it. */
const HANG_UP_MS = 100;
/** What was on the wire when its sender died arrives a little later. */
const ARRIVAL_MS = 250;
/** How long after a fault its consequences come: leases run out, unknown appends are repeated. */
const AFTERMATH_MS = 4000;

/** Was something broken between the two instants, or so shortly before that it is still felt? */
export function isTouched(fromMs: number, toMs: number, faults: readonly FaultRecord[]): boolean {
  return faults.some(({ atMs, untilMs }) => atMs <= toMs && untilMs + AFTERMATH_MS >= fromMs);
}

/** When nobody waits for its answer any more. */
export function overAtMs({ by, startedAtMs, endedAtMs, end }: CallRecord, faults: readonly FaultRecord[]): number {
  let overMs = endedAtMs ?? Number.POSITIVE_INFINITY;
  if (end === 'closed') overMs = Math.max(startedAtMs, overMs - HANG_UP_MS);
  for (const { what, victim, atMs } of faults) {
    const isSilenced = (what === 'killed' || what === 'frozen') && victim === by;
    if (isSilenced && startedAtMs <= atMs + ARRIVAL_MS) overMs = Math.min(overMs, Math.max(startedAtMs, atMs));
  }
  return overMs;
}

/** Calls by queue and by flow-control key. */
export function callsByKey({ publishes, calls }: ConservationHistory): Map<string, CallRecord[]> {
  const publishByNumber = new Map<number, PublishRecord>(publishes.map((publish) => [publish.number, publish]));
  const pairs = calls.flatMap((call) => {
    const publish = call.number === undefined ? undefined : publishByNumber.get(call.number);
    return [publish?.queue, publish?.flow].map((key) => ({ key, call }));
  });
  const grouped = new Map<string, CallRecord[]>();
  for (const [key, own] of byKey(pairs, (pair) => pair.key))
    grouped.set(
      key,
      own.map(({ call }) => call),
    );
  return grouped;
}

export function inOrder(calls: readonly CallRecord[]): CallRecord[] {
  return [...calls].sort((a, b) => a.startedAtMs - b.startedAtMs);
}

/** Without those that make an attempt again. */
export function firstsOf(calls: readonly CallRecord[]): CallRecord[] {
  const seen = new Set<string>();
  return calls.filter(({ id, retried }) => {
    const attempt = `${id} ${retried}`;
    const isFirst = !seen.has(attempt);
    seen.add(attempt);
    return isFirst;
  });
}

export function byKey<T, K>(items: readonly T[], keyOf: (item: T) => K | undefined): Map<K, T[]> {
  const grouped = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const others = grouped.get(key);
    if (others === undefined) grouped.set(key, [item]);
    else others.push(item);
  }
  return grouped;
}
