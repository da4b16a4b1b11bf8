/**
 * Decides commands that create, change and delete search indexes. A repetition (same ids and tokens) gets the same
 * answer.
 */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import { MAX_DENSE_DIMENSION } from '../search/index.js';
import type { ControlCommandOf } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { isSame, refuseAsTarget, said } from './decide-management-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_ACCOUNT_SEARCH_INDEXES, MAX_SEARCH_INDEXES } from './limits.js';
import {
  SEARCH_REGIONS,
  SEARCH_TYPES,
  type SearchIndex,
  type SearchTokens,
  type VectorIndexShape,
} from './management.js';
import { refuseName } from './names.js';
import { refusedSearchLimit } from './search-limits.js';
import type { ControlState } from './state.js';

export function decideCreateIndex(
  { index }: ControlCommandOf<'CreateSearchIndex'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const { id, name, account, region, type, limits, tokens, vectors } = index;
  if (!state.accounts.has(account)) return unknownAccount(account);
  const known = state.search.live(id);
  if (known?.account === account && areSame(known.tokens, tokens)) {
    return decided({ type: 'OneSearchIndex', index: known });
  }
  const refusal = refuseName(name);
  if (refusal !== undefined) return refusal;
  if (!SEARCH_REGIONS.includes(region))
    return rejected('BAD_VALUE', `region must be one of ${SEARCH_REGIONS.join(', ')}`);
  const misshapen = vectors === undefined ? undefined : refusedShape(vectors);
  if (misshapen !== undefined) return rejected('BAD_VALUE', misshapen);
  if (!SEARCH_TYPES.includes(type)) return rejected('BAD_VALUE', `type must be one of ${SEARCH_TYPES.join(', ')}`);
  const wrong = refusedSearchLimit(limits);
  if (wrong !== undefined) return rejected('BAD_LIMITS', wrong);
  // A search index is a partition like a database, so the two never share an id.
  if (state.search.byId.has(id) || state.databases.has(id)) return rejected('ID_TAKEN', `the id ${id} is in use`);
  const full = refuseOneMore(account, state);
  if (full !== undefined) return full;
  if (!areFresh(tokens, state)) return tokenTaken();
  if (state.search.liveCount >= MAX_SEARCH_INDEXES) {
    return rejected('TOO_MANY', `there are ${MAX_SEARCH_INDEXES} search indexes, which is the maximum`);
  }
  const shape = vectors === undefined ? {} : { vectors };
  const created = { id, name, account, region, type, limits, tokens, createdAtMs: nowMs, ...shape };
  return decided(
    { type: 'OneSearchIndex', index: { ...created, deletedAtMs: undefined } },
    { type: 'SearchIndexCreated', index: created },
  );
}

export function decideListIndexes({ account }: ControlCommandOf<'ListSearchIndexes'>, state: ControlState): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  return decided({ type: 'SearchIndexes', indexes: state.search.of(account) });
}

export function decideGetIndex(
  { account, index: id }: ControlCommandOf<'GetSearchIndex'>,
  state: ControlState,
): Decision {
  const index = state.search.live(id);
  return index?.account === account ? decided({ type: 'OneSearchIndex', index }) : unknownIndex(id);
}

export function decideChangeIndex(
  command: ControlCommandOf<'ChangeSearchIndex'>,
  state: ControlState,
  atMs: number,
): Decision {
  const before = state.search.live(command.index);
  if (before?.tokens === undefined || before.account !== command.account) return unknownIndex(command.index);
  const { name = before.name, to, plan = before.type } = command;
  const limits = { ...before.limits, ...said(command.limits ?? {}) };
  const hasNewTokens = command.tokens !== undefined && !areSame(before.tokens, command.tokens);
  const tokens = hasNewTokens ? command.tokens : before.tokens;
  const wrong = refusedSearchLimit(limits);
  if (wrong !== undefined) return rejected('BAD_LIMITS', wrong);
  if (hasNewTokens && !areFresh(tokens, state)) return tokenTaken();
  const refusal = (name === before.name ? undefined : refuseName(name)) ?? refuseMove(before.account, to, state);
  if (refusal !== undefined) return refusal;
  const after: SearchIndex = { ...before, name, limits, tokens, type: plan, account: to ?? before.account };
  if (isSame(after, before)) return decided({ type: 'OneSearchIndex', index: before });
  const { id: index, account } = after;
  return decided(
    { type: 'OneSearchIndex', index: after },
    { type: 'SearchIndexSet', index, name, account, limits, tokens, atMs, ...(plan === before.type ? {} : { plan }) },
  );
}

/** A repetition gets the same answer, because the documents may still have to be removed. */
export function decideDeleteIndex(
  command: ControlCommandOf<'DeleteSearchIndex'>,
  state: ControlState,
  atMs: number,
): Decision {
  const index = state.search.byId.get(command.index);
  if (index === undefined || index.account !== command.account) return unknownIndex(command.index);
  if (index.deletedAtMs !== undefined) return decided({ type: 'OneSearchIndex', index });
  return decided(
    { type: 'OneSearchIndex', index: { ...index, tokens: undefined, deletedAtMs: atMs } },
    { type: 'SearchIndexDeleted', index: index.id, atMs },
  );
}

function refuseMove(from: AccountId, to: AccountId | undefined, state: ControlState): Decision | undefined {
  if (to === undefined) return undefined;
  return refuseAsTarget(state, from, to) ?? refuseOneMore(to, state);
}

function refuseOneMore(account: AccountId, state: ControlState): Decision | undefined {
  if (state.search.countOf(account) < MAX_ACCOUNT_SEARCH_INDEXES) return undefined;
  return rejected('TOO_MANY', `an account has at most ${MAX_ACCOUNT_SEARCH_INDEXES} search indexes`);
}

function areSame(one: SearchTokens | undefined, other: SearchTokens): boolean {
  return one?.token.sha256 === other.token.sha256 && one.readOnlyToken.sha256 === other.readOnlyToken.sha256;
}

function areFresh({ token, readOnlyToken }: SearchTokens, { search }: ControlState): boolean {
  if (token.sha256 === readOnlyToken.sha256) return false;
  return !search.tokens.has(token.sha256) && !search.tokens.has(readOnlyToken.sha256);
}

/** The reason why an index cannot have this shape; undefined: it can. */
function refusedShape({ kind, dimension, denseModel, sparseModel }: VectorIndexShape): string | undefined {
  if (kind === 'SPARSE') return dimension === 0 && denseModel === '' ? undefined : 'a sparse index has no dimension';
  if (kind === 'DENSE' && sparseModel !== '') return 'a dense index has no sparse embedding model';
  if (Number.isSafeInteger(dimension) && dimension >= 1 && dimension <= MAX_DENSE_DIMENSION) return undefined;
  return `dimension_count must be a whole number from 1 to ${MAX_DENSE_DIMENSION}`;
}

function tokenTaken(): Decision {
  return rejected('SECRET_TAKEN', 'a token is in use already');
}

function unknownIndex(id: DatabaseId): Decision {
  return rejected('UNKNOWN_SEARCH_INDEX', `there is no search index ${id}`);
}
