/** What is known of a command, besides what it says: one row of the table, which all who handle commands read. */
import type { QueueCommand, QueueReply } from './commands.js';
import type { QueueSteps, QueueTurn } from './turn.js';

export interface CommandRow<Command extends QueueCommand = QueueCommand> {
  decide(command: Command, turn: QueueTurn): QueueReply | QueueSteps;
  /** It records nothing, so that it may be asked any number of times. */
  readonly isRead?: true;
  /**
   * Asked for a second time it changes nothing, and it is answered alike: it carries its own ids, or it says what is to
   * be. Left out: never.
   */
  isRepeatable?(command: Command): boolean;
  /**
   * A disk that is nearly full refuses it. What was promised, and what brings something to its end, is let through. An
   * endpoint whose step is refused fails its delivery, and is asked for the step again. Left out: never.
   */
  mayGrow?(command: Command): boolean;
  /** What it costs the mailbox that holds it. Left out: `COMMAND_BYTES`. */
  bytes?(command: Command): number;
  /** The account's own actor alone asks for it: from another process it is refused. */
  readonly isOfTheActor?: true;
}
