/** Sends commands of the management API to the control actor, in this process or another. */
import type { ControlCommand, ControlReply } from '../domain/control/index.js';

export interface ManagementControl {
  /**
   * Resolves once everything that the answer depends on is stored, and every live process has applied a revocation. A
   * refusal is an answer, not an error.
   * @throws MillraceError: SHARD_UNAVAILABLE, MAILBOX_FULL, SHUTTING_DOWN, NOT_APPLIED (ask again) or
   *         OUTCOME_UNKNOWN, TIMED_OUT (ask again with the same command: it is judged once)
   */
  send(command: ControlCommand): Promise<ControlReply>;
}
