/**
 * Everything that the read models answer about one account, through the public faces: what must be the same before and
 * after they were made anew.
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

/** Everything that is listed and counted. */
export interface ReadSideState {
  readonly events: readonly Listed[];
  readonly runs: readonly Listed[];
  readonly runEvents: readonly Listed[];
  readonly dlq: readonly Listed[];
  /** By the path that was asked. */
  readonly statistics: Readonly<Record<string, unknown>>;
}

interface Page extends Readonly<Record<string, unknown>> {
  readonly cursor?: string;
}

const PERIODS = ['1h', '12h', '30d'] as const;
/** An account may look at so many pages in a second, and then is asked to wait. */
const BUSY_TRIES = 100;
const BUSY_PAUSE_MS = 100;
/** `2026-11-22 10:00:00.000 +0000 UTC`: of a step; points of days have the moment of the request. */
const STEP = /:00\.000 \+0000 UTC$/;
const DAY_CHARACTERS = 10;

export class ReadSide {
  constructor(readonly faces: ReadSideEndpoints) {}

  /** @param statistics paths of the management face without a period */
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

  /** All pages of a list of the queue's face. */
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

/** States of the log, by the words that statistics have for them. */
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

/** How often each state is in the log of messages. */
export function loggedCounts({ events }: Pick<ReadSideState, 'events'>): StateCounts {
  const counts = Object.entries(STATE_BY_SERIES).map(([name, state]) => [
    name,
    events.filter((event) => event.state === state).length,
  ]);
  return Object.fromEntries(counts) as StateCounts;
}

/** The same as the statistics of the queue have it, all points of a period together. */
export function countedStates(state: Pick<ReadSideState, 'statistics'>, path: string): StateCounts {
  return totalsOf(state, path, 'daily_msgq_messages') as StateCounts;
}

/** Of runs. */
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

/** @throws when it is not answered 200, or asked to wait again and again */
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

/** Sizes, which go on as they are in every step up to the request. */
const CARRIED_SERIES = new Set(['keyspace', 'diskusage']);
/** Connections of a process that tells nothing any more count as closed some minutes later. */
const FORGOTTEN_SERIES = new Set(['connection_count']);

/**
 * Series without their zeros, and days without the moment of the request: a series that is read a minute later begins
 * a minute later, and has the same in it. Of sizes only the steps in which they changed are kept.
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
