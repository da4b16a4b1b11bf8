/** `cjson.decode`: JSON text as a Lua value, with that library's leniency and error texts. */
import type { ByteString } from '../../../kernel/index.js';
import { bytesOfText } from '../../../kernel/index.js';
import type { JsonOptions } from './json-options.js';
import type { State } from './lua-api.js';
import type { LuaMachine } from './machine.js';
import { readNumber } from './number-text.js';

type TokenKind =
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

interface Token {
  readonly kind: TokenKind;
  /** Where it begins, from 0. */
  readonly index: number;
  readonly value?: ByteString | number | boolean;
}

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
const PLAIN_TEXT = /[^"\\\0]*/y;
const BLANKS = /[ \t\r\n]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
/** Tokens read between two looks at the clock. */
const TOKENS_A_LOOK = 1000;

/** Leaves the value on the stack. */
export function decodeJson(machine: LuaMachine, state: State, text: ByteString, options: JsonOptions): void {
  if (text.length >= 2 && (text[0] === '\0' || text[1] === '\0')) {
    machine.fail(state, 'JSON parser does not support UTF-16 or UTF-32');
  }
  const decoder = new Decoder(machine, state, text, options);
  decoder.value(decoder.next());
  decoder.expect(decoder.next(), 'T_END', 'the end');
}

class Decoder {
  #at = 0;
  #depth = 0;
  #tokens = 0;

  constructor(
    private readonly machine: LuaMachine,
    private readonly state: State,
    private readonly text: ByteString,
    private readonly options: JsonOptions,
  ) {}

  value(token: Token): void {
    const { machine, state } = this;
    const { api } = machine;
    switch (token.kind) {
      case 'T_STRING':
        machine.push(state, token.value as ByteString);
        return;
      case 'T_NUMBER':
        api.lua_pushnumber(state, token.value as number);
        return;
      case 'T_BOOLEAN':
        api.lua_pushboolean(state, token.value === true ? 1 : 0);
        return;
      case 'T_NULL':
        api.lua_pushlightuserdata(state, 0);
        return;
      case 'T_OBJ_BEGIN':
        this.#object();
        return;
      case 'T_ARR_BEGIN':
        this.#array();
        return;
      default:
        this.#fail(token, 'value');
    }
  }

  expect(token: Token, kind: TokenKind, wanted: string): void {
    if (token.kind !== kind) this.#fail(token, wanted);
  }

  next(): Token {
    const { text } = this;
    this.#tokens += 1;
    if (this.#tokens % TOKENS_A_LOOK === 0) this.machine.slices.checkMeter();
    BLANKS.lastIndex = this.#at;
    BLANKS.exec(text);
    this.#at = BLANKS.lastIndex;
    const index = this.#at;
    const letter = text[index];
    if (letter === undefined) return { kind: 'T_END', index };
    const punctuation = PUNCTUATION[letter];
    if (punctuation !== undefined) {
      if (punctuation !== 'T_END') this.#at += 1;
      return { kind: punctuation, index };
    }
    if (letter === '"') return this.#string(index);
    if (letter === '-' || (letter >= '0' && letter <= '9')) {
      if (!this.options.decodeInvalid && this.#isInvalidNumber()) return error(index, 'invalid number');
      return this.#number(index);
    }
    if (text.startsWith('true', index)) return this.#word(index, 4, 'T_BOOLEAN', true);
    if (text.startsWith('false', index)) return this.#word(index, 5, 'T_BOOLEAN', false);
    if (text.startsWith('null', index)) return this.#word(index, 4, 'T_NULL', false);
    if (this.options.decodeInvalid && this.#isInvalidNumber()) return this.#number(index);
    return error(index, 'invalid token');
  }

  #word(index: number, length: number, kind: TokenKind, value: boolean): Token {
    this.#at += length;
    return { kind, index, value };
  }

  #number(index: number): Token {
    const number = readNumber(this.text, index);
    if (number === undefined) return error(index, 'invalid number');
    this.#at = number.end;
    return { kind: 'T_NUMBER', index, value: number.value };
  }

  /** Leading zeros, hexadecimals, infinities, NaN: what C reads and JSON does not allow. */
  #isInvalidNumber(): boolean {
    return /^[+-]?(?:0[0-9x]|inf|nan)/i.test(this.text.slice(this.#at, this.#at + 4));
  }

  #string(index: number): Token {
    const { text } = this;
    let value = '';
    this.#at = index + 1;
    for (;;) {
      PLAIN_TEXT.lastIndex = this.#at;
      const plain = PLAIN_TEXT.exec(text)?.[0] ?? '';
      value += plain;
      this.#at += plain.length;
      const letter = text[this.#at];
      if (letter === '"') {
        this.#at += 1;
        return { kind: 'T_STRING', index, value };
      }
      if (letter !== '\\') return error(this.#at, 'unexpected end of string');
      const letterAfter = text[this.#at + 1] ?? '';
      if (letterAfter === 'u') {
        const character = this.#unicode();
        if (character === undefined) return error(this.#at, 'invalid unicode escape code');
        value += character;
      } else {
        const plainEscape = ESCAPES[letterAfter];
        if (plainEscape === undefined) return error(this.#at, 'invalid escape code');
        value += plainEscape;
        this.#at += 2;
      }
    }
  }

  /** The character of the escape here, in UTF-8; undefined when it is not one. */
  #unicode(): ByteString | undefined {
    const first = this.#hex(this.#at + 2);
    if (first === undefined) return undefined;
    if (first < 0xd800 || first > 0xdfff) {
      this.#at += 6;
      return bytesOfText(String.fromCharCode(first));
    }
    const second = this.text.startsWith('\\u', this.#at + 6) ? this.#hex(this.#at + 8) : undefined;
    if (first > 0xdbff || second === undefined || second < 0xdc00 || second > 0xdfff) return undefined;
    this.#at += 12;
    return bytesOfText(String.fromCharCode(first, second));
  }

  #hex(at: number): number | undefined {
    HEX4.lastIndex = at;
    const digits = HEX4.exec(this.text)?.[0];
    return digits === undefined ? undefined : Number.parseInt(digits, 16);
  }

  #object(): void {
    const { api } = this.machine;
    this.#descend();
    api.lua_createtable(this.state, 0, 0);
    let token = this.next();
    if (token.kind !== 'T_OBJ_END') {
      for (;;) {
        this.expect(token, 'T_STRING', 'object key string');
        this.machine.push(this.state, token.value as ByteString);
        this.expect(this.next(), 'T_COLON', 'colon');
        this.value(this.next());
        api.lua_rawset(this.state, -3);
        token = this.next();
        if (token.kind === 'T_OBJ_END') break;
        this.expect(token, 'T_COMMA', 'comma or object end');
        token = this.next();
      }
    }
    this.#depth -= 1;
  }

  #array(): void {
    const { api } = this.machine;
    this.#descend();
    api.lua_createtable(this.state, 0, 0);
    let token = this.next();
    if (token.kind !== 'T_ARR_END') {
      for (let i = 1; ; i += 1) {
        this.value(token);
        api.lua_rawseti(this.state, -2, i);
        token = this.next();
        if (token.kind === 'T_ARR_END') break;
        this.expect(token, 'T_COMMA', 'comma or array end');
        token = this.next();
      }
    }
    this.#depth -= 1;
  }

  #descend(): void {
    this.#depth += 1;
    if (this.#depth <= this.options.decodeMaxDepth && this.machine.api.lua_checkstack(this.state, 4) !== 0) return;
    this.machine.fail(this.state, `Found too many nested data structures (${this.#depth}) at character ${this.#at}`);
  }

  #fail(token: Token, wanted: string): never {
    const found = token.kind === 'T_ERROR' ? token.value : token.kind;
    return this.machine.fail(this.state, `Expected ${wanted} but found ${found} at character ${token.index + 1}`);
  }
}

function error(index: number, problem: string): Token {
  return { kind: 'T_ERROR', index, value: problem };
}
