/** What an edge asks of the owner of a partition, and what comes back. */
import type { Reply } from '../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName } from '../kernel/index.js';

/**
 * `single` and `pipeline`: each command on its own, in order, others may come between.
 * `transaction`: all in one turn and one entry.
 */
export type KvMode = 'single' | 'pipeline' | 'transaction';

export interface KvRequest {
  readonly database: DatabaseId;
  readonly partition: PartitionName;
  readonly mode: KvMode;
  /** Admitted commands: known, of right arity, permitted. */
  readonly commands: readonly (readonly ByteString[])[];
  /** Bytes of all words, for the bounds of mailbox and turn. */
  readonly bytes: number;
}

export interface KvResponse {
  /** One for each command, in order. */
  readonly replies: readonly Reply[];
  /** Grows with every write to the partition; opaque to clients. `<position>-<ordinal>`. */
  readonly syncToken: string;
}
