/** Functions that sort and group calls, and compare them with the times of faults. */
import type { CallRecord, ConservationHistory, FaultRecord, PublishRecord } from './queue-conservation-history.js';

/** The time until a destination notices that its caller has closed the connection. */
const HANG_UP_MS = 100;
/** The time until data sent before its sender died arrives. */
const ARRIVAL_MS = 250;
/** The time after a fault in which its consequences appear: leases expire, and unknown appends are repeated. */
const AFTERMATH_MS = 4000;

/** Returns true if a fault was active between the two instants, or its consequences were. */
export function isTouched(fromMs: number, toMs: number, faults: readonly FaultRecord[]): boolean {
  return faults.some(({ atMs, untilMs }) => atMs <= toMs && untilMs + AFTERMATH_MS >= fromMs);
}

/** The time from which the caller does not wait for the answer. */
export function overAtMs({ by, startedAtMs, endedAtMs, end }: CallRecord, faults: readonly FaultRecord[]): number {
  let overMs = endedAtMs ?? Number.POSITIVE_INFINITY;
  if (end === 'closed') overMs = Math.max(startedAtMs, overMs - HANG_UP_MS);
  for (const { what, victim, atMs } of faults) {
    const isSilenced = (what === 'killed' || what === 'frozen') && victim === by;
    if (isSilenced && startedAtMs <= atMs + ARRIVAL_MS) overMs = Math.min(overMs, Math.max(startedAtMs, atMs));
  }
  return overMs;
}

/** Groups calls by queue and by flow-control key. */
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

/** Returns the first call of each attempt, without repeated ones. */
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
