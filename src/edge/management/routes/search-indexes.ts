/** Creating, reading, renaming, moving and deleting search indexes. The data plane handles their documents. */

import { IsIn, IsString } from 'class-validator';
import {
  DEFAULT_SEARCH_LIMITS,
  SEARCH_REGIONS,
  SEARCH_TYPES,
  type SearchIndex,
  type SearchRegion,
  type SearchType,
} from '../../../domain/control/index.js';
import { describeError } from '../../../kernel/index.js';
import type { Timers } from '../../../ports/index.js';
import { newDatabaseId } from '../../../protocol/index.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid } from '../../http/refused.js';
import type { Point } from '../../http/shapes.js';
import { mustBeAllowed } from '../../team-permissions.js';
import { SearchIndexAnswer, searchIndexAnswer } from '../answers/search-index-answer.js';
import {
  SearchStatisticsAnswer,
  SearchTotalsAnswer,
  searchStatisticsAnswer,
  searchTotalsAnswer,
  throughputOf,
} from '../answers/search-statistics.js';
import { chargesOfIndex, chargesOfSearch, isCharged, statisticsOf } from '../charges.js';
import { EXAMPLE_ID } from '../example-id.js';
import { teamOfCaller } from '../ids.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { THROUGHPUT_WAIT_MS } from '../management-limits.js';
import { changeIndex, indexesOf, indexIn } from '../owned.js';
import { endOfPeriod, PeriodQuery, RenameDatabaseRequest } from '../requests/database-requests.js';
import { IsGivenName } from '../requests/rules.js';

/** Bodies of calls about search indexes. */
class CreateSearchIndexRequest {
  @IsGivenName()
  readonly name!: string;

  @IsIn(SEARCH_REGIONS)
  readonly region!: SearchRegion;

  @IsIn(SEARCH_TYPES)
  readonly type!: SearchType;
}

class TransferRequest {
  /** The id of a team. */
  @IsString()
  readonly target_account!: string;
}

/** Partitions of a search index; its documents are keys there. */
const PARTITIONS = 1;
/** Parallel requests to the statistics: a list must leave room in their queue for other callers. */
const ASKED_AT_ONCE = 8;

