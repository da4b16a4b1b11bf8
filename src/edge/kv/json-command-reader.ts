/**
 * Reads commands from JSON bytes, strictly (RFC 8259), keeping the source text of numbers. It stops at the first
 * nested value, so the depth is at most two and it needs no recursion.
 */
import { isUtf8 } from 'node:buffer';
import { ErrorReply } from '../../domain/kv/index.js';
import { type ByteString, bytesOfBuffer, bytesOfText, GrowingBytes, textOfBytes } from '../../kernel/index.js';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  COMMA,
  endOfText,
  JSON_SLICE_BYTES,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../http/json-scanner.js';
import { decodedText } from '../http/json-texts.js';

/** A command's words, or the error that it gets. */
export type JsonCommand = readonly ByteString[] | ErrorReply;

export const BODY_ERRORS = {
  empty: new ErrorReply('EOF'),
  notJson: new ErrorReply('ERR failed to parse request body'),
  notAnArray: new ErrorReply('expected JSON array'),
  nullArgument: new ErrorReply('ERR null args are not supported'),
  nestedArray: new ErrorReply('ERR unsupported arg type: "[": json.Delim'),
  nestedObject: new ErrorReply('ERR unsupported arg type: "{": json.Delim'),
} as const;

/** Returned for a string that is longer than one slice. */
const LONG_TEXT = Symbol('a long text');

const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;

