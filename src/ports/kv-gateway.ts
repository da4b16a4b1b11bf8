/** Sends requests to the owner of a partition, in this process or another. */
import type { PartitionName } from '../kernel/index.js';
import type { KvRequest, KvResponse } from '../protocol/index.js';

export interface KvGateway {
  /**
   * Resolves once everything the replies depend on is stored.
   * @throws MillraceError: MAILBOX_FULL, SHARD_UNAVAILABLE, STORAGE_FULL, SHUTTING_DOWN, NOT_APPLIED (not executed,
   *         try again) or OUTCOME_UNKNOWN (it may have been executed)
   */
  execute(request: KvRequest): Promise<KvResponse>;
  /** True while this process owns the partition and is still loading it. Undefined: unknown here. */
  isLoading?(partition: PartitionName): boolean;
}
