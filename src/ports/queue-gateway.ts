/** The way from an edge to the owner of an account's queue, in this process or another. */
import type { PublishItem, QueueCommand, QueueReply } from '../domain/queue/index.js';
import type { AccountId } from '../kernel/index.js';
import type { Span } from '../messages/index.js';

export interface QueueGateway {
  /**
   * Resolves once everything the answer depends on is stored; a refusal is an answer.
   * @param trace what asks, where that is traced
   * @throws MillraceError: MAILBOX_FULL, SHARD_UNAVAILABLE, STORAGE_FULL, SHUTTING_DOWN, NOT_APPLIED (nothing
   *         happened, try again) or OUTCOME_UNKNOWN (ask again with the same ids)
   */
  ask(account: AccountId, command: QueueCommand, trace?: Span): Promise<QueueReply>;
  /**
   * Asked of the owner first. When no owner answers, what needs no answer (no group, no deduplication) is written
   * to the shard's intake and acknowledged from there, with the same ids: accepted once, whichever road was quicker.
   * @throws as `ask`, when neither road led anywhere or an answer is needed
   */
  publish(account: AccountId, items: readonly PublishItem[], trace?: Span): Promise<QueueReply>;
}
