/** The interface of a command about the connection itself. */
import type { Reply } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';
import type { RespClient } from '../resp-client.js';

/** Bytes of several confirmations, or of none. */
export class Several {
  constructor(readonly bytes: ByteString) {}
}

/** A long answer, encoded while it is written. */
export class InPieces {
  constructor(readonly pieces: Iterator<ByteString>) {}
}

/** Undefined: no answer. */
export type CommandAnswer = Reply | Several | InPieces | undefined;

export interface ConnectionCommand {
  /** @param words admitted: the right number, and permitted. Refusals are replies. */
  readonly run: (client: RespClient, words: readonly ByteString[]) => CommandAnswer | Promise<CommandAnswer>;
  /** Neither reads nor changes state that earlier answers depend on, so it need not wait for them. */
  readonly isIndependent?: boolean;
  /** Runs immediately even inside MULTI. */
  readonly isDoneInTransaction?: boolean;
  /** Inside MULTI it is queued and runs in its turn; its synchronous part runs in order. */
  readonly isQueueable?: boolean;
  /** Inside MULTI it runs while the transaction is put together, because the commands after it depend on it. */
  readonly isBeforeOthers?: boolean;
  /** Its answer inside MULTI, instead of running. */
  readonly inTransaction?: Reply;
  /** Its confirmation is sent like a message, whatever CLIENT REPLY is set to. */
  readonly isAlwaysHeard?: boolean;
  /** Decides itself whether it answers, and does not consume CLIENT REPLY SKIP. */
  readonly leavesSilence?: boolean;
}
