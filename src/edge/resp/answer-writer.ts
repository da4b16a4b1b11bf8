/**
 * Writes the answers of one connection, one after the other, as fast as its client reads them.
 *
 *  RAW1 long answers wait until there is room for them: others of the same database may not have read theirs
 *  RAW2 what is made ahead of the client is a piece, or a stretch of short answers; then others run
 *  RAW3 of what nobody is there to read nothing more is made
 */
import { encodeInPieces, encodeReplyAs, isSmallReply } from '../../codec/resp/index.js';
import type { Reply } from '../../domain/kv/index.js';
import { type ByteString, STRANGERS } from '../../kernel/index.js';
import { WRITE_BYTES } from '../said-bytes.js';
import { InPieces } from './commands/index.js';
import { type HeldBytes, UNCOUNTED_BYTES } from './held-bytes.js';
import type { RespClient } from './resp-client.js';
import type { RespOutput } from './resp-output.js';

/** Bytes encoded before others get to run. */
const BYTES_A_STRETCH = 256 * 1024;
/** What follows the pieces of an answer that stands alone. */
const NOTHING_ELSE: readonly Reply[] = [];

export class AnswerWriter {
  constructor(
    private readonly client: RespClient,
    private readonly output: RespOutput,
    private readonly held: HeldBytes,
    /** All that was to be written is on its way; not told when the client has gone. */
    private readonly onWritten: () => void,
  ) {}

  /** @param bytes about so many are in them */
  begin(answers: readonly Reply[] | InPieces, bytes: number): void {
    const { client, held } = this;
    if (bytes <= UNCOUNTED_BYTES || held.fits(bytes)) {
      held.answerBytes = bytes;
      this.#write(answers);
      return;
    }
    const wait = client.face.room.wait(
      client.grant?.database ?? STRANGERS,
      () => held.fits(bytes) || held.isAlone,
      () => client.isClosed,
    );
    wait.then(() => {
      // What is there has to be said, at the latest now.
      held.answerBytes = bytes;
      held.count();
      this.#write(answers);
    });
  }

  /** Goes on when others have run and the client has read what there is. */
  whenRead(goOn: () => void): void {
    this.output.whenRead(goOn);
    this.held.count();
  }

  #write(answers: readonly Reply[] | InPieces): void {
    this.output.isHeld = true;
    if (answers instanceof InPieces) this.#writePieces(answers.pieces, NOTHING_ELSE, 0);
    else this.#writeAnswers(answers, 0);
  }

  /** @param from the first that is not written */
  #writeAnswers(answers: readonly Reply[], from: number): void {
    const { client, output } = this;
    if (client.isClosed) return;
    const { protocol } = client;
    const endBytes = output.bytesAnswered + BYTES_A_STRETCH;
    // Handed on together: most answers are a few bytes.
    let text: ByteString = '';
    for (let at = from; at < answers.length; at += 1) {
      const answer = answers[at] as Reply;
      if (!isSmallReply(answer)) {
        output.answer(text);
        this.#writePieces(encodeInPieces(answer, protocol), answers, at + 1);
        return;
      }
      text += encodeReplyAs(answer, protocol);
      if (text.length <= WRITE_BYTES) continue;
      output.answer(text);
      text = '';
      if (output.bytesAnswered > endBytes) {
        this.whenRead(() => this.#writeAnswers(answers, at + 1));
        return;
      }
    }
    output.answer(text);
    this.onWritten();
  }

  /** @param from the first of the answers that follow */
  #writePieces(pieces: Iterator<ByteString>, answers: readonly Reply[], from: number): void {
    if (this.client.isClosed) return;
    const step = pieces.next();
    if (step.done === true) {
      this.#writeAnswers(answers, from);
      return;
    }
    this.output.answer(step.value);
    this.whenRead(() => this.#writePieces(pieces, answers, from));
  }
}
