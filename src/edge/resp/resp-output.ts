/**
 * What a connection has to say, in order: answers as they come, and what it says unasked between them.
 *
 * Invariants
 *  RO1 what is said unasked never stands inside an answer, nor in front of the answer of a command that was
 *      being run when it arrived: a client hears of a change behind the value that has changed
 *  RO2 output that is not read is bounded: beyond `maxOutputBytes` the connection is cut, and beyond
 *      `softOutputBytes` after `softOutputMs`
 *  RO3 what is said unasked leaves when it is this connection's turn (broadcast-queue.ts), a write at a time while the
 *      client reads; what waits are references, and answers behind them wait as well
 *  RO4 what waits for its turn is not held by the client: it counts from when the client does not take it
 */
import type { Socket } from 'node:net';
import type { ByteString } from '../../kernel/index.js';
import type { BroadcastItem, Broadcasts, BroadcastTurn, Clock, Timers } from '../../ports/index.js';
import { SaidBytes, WRITE_BYTES } from '../said-bytes.js';
import type { RespFaceLimits } from './resp-limits.js';

export interface RespOutputParts {
  readonly socket: Socket;
  readonly limits: RespFaceLimits;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly broadcasts: Broadcasts;
  /** In whose turns it says something unasked. */
  readonly tenant: () => string;
  readonly onTooMuch: () => void;
  /** There may be more that was said unasked, and has not left. */
  readonly onGrown: () => void;
}

export class RespOutput implements BroadcastItem {
  /** Answers stand behind what waits. */
  #answers: ByteString = '';
  /** In front of the answers. */
  readonly #waiting = new SaidBytes();
  /** What is said unasked stands behind the answers. */
  #pushed: ByteString[] = [];
  #pushedBytes = 0;
  #turn: BroadcastTurn | undefined;
  #onRead: (() => void)[] = [];
  #softSinceMs: number | undefined;
  /** Answers are being put together: what is said unasked waits. */
  isHeld = false;
  /** Bytes of all answers so far. */
  bytesAnswered = 0;

  constructor(private readonly parts: RespOutputParts) {}

  /** Waits in the process, for `flush`, for its turn or for the client. */
  get bytes(): number {
    return this.parts.socket.writableLength + this.#answers.length + this.#waiting.bytes + this.#pushedBytes;
  }

  /** Answers wait for `flush`. */
  get hasAnswers(): boolean {
    return this.#answers !== '';
  }

  /** How much of these the client has been offered, or has asked for. (RO4) */
  get heldBytes(): number {
    return this.#turn !== undefined ? this.parts.socket.writableLength + this.#answers.length : this.bytes;
  }

  answer(bytes: ByteString): void {
    if (!this.isHeld) this.#takePushed();
    this.#answers += bytes;
    this.bytesAnswered += bytes.length;
    if (this.#answers.length > WRITE_BYTES) this.#write();
  }

  push(bytes: ByteString): void {
    this.#pushed.push(bytes);
    this.#pushedBytes += bytes.length;
    const { limits, onTooMuch, onGrown } = this.parts;
    if (this.bytes > limits.maxOutputBytes) onTooMuch();
    else if (this.#turn !== undefined) this.#turn.more(bytes.length);
    else if (this.isHeld || this.#isFull) onGrown();
    else this.#due(bytes.length);
  }

  /** Everything that may leave, leaves, or is due. */
  flush(): void {
    if (!this.isHeld) this.#takePushed();
    if (this.#answers !== '') this.#write();
    if (this.#waiting.bytes > 0 && !this.#isFull && this.#turn === undefined) this.#due(this.#waiting.bytes);
  }

  /** Whatever there is goes to the system: nothing will come behind it. */
  flushAll(): void {
    this.#takePushed();
    const { socket } = this.parts;
    while (this.#waiting.bytes > 0 && !socket.destroyed) socket.write(this.#waiting.take(), 'latin1');
    if (this.#answers !== '') this.#write();
  }

  /** The client has read something. */
  drained(): void {
    const bytes = this.#waiting.bytes + (this.isHeld ? 0 : this.#pushedBytes);
    if (bytes > 0 && this.#turn === undefined) this.#due(bytes);
  }

  /** The client has not read what it was offered, or something in front of it is still due. */
  get isBehind(): boolean {
    return this.#waiting.bytes > 0 || this.parts.socket.writableNeedDrain;
  }

  /** Goes on when others have run and the client has read what there is. */
  whenRead(goOn: () => void): void {
    this.flush();
    const { socket, timers } = this.parts;
    if (this.#waiting.bytes > 0) this.#onRead.push(goOn);
    else if (socket.writableNeedDrain) socket.once('drain', goOn);
    else timers.soon(goOn);
  }

  /** (RO3) */
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

  /** Has the client left so much unread for so long that it is given up? */
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

  /** The client has not taken what it was offered; `drain` says when it has. */
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
