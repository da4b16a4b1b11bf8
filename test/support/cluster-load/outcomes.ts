/**
 * What every call of a load came to: when it was made, how long it took, which process answered, whose shard it was about.
 * What a fault cost is read from this, for the shards that it moved and for all others apart.
 */

export interface LoadOutcome {
  /** What was asked: `GET`, `MULTI`, `publish`. */
  readonly verb: string;
  readonly shard: string;
  /** The process that was asked last; empty: nobody took the connection. */
  readonly through: string;
  /** Wall milliseconds of this machine, as the processes' logs have them. */
  readonly calledAtMs: number;
  readonly tookMs: number;
  readonly kind: 'done' | 'refused' | 'unknown';
  /** Of one that was not done: the status and what was said, or the socket's code. */
  readonly code: string;
}

export interface OutcomeSummary {
  readonly calls: number;
  readonly refused: number;
  readonly unknown: number;
  readonly p99Ms: number;
  readonly worstMs: number;
  /** The longest that nothing was done of a shard. */
  readonly gapMs: number;
  /** How often each error was heard, by what was asked. */
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

/** @param fromMs from when on a gap counts, for shards of which something was asked */
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
