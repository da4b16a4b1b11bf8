/** Prepared statistics: every series has a known value in each step. */
import {
  daysOfMonth,
  firstDayOfMonth,
  lastFiveDays,
  type Period,
  seriesTimes,
} from '../../src/domain/statistics/index.js';
import type { DatabaseId } from '../../src/kernel/index.js';
import {
  type AccountSeries,
  type Behind,
  type DatabaseSeries,
  type DatabasesSeries,
  MESSAGE_METRICS,
  type SearchSeries,
  type SearchTotals,
  type Statistics,
  WORKFLOW_METRICS,
} from '../../src/ports/index.js';

const DAY_MS = 86_400_000;

export class SaidStatistics implements Statistics {
  readonly asked: { what: string; id: string; period: Period }[] = [];
  /** The delay that every answer reports. */
  behind: Behind | undefined;
  /** The error that is thrown instead of answers. */
  failure: Error | undefined;

  async database(id: DatabaseId, period: Period, nowMs: number): Promise<DatabaseSeries> {
    const { times, each } = this.#series('database', id, period, nowMs);
    return {
      ...(this.behind === undefined ? {} : { behind: this.behind }),
      times,
      commands: each(90),
      reads: each(60),
      writes: each(30),
      hits: each(45),
      misses: each(15),
      bandwidthBytes: each(1000),
      connections: each(2),
      keys: each(7),
      storageBytes: each(4096),
      latency: { mean: each(0.25), p99: each(2) },
      readLatency: { mean: each(0.2), p99: each(1) },
      writeLatency: { mean: each(0.3), p99: each(3) },
      commandCounts: [
        { name: 'GET', counts: each(60) },
        { name: 'SET', counts: each(30) },
      ],
      days: daysUpTo(nowMs).map((day) => ({
        day,
        commands: 1000,
        writes: 400,
        scripts: 3,
        bandwidthBytes: 5000,
        storageBytes: 4096,
      })),
      current: { connections: 2, keys: 7, storageBytes: 4096 },
    };
  }

  async databases(ids: readonly DatabaseId[], period: Period, nowMs: number): Promise<DatabasesSeries> {
    const { keys, storageBytes, connections, commandCounts, days, current, readLatency, writeLatency, ...series } =
      await this.database(ids.join() as DatabaseId, period, nowMs);
    const use = { commandsToday: 1000, commandsThisMonth: 5000, bandwidthBytesThisMonth: 25_000 };
    return { ...series, each: ids.map((id) => ({ id, ...current, ...use })) };
  }

  async account(id: string, period: Period, nowMs: number): Promise<AccountSeries> {
    const { times, each } = this.#series('account', id, period, nowMs);
    const today = Math.floor(nowMs / DAY_MS);
    return {
      ...(this.behind === undefined ? {} : { behind: this.behind }),
      times,
      requests: each(6),
      workflowRequests: each(2),
      bandwidthBytes: each(600),
      messages: recordOf(MESSAGE_METRICS, each(1)),
      workflows: recordOf(WORKFLOW_METRICS, each(0)),
      days: daysOfMonth(nowMs).map((day) => {
        const isOver = day <= today;
        return {
          day,
          requests: isOver ? 100 : 0,
          workflowRequests: isOver ? 20 : 0,
          workflowRuns: isOver ? 5 : 0,
          messages: isOver ? 80 : 0,
          bandwidthBytes: isOver ? 9000 : 0,
        };
      }),
      dlqMessages: 4,
    };
  }

  async search(id: DatabaseId, period: Period, nowMs: number): Promise<SearchSeries> {
    const { times, each } = this.#series('search', id, period, nowMs);
    const latency = { mean: each(1.5), p99: each(9) };
    return {
      ...(this.behind === undefined ? {} : { behind: this.behind }),
      times,
      queries: each(12),
      updates: each(6),
      queryLatency: latency,
      updateLatency: latency,
      embeddingLatency: latency,
      rerankLatency: latency,
      documents: each(11),
      storageBytes: each(2048),
      days: daysUpTo(nowMs).map((day) => ({
        day,
        queries: 10,
        updates: 5,
        reranks: 1,
        bandwidthBytes: 700,
        storageBytes: 2048,
      })),
      current: { documents: 11, storageBytes: 2048 },
    };
  }

  async searchTotals(ids: readonly DatabaseId[], nowMs: number): Promise<SearchTotals> {
    this.#series('totals', ids.join(), '1h', nowMs);
    const count = ids.length;
    return {
      ...(this.behind === undefined ? {} : { behind: this.behind }),
      documents: 11 * count,
      storageBytes: 2048 * count,
      queries: 10 * count,
      updates: 5 * count,
      reranks: count,
      bandwidthBytes: 700 * count,
      days: [],
    };
  }

  #series(what: string, id: string, period: Period, nowMs: number) {
    if (this.failure !== undefined) throw this.failure;
    this.asked.push({ what, id, period });
    const times = seriesTimes(period, nowMs);
    return { times, each: (value: number) => Array.from({ length: times.count }, () => value) };
  }
}

/** The days from the first of the month of four days ago. */
function daysUpTo(nowMs: number): number[] {
  const lastFive = lastFiveDays(nowMs);
  const first = firstDayOfMonth(lastFive[0] as number);
  return Array.from({ length: (lastFive[4] as number) - first + 1 }, (_, at) => first + at);
}

function recordOf<Name extends string>(names: readonly Name[], counts: readonly number[]) {
  return Object.fromEntries(names.map((name) => [name, counts])) as Record<Name, readonly number[]>;
}
