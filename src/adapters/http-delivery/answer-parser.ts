/**
 * Reads one HTTP/1.1 answer after the other off a connection, from pieces as the socket gives them.
 *
 *  ANS1 what is not valid is refused where it is met, as strictly as Node's own parser does: a length beside chunks, bare
 *      line ends, folded lines, white space in names, control characters
 *  ANS2 names and values of one head, or of the trailers, have fewer than `maxHeaderBytes` together
 *  ANS3 of a line that has not ended no more is kept than is needed to judge it
 *  ANS4 how an answer ends is decided by its head alone: by its length, by its last chunk, or with the connection
 */

import type { OutgoingCall } from '../../ports/index.js';
import { AnswerHead } from './answer-head.js';
import { CallFailure, ConnectionLost, INVALID, OTHER_LENGTH } from './failure-words.js';

/** Who is told of an answer. Each may end the connection; then nothing more is told. */
export interface AnswerListener {
  /** Interim ones too. */
  onHeaders(status: number, headers: OutgoingCall['headers']): void;
  /** A view of bytes that are overwritten by what comes next. */
  onData(chunk: Uint8Array): void;
  onComplete(): void;
}

/** `idle`: nothing is asked. From `status` to `trailers` lines are read, except in `body` and `chunk`. */
type State = 'idle' | 'status' | 'headers' | 'body' | 'until-end' | 'size' | 'chunk' | 'chunk-end' | 'trailers';

const CHUNK_SIZE = /^([0-9a-f]+)(?:;[\t\x20-\x7e\x80-\xff]+)?$/i;
/** Of a status line or the line of a chunk's size, which may have words that nobody reads. */
const MAX_KEPT_CHARACTERS = 64;
const CR = 13;
const LF = 10;

export class AnswerParser {
  #state: State = 'idle';
  #listener: AnswerListener | undefined;
  #isBodyless = false;
  #head: AnswerHead;
  /** Of a line that has not ended. */
  #rest = '';
  /** Of the body or the chunk that is being read. */
  #leftBytes = 0;
  #bodyBytes = 0;

  constructor(private readonly maxHeaderBytes: number) {
    this.#head = new AnswerHead(maxHeaderBytes);
  }

  /** @param isBodyless the answer has no body whatever its head says: HEAD was asked */
  expect(listener: AnswerListener, isBodyless: boolean): void {
    this.#listener = listener;
    this.#isBodyless = isBodyless;
    this.#state = 'status';
    this.#rest = '';
    this.#bodyBytes = 0;
    this.#head = new AnswerHead(this.maxHeaderBytes);
  }

  /** Whoever was told of the answer is told no more. */
  stop(): void {
    this.#state = 'idle';
    this.#listener = undefined;
  }

  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  /** The connection may carry another call after the answer: neither side has said otherwise. */
  get mayGoOn(): boolean {
    return this.#head.keepsAlive;
  }

  /** An answer has begun that ends with the connection, or is the last on it. */
  get mayEnd(): boolean {
    return this.#state !== 'idle' && this.#head.isWhole && !this.#head.keepsAlive;
  }

  /** How long the other end keeps a connection without a call, as far as it says. */
  get keptMs(): number | undefined {
    return this.#head.keptMs;
  }

  /** @returns how many of the bytes belong to the answer. @throws CallFailure */
  read(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to && this.#state !== 'idle') {
      if (this.#state === 'body' || this.#state === 'chunk' || this.#state === 'until-end')
        at = this.#data(bytes, at, to);
      else at = this.#lines(bytes, at, to);
    }
    return at;
  }

