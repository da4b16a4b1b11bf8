/** `cjson.encode`: writes a Lua value as JSON text, with that library's choices and error texts. */
import type { JsonOptions } from './json-options.js';
import { LUA, type State } from './lua-api.js';
import { MAX_CALL_VALUES } from './lua-limits.js';
import { VALUE_BYTES } from './lua-memory.js';
import type { LuaMachine } from './machine.js';
import { formatG } from './number-text.js';
import { NO_ARRAY, OpenTable } from './open-table.js';
import type { RAISED } from './run-slices.js';
import { ValueWriter, WRITTEN } from './value-writer.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
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
const DELETE = 0x7f;
/** The escape of each byte of a string; undefined: no escape. */
const ESCAPES: readonly (string | undefined)[] = Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte);
  const isControl = byte < 0x20 || byte === DELETE;
  return SHORT[letter] ?? (isControl ? `\\u${byte.toString(16).padStart(4, '0')}` : undefined);
});
const IS_ESCAPED = Uint8Array.from(ESCAPES, (text) => (text === undefined ? 0 : 1));
const LONGEST_ESCAPE = 6;

/**
 * Values on Lua's stack that the C implementation uses per table, and reserves before entering one. Tracked so that the
 * nesting limit is the same.
 */
const VALUES_OF_ARRAY = 1;
const VALUES_OF_OBJECT = 2;
const VALUES_ASKED = 3;

/** Encodes the value on the stack; leaves the text there. */
export class JsonEncoder extends ValueWriter {
  #hasBegun = false;
  /** The number of values that the C implementation would have on Lua's stack now. */
  #stackValues = 1;

  constructor(
    machine: LuaMachine,
    state: State,
    private readonly options: JsonOptions,
  ) {
    super(machine, state, LONGEST_ESCAPE);
  }

  protected override next(): typeof WRITTEN | typeof RAISED | undefined {
    const { open, machine } = this;
    if (open !== undefined) return open.length > 0 ? this.#item(open) : this.#field(open);
    if (this.#hasBegun) return WRITTEN;
    this.#hasBegun = true;
    return this.#value(machine.memory.top(this.state) - VALUE_BYTES);
  }

  #item(open: OpenTable): typeof RAISED | undefined {
    if (open.place === open.length) {
      this.#close(ARRAY_END, VALUES_OF_ARRAY);
      return undefined;
    }
    if (open.place > 0) this.byte(COMMA);
    open.place += 1;
    return this.#value(open.itemAt(open.place));
  }

  #field(open: OpenTable): typeof RAISED | undefined {
    if (open.hasKey) {
      this.byte(COLON);
      open.hasKey = false;
      open.place += 1;
      return this.#value(open.valueAt(open.place - 1));
    }
    if (!open.isAtValue()) {
      this.#close(OBJECT_END, VALUES_OF_OBJECT);
      return undefined;
    }
    if (!open.isFresh) this.byte(COMMA);
    open.isFresh = false;
    open.hasKey = true;
    return this.#key(open);
  }

  #key(open: OpenTable): typeof RAISED | undefined {
    const { memory } = this.machine;
    const at = open.keyAt(open.place);
    const type = at === undefined ? LUA.NUMBER : memory.typeAt(at);
    if (at !== undefined && type === LUA.STRING) {
      this.#string(at);
      return undefined;
    }
    if (type !== LUA.NUMBER) return this.#fail('table', 'table key must be a number or string');
    this.byte(QUOTE);
    const raised = this.#number(at === undefined ? open.place + 1 : memory.numberAt(at));
    this.byte(QUOTE);
    return raised;
  }

  #close(end: number, stackValues: number): void {
    this.byte(end);
    this.#stackValues -= stackValues;
    this.open = this.open?.above;
  }

  /** @param at address of the value; undefined: nil */
  #value(at: number | undefined): typeof RAISED | undefined {
    const { memory } = this.machine;
    this.countValue();
    const type = at === undefined ? LUA.NIL : memory.typeAt(at);
    if (at === undefined || type === LUA.NIL) this.ascii('null');
    else if (type === LUA.STRING) this.#string(at);
    else if (type === LUA.NUMBER) return this.#number(memory.numberAt(at));
    else if (type === LUA.TABLE) return this.#table(at);
    else if (type === LUA.BOOLEAN) this.ascii(memory.isZeroAt(at) ? 'false' : 'true');
    else if (type === LUA.LIGHTUSERDATA && memory.isZeroAt(at)) this.ascii('null');
    else return this.#fail(this.machine.nameOfType(type), 'type not supported');
    return undefined;
  }

  #number(number: number): typeof RAISED | undefined {
    const { precision, encodeInvalid } = this.options;
    if (!Number.isFinite(number)) {
      if (encodeInvalid === 'refused') return this.#fail('number', 'must not be NaN or Inf');
      if (encodeInvalid === 'null') this.ascii('null');
      else if (Number.isNaN(number)) this.ascii('NaN');
      else this.ascii(number > 0 ? 'Infinity' : '-Infinity');
      return undefined;
    }
    // A short integer has the same text in both notations, and String is much faster.
    const isShort = Number.isInteger(number) && Math.abs(number) < 10 ** Math.min(precision, 14) && number !== 0;
    this.ascii(isShort ? String(number) : formatG(number, precision));
    return undefined;
  }

  #table(at: number): typeof RAISED | undefined {
    const { machine, state, options } = this;
    const depth = (this.open?.depth ?? 0) + 1;
    if (depth > options.encodeMaxDepth || this.#stackValues + VALUES_ASKED > MAX_CALL_VALUES) {
      return machine.leaveError(state, `Cannot serialise, excessive nesting (${depth})`);
    }
    const table = new OpenTable(machine.memory, at, this.open, depth);
    table.measure();
    this.countPlaces(table.places);
    if (this.#isSparse(table)) {
      if (!options.convertSparse) return this.#fail('table', 'excessively sparse array');
      table.length = NO_ARRAY;
    }
    if (table.length === 0) {
      this.ascii('{}');
      return undefined;
    }
    this.open = table;
    this.byte(table.length > 0 ? ARRAY : OBJECT);
    this.#stackValues += table.length > 0 ? VALUES_OF_ARRAY : VALUES_OF_OBJECT;
    return undefined;
  }

  #isSparse({ length, count }: OpenTable): boolean {
    const { sparseRatio, sparseSafe } = this.options;
    return sparseRatio > 0 && length > count * sparseRatio && length > sparseSafe;
  }

  #string(at: number): void {
    this.byte(QUOTE);
    this.string(at);
  }

  protected override endString(): void {
    this.byte(QUOTE);
  }

  protected override writeString(from: number, length: number): void {
    const { heap } = this;
    const end = from + length;
    for (let at = from; at < end; at += 1) {
      const begin = at;
      while (at < end && IS_ESCAPED[heap[at] as number] === 0) at += 1;
      this.copy(begin, at - begin);
      if (at < end) this.ascii(ESCAPES[heap[at] as number] as string);
    }
  }

  #fail(subject: string, problem: string): typeof RAISED {
    return this.machine.leaveError(this.state, `Cannot serialise ${subject}: ${problem}`);
  }
}
