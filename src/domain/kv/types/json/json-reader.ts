/**
 * Parses JSON text without recursion and in slices, so that a text of 10 MB blocks no other work. The grammar is
 * strictly RFC 8259; error texts are those of Redis's JSON module. If a name occurs twice in an object, the last wins.
 */
import { isUtf8 } from 'node:buffer';
import { type ByteString, bytesOfText, isAscii } from '../../../../kernel/index.js';
import { ErrorReply } from '../../reply.js';
import { inOneStep, type Steps } from '../../steps.js';
import { MAX_JSON_DEPTH, SLICE_VALUES } from './json-limits.js';
import { readNumber } from './json-numbers.js';
import { type JsonContainer, type JsonValue, measured, memberBytes, ownBytes } from './json-value.js';

export interface ReadJson {
  readonly value: JsonValue;
  /** The result of `measured`. */
  readonly bytes: number;
  /** The depth of nested containers. */
  readonly depth: number;
  readonly text: ByteString;
}

export const notUtf8 = new ErrorReply("ERR Couldn't parse as UTF-8 string");
export const tooDeep = new ErrorReply('ERR recursion limit exceeded');

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them within strings
const PLAIN = /[^"\\\x00-\x1f]*/y;
const BLANK = /[ \t\n\r]*/y;
const CONTINUES_NUMBER = '0123456789.eE';
/** Names of one text that are stored once: objects of an array usually share their names. */
const MAX_SHARED_NAMES = 1024;
/** In texts above this length, pieces are copied; a slice would keep the whole text in memory. */
const SHARED_TEXT_BYTES = 1024;
const SHARED_PIECE_BYTES = 13;
/** For longer texts, converting and validating the bytes are separate slices. */
const LONG_TEXT_BYTES = 1024 * 1024;

/** @throws ErrorReply */
export function* readJson(text: ByteString): Steps<ReadJson> {
  return yield* new JsonReader(text).read();
}

/** @throws ErrorReply */
export function parseJson(text: ByteString): ReadJson {
  return inOneStep(readJson(text));
}

class JsonReader {
  #at = 0;
  #bytes = 0;
  readonly #names = new Map<ByteString, ByteString>();
  #buffer: Buffer | undefined;

  constructor(private readonly text: ByteString) {}

  *#begin(): Steps<void> {
    const { text } = this;
    if (text.length <= SHARED_TEXT_BYTES) {
      if (!isAscii(text) && !isUtf8(Buffer.from(text, 'latin1'))) throw notUtf8;
      return;
    }
    // Each of the two takes some milliseconds for 10 MB.
    this.#buffer = Buffer.from(text, 'latin1');
    if (text.length > LONG_TEXT_BYTES) yield;
    if (!isUtf8(this.#buffer)) throw notUtf8;
    if (text.length > LONG_TEXT_BYTES) yield;
  }

  *read(): Steps<ReadJson> {
    const { text } = this;
    yield* this.#begin();
    const open: JsonContainer[] = [];
    const pendingNames: ByteString[] = [];
    let depth = 0;
    let met = 0;
    for (;;) {
      met += 1;
      if (met % SLICE_VALUES === 0) yield;
      let value: JsonValue;
      const begins = this.#skip();
      if (begins === '{' || begins === '[') {
        if (open.length >= MAX_JSON_DEPTH) throw tooDeep;
        this.#at += 1;
        const container: JsonContainer = begins === '{' ? new Map() : [];
        open.push(container);
        depth = Math.max(depth, open.length);
        this.#bytes += ownBytes(container);
        const next = this.#skip();
        if (next !== (begins === '{' ? '}' : ']')) {
          if (begins === '{') pendingNames.push(this.#name(next));
          continue;
        }
        this.#at += 1;
        open.pop();
        value = container;
      } else {
        value = this.#scalar(begins);
        this.#bytes += ownBytes(value);
      }
      // The value is complete; its container may be complete too.
      for (;;) {
        const container = open.at(-1);
        const next = this.#skip();
        if (container === undefined) {
          if (this.#at < text.length) throw this.#error('trailing characters', 1);
          return { value, bytes: this.#bytes, depth, text };
        }
        if (Array.isArray(container)) {
          container.push(value);
          if (next !== ',' && next !== ']') throw this.#expected('`,` or `]`', 'a list');
        } else {
          this.#setMember(container, pendingNames.pop() as ByteString, value);
          if (next !== ',' && next !== '}') throw this.#expected('`,` or `}`', 'an object');
        }
        this.#at += 1;
        if (next === ',') {
          if (!Array.isArray(container)) pendingNames.push(this.#name(this.#skip()));
          break;
        }
        open.pop();
        value = container;
      }
    }
  }

  #setMember(object: Map<ByteString, JsonValue>, name: ByteString, value: JsonValue): void {
    const before = object.get(name);
    if (before === undefined) this.#bytes += memberBytes(name);
    else this.#bytes -= inOneStep(measured(before));
    object.set(name, value);
  }

  /** Skips blanks; returns the next character, '' at the end. */
  #skip(): string {
    const here = this.text.charAt(this.#at);
    if (here > ' ') return here;
    BLANK.lastIndex = this.#at;
    BLANK.test(this.text);
    this.#at = BLANK.lastIndex;
    return this.text.charAt(this.#at);
  }

  #name(begins: string): ByteString {
    if (begins !== '"') throw begins === '' ? this.#ended('an object') : this.#error('key must be a string', 1);
    const read = this.#string();
    const known = this.#names.get(read);
    const name = known ?? read;
    if (known === undefined && this.#names.size < MAX_SHARED_NAMES) this.#names.set(read, read);
    if (this.#skip() !== ':') throw this.#expected('`:`', 'an object');
    this.#at += 1;
    return name;
  }

  #scalar(begins: string): JsonValue {
    switch (begins) {
      case '"':
        return this.#string();
      case 'n':
        return this.#word('null', null);
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case '':
        throw this.#ended('a value');
    }
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.text);
    if (match === null) throw this.#error(begins === '-' ? 'invalid number' : 'expected value', 1);
    this.#at = NUMBER.lastIndex;
    // A number may not be followed by another digit, point or exponent: `01`, `1.`, `1e`.
    if (this.#at < this.text.length && CONTINUES_NUMBER.includes(this.text.charAt(this.#at)))
      throw this.#error('invalid number', 1);
    const value = readNumber(match[0], match[1] !== undefined || match[2] !== undefined);
    if (value === undefined) throw this.#error('number out of range', 0);
    return value;
  }

  #word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.#at)) throw this.#error('expected ident', 1);
    this.#at += word.length;
    return value;
  }

  /** Reads from the opening quote to the position after the closing one. */
  #string(): ByteString {
    let read = '';
    this.#at += 1;
    for (;;) {
      const from = this.#at;
      PLAIN.lastIndex = from;
      PLAIN.test(this.text);
      this.#at = PLAIN.lastIndex;
      const piece = this.#piece(from, this.#at);
      read = read === '' ? piece : read + piece;
      const ends = this.text.charAt(this.#at);
      if (ends === '"') {
        this.#at += 1;
        return read;
      }
      if (ends === '') throw this.#ended('a string');
      if (ends !== '\\') throw this.#error('control character (\\u0000-\\u001F) found while parsing a string', 1);
      read += this.#escape();
    }
  }

  #piece(from: number, to: number): ByteString {
    if (this.#buffer === undefined || to - from < SHARED_PIECE_BYTES) return this.text.slice(from, to);
    return this.#buffer.toString('latin1', from, to);
  }

  #escape(): ByteString {
    const escaped = ESCAPES.get(this.text.charAt(this.#at + 1));
    if (escaped !== undefined) {
      this.#at += 2;
      return escaped;
    }
    const unit = this.#codeUnit();
    if (unit < 0xd800 || unit > 0xdfff) return bytesOfText(String.fromCharCode(unit));
    const low = unit < 0xdc00 && this.text.charAt(this.#at) === '\\' ? this.#codeUnit() : 0;
    if (low < 0xdc00 || low > 0xdfff) throw this.#error('lone leading surrogate in hex escape', 0);
    return bytesOfText(String.fromCharCode(unit, low));
  }

  /** Reads `\uXXXX`, the only escape not handled before. */
  #codeUnit(): number {
    const digits = this.text.slice(this.#at + 2, this.#at + 6);
    if (this.text.charAt(this.#at + 1) !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) {
      throw this.#at + 6 > this.text.length ? this.#ended('a string') : this.#error('invalid escape', 2);
    }
    this.#at += 6;
    return Number.parseInt(digits, 16);
  }

  #expected(token: string, within: string): ErrorReply {
    return this.#at >= this.text.length ? this.#ended(within) : this.#error(`expected ${token}`, 1);
  }

  #ended(within: string): ErrorReply {
    this.#at = this.text.length;
    return this.#error(`EOF while parsing ${within}`, 0);
  }

  #error(problem: string, behind: number): ErrorReply {
    const before = this.text.slice(0, this.#at);
    const line = before.split('\n').length;
    const column = this.#at - (before.lastIndexOf('\n') + 1) + behind;
    return new ErrorReply(`ERR ${problem} at line ${line} column ${column}`);
  }
}

const ESCAPES: ReadonlyMap<string, ByteString> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
