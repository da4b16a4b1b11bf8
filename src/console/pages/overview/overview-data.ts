/** Loads all data of the overview in parallel; failed parts are omitted and listed. */
import type { Operations, Schemas } from '#api';
import { type Asked, useAsk } from '../../api/ask.js';
import { CallError, manage, ofQueue } from '../../api/call.js';
import type { Period } from '../../api/points.js';
import { isOperator, mayUseData } from '../../api/session.js';

export interface Overview {
  readonly databases: readonly Schemas['DatabaseAnswer'][];
  readonly kv: Operations['GET /v2/kv/stats'];
  readonly uses: ReadonlyMap<string, Schemas['DatabaseUseAnswer']>;
  readonly queueStats: Operations['GET /v2/msgq/stats/{id}'] | undefined;
  /** The same statistics of the period before, if they are kept long enough. */
  readonly before: Pick<Overview, 'kv' | 'queueStats'> | undefined;
  /** The queue account. */
  readonly account: string | undefined;
  /** In the DLQ: plain messages and failed runs, which have separate lists. */
  readonly dead: { readonly letters: DeadCount; readonly runs: DeadCount } | undefined;
  readonly searches: Operations['GET /v2/search/stats'] | undefined;
  /** Problems of the installation, for operators. */
  readonly installation: Operations['GET /v2/admin/health'] | undefined;
  readonly alerts: Operations['GET /v2/alerts'] | undefined;
  /** Parts that could not be loaded. */
  readonly missing: readonly string[];
}

/** The statistics of these periods are kept for twice as long. */
const COMPARED_MS: Partial<Record<Period, number>> = { '1h': 3_600_000, '1d': 86_400_000, '3d': 3 * 86_400_000 };

type DeadCount = Schemas['Counts'];

const REFRESH_MS = 10_000;

export function useOverview(period: Period): Asked<Overview> {
  return useAsk(`overview ${period}`, () => load(period), REFRESH_MS);
}

async function load(period: Period): Promise<Overview> {
  const missing: string[] = [];
  const maybe = <T>(subject: string, question: Promise<T>): Promise<T | undefined> =>
    question.catch((error: unknown) => {
      if (error instanceof CallError && error.status === 401) throw error;
      missing.push(subject);
      return undefined;
    });
  const [databases, kv, accounts, searches, installation, alerts] = await Promise.all([
    manage('GET /v2/kv/databases', { query: { credentials: 'hide' } }),
    manage('GET /v2/kv/stats', { query: { period } }),
    manage('GET /v2/msgq/users'),
    maybe('search', manage('GET /v2/search/stats')),
    isOperator.value ? maybe('the installation', manage('GET /v2/admin/health')) : undefined,
    maybe('alerts', manage('GET /v2/alerts')),
  ]);
  const id = accounts[0]?.id;
  const [before, [queueStats, dead] = []] = await Promise.all([
    statisticsBefore(period, id).catch(() => undefined),
    id === undefined
      ? undefined
      : Promise.all([
          maybe('the queue', manage('GET /v2/msgq/stats/{id}', { path: { id }, query: { period } })),
          mayUseData.value ? maybe('dead letters', deadCounts(id)) : undefined,
        ]),
  ]);
  const uses = new Map(kv.databases.map((use) => [use.database_id, use]));
  return { databases, kv, uses, queueStats, before, account: id, dead, searches, installation, alerts, missing };
}

async function statisticsBefore(period: Period, id: string | undefined): Promise<Overview['before']> {
  const lengthMs = COMPARED_MS[period];
  if (lengthMs === undefined) return undefined;
  const query = { period, until: Math.floor((Date.now() - lengthMs) / 1_000) };
  const [kv, queueStats] = await Promise.all([
    manage('GET /v2/kv/stats', { query }),
    id === undefined ? undefined : manage('GET /v2/msgq/stats/{id}', { path: { id }, query }),
  ]);
  return { kv, queueStats };
}

/** The numbers that the two lists show. */
async function deadCounts(account: string) {
  const [letters, runs] = await Promise.all([
    ofQueue(account, 'GET /v2/dlq/counts'),
    ofQueue(account, 'GET /v2/workflows/dlq/counts'),
  ]);
  return { letters, runs };
}
