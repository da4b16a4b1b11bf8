/**
 * Parses the HTTP/1.1 answers of a connection from any pieces.
 *
 *  ANS1 invalid syntax is refused where it is found, as strictly as in Node's parser: a length with chunks, bare line
 *       ends, folded lines, white space in names, control characters
 *  ANS2 names and values of one head, or of the trailers, have fewer than `maxHeaderBytes` together
 *  ANS3 of an unfinished line only the part needed to judge it is kept
 *  ANS4 the head alone decides how an answer ends: by its length, by its last chunk, or with the connection
 */

import type { OutgoingCall } from '../../ports/index.js';
import { AnswerHead } from './answer-head.js';
import { CallFailure, ConnectionLost, INVALID, OTHER_LENGTH } from './failure-words.js';

/** The receiver of an answer. Each method may end the connection; then no more is called. */
export interface AnswerListener {
  /** Interim ones too. */
  onHeaders(status: number, headers: OutgoingCall['headers']): void;
  /** A view of bytes that are overwritten later. */
  onData(chunk: Uint8Array): void;
  onComplete(): void;
}

/** `idle`: no answer is expected. From `status` to `trailers` lines are read, except in `body` and `chunk`. */
type State = 'idle' | 'status' | 'headers' | 'body' | 'until-end' | 'size' | 'chunk' | 'chunk-end' | 'trailers';

const CHUNK_SIZE = /^([0-9a-f]+)(?:;[\t\x20-\x7e\x80-\xff]+)?$/i;
/** Of a status line or chunk size line, whose further text is unused. */
const MAX_KEPT_CHARACTERS = 64;
const CR = 13;
const LF = 10;

export class AnswerParser {
  #state: State = 'idle';
  #listener: AnswerListener | undefined;
  #isBodyless = false;
  #head: AnswerHead;
  /** Of an unfinished line. */
  #rest = '';
  /** Of the current body or chunk. */
  #leftBytes = 0;
  #bodyBytes = 0;

  constructor(private readonly maxHeaderBytes: number) {
    this.#head = new AnswerHead(maxHeaderBytes);
  }

  /** @param isBodyless  the answer to HEAD has no body */
  expect(listener: AnswerListener, isBodyless: boolean): void {
    this.#listener = listener;
    this.#isBodyless = isBodyless;
    this.#state = 'status';
    this.#rest = '';
    this.#bodyBytes = 0;
    this.#head = new AnswerHead(this.maxHeaderBytes);
  }

  /** Stops calling the receiver. */
  stop(): void {
    this.#state = 'idle';
    this.#listener = undefined;
  }

  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  /** True when the connection may carry another call. */
  get mayGoOn(): boolean {
    return this.#head.keepsAlive;
  }

  /** True when the answer ends with the connection, or is the last on it. */
  get mayEnd(): boolean {
    return this.#state !== 'idle' && this.#head.isWhole && !this.#head.keepsAlive;
  }

  /** How long the server keeps an idle connection, if it says so. */
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

  /** The server has closed its side. @throws CallFailure when the answer is incomplete */
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

  /** Reads lines. @returns where the bytes after them begin */
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

  /** Keeps the part needed to judge the line (ANS3). */
  #keep(line: string): void {
    if (line.includes('\n')) throw this.#invalid();
    if (this.#state === 'headers' || this.#state === 'trailers') this.#rest = this.#head.partOf(line);
    else if (line.length <= MAX_KEPT_CHARACTERS) this.#rest = line;
    // Its beginning and its incompleteness are sufficient.
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
    // Not requested: permission to send a body, or another protocol.
    if (status === 100 || status === 101) throw new ConnectionLost();
    head.isWhole = status >= 200;
    this.#begin(head);
    this.#listener?.onHeaders(status, head.headers);
    if (this.#state === 'body' && this.#leftBytes === 0) this.#complete();
  }

  /** Decides by the head how the answer ends (ANS4). */
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
