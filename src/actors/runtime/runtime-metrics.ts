/** What the runtime counts; composition connects it to the metrics that are served. */
import type { ShardName } from '../../kernel/index.js';

export interface RuntimeMetrics {
  entryStored(shard: ShardName, ackMs: number, effects: number, effectBytes: number): void;
  appendUnknown(shard: ShardName): void;
  mailboxFull(shard: ShardName): void;
  takeover(shard: ShardName): void;
  /** Synchronous work of one drain. */
  drained(ms: number): void;
  /** From the claim to serving. */
  replayed(ms: number): void;
  refused(shard: ShardName): void;
  snapshotted(shard: ShardName): void;
}
