/** What those who listen to a database are told. */
import type { ByteString, PartitionName } from '../kernel/index.js';

export type KvEvent =
  | { readonly type: 'message'; readonly channel: ByteString; readonly payload: ByteString }
  | {
      readonly type: 'pmessage';
      readonly pattern: ByteString;
      readonly channel: ByteString;
      readonly payload: ByteString;
    }
  | { readonly type: 'smessage'; readonly channel: ByteString; readonly payload: ByteString }
  /** A line as MONITOR prints it, without the leading plus. */
  | { readonly type: 'monitor'; readonly line: ByteString }
  /** Keys that clients may have cached and that have changed; null: any. `by`: the connection that did it. */
  | { readonly type: 'invalidate'; readonly keys: readonly ByteString[] | null; readonly by: string | undefined };

/** What one process is told of one partition, in order. */
export interface KvDelivery {
  readonly partition: PartitionName;
  /** Of the owner that tells; after a takeover an older one is not believed any more. */
  readonly activation: string;
  readonly events: readonly KvEvent[];
}
