/**
 * All answers of the read models about one account, through the public APIs. They must be the same before and after a
 * rebuild.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { basic } from './management-endpoint.js';

export interface ReadSideEndpoints {
  readonly queueUrl: string;
  readonly queueToken: string;
  readonly mgmtUrl: string;
  readonly email: string;
  readonly key: string;
}

export type Listed = Readonly<Record<string, unknown>>;

/** All lists and counts. */
export interface ReadSideState {
  readonly events: readonly Listed[];
  readonly runs: readonly Listed[];
  readonly runEvents: readonly Listed[];
  readonly dlq: readonly Listed[];
  /** The statistics, by request path. */
  readonly statistics: Readonly<Record<string, unknown>>;
}

interface Page extends Readonly<Record<string, unknown>> {
  readonly cursor?: string;
}

const PERIODS = ['1h', '12h', '30d'] as const;
/** The tries of a read, because the rate of reads of an account is limited. */
const BUSY_TRIES = 100;
const BUSY_PAUSE_MS = 100;
/**
 * Matches the instant of a step, `2026-11-22 10:00:00.000 +0000 UTC`. The points of days have the instant of the
 * request.
 */
const STEP = /:00\.000 \+0000 UTC$/;
const DAY_CHARACTERS = 10;

export class ReadSide {
  constructor(readonly faces: ReadSideEndpoints) {}

  /** @param statistics paths of the management API without a period */
  async state(statistics: readonly string[] = []): Promise<ReadSideState> {
    const counted: Record<string, unknown> = {};
    for (const path of statistics) {
      for (const period of PERIODS) {
        const asked = `${path}?period=${period}`;
        counted[asked] = withoutSilence(await this.manage('GET', asked));
      }
    }
    return {
      events: await this.list('/v2/events', 'events', 'count=1000&order=earliestFirst'),
      runs: await this.list('/v2/workflows/logs', 'runs', 'count=50'),
      runEvents: await this.list('/v2/workflows/events', 'events', 'count=500'),
      dlq: await this.list('/v2/dlq', 'messages', 'count=100'),
      statistics: counted,
    };
  }

  /** All pages of a list of the queue API. */
  async list(path: string, name: string, query: string): Promise<Listed[]> {
    const { queueUrl, queueToken } = this.faces;
    const found: Listed[] = [];
    let cursor = '';
    do {
      const target = `${queueUrl}${path}?${query}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = (await ask(target, { headers: { authorization: `Bearer ${queueToken}` } })) as Page;
      found.push(...(page[name] as Listed[]));
      cursor = page.cursor ?? '';
    } while (cursor !== '');
    return found;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  manage(method: string, path: string, body?: object): Promise<any> {
    const { mgmtUrl, email, key } = this.faces;
    return ask(mgmtUrl + path, {
      method,
      headers: { authorization: basic(email, key), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

/** The states of the log, by the names of their statistics. */
const STATE_BY_SERIES = {
  created: 'CREATED',
  active: 'ACTIVE',
  retry: 'RETRY',
  error: 'ERROR',
  delivered: 'DELIVERED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
} as const;

export type StateCounts = Readonly<Record<keyof typeof STATE_BY_SERIES, number>>;

/** The number of log events of each state. */
export function loggedCounts({ events }: Pick<ReadSideState, 'events'>): StateCounts {
  const counts = Object.entries(STATE_BY_SERIES).map(([name, state]) => [
    name,
    events.filter((event) => event.state === state).length,
  ]);
  return Object.fromEntries(counts) as StateCounts;
}

/** The same numbers from the queue's statistics, summed over a period. */
export function countedStates(state: Pick<ReadSideState, 'statistics'>, path: string): StateCounts {
  return totalsOf(state, path, 'daily_msgq_messages') as StateCounts;
}

/** The numbers of runs. */
export function countedRuns(state: Pick<ReadSideState, 'statistics'>, path: string): Readonly<Record<string, number>> {
  return totalsOf(state, path, 'daily_workflow_messages');
}

function totalsOf({ statistics }: Pick<ReadSideState, 'statistics'>, path: string, name: string) {
  const series = (statistics[`${path}?period=12h`] as Readonly<Record<string, readonly Series[]>>)[name] ?? [];
  return Object.fromEntries(
    series.map(({ id, data_points: points }) => [id, points.reduce((sum, { y }) => sum + y, 0)]),
  );
}

interface Series {
  readonly id: string;
  readonly data_points: readonly { readonly y: number }[];
}

/** @throws if the answer is not 200, or if the rate limit refuses all tries */
async function ask(url: string, init: RequestInit): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(url, init);
    const text = await answer.text();
    if (answer.status === 200) return JSON.parse(text);
    if (tries === BUSY_TRIES || (answer.status !== 429 && answer.status !== 503)) {
      throw new Error(`${init.method ?? 'GET'} ${url}: ${answer.status} ${text}`);
    }
    await pause(BUSY_PAUSE_MS);
  }
}

/** Series of sizes; their last value is repeated in each step up to the request. */
const CARRIED_SERIES = new Set(['keyspace', 'diskusage']);
/** Series of connections: those of a silent process count as closed after some minutes. */
const FORGOTTEN_SERIES = new Set(['connection_count']);

/**
 * Removes zeros from series, and the instant of the request from days. A later request starts its series later, and
 * the rest must be equal. Of sizes only the changes are kept.
 */
function withoutSilence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSilence).filter((one) => one !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  const { x, ...numbers } = value as Record<string, unknown>;
  if (typeof x !== 'string') {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !FORGOTTEN_SERIES.has(name))
        .map(([name, member]) => [
          name,
          withoutSilence(CARRIED_SERIES.has(name) ? changesOf(member as readonly { readonly y: number }[]) : member),
        ]),
    );
  }
  if (Object.values(numbers).every((number) => number === 0)) return undefined;
  return { x: STEP.test(x) ? x : x.slice(0, DAY_CHARACTERS), ...numbers };
}

function changesOf(points: readonly { readonly y: number }[]): unknown {
  return points.filter(({ y }, at) => y !== points[at - 1]?.y);
}
