/** What a command about the connection itself is, for the connection that runs it. */
import type { Reply } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';
import type { RespClient } from '../resp-client.js';

/** Bytes that are not one reply: several confirmations, or none. */
export class Several {
  constructor(readonly bytes: ByteString) {}
}

/** Bytes that may be many, which are made when they are written. */
export class InPieces {
  constructor(readonly pieces: Iterator<ByteString>) {}
}

/** Undefined: nothing is said. */
export type CommandAnswer = Reply | Several | InPieces | undefined;

export interface ConnectionCommand {
  /** Admitted words: of right arity, permitted. Refusals are replies. */
  readonly run: (client: RespClient, words: readonly ByteString[]) => CommandAnswer | Promise<CommandAnswer>;
  /** Neither looks at nor changes what answers in front of it depend on: it need not wait for them. */
  readonly isIndependent?: boolean;
  /** Inside MULTI too it is done at once. */
  readonly isDoneInTransaction?: boolean;
  /** Inside MULTI it is queued, and done when its turn comes; what it does at once is done in order. */
  readonly isQueueable?: boolean;
  /** What it answers there instead of being done. */
  readonly inTransaction?: Reply;
  /** Confirmed as one is told of messages: whatever CLIENT REPLY says. */
  readonly isAlwaysHeard?: boolean;
  /** Says itself whether it is answered, and uses up no CLIENT REPLY SKIP. */
  readonly leavesSilence?: boolean;
}
