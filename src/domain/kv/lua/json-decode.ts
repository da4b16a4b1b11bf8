/** `cjson.decode`: JSON text as a Lua value, with that library's leniency and error texts; token by token, in steps. */
import type { ByteString } from '../../../kernel/index.js';
import { SlicePace } from '../slices.js';
import type { Steps } from '../steps.js';
import type { JsonOptions } from './json-options.js';
import { JsonTokens } from './json-tokens.js';
import type { State } from './lua-api.js';
import { LONG_STRING_BYTES } from './lua-limits.js';
import type { LuaMachine } from './machine.js';

/** Of a table that is being filled: an object, or else the place of the next item. */
const OBJECT = 0;

/** Leaves the value on the stack: one result, or `RAISED`. */
export function* decodeJson(machine: LuaMachine, state: State, text: ByteString, options: JsonOptions): Steps<number> {
  if (text.length >= 2 && (text[0] === '\0' || text[1] === '\0')) {
    return machine.leaveError(state, 'JSON parser does not support UTF-16 or UTF-32');
  }
  const tokens = new JsonTokens(text, options.decodeInvalid);
  const decoder = new Decoder(machine, state, tokens, options);
  const pace = new SlicePace();
  for (;;) {
    tokens.next();
    if (tokens.kind === 'T_STRING') {
      if (tokens.isRaw) yield* tokens.unescape();
      if (tokens.string.length > LONG_STRING_BYTES) {
        yield* machine.pushInSlices(state, tokens.string);
        decoder.isPushed = true;
      }
    }
    const results = decoder.take();
    if (results !== undefined) return results;
    if (pace.isDue()) yield;
  }
}

class Decoder {
  /** Is the string, which is the token, on the stack already? */
  isPushed = false;
  #expected: 'value' | 'key' | 'colon' | 'comma' | 'end' = 'value';
  /** May the innermost table end here? */
  #mayEnd = false;
  /** The tables that are being filled, each within the one before. */
  readonly #open: number[] = [];

  constructor(
    private readonly machine: LuaMachine,
    private readonly state: State,
    private readonly tokens: JsonTokens,
    private readonly options: JsonOptions,
  ) {}

  /** Takes the token. @returns how many results there are once that is known, or `RAISED` */
  take(): number | undefined {
    const { kind } = this.tokens;
    const isObject = this.#open.at(-1) === OBJECT;
    if (this.#mayEnd && kind === (isObject ? 'T_OBJ_END' : 'T_ARR_END')) {
      this.#open.pop();
      return this.#whole();
    }
    switch (this.#expected) {
      case 'value':
        return this.#value();
      case 'key':
        if (kind !== 'T_STRING') return this.#fail('object key string');
        this.#pushString();
        return this.#expect('colon');
      case 'colon':
        return kind === 'T_COLON' ? this.#expect('value') : this.#fail('colon');
      case 'comma':
        if (kind !== 'T_COMMA') return this.#fail(isObject ? 'comma or object end' : 'comma or array end');
        return this.#expect(isObject ? 'key' : 'value');
      case 'end':
        return kind === 'T_END' ? 1 : this.#fail('the end');
    }
  }

  #value(): number | undefined {
    const { api } = this.machine;
    const { tokens, state } = this;
    switch (tokens.kind) {
      case 'T_STRING':
        this.#pushString();
        break;
      case 'T_NUMBER':
        api.lua_pushnumber(state, tokens.number);
        break;
      case 'T_BOOLEAN':
        api.lua_pushboolean(state, tokens.isTrue ? 1 : 0);
        break;
      case 'T_NULL':
        api.lua_pushlightuserdata(state, 0);
        break;
      case 'T_OBJ_BEGIN':
        return this.#begin(OBJECT);
      case 'T_ARR_BEGIN':
        return this.#begin(1);
      default:
        return this.#fail('value');
    }
    return this.#whole();
  }

  #begin(table: number): number | undefined {
    const { machine, state, tokens, options } = this;
    const depth = this.#open.push(table);
    if (depth > options.decodeMaxDepth || machine.api.lua_checkstack(state, 4) === 0) {
      const text = `Found too many nested data structures (${depth}) at character ${tokens.at}`;
      return machine.leaveError(state, text);
    }
    machine.api.lua_createtable(state, 0, 0);
    this.#expect(table === OBJECT ? 'key' : 'value');
    this.#mayEnd = true;
    return undefined;
  }

  /** The value on top of the stack is complete. */
  #whole(): undefined {
    const { api } = this.machine;
    const depth = this.#open.length;
    const place = this.#open[depth - 1];
    this.#mayEnd = place !== undefined;
    this.#expected = place === undefined ? 'end' : 'comma';
    if (place === OBJECT) api.lua_rawset(this.state, -3);
    else if (place !== undefined) {
      api.lua_rawseti(this.state, -2, place);
      this.#open[depth - 1] = place + 1;
    }
  }

  #expect(expected: 'value' | 'key' | 'colon'): undefined {
    this.#expected = expected;
    this.#mayEnd = false;
  }

  #pushString(): void {
    if (!this.isPushed) this.machine.push(this.state, this.tokens.string);
    this.isPushed = false;
  }

  #fail(wanted: string): number {
    const { kind, problem, index } = this.tokens;
    const found = kind === 'T_ERROR' ? problem : kind;
    const text = `Expected ${wanted} but found ${found} at character ${index + 1}`;
    return this.machine.leaveError(this.state, text);
  }
}
