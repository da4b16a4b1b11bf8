/** Creating, reading, renaming, moving and deleting search indexes. The data plane handles their documents. */

import { IsIn } from 'class-validator';
import {
  DEFAULT_SEARCH_LIMITS,
  SEARCH_REGIONS,
  SEARCH_TYPES,
  type SearchIndex,
  type SearchRegion,
  type SearchType,
} from '../../../domain/control/index.js';
import { newDatabaseId } from '../../../protocol/index.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid } from '../../http/refused.js';
import { SearchIndexAnswer, searchIndexAnswer } from '../answers/search-index-answer.js';
import {
  SearchStatisticsAnswer,
  SearchTotalsAnswer,
  searchStatisticsAnswer,
  searchTotalsAnswer,
} from '../answers/search-statistics.js';
import { chargesOfIndex, chargesOfSearch } from '../charges.js';
import { EXAMPLE_ID } from '../example-id.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import {
  changeIndex,
  deleteIndex,
  indexesOf,
  indexIn,
  seriesOf,
  TransferIndexRequest,
  totalsOf,
  transferIndex,
} from '../owned-indexes.js';
import { PeriodQuery, RenameDatabaseRequest } from '../requests/database-requests.js';
import { IsGivenName } from '../requests/rules.js';
import { shownWithThroughput, throughput } from '../throughput.js';

/** Bodies of calls about search indexes. */
class CreateSearchIndexRequest {
  @IsGivenName()
  readonly name!: string;

  @IsIn(SEARCH_REGIONS)
  readonly region!: SearchRegion;

  @IsIn(SEARCH_TYPES)
  readonly type!: SearchType;
}

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
      const indexes = await indexesOf(call, 'search');
      return shownWithThroughput(call, indexes, (index, points) => searchIndexAnswer(call, index, points));
    },
  }),

  managementRoute('GET /v2/search/stats', {
    summary: 'Shows the usage of all search indexes of the account together.',
    permission: 'read',
    answer: one(SearchTotalsAnswer),
    async handle(call) {
      const { totals, billed } = await totalsOf(call, await indexesOf(call, 'search'));
      return searchTotalsAnswer(totals, billed, call.nowMs, chargesOfSearch(call));
    },
  }),

  managementRoute('GET /v2/search/:id', {
    summary: 'Shows a search index.',
    permission: 'read',
    answer: one(SearchIndexAnswer),
    async handle(call, { path }) {
      return shown(call, await indexIn(call, 'search', path.id));
    },
  }),

  managementRoute('DELETE /v2/search/:id', {
    summary: 'Deletes a search index with all that it holds.',
    permission: 'databases',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      await deleteIndex(call, await indexIn(call, 'search', path.id), 'deleteSearchIndex');
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
      await changeIndex(call, await indexIn(call, 'search', path.id), 'renameSearchIndex', { name }, name);
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/search/:id/reset-password', {
    summary: 'Replaces the tokens of a search index; the old ones are refused from then on.',
    permission: 'databases',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      const index = await indexIn(call, 'search', path.id);
      await changeIndex(call, index, 'resetSearchPassword', { tokens: call.endpoint.secrets.ofSearchIndex() });
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/search/:id/transfer', {
    summary: 'Moves a search index to a team in which the caller may make search indexes.',
    permission: 'databases',
    body: TransferIndexRequest,
    example: { target_account: EXAMPLE_ID },
    answer: OK_ANSWER,
    async handle(call, { path, body: { target_account: target } }) {
      await transferIndex(call, await indexIn(call, 'search', path.id), 'transferSearchIndex', target);
      return OK_TEXT;
    },
  }),

  managementRoute('GET /v2/search/:id/stats', {
    summary: 'Shows the usage of a search index.',
    permission: 'read',
    query: PeriodQuery,
    answer: one(SearchStatisticsAnswer),
    async handle(call, { path, query }) {
      const index = await indexIn(call, 'search', path.id);
      const { series, pending, nowMs } = await seriesOf(call, index, query);
      return searchStatisticsAnswer(series, pending, nowMs, chargesOfIndex(call, index));
    },
  }),
];

async function shown(call: ManagementCall, index: SearchIndex): Promise<SearchIndexAnswer> {
  return searchIndexAnswer(call, index, await throughput(call, index));
}
