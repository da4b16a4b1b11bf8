/** Maps the tenants of a plane to their shards, by a hash that is computed once and cached. */
import { BoundedCache, type PartitionName, type ShardName } from '../../kernel/index.js';
import { type Plane, shardOf } from '../../protocol/index.js';

/** Above this number all are dropped and computed again. */
const MAX_REMEMBERED = 100_000;

export class ShardMap<Key> {
  readonly #shards = new BoundedCache<Key, ShardName>(MAX_REMEMBERED);

  constructor(
    private readonly plane: Plane,
    private readonly shardCount: number,
    private readonly partitionOf: (key: Key) => PartitionName,
  ) {}

  shardOf(key: Key): ShardName {
    const known = this.#shards.get(key);
    if (known !== undefined) return known;
    const shard = shardOf(this.plane, this.partitionOf(key), this.shardCount);
    this.#shards.set(key, shard);
    return shard;
  }
}