export class JsonCommandReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** The end of the current slice. */
  #sliceEnd = JSON_SLICE_BYTES;

  /** @param body invalid UTF-8 in it is read as U+FFFD */
  constructor(body: Buffer) {
    this.#bytes = isUtf8(body) ? body : Buffer.from(textOfBytes(body.toString('latin1')), 'utf8');
  }

  /** @throws ErrorReply if the whole body is refused */
  singleCommand(): JsonCommand {
    return inOneGo(this.singleCommandInSlices());
  }

  /** @throws ErrorReply if the whole body is refused */
  batch(): JsonCommand[] {
    return inOneGo(this.batchInSlices());
  }

  /** Reads the command in slices of about a millisecond. */
  *singleCommandInSlices(): Generator<void, JsonCommand> {
    this.#skipBlanks();
    if (this.#peek() !== OPEN_ARRAY) this.#refuseNonArray();
    const command = yield* this.#command();
    this.#end();
    return command;
  }

  *batchInSlices(): Generator<void, JsonCommand[]> {
    const commands: JsonCommand[] = [];
    this.#skipBlanks();
    if (this.#peek() !== OPEN_ARRAY) this.#refuseNonArray();
    this.#at += 1;
    this.#skipBlanks();
    if (this.#peek() === CLOSE_ARRAY) this.#at += 1;
    else {
      do {
        this.#skipBlanks();
        if (this.#peek() !== OPEN_ARRAY) this.#refuseNonArray();
        commands.push(yield* this.#command());
      } while (this.#hasMore());
    }
    this.#end();
    return commands;
  }

  /** Reads from the opening bracket to just after the closing one. */
  *#command(): Generator<void, JsonCommand> {
    const words: ByteString[] = [];
    let problem: ErrorReply | undefined;
    this.#at += 1;
    this.#skipBlanks();
    if (this.#peek() === CLOSE_ARRAY) {
      this.#at += 1;
      return words;
    }
    do {
      this.#skipBlanks();
      const next = this.#word();
      const word = next === LONG_TEXT ? yield* this.#longText() : next;
      if (word instanceof ErrorReply) problem = word;
      else words.push(word);
      if (this.#at < this.#sliceEnd) continue;
      this.#sliceEnd = this.#at + JSON_SLICE_BYTES;
      yield;
    } while (this.#hasMore());
    return problem ?? words;
  }

  #word(): ByteString | ErrorReply | typeof LONG_TEXT {
    switch (this.#peek()) {
      case QUOTE:
        return this.#string();
      case OPEN_ARRAY:
        throw BODY_ERRORS.nestedArray;
      case OPEN_OBJECT:
        throw BODY_ERRORS.nestedObject;
      case 0x74:
        return this.#literal('true');
      case 0x66:
        return this.#literal('false');
      case 0x6e:
        this.#literal('null');
        return BODY_ERRORS.nullArgument;
      default:
        return this.#number();
    }
  }

  #string(): ByteString | typeof LONG_TEXT {
    const bytes = this.#bytes;
    const start = this.#at + 1;
    const sliceEnd = start + JSON_SLICE_BYTES;
    let at = start;
    let isEscaped = false;
    for (;;) {
      if (at >= sliceEnd) return LONG_TEXT;
      const byte = bytes[at];
      if (byte === undefined || byte < 0x20) throw BODY_ERRORS.notJson;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        isEscaped = true;
        at += 1;
      }
      at += 1;
    }
    this.#at = at + 1;
    if (!isEscaped) return bytes.toString('latin1', start, at);
    try {
      return bytesOfText(JSON.parse(bytes.toString('utf8', start - 1, at + 1)));
    } catch {
      throw BODY_ERRORS.notJson;
    }
  }

  /** Reads a long string from its opening quote, in slices. Converting ten megabytes to a string is one slice. */
  *#longText(): Generator<void, ByteString> {
    const bytes = this.#bytes;
    const start = this.#at + 1;
    let at = start;
    do {
      yield;
      at = endOfText(bytes, at, at + JSON_SLICE_BYTES);
      if (at >= bytes.length) throw BODY_ERRORS.notJson;
    } while (bytes[at] !== QUOTE);
    this.#at = at + 1;
    const text = new GrowingBytes();
    for (const piece of yield* this.#decoded(start, at)) {
      text.append(piece);
      yield;
    }
    return bytesOfBuffer(text.take());
  }

  *#decoded(from: number, to: number): Generator<void, Buffer[]> {
    try {
      return yield* decodedText(this.#bytes, from, to);
    } catch {
      throw BODY_ERRORS.notJson;
    }
  }

  #number(): ByteString {
    const start = this.#at;
    if (this.#peek() === MINUS) this.#at += 1;
    if (this.#peek() === ZERO) this.#at += 1;
    else this.#digits();
    if (this.#peek() === DOT) {
      this.#at += 1;
      this.#digits();
    }
    const exponent = this.#peek();
    if (exponent === 0x65 || exponent === 0x45) {
      this.#at += 1;
      const sign = this.#peek();
      if (sign === MINUS || sign === 0x2b) this.#at += 1;
      this.#digits();
    }
    return this.#bytes.toString('latin1', start, this.#at);
  }

  #digits(): void {
    const start = this.#at;
    for (;;) {
      const byte = this.#peek();
      if (byte === undefined || byte < ZERO || byte > 0x39) break;
      this.#at += 1;
    }
    if (this.#at === start) throw BODY_ERRORS.notJson;
  }

  #literal(word: string): ByteString {
    for (let i = 0; i < word.length; i += 1) {
      if (this.#bytes[this.#at + i] !== word.charCodeAt(i)) throw BODY_ERRORS.notJson;
    }
    this.#at += word.length;
    return word;
  }

  /** After an item: true for a comma, false for the closing bracket. */
  #hasMore(): boolean {
    this.#skipBlanks();
    const byte = this.#peek();
    this.#at += 1;
    if (byte === COMMA) return true;
    if (byte === CLOSE_ARRAY) return false;
    throw BODY_ERRORS.notJson;
  }

  #end(): void {
    this.#skipBlanks();
    if (this.#peek() !== undefined) throw BODY_ERRORS.notJson;
  }

  #skipBlanks(): void {
    for (;;) {
      const byte = this.#peek();
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at += 1;
    }
  }

  #peek(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** The error tells another JSON value from invalid JSON. */
  #refuseNonArray(): never {
    const byte = this.#peek();
    const beginsValue = byte !== undefined && '"{-0123456789tfn'.includes(String.fromCharCode(byte));
    throw beginsValue ? BODY_ERRORS.notAnArray : BODY_ERRORS.notJson;
  }
}

function inOneGo<T>(slices: Generator<void, T>): T {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
  }
}
