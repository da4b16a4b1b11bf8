/**
 * Databases in cluster mode: their clients ask the owner of each hash slot directly, as in a cluster of Redis.
 *
 *  CLM1 a command on keys of another process is answered MOVED with the address of that process; while the owner is
 *       unknown the command runs as in any other database, forwarded
 *  CLM2 the keys of one command are in one slot, otherwise CROSSSLOT
 *  CLM3 a command about all keys is about those of the partitions for which this process answers, so that a client
 *       that asks every node sees each key once
 */
import {
  type ClusterNode,
  type CommandSpec,
  ERRORS,
  ErrorReply,
  firstSlotOf,
  keysOf,
  partitionOfSlot,
} from '../../domain/kv/index.js';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { KvGrant, RespNodes } from '../../ports/index.js';
import { slotOf } from '../commands/portions-of-several.js';

export class ClusterMode {
  constructor(private readonly nodes: RespNodes) {}

  /** The answer to a command that does not run here (CLM1, CLM2); undefined: it does. */
  redirection({ partitions }: KvGrant, spec: CommandSpec, words: readonly ByteString[]): ErrorReply | undefined {
    const slot = slotOf(keysOf(spec, words));
    if (slot === undefined) return undefined;
    if (slot === 'several') return ERRORS.crossSlot;
    const { isSelf, host, port } = this.nodes.ownerOf(
      partitions[partitionOfSlot(slot, partitions.length)] as PartitionName,
    );
    return isSelf ? undefined : new ErrorReply(`MOVED ${slot} ${host}:${port}`);
  }

  /** True when this process answers for all keys of the partition (CLM3). */
  answersFor(partition: PartitionName): boolean {
    return this.nodes.ownerOf(partition).isSelf;
  }

  /** The id of this process as a node. */
  get selfId(): string {
    return this.nodes.self.id;
  }

  /** The processes, with their slots of the database. */
  nodesOf({ partitions }: KvGrant): readonly ClusterNode[] {
    const count = partitions.length;
    const ranges = new Map<string, [first: number, last: number][]>();
    for (const [index, partition] of partitions.entries()) {
      const { id } = this.nodes.ownerOf(partition);
      const own = ranges.get(id) ?? [];
      const [first, last] = [firstSlotOf(index, count), firstSlotOf(index + 1, count) - 1];
      const before = own.at(-1);
      if (before?.[1] === first - 1) before[1] = last;
      else own.push([first, last]);
      ranges.set(id, own);
    }
    return this.nodes.all().map((node) => ({ ...node, ranges: ranges.get(node.id) ?? [] }));
  }
}
