/** Search indexes of the account. The data plane handles their documents. */

import { IsIn } from 'class-validator';
import {
  DEFAULT_SEARCH_LIMITS,
  SEARCH_REGIONS,
  SEARCH_TYPES,
  type SearchRegion,
  type SearchType,
} from '../../../domain/control/index.js';
import { newDatabaseId } from '../../../protocol/index.js';
import { one } from '../../http/answer-shape.js';
import { SearchIndexAnswer, searchIndexAnswer } from '../answers/search-index-answer.js';
import { type ManagementRoute, managementRoute } from '../management-call.js';
import { IsGivenName } from '../requests/rules.js';
import { mustBeOffered, type OwnedIndexes, ownedIndexRoutes, shownIndex } from './owned-index-routes.js';

/** Bodies of calls about search indexes. */
class CreateSearchIndexRequest {
  @IsGivenName()
  readonly name!: string;

  @IsIn(SEARCH_REGIONS)
  readonly region!: SearchRegion;

  @IsIn(SEARCH_TYPES)
  readonly type!: SearchType;
}

const SEARCH_INDEXES: OwnedIndexes<SearchIndexAnswer> = {
  plane: 'search',
  at: '/v2/search',
  name: 'a search index',
  names: 'search indexes',
  answer: SearchIndexAnswer,
  actions: {
    delete: 'deleteSearchIndex',
    rename: 'renameSearchIndex',
    reset: 'resetSearchPassword',
    transfer: 'transferSearchIndex',
    plan: 'setSearchPlan',
  },
  limits: DEFAULT_SEARCH_LIMITS,
  shown: searchIndexAnswer,
};

export const SEARCH_INDEX_ROUTES: readonly ManagementRoute[] = [
  managementRoute('POST /v2/search', {
    summary: 'Makes a search index.',
    permission: 'indexes:change',
    body: CreateSearchIndexRequest,
    example: { name: 'papers', region: 'us-central1', type: 'free' },
    answer: one(SearchIndexAnswer),
    async handle(call, { body: { name, region, type } }) {
      const { parts, secrets } = call.endpoint;
      mustBeOffered(call, type, 'type');
      const id = newDatabaseId(parts.random);
      const limits = DEFAULT_SEARCH_LIMITS[type];
      const wanted = { id, name, account: call.account, region, type, limits, tokens: secrets.ofSearchIndex() };
      const about = { action: 'createSearchIndex', entity: name } as const;
      const { index } = await call.change({ type: 'CreateSearchIndex', index: wanted }, 'OneSearchIndex', about);
      return shownIndex(call, index, SEARCH_INDEXES);
    },
  }),

  ...ownedIndexRoutes(SEARCH_INDEXES),
];
