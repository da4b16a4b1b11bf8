/** Finds the partitions and shards of a database or an account's queue by a name that a person gave. */
import type { ControlState, Database } from '../../domain/control/index.js';
import {
  type AccountId,
  type DatabaseId,
  MillraceError,
  type PartitionName,
  type ShardName,
} from '../../kernel/index.js';
import { accountIdOfUuid, databaseIdOfUuid, kvPartitions, queuePartition, shardOf } from '../../protocol/index.js';

export interface PartitionPlace {
  readonly partitions: readonly PartitionName[];
  /** `shards[i]` holds `partitions[i]`. */
  readonly shards: readonly ShardName[];
}

export interface DatabasePlace extends PartitionPlace {
  readonly id: DatabaseId;
}

/** The number of shards of the installation. */
export interface ShardCounts {
  readonly kvShards: number;
  readonly queueShards: number;
}

type Named = Pick<Database, 'id' | 'name' | 'deletedAtMs'>;

/** Finds a database or a search index by name, id or UUID. @throws NOT_FOUND, CONFLICT when several have the name */
export function placeOfDatabase(
  { databases, search }: ControlState,
  nameOrId: string,
  { kvShards }: ShardCounts,
): DatabasePlace {
  const asked = databaseIdOfUuid(nameOrId) ?? nameOrId;
  const isMeant = ({ id, name, deletedAtMs }: Named) =>
    id === asked || (name === nameOrId && deletedAtMs === undefined);
  const named = [...databases.values()].filter(isMeant);
  // Documents of a search index are keys of a hidden database.
  const indexes = [...search.byId.values()].filter(isMeant).map(({ id }) => ({ id, partitions: 1 }));
  const found = named.length > 0 ? named : indexes;
  const [database] = found;
  if (database === undefined) throw new MillraceError('NOT_FOUND', `there is no database ${nameOrId}`);
  if (found.length > 1) {
    throw new MillraceError('CONFLICT', `${found.length} databases are named ${nameOrId}: give the id of one`);
  }
  const partitions = kvPartitions(database.id, database);
  const shards = partitions.map((partition) => shardOf('kv', partition, kvShards));
  return { id: database.id, partitions, shards };
}

/** Finds the queue of an account. @throws NOT_FOUND */
export function placeOfAccount(
  { accounts }: ControlState,
  idOrUuid: string,
  { queueShards }: ShardCounts,
): PartitionPlace {
  const id = (accountIdOfUuid(idOrUuid) ?? idOrUuid) as AccountId;
  if (!accounts.has(id)) throw new MillraceError('NOT_FOUND', `there is no account ${idOrUuid}`);
  const partition = queuePartition(id);
  return { partitions: [partition], shards: [shardOf('queue', partition, queueShards)] };
}