export const SEARCH_INDEX_ROUTES: readonly ManagementRoute[] = [
  managementRoute('POST /v2/search', {
    summary: 'Makes a search index.',
    permission: 'databases',
    body: CreateSearchIndexRequest,
    example: { name: 'papers', region: 'us-central1', type: 'free' },
    answer: one(SearchIndexAnswer),
    async handle(call, { body: { name, region, type } }) {
      const { parts, secrets } = call.endpoint;
      if (type === 'fixed' && !parts.offersFixedSearch) throw invalid('type: fixed is not available on this server');
      const id = newDatabaseId(parts.random);
      const limits = DEFAULT_SEARCH_LIMITS[type];
      const wanted = { id, name, account: call.account, region, type, limits, tokens: secrets.ofSearchIndex() };
      const about = { action: 'createSearchIndex', entity: name } as const;
      const { index } = await call.change({ type: 'CreateSearchIndex', index: wanted }, 'OneSearchIndex', about);
      return shown(call, index);
    },
  }),

  managementRoute('GET /v2/search', {
    summary: 'Lists the search indexes of the account, oldest first.',
    permission: 'read',
    answer: listOf(SearchIndexAnswer),
    async handle(call) {
      const indexes = await indexesOf(call);
      const answers: SearchIndexAnswer[] = [];
      for (let from = 0; from < indexes.length; from += ASKED_AT_ONCE) {
        const some = indexes.slice(from, from + ASKED_AT_ONCE);
        answers.push(...(await Promise.all(some.map((index) => shown(call, index)))));
      }
      return answers;
    },
  }),

  managementRoute('GET /v2/search/stats', {
    summary: 'Shows the usage of all search indexes of the account together.',
    permission: 'read',
    answer: one(SearchTotalsAnswer),
    async handle(call) {
      const indexes = await indexesOf(call);
      const { nowMs } = call;
      const totalsOf = async (some: readonly SearchIndex[]) => {
        const ids = some.map(({ id }) => id);
        return call.shows(await statisticsOf(call).searchTotals(ids, nowMs));
      };
      const charged = indexes.filter(isCharged);
      const totals = await totalsOf(indexes);
      const billed = charged.length === indexes.length ? totals : await totalsOf(charged);
      return searchTotalsAnswer(totals, billed, nowMs, chargesOfSearch(call));
    },
  }),

  managementRoute('GET /v2/search/:id', {
    summary: 'Shows a search index.',
    permission: 'read',
    answer: one(SearchIndexAnswer),
    async handle(call, { path }) {
      return shown(call, await indexIn(call, path.id));
    },
  }),

  managementRoute('DELETE /v2/search/:id', {
    summary: 'Deletes a search index with all that it holds.',
    permission: 'databases',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      const { id, name } = await indexIn(call, path.id);
      const command = { type: 'DeleteSearchIndex', account: call.account, index: id } as const;
      await call.change(command, 'OneSearchIndex', { action: 'deleteSearchIndex', entity: name });
      // Only after no token opens the index: later writes would not be removed.
      call.endpoint.parts.removal?.remove(id, PARTITIONS);
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/search/:id/rename', {
    summary: 'Gives a search index another name.',
    permission: 'databases',
    body: RenameDatabaseRequest,
    example: { name: 'books' },
    answer: OK_ANSWER,
    async handle(call, { path, body: { name } }) {
      await changeIndex(call, await indexIn(call, path.id), 'renameSearchIndex', { name }, name);
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/search/:id/reset-password', {
    summary: 'Replaces the tokens of a search index; the old ones are refused from then on.',
    permission: 'databases',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      const index = await indexIn(call, path.id);
      await changeIndex(call, index, 'resetSearchPassword', { tokens: call.endpoint.secrets.ofSearchIndex() });
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/search/:id/transfer', {
    summary: 'Moves a search index to a team in which the caller may make search indexes.',
    permission: 'databases',
    body: TransferRequest,
    example: { target_account: EXAMPLE_ID },
    answer: OK_ANSWER,
    async handle(call, { path, body: { target_account: target } }) {
      const index = await indexIn(call, path.id);
      if (target.includes('@')) throw invalid('target_account: must be a team; a personal account cannot be a target');
      const { team, role } = await teamOfCaller(call, target);
      mustBeAllowed(role, 'databases');
      await changeIndex(call, index, 'transferSearchIndex', { to: team.id }, team.name);
      return OK_TEXT;
    },
  }),

  managementRoute('GET /v2/search/:id/stats', {
    summary: 'Shows the usage of a search index.',
    permission: 'read',
    query: PeriodQuery,
    answer: one(SearchStatisticsAnswer),
    async handle(call, { path, query }) {
      const { period = '1h' } = query;
      const index = await indexIn(call, path.id);
      const { id } = index;
      const nowMs = endOfPeriod(query, call.nowMs);
      const statistics = statisticsOf(call);
      const [series, pending] = await Promise.all([
        statistics.search(id, period, nowMs),
        call.endpoint.parts.pendingDocuments(id),
      ]);
      return searchStatisticsAnswer(call.shows(series), pending, nowMs, chargesOfIndex(call, index));
    },
  }),
];

async function shown(call: ManagementCall, index: SearchIndex): Promise<SearchIndexAnswer> {
  return searchIndexAnswer(call, index, await throughput(call, index));
}

/** Most callers do not need the throughput: without statistics the list is empty. */
async function throughput(call: ManagementCall, { id }: SearchIndex): Promise<Point[]> {
  const { endpoint, nowMs } = call;
  const { statistics, timers, log } = endpoint.parts;
  if (statistics === undefined) return [];
  try {
    const series = await inTime(statistics.search(id, '1h', nowMs), timers);
    return series === undefined ? [] : throughputOf(call.shows(series));
  } catch (failure) {
    log.warn('management.throughput.unknown', { index: id, error: describeError(failure) });
    return [];
  }
}

/** @returns undefined if it takes longer than `THROUGHPUT_WAIT_MS` */
async function inTime<T>(answer: Promise<T>, timers: Timers): Promise<T | undefined> {
  const isThere = new AbortController();
  try {
    return (await Promise.race([answer, timers.pause(THROUGHPUT_WAIT_MS, isThere.signal)])) as T | undefined;
  } finally {
    isThere.abort();
  }
}
