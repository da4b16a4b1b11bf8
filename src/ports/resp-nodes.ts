/** The processes that cluster clients of Redis connect to, as its `CLUSTER` commands name them: nodes. */
import type { PartitionName } from '../kernel/index.js';

export interface RespNode {
  /** 40 hex digits, constant while the process runs. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** This process. */
  readonly isSelf: boolean;
}

export interface RespNodes {
  readonly self: RespNode;
  /** This process and the others that announce an address and stay, in order of their ids. */
  all(): readonly RespNode[];
  /**
   * The node of the partition's owner. This process while the owner is unknown, is about to end, or announces no
   * address that differs from ours: then requests are forwarded.
   */
  ownerOf(partition: PartitionName): RespNode;
}
