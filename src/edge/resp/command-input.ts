/** The commands of one connection, parsed from its bytes within the limits of its grant. */
import { type OversizedCommand, RequestParser, type RequestParserLimits } from '../../codec/resp/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { noteBytesOfWords } from '../commands/admission.js';

/** Size limit of a command before sign-in; enough for AUTH. */
const UNAUTHENTICATED_COMMAND_BYTES = 64 * 1024;

export class CommandInput {
  readonly parser: RequestParser;
  readonly #limits: RequestParserLimits;

  constructor({ maxWords, maxWordBytes }: Pick<RequestParserLimits, 'maxWords' | 'maxWordBytes'>) {
    this.#limits = {
      maxWords,
      maxWordBytes,
      maxCommandBytes: UNAUTHENTICATED_COMMAND_BYTES,
      isUnauthenticated: true,
    };
    this.parser = new RequestParser(this.#limits);
  }

  /**
   * @param isFirst  no earlier command waits for an answer; otherwise a protocol error is reported later, because the
   * earlier commands are answered first
   * @returns undefined without a whole command
   */
  next(grant: KvGrant | undefined, isFirst: boolean): ByteString[] | OversizedCommand | undefined {
    this.#limits.isUnauthenticated = grant === undefined;
    this.#limits.maxCommandBytes = grant?.limits.maxCommandBytes ?? UNAUTHENTICATED_COMMAND_BYTES;
    try {
      const command = this.parser.next();
      if (Array.isArray(command)) noteBytesOfWords(command, this.parser.commandBytes);
      return command;
    } catch (problem) {
      // The parser reports the same problem again.
      if (isFirst) throw problem;
      return undefined;
    }
  }
}
