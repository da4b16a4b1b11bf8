/** Which shard each of a plane's tenants is in: computed once, by hashing, and remembered for as many as come often. */
import { type PartitionName, Remembered, type ShardName } from '../../kernel/index.js';
import { type Plane, shardOf } from '../../messages/index.js';

/** Beyond it all are computed again. */
const MAX_REMEMBERED = 100_000;

export class ShardBook<Key> {
  readonly #shards = new Remembered<Key, ShardName>(MAX_REMEMBERED);

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
