/**
 * Compares the limits of queues and flow-control keys with the calls at destinations: rules QCO5 to QCO7 of
 * `queue-conservation`.
 */
import { byKey, callsByKey, firstsOf, inOrder, isTouched, overAtMs } from './queue-conservation-calls.js';
import type { ConservationHistory } from './queue-conservation-history.js';

/** The maximum time from the journaled start of a call to its arrival. */
const JITTER_MS = 400;
/** The position of the windows is unknown, so spans of up to this number of periods are checked. */
const MAX_WINDOWS = 4;

/** QCO5. */
export function judgeParallelism(history: ConservationHistory): string[] {
  const violations: string[] = [];
  for (const [key, own] of callsByKey(history)) {
    const limit = history.parallelism[key];
    if (limit === undefined) continue;
    const open: number[] = [];
    for (const call of inOrder(own)) {
      const stillOpen = open.filter((endMs) => endMs > call.startedAtMs);
      open.splice(0, open.length, ...stillOpen, overAtMs(call, history.faults));
      if (open.length <= limit) continue;
      violations.push(`${key}: ${open.length} calls at once, with ${call.id} at ${call.startedAtMs}; ${limit} may be`);
    }
  }
  return violations;
}

/** QCO6. A span with a fault is not checked, because its calls may arrive much later. */
export function judgeRates(history: ConservationHistory): string[] {
  const violations: string[] = [];
  for (const [key, own] of callsByKey(history)) {
    const limit = history.rates[key];
    if (limit === undefined) continue;
    const { rate, periodMs } = limit;
    const starts = firstsOf(inOrder(own)).map(({ startedAtMs }) => startedAtMs);
    for (let windows = 1; windows <= MAX_WINDOWS; windows += 1) {
      // A span overlaps at most one window more than its length in periods.
      const most = (windows + 1) * rate;
      for (let at = 0; at + most < starts.length; at += 1) {
        const [fromMs, toMs] = [starts[at] as number, starts[at + most] as number];
        if (toMs - fromMs >= windows * periodMs - JITTER_MS || isTouched(fromMs, toMs, history.faults)) continue;
        violations.push(
          `${key}: ${most + 1} calls began within ${toMs - fromMs} ms, at ${fromMs}; ${rate} in ${periodMs} ms may`,
        );
      }
    }
  }
  return violations;
}

/** QCO7. */
export function judgeOrder(history: ConservationHistory): string[] {
  const violations: string[] = [];
  const callbacksBySource = byKey(history.calls, ({ carries }) => carries?.source);
  const callsByNumber = byKey(history.calls, ({ number }) => number);
  for (const [queue, published] of byKey(history.publishes, (publish) => publish.queue)) {
    if (history.parallelism[queue] !== 1) continue;
    let before: { readonly overMs: number; readonly number: number } | undefined;
    for (const { number, id, is } of published) {
      const own = callsByNumber.get(number) ?? [];
      // A publish without an acknowledgement has no known place in the order.
      if (is !== 'acked' || own.length === 0) continue;
      const firstMs = Math.min(...own.map(({ startedAtMs }) => startedAtMs));
      if (before !== undefined && firstMs < before.overMs) {
        violations.push(`${queue}: ${number} began ${before.overMs - firstMs} ms before ${before.number} was over`);
      }
      const all = [...own, ...(callbacksBySource.get(id as string) ?? [])];
      const overMs = Math.max(...all.map((call) => overAtMs(call, history.faults)));
      if (before === undefined || overMs > before.overMs) before = { overMs, number };
    }
  }
  return violations;
}
