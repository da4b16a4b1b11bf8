/**
 * What a connection has to say, in order: answers as they come, and what it says unasked between them.
 *
 * Invariants
 *  O1 what is said unasked never stands inside an answer, nor in front of the answer of a command that was
 *     being run when it arrived: a client hears of a change behind the value that has changed
 *  O2 output that is not read is bounded: beyond `maxOutputBytes` the connection is cut, and beyond
 *     `softOutputBytes` after `softOutputMs`
 */
import type { Socket } from 'node:net';
import type { ByteString } from '../../kernel/index.js';
import type { Clock, Timers } from '../../ports/index.js';
import type { RespFaceLimits } from './resp-limits.js';

/** A write of this size is worth its system call. */
const WRITE_BYTES = 64 * 1024;

export class RespOutput {
  #answers: ByteString = '';
  #pushed: ByteString[] = [];
  #pushedBytes = 0;
  #isPushDue = false;
  #softSinceMs: number | undefined;
  /** Answers are being put together: what is said unasked waits. */
  isHeld = false;
  /** Bytes of all answers so far. */
  bytesAnswered = 0;

  constructor(
    private readonly socket: Socket,
    private readonly limits: RespFaceLimits,
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly onTooMuch: () => void,
    /** There is more that was said unasked, and has not left. */
    private readonly onGrown: () => void,
  ) {}

  /** Waits in the process, for `flush` or for the client. */
  get bytes(): number {
    return this.socket.writableLength + this.#answers.length + this.#pushedBytes;
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
    if (this.bytes > this.limits.maxOutputBytes) {
      this.onTooMuch();
      return;
    }
    // Otherwise it is counted when it has been written: most of it leaves at once.
    if (this.isHeld) this.onGrown();
    // What arrives together leaves together.
    if (this.#isPushDue) return;
    this.#isPushDue = true;
    this.timers.soon(() => {
      this.#isPushDue = false;
      if (this.isHeld) return;
      this.flush();
      this.onGrown();
    });
  }

  /** Everything that may leave, leaves. */
  flush(): void {
    if (!this.isHeld) this.#takePushed();
    if (this.#answers !== '') this.#write();
  }

  /** Has the client left so much unread for so long that it is given up? */
  isStuck(): boolean {
    if (this.bytes <= this.limits.softOutputBytes) {
      this.#softSinceMs = undefined;
      return false;
    }
    const nowMs = this.clock.monotonicMs();
    this.#softSinceMs ??= nowMs;
    return nowMs - this.#softSinceMs > this.limits.softOutputMs;
  }

  #takePushed(): void {
    if (this.#pushed.length === 0) return;
    this.#answers += this.#pushed.join('');
    this.#pushed = [];
    this.#pushedBytes = 0;
  }

  #write(): void {
    const bytes = this.#answers;
    this.#answers = '';
    if (!this.socket.destroyed) this.socket.write(bytes, 'latin1');
  }
}
