/**
 * A log of all calls of a load: start, duration, answering process and shard. The cost of a fault is computed from
 * it, separately for the shards that the fault moved and for all others.
 */

export interface LoadOutcome {
  /** The kind of the call: `GET`, `MULTI`, `publish`. */
  readonly verb: string;
  readonly shard: string;
  /** The last process that the call was sent to; empty if no process accepted the connection. */
  readonly through: string;
  /** Wall-clock milliseconds of this machine, comparable with the processes' logs. */
  readonly calledAtMs: number;
  readonly tookMs: number;
  readonly kind: 'done' | 'refused' | 'unknown';
  /** For a failed call: the status and the error text, or the error code of the socket. */
  readonly code: string;
}

export interface OutcomeSummary {
  readonly calls: number;
  readonly refused: number;
  readonly unknown: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** The longest time without a successful call to a shard. */
  readonly gapMs: number;
  /** The number of each error, by the kind of call. */
  readonly codes: Readonly<Record<string, number>>;
}

export class OutcomeLog {
  readonly #outcomes: LoadOutcome[] = [];

  add(outcome: LoadOutcome): void {
    this.#outcomes.push(outcome);
  }

  /** Calls that were under way at any time between the two instants. */
  between(fromMs: number, toMs: number): LoadOutcome[] {
    return this.#outcomes.filter(({ calledAtMs, tookMs }) => calledAtMs + tookMs >= fromMs && calledAtMs <= toMs);
  }
}

/** @param fromMs the start of the first gap of each shard that was called */
export function summaryOf(outcomes: readonly LoadOutcome[], fromMs: number): OutcomeSummary {
  const took = outcomes.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const codes: Record<string, number> = {};
  for (const { kind, verb, code } of outcomes) {
    if (kind !== 'done') codes[`${verb}: ${code}`] = (codes[`${verb}: ${code}`] ?? 0) + 1;
  }
  return {
    calls: outcomes.length,
    refused: outcomes.filter(({ kind }) => kind === 'refused').length,
    unknown: outcomes.filter(({ kind }) => kind === 'unknown').length,
    p99Ms: took[Math.floor(took.length * 0.99)] ?? 0,
    worstMs: took.at(-1) ?? 0,
    gapMs: longestGapMs(outcomes, fromMs),
    codes,
  };
}

export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

function longestGapMs(outcomes: readonly LoadOutcome[], fromMs: number): number {
  const lastByShard = new Map<string, number>();
  let longest = 0;
  const done = outcomes
    .filter(({ kind }) => kind === 'done')
    .map(({ shard, calledAtMs, tookMs }) => ({ shard, atMs: calledAtMs + tookMs }))
    .sort((a, b) => a.atMs - b.atMs);
  for (const { shard, atMs } of done) {
    longest = Math.max(longest, atMs - (lastByShard.get(shard) ?? fromMs));
    lastByShard.set(shard, atMs);
  }
  return longest;
}
