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
  /** In the DLQ: plain messages and failed runs, which have separate lists. */
  readonly dead: { readonly letters: DeadCount; readonly runs: DeadCount } | undefined;
  readonly searches: Operations['GET /v2/search/stats'] | undefined;
  /** Problems of the installation, for operators. */
  readonly installation: Operations['GET /v2/admin/health'] | undefined;
  /** Parts that could not be loaded. */
  readonly missing: readonly string[];
}

type DeadCount = Schemas['Counts'];

const REFRESH_MS = 10_000;

export function useOverview(period: Period): Asked<Overview> {
  return useAsk(`overview ${period}`, () => load(period), REFRESH_MS);
}

async function load(period: Period): Promise<Overview> {
  const missing: string[] = [];
  const maybe = <T>(what: string, question: Promise<T>): Promise<T | undefined> =>
    question.catch((error: unknown) => {
      if (error instanceof CallError && error.status === 401) throw error;
      missing.push(what);
      return undefined;
    });
  const [databases, kv, accounts, searches, installation] = await Promise.all([
    manage('GET /v2/kv/databases', { query: { credentials: 'hide' } }),
    manage('GET /v2/kv/stats', { query: { period } }),
    manage('GET /v2/msgq/users'),
    maybe('search', manage('GET /v2/search/stats')),
    isOperator.value ? maybe('the installation', manage('GET /v2/admin/health')) : undefined,
  ]);
  const id = accounts[0]?.id;
  const [queueStats, dead] =
    id === undefined
      ? []
      : await Promise.all([
          maybe('the queue', manage('GET /v2/msgq/stats/{id}', { path: { id }, query: { period } })),
          mayUseData.value ? maybe('dead letters', deadCounts(id)) : undefined,
        ]);
  const uses = new Map(kv.databases.map((use) => [use.database_id, use]));
  return { databases, kv, uses, queueStats, dead, searches, installation, missing };
}

/** The numbers that the two lists show. */
async function deadCounts(account: string) {
  const [letters, runs] = await Promise.all([
    ofQueue(account, 'GET /v2/dlq/counts'),
    ofQueue(account, 'GET /v2/workflows/dlq/counts'),
  ]);
  return { letters, runs };
}
