/** The way of the management face to the control actor, in this process or another. */
import type { ControlCommand, ControlReply } from '../domain/control/index.js';

export interface ManagementControl {
  /**
   * Resolves once everything the answer depends on is stored, and every live edge knows of what it takes away; with a
   * refusal as an answer, not as an error.
   * @throws MillraceError: SHARD_UNAVAILABLE, MAILBOX_FULL, SHUTTING_DOWN, NOT_APPLIED (ask again) or
   *         OUTCOME_UNKNOWN, TIMED_OUT (ask again with the same command: it is judged once)
   */
  send(command: ControlCommand): Promise<ControlReply>;
}
