/** `cjson.encode`: a Lua value as JSON text, with that library's choices and error texts. */
import type { ByteString } from '../../../kernel/index.js';
import type { JsonOptions } from './json-options.js';
import { LUA, type State } from './lua-api.js';
import type { LuaMachine } from './machine.js';
import { formatG } from './number-text.js';
import { ValueWriter } from './value-writer.js';

const ESCAPED = /["\\/\p{Cc}]/gu;
const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

export function encodeJson(machine: LuaMachine, state: State, options: JsonOptions): ByteString {
  const encoder = new Encoder(machine, state, options);
  encoder.value(0);
  return encoder.text();
}

class Encoder extends ValueWriter {
  constructor(
    machine: LuaMachine,
    state: State,
    private readonly options: JsonOptions,
  ) {
    super(machine, state);
  }

  /** The value on top, which stays there. */
  value(depth: number): void {
    const { machine, state } = this;
    const { api } = machine;
    this.countValue();
    switch (api.lua_type(state, -1)) {
      case LUA.STRING:
        this.add(quoted(machine.string(state, -1) as ByteString));
        return;
      case LUA.NUMBER:
        this.#number();
        return;
      case LUA.BOOLEAN:
        this.add(api.lua_toboolean(state, -1) === 1 ? 'true' : 'false');
        return;
      case LUA.TABLE:
        this.#table(depth + 1);
        return;
      case LUA.NIL:
        this.add('null');
        return;
      case LUA.LIGHTUSERDATA:
        if (api.lua_touserdata(state, -1) === 0) {
          this.add('null');
          return;
        }
        break;
      default:
    }
    this.#fail(machine.typeName(state, -1), 'type not supported');
  }

  #fail(what: string, problem: string): never {
    return this.machine.fail(this.state, `Cannot serialise ${what}: ${problem}`);
  }

  #number(): void {
    const { precision, encodeInvalid } = this.options;
    const number = this.machine.api.lua_tonumber(this.state, -1);
    if (!Number.isFinite(number)) {
      if (encodeInvalid === 'null') {
        this.add('null');
        return;
      }
      if (encodeInvalid === 'refused') this.#fail('number', 'must not be NaN or Inf');
      if (Number.isNaN(number)) {
        this.add('NaN');
        return;
      }
      this.add(number > 0 ? 'Infinity' : '-Infinity');
      return;
    }
    // An integer of few digits is printed alike by both, and far faster so.
    const isShort = Number.isInteger(number) && Math.abs(number) < 10 ** Math.min(precision, 14) && number !== 0;
    this.add(isShort ? String(number) : formatG(number, precision));
  }

  #table(depth: number): void {
    const { machine, state, options } = this;
    if (depth > options.encodeMaxDepth || machine.api.lua_checkstack(state, 3) === 0) {
      machine.fail(state, `Cannot serialise, excessive nesting (${depth})`);
    }
    const length = this.#arrayLength();
    if (length > 0) this.#array(length, depth);
    else this.#object(depth);
  }

  /** The largest index of an array; 0 for one that is empty, -1 for what is not an array. */
  #arrayLength(): number {
    const { machine, state, options } = this;
    const { api } = machine;
    let max = 0;
    let items = 0;
    api.lua_pushnil(state);
    while (api.lua_next(state, -2) !== 0) {
      const key = api.lua_type(state, -2) === LUA.NUMBER ? api.lua_tonumber(state, -2) : 0;
      machine.pop(state);
      if (!(key >= 1) || !Number.isInteger(key)) {
        machine.pop(state);
        return -1;
      }
      max = Math.max(max, key);
      items += 1;
    }
    if (options.sparseRatio > 0 && max > items * options.sparseRatio && max > options.sparseSafe) {
      if (!options.convertSparse) this.#fail('table', 'excessively sparse array');
      return -1;
    }
    return max;
  }

  #array(length: number, depth: number): void {
    const { api } = this.machine;
    this.add('[');
    for (let i = 1; i <= length; i += 1) {
      if (i > 1) this.add(',');
      api.lua_rawgeti(this.state, -1, i);
      this.value(depth);
      this.machine.pop(this.state);
    }
    this.add(']');
  }

  #object(depth: number): void {
    const { machine, state } = this;
    const { api } = machine;
    this.add('{');
    let isFirst = true;
    api.lua_pushnil(state);
    while (api.lua_next(state, -2) !== 0) {
      if (!isFirst) this.add(',');
      isFirst = false;
      const type = api.lua_type(state, -2);
      if (type === LUA.NUMBER) {
        api.lua_pushvalue(state, -2);
        this.add('"');
        this.#number();
        this.add('":');
        machine.pop(state);
      } else if (type === LUA.STRING) {
        this.add(`${quoted(machine.string(state, -2) as ByteString)}:`);
      } else {
        this.#fail('table', 'table key must be a number or string');
      }
      this.value(depth);
      machine.pop(state);
    }
    this.add('}');
  }
}

function quoted(text: ByteString): ByteString {
  if (text.search(ESCAPED) === -1) return `"${text}"`;
  return `"${text.replace(ESCAPED, escaped)}"`;
}

/** Bytes above 127 are parts of characters, not controls. */
function escaped(letter: string): string {
  const code = letter.charCodeAt(0);
  if (code > 0x7f) return letter;
  return SHORT[letter] ?? `\\u${code.toString(16).padStart(4, '0')}`;
}
