/** The properties of one type of command: how it is decided, and how the gateway, codec and mailbox treat it. */
import type { AccountId } from '../../kernel/index.js';
import type { ControlCommand } from './commands.js';
import type { Decision } from './decision.js';
import type { ControlState } from './state.js';

export interface ControlRow<Command extends ControlCommand = ControlCommand> {
  /** @param nowMs the clock of the turn, never earlier than that of the last entry */
  decide(command: Command, state: ControlState, nowMs: number): Decision;
  /** The command changes no state, so it may be repeated freely. */
  readonly isRead?: true;
  /**
   * Refuses a command that names a database or queue without an account when another account asks for it. Such
   * commands were made for operators; in an `Audited` command they act for the account of the audit log.
   */
  refuseForeign?(command: Command, account: AccountId, state: ControlState): Decision | undefined;
  /** The tenant for fair scheduling in the actor. Default: the account that the command names, else the caller. */
  tenant?(command: Command): string;
  /** Memory in the mailbox. Default: `CONTROL_COMMAND_BYTES`. */
  bytes?(command: Command): number;
}
