/**
 * `cjson.decode`: parses JSON text to a Lua value with that library's leniency and error texts; token by token, in
 * slices.
 */
import type { ByteString } from '../../../kernel/index.js';
import { SLICE_ITEMS } from '../steps.js';
import type { JsonOptions } from './json-options.js';
import { JsonTokens } from './json-tokens.js';
import type { State } from './lua-api.js';
import { LONG_STRING_BYTES } from './lua-limits.js';
import type { LuaMachine } from './machine.js';
import { ValueWork } from './value-work.js';

/** Marks an open object; an open array is the index of its next item. */
const OBJECT = 0;

/** Leaves the value on the stack. */
export class JsonDecoder extends ValueWork {
  readonly #tokens: JsonTokens;
  /** Whether there is a token that was not processed yet. */
  #hasToken = false;
  /** Whether the string of the current token is already on the stack. */
  #isPushed = false;
  #expected: 'value' | 'key' | 'colon' | 'comma' | 'end' = 'value';
  /** Whether the innermost table may end here. */
  #mayEnd = false;
  /** The open tables, from the outermost to the innermost. */
  readonly #open: number[] = [];

  constructor(
    machine: LuaMachine,
    state: State,
    private readonly text: ByteString,
    private readonly options: JsonOptions,
  ) {
    super(machine, state);
    this.#tokens = new JsonTokens(text, options.decodeInvalid);
  }

  protected override goOn(): number | undefined {
    const { text } = this;
    if (text.length >= 2 && (text[0] === '\0' || text[1] === '\0')) {
      return this.machine.leaveError(this.state, 'JSON parser does not support UTF-16 or UTF-32');
    }
    for (let left = SLICE_ITEMS; left > 0; left -= 1) {
      if (!this.#hasToken) this.#tokens.next();
      this.#hasToken = true;
      if (this.#tokens.kind === 'T_STRING' && !this.#isReady()) return undefined;
      this.#hasToken = false;
      const results = this.#take();
      if (results !== undefined) return results;
    }
    return undefined;
  }

  /** Whether the string is complete and, if long, on the stack. */
  #isReady(): boolean {
    const tokens = this.#tokens;
    if (tokens.isRaw && !this.isDone(tokens.unescape())) return false;
    if (this.#isPushed || tokens.string.length <= LONG_STRING_BYTES) return true;
    this.#isPushed = true;
    return this.isDone(this.machine.pushInSlices(this.state, tokens.string));
  }

  /** Processes the token. @returns the number of results once it is known, or `RAISED` */
  #take(): number | undefined {
    const { kind } = this.#tokens;
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
    const { state } = this;
    const tokens = this.#tokens;
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
    const { machine, state, options } = this;
    const depth = this.#open.push(table);
    if (depth > options.decodeMaxDepth || !machine.slices.makeRoom(state, 4)) {
      const text = `Found too many nested data structures (${depth}) at character ${this.#tokens.at}`;
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
    if (!this.#isPushed) this.machine.push(this.state, this.#tokens.string);
    this.#isPushed = false;
  }

  #fail(wanted: string): number {
    const { kind, problem, index } = this.#tokens;
    const found = kind === 'T_ERROR' ? problem : kind;
    const text = `Expected ${wanted} but found ${found} at character ${index + 1}`;
    return this.machine.leaveError(this.state, text);
  }
}
