/** Splits JSON text into tokens as `cjson` does: its leniency, token names and error texts. */
import type { ByteString } from '../../../kernel/index.js';
import { bytesOfText } from '../../../kernel/index.js';
import { SlicePace } from '../slices.js';
import type { Steps } from '../steps.js';
import { readNumber } from './number-text.js';

export type TokenKind =
  | 'T_OBJ_BEGIN'
  | 'T_OBJ_END'
  | 'T_ARR_BEGIN'
  | 'T_ARR_END'
  | 'T_STRING'
  | 'T_NUMBER'
  | 'T_BOOLEAN'
  | 'T_NULL'
  | 'T_COLON'
  | 'T_COMMA'
  | 'T_END'
  | 'T_ERROR';

const PUNCTUATION: Readonly<Record<string, TokenKind>> = {
  '{': 'T_OBJ_BEGIN',
  '}': 'T_OBJ_END',
  '[': 'T_ARR_BEGIN',
  ']': 'T_ARR_END',
  ':': 'T_COLON',
  ',': 'T_COMMA',
  '\0': 'T_END',
};
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
};
const BLANKS = /[ \t\r\n]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;

/** The current token. Only the value of its kind is valid. */
export class JsonTokens {
  kind: TokenKind = 'T_ERROR';
  /** The start of the token, from 0; the position of the problem in case of an error. */
  index = 0;
  string: ByteString = '';
  number = 0;
  isTrue = false;
  problem = '';
  /** The position from which the next token is read. */
  at = 0;
  /** A string with escapes, of which only the start is known; see `unescape`. */
  isRaw = false;
  readonly #quote: Letter;
  readonly #escape: Letter;
  readonly #zero: Letter;

  /** @param takesInvalid whether to accept numbers that JSON does not allow */
  constructor(
    private readonly text: ByteString,
    private readonly takesInvalid: boolean,
  ) {
    this.#quote = new Letter(text, '"');
    this.#escape = new Letter(text, '\\');
    this.#zero = new Letter(text, '\0');
  }

  next(): void {
    const { text } = this;
    let letter = text[this.at];
    if (letter !== undefined && letter <= ' ') letter = this.#behindBlanks();
    this.index = this.at;
    if (letter === '"') {
      this.#string();
      return;
    }
    const punctuation = letter === undefined ? 'T_END' : PUNCTUATION[letter];
    if (punctuation === undefined) {
      this.#word(letter as string);
      return;
    }
    this.kind = punctuation;
    if (punctuation !== 'T_END') this.at += 1;
  }

  #behindBlanks(): string | undefined {
    BLANKS.lastIndex = this.at;
    BLANKS.exec(this.text);
    this.at = BLANKS.lastIndex;
    return this.text[this.at];
  }

  #word(letter: string): void {
    const { text, index } = this;
    if (letter === '-' || (letter >= '0' && letter <= '9')) {
      if (!this.takesInvalid && this.#isInvalidNumber(letter)) this.#fail(index, 'invalid number');
      else this.#number();
    } else if (text.startsWith('true', index)) this.#named('T_BOOLEAN', 4, true);
    else if (text.startsWith('false', index)) this.#named('T_BOOLEAN', 5, false);
    else if (text.startsWith('null', index)) this.#named('T_NULL', 4, false);
    else if (this.takesInvalid && this.#isInvalidNumber(letter)) this.#number();
    else this.#fail(index, 'invalid token');
  }

  #named(kind: TokenKind, length: number, isTrue: boolean): void {
    this.kind = kind;
    this.isTrue = isTrue;
    this.at += length;
  }

  #number(): void {
    const number = readNumber(this.text, this.index);
    if (number === undefined) {
      this.#fail(this.index, 'invalid number');
      return;
    }
    this.kind = 'T_NUMBER';
    this.number = number.value;
    this.at = number.end;
  }

  /** Leading zeros, hexadecimals, infinities, NaN: C parses them, JSON does not allow them. */
  #isInvalidNumber(letter: string): boolean {
    if (letter >= '1' && letter <= '9') return false;
    return /^[+-]?(?:0[0-9x]|inf|nan)/i.test(this.text.slice(this.at, this.at + 4));
  }

  #string(): void {
    const from = this.at + 1;
    const end = this.#quote.from(from);
    this.kind = 'T_STRING';
    this.isRaw = this.#escape.from(from) < end || this.#zero.from(from) < end || end === Number.POSITIVE_INFINITY;
    if (this.isRaw) return;
    this.string = this.text.slice(from, end);
    this.at = end + 1;
  }

  /** Reads a string with escapes, in slices. */
  *unescape(): Steps<void> {
    const pace = new SlicePace();
    const chunks: ByteString[] = [];
    let pieces: ByteString[] = [];
    this.isRaw = false;
    this.at += 1;
    for (;;) {
      const end = Math.min(this.#quote.from(this.at), this.#escape.from(this.at), this.#zero.from(this.at));
      pieces.push(this.text.slice(this.at, end));
      this.at = Math.min(end, this.text.length);
      const letter = this.text[this.at];
      if (letter !== '\\') {
        if (letter !== '"') this.#fail(this.at, 'unexpected end of string');
        else this.at += 1;
        break;
      }
      const character = this.#escaped();
      if (character === undefined) break;
      pieces.push(character);
      if (!pace.isDue()) continue;
      // Joining all pieces at the end would take too long.
      chunks.push(pieces.join(''));
      pieces = [];
      yield;
    }
    chunks.push(pieces.join(''));
    this.string = chunks.join('');
  }

  /** Reads one escape; undefined, with the error set, if it is invalid. */
  #escaped(): ByteString | undefined {
    const letter = this.text[this.at + 1] ?? '';
    if (letter === 'u') {
      const character = this.#unicode();
      if (character === undefined) this.#fail(this.at, 'invalid unicode escape code');
      return character;
    }
    const plain = ESCAPES[letter];
    if (plain === undefined) this.#fail(this.at, 'invalid escape code');
    else this.at += 2;
    return plain;
  }

  /** Reads a `\u` escape as UTF-8; undefined if it is invalid. */
  #unicode(): ByteString | undefined {
    const first = this.#hex(this.at + 2);
    if (first === undefined) return undefined;
    if (first < 0xd800 || first > 0xdfff) {
      this.at += 6;
      return bytesOfText(String.fromCharCode(first));
    }
    const second = this.text.startsWith('\\u', this.at + 6) ? this.#hex(this.at + 8) : undefined;
    if (first > 0xdbff || second === undefined || second < 0xdc00 || second > 0xdfff) return undefined;
    this.at += 12;
    return bytesOfText(String.fromCharCode(first, second));
  }

  #hex(at: number): number | undefined {
    HEX4.lastIndex = at;
    const digits = HEX4.exec(this.text)?.[0];
    return digits === undefined ? undefined : Number.parseInt(digits, 16);
  }

  #fail(index: number, problem: string): void {
    this.kind = 'T_ERROR';
    this.index = index;
    this.problem = problem;
  }
}

/** Finds the next occurrence of a letter; the text is scanned only once over all calls. */
class Letter {
  #at = -1;

  constructor(
    private readonly text: ByteString,
    private readonly letter: string,
  ) {}

  /** Infinity if there is none. */
  from(at: number): number {
    if (this.#at < at) {
      const found = this.text.indexOf(this.letter, at);
      this.#at = found === -1 ? Number.POSITIVE_INFINITY : found;
    }
    return this.#at;
  }
}
