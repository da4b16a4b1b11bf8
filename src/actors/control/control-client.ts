/** Sends commands to the control actor, in this process or another. */
import type { ControlCommand, ControlReply } from '../../domain/control/index.js';

export interface ControlClient {
  /**
   * Resolves once everything that the answer depends on is stored. A refusal is an answer, not an error.
   * @throws MillraceError: SHARD_UNAVAILABLE, MAILBOX_FULL, SHUTTING_DOWN, NOT_APPLIED (ask again) or
   *         OUTCOME_UNKNOWN, TIMED_OUT (ask again with the same command: it is judged once)
   */
  send(command: ControlCommand): Promise<ControlReply>;
}

export type ReplyOf<Type extends ControlReply['type']> = Extract<ControlReply, { readonly type: Type }>;
