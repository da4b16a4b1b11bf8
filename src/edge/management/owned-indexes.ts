/** Search indexes and indexes of vectors of the caller's account, and the calls that both planes have. */
import { IsString } from 'class-validator';
import type { AuditAction, SearchIndex } from '../../domain/control/index.js';
import type { IndexPlane } from '../../ports/index.js';
import { databaseIdOfUuid } from '../../protocol/index.js';
import { notFound } from '../error-map.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { mustBeAllowed } from '../team-permissions.js';
import { isCharged, statisticsOf } from './charges.js';
import { teamOfCaller } from './ids.js';
import type { Change, ManagementCall } from './management-call.js';
import { endOfPeriod, type PeriodQuery } from './requests/database-requests.js';

/** The body of a transfer. */
export class TransferIndexRequest {
  /** The id of a team. */
  @IsString()
  readonly target_account!: string;
}

function planeOf({ vectors }: SearchIndex): IndexPlane {
  return vectors === undefined ? 'search' : 'vector';
}

export async function indexesOf(call: ManagementCall, plane: IndexPlane): Promise<readonly SearchIndex[]> {
  const { indexes } = await call.ask({ type: 'ListSearchIndexes', account: call.account }, 'SearchIndexes');
  return call.allowed(
    indexes.filter((index) => planeOf(index) === plane),
    'indexes:read',
  );
}

/** @throws Refused 404 */
export async function indexIn(call: ManagementCall, plane: IndexPlane, uuid: string | undefined): Promise<SearchIndex> {
  const id = databaseIdOfUuid(uuid ?? '');
  const found = (await indexesOf(call, plane)).find((index) => index.id === id);
  if (found === undefined) throw new RefusedRequest(notFound(`${plane} index`));
  return found;
}

type IndexChange = Omit<Extract<Change, { readonly type: 'ChangeSearchIndex' }>, 'type' | 'account' | 'index'>;

/** @throws Refused */
export async function changeIndex(
  call: ManagementCall,
  { id, name }: SearchIndex,
  action: AuditAction,
  change: IndexChange,
  secondary = '',
): Promise<void> {
  const command = { type: 'ChangeSearchIndex', account: call.account, index: id, ...change } as const;
  await call.change(command, 'OneSearchIndex', { action, entity: name, secondary });
}

/** Partitions of an index; its documents are keys there. */
const INDEX_PARTITIONS = 1;

export async function deleteIndex(call: ManagementCall, { id, name }: SearchIndex, action: AuditAction): Promise<void> {
  const command = { type: 'DeleteSearchIndex', account: call.account, index: id } as const;
  await call.change(command, 'OneSearchIndex', { action, entity: name });
  // Only after no token opens the index: later writes would not be removed.
  call.endpoint.parts.removal?.remove(id, INDEX_PARTITIONS);
}

/** @param target the id of a team in which the caller may make indexes. @throws Refused 400, 403, 404 */
export async function transferIndex(
  call: ManagementCall,
  index: SearchIndex,
  action: AuditAction,
  target: string,
): Promise<void> {
  if (target.includes('@')) throw invalid('target_account: must be a team; a personal account cannot be a target');
  const found = await teamOfCaller(call, target);
  mustBeAllowed(found, 'indexes:change');
  const { team } = found;
  await changeIndex(call, index, action, { to: team.id }, team.name);
}

/** The usage of several indexes together, and of those with costs. */
export async function totalsOf(call: ManagementCall, indexes: readonly SearchIndex[]) {
  const read = async (some: readonly SearchIndex[]) => {
    const ids = some.map(({ id }) => id);
    return call.shows(await statisticsOf(call).searchTotals(ids, call.nowMs));
  };
  const charged = indexes.filter(isCharged);
  const totals = await read(indexes);
  return { totals, billed: charged.length === indexes.length ? totals : await read(charged) };
}

/** The usage of an index over time, and its stored documents that queries do not find yet. */
export async function seriesOf(call: ManagementCall, index: SearchIndex, query: PeriodQuery) {
  const { period = '1h' } = query;
  const nowMs = endOfPeriod(query, call.nowMs);
  const [series, pending] = await Promise.all([
    statisticsOf(call).search(index.id, period, nowMs),
    call.endpoint.parts.pendingDocuments(index),
  ]);
  return { series: call.shows(series), pending, nowMs };
}
