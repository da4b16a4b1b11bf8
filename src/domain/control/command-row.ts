/** What is known of a command, besides what it says: one row of the table, which all who handle commands read. */
import type { AccountId } from '../../kernel/index.js';
import type { ControlCommand } from './commands.js';
import type { Decision } from './decision.js';
import type { ControlState } from './state.js';

export interface ControlRow<Command extends ControlCommand = ControlCommand> {
  /** @param nowMs the clock of the turn: never before that of the last entry */
  decide(command: Command, state: ControlState, nowMs: number): Decision;
  /** It changes nothing, whatever it is answered, so that it may be asked any number of times. */
  readonly isRead?: true;
  /**
   * A command that names a database or a queue, and no account, is refused for an account that this is not of. Such
   * commands were the operators' first; noted in an account's audit log, they are asked for that account.
   */
  refuseForeign?(command: Command, account: AccountId, state: ControlState): Decision | undefined;
  /** It says with whom the command shares the actor. Left out: the account that it names, else who asks for none. */
  tenant?(command: Command): string;
  /** What it costs the mailbox that holds it. Left out: `CONTROL_COMMAND_BYTES`. */
  bytes?(command: Command): number;
}
