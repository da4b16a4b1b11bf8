/** The calls that indexes of both planes have: reading, renaming, moving, deleting, plans, and their statistics. */
import { IsIn } from 'class-validator';
import {
  type AuditAction,
  SEARCH_TYPES,
  type SearchIndex,
  type SearchLimits,
  type SearchType,
} from '../../../domain/control/index.js';
import type { IndexPlane } from '../../../ports/index.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid } from '../../http/refused.js';
import type { Point } from '../../http/shapes.js';
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
import { shownWithThroughput, throughput } from '../throughput.js';

/** The differences between the planes. */
export interface OwnedIndexes<Answer extends object> {
  readonly plane: IndexPlane;
  /** The path of the collection. */
  readonly at: `/${string}`;
  /** `a search index`, as the summaries name one, and several. */
  readonly name: string;
  readonly names: string;
  readonly answer: new () => Answer;
  readonly actions: Readonly<Record<'delete' | 'rename' | 'reset' | 'transfer' | 'plan', AuditAction>>;
  readonly limits: Readonly<Record<SearchType, SearchLimits>>;
  shown(call: ManagementCall, index: SearchIndex, points: readonly Point[]): Answer;
}

class SetPlanRequest {
  @IsIn(SEARCH_TYPES)
  readonly target_plan!: SearchType;
}

export function ownedIndexRoutes<Answer extends object>(indexes: OwnedIndexes<Answer>): readonly ManagementRoute[] {
  return [...readingRoutes(indexes), ...changingRoutes(indexes), planRoute(indexes)];
}

function readingRoutes<Answer extends object>(indexes: OwnedIndexes<Answer>): readonly ManagementRoute[] {
  const { plane, at, name, names, answer, shown } = indexes;
  return [
    managementRoute(`GET ${at}`, {
      answersSome: true,
      summary: `Lists the ${names} of the account, oldest first.`,
      permission: 'indexes:read',
      answer: listOf(answer),
      async handle(call) {
        return shownWithThroughput(call, await indexesOf(call, plane), (index, points) => shown(call, index, points));
      },
    }),

    managementRoute(`GET ${at}/stats`, {
      answersSome: true,
      summary: `Shows the usage of all ${names} of the account together.`,
      permission: 'indexes:read',
      answer: one(SearchTotalsAnswer),
      async handle(call) {
        const { totals, billed } = await totalsOf(call, await indexesOf(call, plane));
        return searchTotalsAnswer(totals, billed, call.nowMs, chargesOfSearch(call));
      },
    }),

    managementRoute(`GET ${at}/:id`, {
      summary: `Shows ${name}.`,
      permission: 'indexes:read',
      answer: one(answer),
      async handle(call, { path }) {
        return shownIndex(call, await indexIn(call, plane, path.id), indexes);
      },
    }),

    managementRoute(`GET ${at}/:id/stats`, {
      summary: `Shows the usage of ${name}.`,
      permission: 'indexes:read',
      query: PeriodQuery,
      answer: one(SearchStatisticsAnswer),
      async handle(call, { path, query }) {
        const index = await indexIn(call, plane, path.id);
        const { series, pending, nowMs } = await seriesOf(call, index, query);
        return searchStatisticsAnswer(series, pending, nowMs, chargesOfIndex(call, index));
      },
    }),
  ];
}

function changingRoutes<Answer extends object>(indexes: OwnedIndexes<Answer>): readonly ManagementRoute[] {
  const { plane, at, name, names, actions } = indexes;
  return [
    managementRoute(`DELETE ${at}/:id`, {
      summary: `Deletes ${name} with all that it holds.`,
      permission: 'indexes:change',
      answer: OK_ANSWER,
      async handle(call, { path }) {
        await deleteIndex(call, await indexIn(call, plane, path.id), actions.delete);
        return OK_TEXT;
      },
    }),

    managementRoute(`POST ${at}/:id/rename`, {
      summary: `Gives ${name} another name.`,
      permission: 'indexes:change',
      body: RenameDatabaseRequest,
      example: { name: 'books' },
      answer: OK_ANSWER,
      async handle(call, { path, body: { name: given } }) {
        await changeIndex(call, await indexIn(call, plane, path.id), actions.rename, { name: given }, given);
        return OK_TEXT;
      },
    }),

    managementRoute(`POST ${at}/:id/reset-password`, {
      summary: `Replaces the tokens of ${name}; the old ones are refused from then on.`,
      permission: 'indexes:change',
      answer: OK_ANSWER,
      async handle(call, { path }) {
        const tokens = call.endpoint.secrets.ofSearchIndex();
        await changeIndex(call, await indexIn(call, plane, path.id), actions.reset, { tokens });
        return OK_TEXT;
      },
    }),

    managementRoute(`POST ${at}/:id/transfer`, {
      summary: `Moves ${name} to a team in which the caller may make ${names}.`,
      permission: 'indexes:change',
      body: TransferIndexRequest,
      example: { target_account: EXAMPLE_ID },
      answer: OK_ANSWER,
      async handle(call, { path, body: { target_account: target } }) {
        await transferIndex(call, await indexIn(call, plane, path.id), actions.transfer, target);
        return OK_TEXT;
      },
    }),
  ];
}

function planRoute<Answer extends object>({ plane, at, name, actions, limits }: OwnedIndexes<Answer>): ManagementRoute {
  return managementRoute(`POST ${at}/:id/setplan`, {
    summary: `Changes the plan of ${name}, and with it its limits.`,
    permission: 'indexes:change',
    body: SetPlanRequest,
    example: { target_plan: 'payg' },
    answer: OK_ANSWER,
    async handle(call, { path, body: { target_plan: plan } }) {
      mustBeOffered(call, plan, 'target_plan');
      await changeIndex(call, await indexIn(call, plane, path.id), actions.plan, { plan, limits: limits[plan] }, plan);
      return OK_TEXT;
    },
  });
}

/** @param property of the body. @throws Refused 400 */
export function mustBeOffered({ endpoint }: ManagementCall, plan: SearchType, property: string): void {
  if (plan === 'fixed' && !endpoint.parts.offersFixedSearch) {
    throw invalid(`${property}: fixed is not available on this server`);
  }
}

export async function shownIndex<Answer extends object>(
  call: ManagementCall,
  index: SearchIndex,
  { shown }: Pick<OwnedIndexes<Answer>, 'shown'>,
): Promise<Answer> {
  return shown(call, index, await throughput(call, index));
}
