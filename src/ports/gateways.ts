/** Requests and commands to owners, in this process or another. */

import type { PublishItem, QueueCommand, QueueReply } from '../domain/queue/index.js';
import type { AccountId, PartitionName } from '../kernel/index.js';
import type { KvRequest, KvResponse, Span } from '../protocol/index.js';

/** Sends requests to the owner of a partition. */
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

/** Sends commands to the owner of an account's queue. */
export interface QueueGateway {
  /**
   * Resolves once everything the answer depends on is stored; a refusal is an answer.
   * @param trace  the caller's span, if it is traced
   * @throws MillraceError: MAILBOX_FULL, SHARD_UNAVAILABLE, STORAGE_FULL, SHUTTING_DOWN, NOT_APPLIED (not executed,
   *         try again) or OUTCOME_UNKNOWN (ask again with the same ids)
   */
  ask(account: AccountId, command: QueueCommand, trace?: Span): Promise<QueueReply>;
  /**
   * Sent to the owner first. When no owner answers, a publish that needs no answer (no group, no deduplication) is
   * stored in the shard's intake and acknowledged from there, with the same ids: it is accepted once in either way.
   * @throws as `ask`, when neither way succeeded or an answer is needed
   */
  publish(account: AccountId, items: readonly PublishItem[], trace?: Span): Promise<QueueReply>;
}
