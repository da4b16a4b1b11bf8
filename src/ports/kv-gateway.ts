/** The way from an edge to the owner of a partition, in this process or another. */
import type { KvRequest, KvResponse } from '../messages/index.js';

export interface KvGateway {
  /**
   * Resolves once everything the replies depend on is stored.
   * @throws MillraceError: MAILBOX_FULL, SHARD_UNAVAILABLE, STORAGE_FULL, SHUTTING_DOWN, NOT_APPLIED (nothing
   *         happened, try again) or OUTCOME_UNKNOWN (it may have happened)
   */
  execute(request: KvRequest): Promise<KvResponse>;
}
