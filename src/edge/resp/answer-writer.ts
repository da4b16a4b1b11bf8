/**
 * Writes the answers of one connection in order, at the speed of its client.
 *
 *  RAW1 a long answer waits until the budget has room, because other clients of the database may hold unread answers
 *  RAW2 at most one piece, or one slice of short answers, is encoded ahead of the client; then other connections run
 *  RAW3 no answer is encoded for a client that has disconnected
 */
import { encodeInPieces, encodeReplyAs, isSmallReply } from '../../codec/resp/index.js';
import type { Reply } from '../../domain/kv/index.js';
import { type ByteString, STRANGERS } from '../../kernel/index.js';
import { WRITE_BYTES } from '../outbound-buffer.js';
import { InPieces } from './commands/index.js';
import { type HeldBytes, UNCOUNTED_BYTES } from './held-bytes.js';
import type { RespClient } from './resp-client.js';
import type { RespOutput } from './resp-output.js';

/** Bytes encoded in one slice. */
const BYTES_A_STRETCH = 256 * 1024;
/** No answers follow the pieces. */
const NOTHING_ELSE: readonly Reply[] = [];

export class AnswerWriter {
  constructor(
    private readonly client: RespClient,
    private readonly output: RespOutput,
    private readonly held: HeldBytes,
    /** Called when the last byte was handed to the socket; not called after the client has disconnected. */
    private readonly onWritten: () => void,
  ) {}

  /** @param bytes approximate size of the answers */
  begin(answers: readonly Reply[] | InPieces, bytes: number): void {
    const { client, held } = this;
    if (bytes <= UNCOUNTED_BYTES || held.fits(bytes)) {
      held.answerBytes = bytes;
      this.#write(answers);
      return;
    }
    const wait = client.endpoint.room.wait(
      client.grant?.database ?? STRANGERS,
      () => held.fits(bytes) || held.isAlone,
      () => client.isClosed,
    );
    wait.then(() => {
      // The wait is over: the answer is sent with or without room.
      held.answerBytes = bytes;
      held.count();
      this.#write(answers);
    });
  }

  /** Continues after other connections have run and the client has read. */
  whenRead(goOn: () => void): void {
    this.output.whenRead(goOn);
    this.held.count();
  }

  #write(answers: readonly Reply[] | InPieces): void {
    this.output.isHeld = true;
    if (answers instanceof InPieces) this.#writePieces(answers.pieces, NOTHING_ELSE, 0);
    else this.#writeAnswers(answers, 0);
  }

  /** @param from the first unwritten answer */
  #writeAnswers(answers: readonly Reply[], from: number): void {
    const { client, output } = this;
    if (client.isClosed) return;
    const { protocol } = client;
    const endBytes = output.bytesAnswered + BYTES_A_STRETCH;
    // Joined into one write: most answers have a few bytes.
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

  /** @param from the first answer after the pieces */
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
