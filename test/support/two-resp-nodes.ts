/**
 * The nodes of `RespEndpointHarness`'s database in cluster mode: this node has partition 0, another one has 1 and 2.
 */
import { hashSlot, partitionOfSlot } from '../../src/domain/kv/index.js';
import type { PartitionName } from '../../src/kernel/index.js';
import type { RespNode, RespNodes } from '../../src/ports/index.js';

export const SELF_NODE: RespNode = { id: 'a'.repeat(40), host: '10.0.0.1', port: 6380, isSelf: true };
export const OTHER_NODE: RespNode = { id: 'b'.repeat(40), host: '10.0.0.2', port: 6380, isSelf: false };

export class TwoRespNodes implements RespNodes {
  readonly self = SELF_NODE;
  /** The partitions of the other node; tests change them. */
  readonly others = new Set(['kv:db-cluster:1', 'kv:db-cluster:2']);

  all(): readonly RespNode[] {
    return [SELF_NODE, OTHER_NODE];
  }

  ownerOf(partition: PartitionName): RespNode {
    return this.others.has(partition) ? OTHER_NODE : SELF_NODE;
  }
}

/** One key for each partition. */
export const KEY_OF_PARTITION = [0, 1, 2].map((index) => {
  for (let n = 0; ; n += 1) if (partitionOfSlot(hashSlot(`k${n}`), 3) === index) return `k${n}`;
}) as [string, string, string];
