/**
 * The output of a connection in order: answers, and messages (pushes) between them.
 *
 *  RO1 a message never stands inside an answer, nor before the answer of a command that was running when it arrived:
 *      a client gets a changed value before the message about its change
 *  RO2 unread output is bounded: the connection is cut above `maxOutputBytes`, or after `softOutputMs` above
 *      `softOutputBytes`
 *  RO3 messages are written in this connection's turn (broadcast-queue.ts), one write at a time while the client
 *      reads; waiting messages are references, and later answers wait as well
 *  RO4 output that waits for its turn does not count as held by the client; it counts when the client does not read
 *      it
 */
import type { Socket } from 'node:net';
import type { ByteString } from '../../kernel/index.js';
import type { BroadcastItem, Broadcasts, BroadcastTurn, Clock, Timers } from '../../ports/index.js';
import { OutboundBuffer, WRITE_BYTES } from '../outbound-buffer.js';
import type { RespEndpointLimits } from './resp-limits.js';

export interface RespOutputParts {
  readonly socket: Socket;
  readonly limits: RespEndpointLimits;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly broadcasts: Broadcasts;
  /** The tenant whose turn a message uses. */
  readonly tenant: () => string;
  readonly onTooMuch: () => void;
  /** More messages may be waiting. */
  readonly onGrown: () => void;
}

export class RespOutput implements BroadcastItem {
  /** Written after the waiting messages. */
  #answers: ByteString = '';
  /** Messages before the answers. */
  readonly #waiting = new OutboundBuffer();
  /** Messages after the answers. */
  #pushed: ByteString[] = [];
  #pushedBytes = 0;
  #turn: BroadcastTurn | undefined;
  #onRead: (() => void)[] = [];
  #softSinceMs: number | undefined;
  /** Answers are being assembled: messages wait. */
  isHeld = false;
  #isDiscarded = false;
  /** Bytes of all answers so far. */
  bytesAnswered = 0;

  constructor(private readonly parts: RespOutputParts) {}

  /** Bytes that wait in the process: for `flush`, their turn or the client. */
  get bytes(): number {
    return this.parts.socket.writableLength + this.#answers.length + this.#waiting.bytes + this.#pushedBytes;
  }

  /** Answers wait for `flush`. */
  get hasAnswers(): boolean {
    return this.#answers !== '';
  }

  /** The part of `bytes` that was offered to the client or that it requested (RO4). */
  get heldBytes(): number {
    return this.#turn !== undefined ? this.parts.socket.writableLength + this.#answers.length : this.bytes;
  }

  /** Drops all output that was not written. */
  discard(): void {
    this.#isDiscarded = true;
    this.#answers = '';
  }

  answer(bytes: ByteString): void {
    if (this.#isDiscarded) return;
    if (!this.isHeld) this.#takePushed();
    this.#answers += bytes;
    this.bytesAnswered += bytes.length;
    if (this.#answers.length > WRITE_BYTES) this.#write();
  }

  push(bytes: ByteString): void {
    if (this.#isDiscarded) return;
    this.#pushed.push(bytes);
    this.#pushedBytes += bytes.length;
    const { limits, onTooMuch, onGrown } = this.parts;
    if (this.bytes > limits.maxOutputBytes) onTooMuch();
    else if (this.#turn !== undefined) this.#turn.more(bytes.length);
    else if (this.isHeld || this.#isFull) onGrown();
    else this.#due(bytes.length);
  }

  /** Writes or schedules all output that may leave. */
  flush(): void {
    if (!this.isHeld) this.#takePushed();
    if (this.#answers !== '') this.#write();
    if (this.#waiting.bytes > 0 && !this.#isFull && this.#turn === undefined) this.#due(this.#waiting.bytes);
  }

  /** Writes all output to the socket: it is the last. */
  flushAll(): void {
    this.#takePushed();
    const { socket } = this.parts;
    while (this.#waiting.bytes > 0 && !socket.destroyed) socket.write(this.#waiting.take(), 'latin1');
    if (this.#answers !== '') this.#write();
  }

  /** The client has read. */
  drained(): void {
    const bytes = this.#waiting.bytes + (this.isHeld ? 0 : this.#pushedBytes);
    if (bytes > 0 && this.#turn === undefined) this.#due(bytes);
  }

  /** The client has not read its output, or earlier messages are still due. */
  get isBehind(): boolean {
    return this.#waiting.bytes > 0 || this.parts.socket.writableNeedDrain;
  }

  /** Continues after other connections have run and the client has read. */
  whenRead(goOn: () => void): void {
    this.flush();
    const { socket, timers } = this.parts;
    if (this.#waiting.bytes > 0) this.#onRead.push(goOn);
    else if (socket.writableNeedDrain) socket.once('drain', goOn);
    else timers.soon(goOn);
  }

  /** Writes messages in this connection's turn (RO3). */
  handOn(mayGoOn: () => boolean): number {
    const { socket, onGrown } = this.parts;
    if (!this.isHeld) this.#takePushed();
    while (this.#waiting.bytes > 0 && !this.#isFull && !socket.destroyed) {
      socket.write(this.#waiting.take(), 'latin1');
      if (this.#waiting.bytes > 0 && !this.#isFull && !mayGoOn()) return this.#waiting.bytes;
    }
    if (this.#waiting.bytes === 0 && this.#answers !== '') this.#write();
    this.#turn = undefined;
    onGrown();
    if (this.#waiting.bytes === 0 && this.#onRead.length > 0) this.#goOn();
    return 0;
  }

  /** Has the client left too much unread for too long? */
  isStuck(): boolean {
    const { limits, clock } = this.parts;
    if (this.bytes <= limits.softOutputBytes) {
      this.#softSinceMs = undefined;
      return false;
    }
    const nowMs = clock.monotonicMs();
    this.#softSinceMs ??= nowMs;
    return nowMs - this.#softSinceMs > limits.softOutputMs;
  }

  /** The socket's buffer is full; `drain` follows. */
  get #isFull(): boolean {
    const { socket } = this.parts;
    return socket.writableNeedDrain && socket.writableLength > 0;
  }

  #due(bytes: number): void {
    this.#turn = this.parts.broadcasts.add(this.parts.tenant(), this, bytes);
  }

  #goOn(): void {
    const waiting = this.#onRead;
    this.#onRead = [];
    for (const goOn of waiting) this.whenRead(goOn);
  }

  #takePushed(): void {
    if (this.#pushed.length === 0) return;
    if (this.#answers !== '') this.#waiting.add(this.#answers);
    this.#answers = '';
    for (const said of this.#pushed) this.#waiting.add(said);
    this.#pushed = [];
    this.#pushedBytes = 0;
  }

  #write(): void {
    const bytes = this.#answers;
    this.#answers = '';
    const { socket } = this.parts;
    if (this.#waiting.bytes > 0) this.#waiting.add(bytes);
    else if (!socket.destroyed) socket.write(bytes, 'latin1');
  }
}