  /** The other end says no more. @throws CallFailure where the answer has not ended */
  end(): void {
    if (this.#state === 'idle') return;
    if (this.#state === 'until-end') this.#complete();
    else if (this.mayEnd) throw this.#invalid();
    else throw new ConnectionLost();
  }

  #data(bytes: Buffer, from: number, to: number): number {
    const end = this.#state === 'until-end' ? to : Math.min(to, from + this.#leftBytes);
    this.#leftBytes -= end - from;
    this.#bodyBytes += end - from;
    this.#listener?.onData(bytes.subarray(from, end));
    if (this.#leftBytes > 0 || this.#state === 'until-end') return end;
    if (this.#state === 'body') this.#complete();
    else if (this.#state === 'chunk') this.#state = 'chunk-end';
    return end;
  }

  /** Lines up to the first bytes that are none. @returns where those begin */
  #lines(bytes: Buffer, from: number, to: number): number {
    const text = this.#rest + bytes.toString('latin1', from, to);
    const offset = from - this.#rest.length;
    this.#rest = '';
    let at = 0;
    // Empty lines may come before an answer.
    if (this.#state === 'status') while (text.charCodeAt(at) === CR || text.charCodeAt(at) === LF) at += 1;
    while (at < text.length) {
      const end = text.indexOf('\r', at);
      if (end < 0 || end + 1 === text.length) {
        this.#keep(text.slice(at));
        return to;
      }
      if (text.charCodeAt(end + 1) !== LF) throw this.#invalid();
      this.#line(text.slice(at, end));
      at = end + 2;
      if (this.#state === 'body' || this.#state === 'chunk' || this.#state === 'until-end' || this.#state === 'idle')
        break;
    }
    return offset + at;
  }

  /** ANS3 */
  #keep(line: string): void {
    if (line.includes('\n')) throw this.#invalid();
    if (this.#state === 'headers' || this.#state === 'trailers') this.#rest = this.#head.partOf(line);
    else if (line.length <= MAX_KEPT_CHARACTERS) this.#rest = line;
    // What it begins with decides, and that it has not ended.
    else this.#rest = line.slice(0, MAX_KEPT_CHARACTERS) + (line.charCodeAt(line.length - 1) === CR ? '\r' : '');
  }

  #line(line: string): void {
    switch (this.#state) {
      case 'status':
        if (!this.#head.readStatus(line)) throw this.#invalid();
        this.#state = 'headers';
        return;
      case 'headers':
        if (line === '') this.#endHead();
        else if (!this.#head.readHeader(line)) throw this.#invalid();
        return;
      case 'size':
        this.#readSize(line);
        return;
      case 'chunk-end':
        if (line !== '') throw this.#invalid();
        this.#state = 'size';
        return;
      default:
        if (line === '') this.#complete();
        else if (!this.#head.readTrailer(line)) throw this.#invalid();
    }
  }

  #endHead(): void {
    const head = this.#head;
    const { status } = head;
    // What nobody asked for: to go on with a body, to speak another protocol.
    if (status === 100 || status === 101) throw new ConnectionLost();
    head.isWhole = status >= 200;
    this.#begin(head);
    this.#listener?.onHeaders(status, head.headers);
    if (this.#state === 'body' && this.#leftBytes === 0) this.#complete();
  }

  /** ANS4 */
  #begin(head: AnswerHead): void {
    const { status, length } = head;
    if (status < 200) {
      this.#state = 'status';
      this.#head = new AnswerHead(this.maxHeaderBytes);
    } else if (this.#isBodyless || status === 204 || status === 304) {
      this.#state = 'body';
      this.#leftBytes = 0;
    } else if (head.isChunked) {
      this.#state = 'size';
    } else if (length === undefined || head.isEncoded) {
      head.keepsAlive = false;
      this.#state = 'until-end';
    } else {
      this.#state = 'body';
      this.#leftBytes = length;
    }
  }

  #readSize(line: string): void {
    const digits = CHUNK_SIZE.exec(line)?.[1];
    const size = Number.parseInt(digits ?? '', 16);
    if (!Number.isSafeInteger(size)) throw this.#invalid();
    this.#leftBytes = size;
    this.#state = size === 0 ? 'trailers' : 'chunk';
  }

  #complete(): void {
    const listener = this.#listener;
    const { length } = this.#head;
    if (length !== undefined && length !== this.#bodyBytes && !this.#isBodyless) throw this.#invalid();
    this.stop();
    listener?.onComplete();
  }

  #invalid(): CallFailure {
    const { length } = this.#head;
    const isOtherLength = length !== undefined && length !== this.#bodyBytes;
    return new CallFailure(isOtherLength ? OTHER_LENGTH : INVALID);
  }
}
