/**
 * Converts a script's result to a reply by Redis's rules. A table's first special field decides its type (`err`, `ok`,
 * `double`, `map`, `set`, `big_number`, `verbatim_string`); without one it is a list up to the first nil.
 */
import type { ByteString } from '../../../kernel/index.js';
import {
  BigNumberReply,
  BooleanReply,
  DoubleReply,
  ErrorReply,
  MapReply,
  type Reply,
  SetReply,
  SimpleString,
  VerbatimReply,
} from '../reply.js';
import { LUA, type State } from './lua-api.js';
import { MAX_COPIED_BYTES, MAX_ITEMS, MAX_REPLY_DEPTH } from './lua-limits.js';
import { VALUE_BYTES } from './lua-memory.js';
import type { LuaMachine } from './machine.js';

const STACK_LIMIT = new ErrorReply('ERR reached lua stack limit');
/** The result of C's cast for a number outside 64 bits. */
const NOT_AN_INTEGER = -(2n ** 63n);
const BEYOND_INT64 = 2 ** 63;

/** Special fields in order of priority, each with its required type. */
const SPECIAL_FIELDS = [
  ['err', LUA.STRING],
  ['ok', LUA.STRING],
  ['double', LUA.NUMBER],
  ['map', LUA.TABLE],
  ['set', LUA.TABLE],
  ['big_number', LUA.STRING],
  ['verbatim_string', LUA.TABLE],
] as const;
type SpecialField = (typeof SPECIAL_FIELDS)[number][0];

/** Pops and converts the value on top. `protocol`: the one that the script chose. */
export function takeReply(machine: LuaMachine, state: State, protocol: 2 | 3): Reply {
  return new ReplyReader(machine, state, protocol).take(0);
}

class ReplyReader {
  #items = 0;
  #bytes = 0;

  constructor(
    private readonly machine: LuaMachine,
    private readonly state: State,
    private readonly protocol: 2 | 3,
  ) {}

  take(depth: number): Reply {
    const reply = this.#read(depth);
    this.machine.pop(this.state);
    return reply;
  }

  #read(depth: number): Reply {
    const { api } = this.machine;
    const { state } = this;
    switch (api.lua_type(state, -1)) {
      case LUA.STRING:
        return this.#string();
      case LUA.NUMBER:
        return integerOf(api.lua_tonumber(state, -1));
      case LUA.BOOLEAN: {
        const value = api.lua_toboolean(state, -1) === 1;
        if (this.protocol === 3) return new BooleanReply(value);
        return value ? 1 : null;
      }
      case LUA.TABLE:
        this.#count(0);
        if (depth >= MAX_REPLY_DEPTH || api.lua_checkstack(state, 4) === 0) return STACK_LIMIT;
        return this.#isList() ? this.#plainList(depth) : (this.#special(depth) ?? this.#list(depth));
      default:
        return null;
    }
  }

  #count(bytes: number): void {
    this.#items += 1;
    this.#bytes += bytes;
    if (this.#items > MAX_ITEMS || this.#bytes > MAX_COPIED_BYTES) this.machine.refuseMemory();
  }

  #string(): ByteString {
    return this.#counted(this.machine.string(this.state, -1) as ByteString);
  }

  #counted(text: ByteString): ByteString {
    this.#count(text.length);
    return text;
  }

  /** Undefined for a plain list. Leaves the stack unchanged. */
  #special(depth: number): Reply | undefined {
    const { machine, state } = this;
    for (const [field, type] of SPECIAL_FIELDS) {
      const reply = machine.rawField(state, -1, field) === type ? this.#field(field, depth) : undefined;
      machine.pop(state);
      if (reply !== undefined) return reply;
    }
    return undefined;
  }

  /** Converts the table by its special field, which is on top of the stack. */
  #field(field: SpecialField, depth: number): Reply | undefined {
    switch (field) {
      case 'err':
        return new ErrorReply(oneLine(this.#string()));
      case 'ok':
        return new SimpleString(oneLine(this.#string()));
      case 'double':
        return new DoubleReply(this.machine.api.lua_tonumber(this.state, -1));
      case 'map':
        return new MapReply(this.#entries(depth, true));
      case 'set':
        return new SetReply(this.#entries(depth, false));
      case 'big_number':
        return new BigNumberReply(oneLine(this.#string()));
      case 'verbatim_string':
        return this.#verbatim();
    }
  }

  /** The keys, with or without values, of the table on top. */
  #entries(depth: number, withValues: boolean): Reply[] {
    const { machine, state } = this;
    const { api } = machine;
    const items: Reply[] = [];
    api.lua_checkstack(state, 4);
    api.lua_pushnil(state);
    while (api.lua_next(state, -2) !== 0) {
      api.lua_pushvalue(state, -2);
      items.push(this.take(depth + 1));
      if (withValues) items.push(this.take(depth + 1));
      else machine.pop(state);
    }
    return items;
  }

  #verbatim(): Reply | undefined {
    const { machine, state } = this;
    const hasFormat = machine.rawField(state, -1, 'format') === LUA.STRING;
    const format = hasFormat ? this.#string() : '';
    machine.pop(state);
    const hasText = hasFormat && machine.rawField(state, -1, 'string') === LUA.STRING;
    const text = hasText ? this.#string() : '';
    if (hasFormat) machine.pop(state);
    return hasText ? new VerbatimReply(text, format === 'mkd' ? 'mkd' : 'txt') : undefined;
  }

  /** Shortcut: most tables have no fields, so none can be special. */
  #isList(): boolean {
    const { memory } = this.machine;
    return memory.isListAt(memory.top(this.state) - VALUE_BYTES);
  }

  #plainList(depth: number): Reply[] {
    const { machine, state } = this;
    const { memory } = machine;
    const listAt = memory.top(state) - VALUE_BYTES;
    const from = memory.items(listAt);
    const size = memory.sizeOf(listAt);
    const items: Reply[] = [];
    for (let i = 0; i < size; i += 1) {
      const at = from + i * VALUE_BYTES;
      const type = memory.typeAt(at);
      if (type === LUA.NIL) break;
      this.#count(0);
      if (type === LUA.STRING) items.push(this.#counted(memory.stringAt(at)));
      else if (type === LUA.NUMBER) items.push(integerOf(memory.numberAt(at)));
      else {
        machine.api.lua_rawgeti(state, -1, i + 1);
        items.push(this.take(depth + 1));
      }
    }
    return items;
  }

  #list(depth: number): Reply[] {
    const { api } = this.machine;
    const items: Reply[] = [];
    for (let i = 1; ; i += 1) {
      api.lua_rawgeti(this.state, -1, i);
      if (api.lua_type(this.state, -1) === LUA.NIL) break;
      this.#count(0);
      items.push(this.take(depth + 1));
    }
    this.machine.pop(this.state);
    return items;
  }
}

/** The number as an integer, truncated. */
function integerOf(number: number): number | bigint {
  if (Number.isSafeInteger(number)) return number + 0;
  if (!(number >= -BEYOND_INT64 && number < BEYOND_INT64)) return NOT_AN_INTEGER;
  const whole = Math.trunc(number);
  return Number.isSafeInteger(whole) ? whole + 0 : BigInt(whole);
}

/** A status or error must be one line; as in Redis the text ends at the first zero byte. */
export function oneLine(text: ByteString): ByteString {
  const end = text.indexOf('\0');
  return (end === -1 ? text : text.slice(0, end)).replace(/[\r\n]/g, ' ');
}
