/**
 * A Lua machine: an instance of the binary, its state, and the exchange of values. It is independent of Redis.
 *
 * Invariants
 *
 *  LUM1 a run that exceeds a limit is ended by a JavaScript exception, which `pcall`, coroutines and error handlers in
 *       Lua cannot catch; the machine is unusable afterwards
 *  LUM2 the heap never exceeds MAX_HEAP_BYTES
 *  LUM3 pointers into the heap are used before any call that may allocate
 */
import { type ByteString, bytesOfBuffer } from '../../../kernel/index.js';
import type { Steps } from '../steps.js';
import { Stopped } from '../undoable-execution.js';
import { type LuaApi, REGISTRY_INDEX, type State } from './lua-api.js';
import { functionShim, luaBinary } from './lua-binary.js';
import { GROWN_AHEAD, LONG_STRING_BYTES, MAX_HEAP_BYTES } from './lua-limits.js';
import { LuaMemory } from './lua-memory.js';
import { RAISED, RunSlices } from './run-slices.js';
import type { ScriptRun } from './script-run.js';

/** A function that Lua calls: takes arguments from the stack, leaves results there and returns their number. */
export type HostFunction = (machine: LuaMachine, state: State) => number;

/** The value that stands for Emscripten's longjmp, distinct from all errors. */
const LONG_JUMP = Number.POSITIVE_INFINITY;
const PAGE_BYTES = 65_536;
/** Bytes of a buffer in the machine for assembling short texts or pieces. */
export const SCRATCH_BYTES = 64 * 1024;
const DEBUG_BYTES = 128;
/** Offsets in lua_Debug on 32 bits. */
const DEBUG_WHAT = 12;
const DEBUG_SOURCE = 16;
const DEBUG_LINE = 20;
const TOO_LARGE = `more than ${MAX_HEAP_BYTES / 1024 / 1024} MiB of memory`;

/** Up to this length, writing byte by byte is faster than a native call. */
const LOOPED_WRITE = 32;
/** Bytes of a long string written per slice: about a millisecond in newly grown memory. */
const SLICE_BYTES = 512 * 1024;

/** The native method that `write` calls; choosing the encoding takes up to a third of its time. */
interface Latin1Heap extends Buffer {
  latin1Write(bytes: ByteString, at: number, length: number): number;
}

export interface CallSite {
  /** `Lua`, `main` or `C`. */
  readonly kind: string;
  readonly source: ByteString;
  readonly line: number;
}

export class LuaMachine {
  /** The current run; set by the code that starts it. */
  run: ScriptRun | undefined;
  /** Native Lua functions that the sandbox wraps: name → index in the function table. */
  readonly natives = new Map<string, number>();
  /** Read-only tables: pointer to the empty table that scripts see → registry reference of the real table. */
  readonly shielded = new Map<number, number>();
  readonly api: LuaApi;
  readonly state: State;
  /** Refreshed whenever the memory has grown. */
  readonly memory: LuaMemory;
  readonly slices: RunSlices;
  /** The address of the buffer of `SCRATCH_BYTES`. Its contents are valid until a value is pushed or the run pauses. */
  readonly scratch: number;
  readonly #lengthAt: number;
  readonly #debugAt: number;
  readonly #names = new Map<string, number>();
  readonly #functionIndexes = new Map<HostFunction, number>();
  /** Function indexes of the host functions that may run in slices. */
  readonly #stepped = new Set<number>();

  /** @param stepped the host functions that may run in slices */
  constructor(hostFunctions: readonly HostFunction[], stepped: readonly HostFunction[]) {
    this.api = this.#instantiate();
    const { api } = this;
    this.memory = new LuaMemory(api.memory);
    this.slices = new RunSlices(api, this.memory, this.#install(hostFunctions));
    this.#lengthAt = api.malloc(8);
    this.scratch = api.malloc(SCRATCH_BYTES);
    this.#debugAt = api.malloc(DEBUG_BYTES);
    for (const hostFunction of stepped) this.#stepped.add(this.#functionIndexes.get(hostFunction) as number);
    this.state = api.luaL_newstate();
    this.slices.watch(this.state);
    if (!this.#knowsMemory()) throw new Error('this is not the Lua whose memory is known here');
  }

  #knowsMemory(): boolean {
    const { api, state, memory } = this;
    api.lua_pushnumber(state, 1.5);
    this.push(state, 'known');
    api.lua_createtable(state, 0, 0);
    api.lua_createtable(state, 1, 0);
    api.lua_pushvalue(state, 2);
    api.lua_rawseti(state, 4, 1);
    api.lua_createtable(state, 0, 4);
    api.lua_pushvalue(state, 2);
    api.lua_rawseti(state, 5, 7);
    const isKnown = memory.knows(state);
    api.lua_settop(state, 0);
    return isKnown;
  }

  /** The complete memory. */
  get heap(): Buffer {
    return this.memory.heap;
  }

  get heapBytes(): number {
    return this.heap.length;
  }

  isShielded(state: State, index: number): boolean {
    return this.shielded.has(this.api.lua_topointer(state, index));
  }

  /** Whether it is a host function that may run in slices. */
  mayTakeSteps(state: State, index: number): boolean {
    return this.#stepped.has(this.api.lua_tocfunction(state, index));
  }

  /** @throws Stopped */
  refuseMemory(): never {
    throw new Stopped(`it needs ${TOO_LARGE}`);
  }

  /** A permanent C string, for names of fields. */
  name(text: string): number {
    let pointer = this.#names.get(text);
    if (pointer === undefined) {
      pointer = this.api.malloc(text.length + 1);
      this.heap.write(text, pointer, 'latin1');
      this.heap[pointer + text.length] = 0;
      this.#names.set(text, pointer);
    }
    return pointer;
  }

  push(state: State, bytes: ByteString): void {
    const { length } = bytes;
    if (length <= SCRATCH_BYTES) {
      this.#write(bytes, this.scratch);
      this.api.lua_pushlstring(state, this.scratch, length);
      return;
    }
    const pointer = this.#copyIn(bytes);
    this.api.lua_pushlstring(state, pointer, length);
    this.api.free(pointer);
  }

  /** As `push`; a long string is copied in slices. May be abandoned between two. */
  *pushInSlices(state: State, bytes: ByteString): Steps<void> {
    const { length } = bytes;
    if (length <= LONG_STRING_BYTES) {
      this.push(state, bytes);
      return;
    }
    const pieces: ByteString[] = [];
    for (let from = 0; from < length; from += SLICE_BYTES) pieces.push(bytes.slice(from, from + SLICE_BYTES));
    yield* this.pushPieces(state, pieces, length);
  }

  /** Pushes short pieces as one string of that length. May be abandoned between two pieces. */
  *pushPieces(state: State, pieces: readonly ByteString[], length: number): Steps<void> {
    const pointer = this.#room(length);
    let at = pointer;
    try {
      for (const piece of pieces) {
        this.#write(piece, at);
        at += piece.length;
        yield;
      }
      this.api.lua_pushlstring(state, pointer, length);
    } finally {
      this.api.free(pointer);
    }
  }

  pushFunction(state: State, hostFunction: HostFunction, upvalues = 0): void {
    this.api.lua_pushcclosure(state, this.#functionIndexes.get(hostFunction) as number, upvalues);
  }

  /** The string at the index; converts a number in place. Undefined for other types. */
  string(state: State, index: number): ByteString | undefined {
    const pointer = this.api.lua_tolstring(state, index, this.#lengthAt);
    if (pointer === 0) return undefined;
    return this.memory.read(pointer, this.memory.words[this.#lengthAt >> 2] as number);
  }

  /** The address of a string argument, valid while it is on the stack. @throws as Lua does for other types */
  checkedSpan(state: State, argument: number): { at: number; length: number } {
    const at = this.api.luaL_checklstring(state, argument, this.#lengthAt);
    return { at, length: this.memory.words[this.#lengthAt >> 2] as number };
  }

  checkedString(state: State, argument: number): ByteString {
    const { at, length } = this.checkedSpan(state, argument);
    return this.memory.read(at, length);
  }

  /** Pushes a field without metamethods; returns its type. */
  rawField(state: State, tableAt: number, field: string): number {
    const at = tableAt < 0 && tableAt > REGISTRY_INDEX ? tableAt - 1 : tableAt;
    this.push(state, field);
    this.api.lua_rawget(state, at);
    return this.api.lua_type(state, -1);
  }

  pop(state: State, count = 1): void {
    this.api.lua_settop(state, -count - 1);
  }

  typeName(state: State, index: number): string {
    return this.nameOfType(this.api.lua_type(state, index));
  }

  nameOfType(type: number): string {
    return this.#cString(this.api.lua_typename(this.state, type));
  }

  /** Compiles source text and pushes the function, or the error with the result false. Never accepts bytecode. */
  load(state: State, source: ByteString, chunkName: ByteString): boolean {
    const pointer = this.#copyIn(source.charCodeAt(0) === 27 ? ` ${source}` : source);
    const name = this.#copyIn(`${chunkName}\0`);
    const length = source.charCodeAt(0) === 27 ? source.length + 1 : source.length;
    const failed = this.api.luaL_loadbuffer(state, pointer, length, name);
    this.api.free(pointer);
    this.api.free(name);
    return failed === 0;
  }

  /** Pushes a function from bytecode that is part of this program. */
  loadCompiled(state: State, bytecode: ByteString): void {
    const pointer = this.#copyIn(bytecode);
    const failed = this.api.luaL_loadbuffer(state, pointer, bytecode.length, this.name('?'));
    this.api.free(pointer);
    if (failed !== 0) throw new Error('this is not the Lua whose bytecode is known here');
  }

  /** The function at that level of the stack; 0 is the function itself. */
  callSite(state: State, level: number): CallSite | undefined {
    if (this.api.lua_getstack(state, level, this.#debugAt) === 0) return undefined;
    this.api.lua_getinfo(state, this.name('nSl'), this.#debugAt);
    const word = (offset: number): number => this.memory.words[(this.#debugAt + offset) >> 2] as number;
    return {
      kind: this.#cString(word(DEBUG_WHAT)),
      source: this.#cString(word(DEBUG_SOURCE)),
      line: word(DEBUG_LINE),
    };
  }

  /** Raises an error with the caller's position. */
  fail(state: State, message: ByteString): never {
    this.#pushWithPlace(state, message);
    return this.raise(state);
  }

  /** Leaves the error on the stack; a function in slices returns the result to raise it. */
  leaveError(state: State, message: ByteString): typeof RAISED {
    this.#pushWithPlace(state, message);
    return RAISED;
  }

  #pushWithPlace(state: State, message: ByteString): void {
    this.api.luaL_where(state, 1);
    this.push(state, message);
    this.api.lua_concat(state, 2);
  }

  failArgument(state: State, argument: number, message: ByteString): never {
    const pointer = this.#copyIn(`${message}\0`);
    try {
      this.api.luaL_argerror(state, argument, pointer);
    } finally {
      this.api.free(pointer);
    }
    throw new Error('lua_error has returned');
  }

  /** Raises the value on top of the stack. */
  raise(state: State): never {
    this.api.lua_error(state);
    throw new Error('lua_error has returned');
  }

  /** Calls the C function at that table index in the current frame. */
  callNative(state: State, functionIndex: number): number {
    return (this.api.__indirect_function_table.get(functionIndex) as (state: State) => number)(state);
  }

  #write(bytes: ByteString, at: number): void {
    const { heap } = this;
    const { length } = bytes;
    if (length > LOOPED_WRITE) {
      (heap as Latin1Heap).latin1Write(bytes, at, length);
      return;
    }
    for (let i = 0; i < length; i += 1) heap[at + i] = bytes.charCodeAt(i);
  }

  #copyIn(bytes: ByteString): number {
    const pointer = this.#room(bytes.length);
    this.#write(bytes, pointer);
    return pointer;
  }

  #room(bytes: number): number {
    const pointer = this.api.malloc(Math.max(1, bytes));
    if (pointer === 0) this.refuseMemory();
    return pointer;
  }

  #cString(pointer: number): ByteString {
    return bytesOfBuffer(this.heap.subarray(pointer, this.heap.indexOf(0, pointer)));
  }

  /** Adds the host functions to the machine's function table; returns the index of the hook. */
  #install(hostFunctions: readonly HostFunction[]): number {
    const host: Record<string, unknown> = { hook: (state: State) => this.slices.look(state) };
    for (const [i, hostFunction] of hostFunctions.entries()) {
      host[`f${i}`] = (state: State) => hostFunction(this, state);
    }
    const shim = new WebAssembly.Instance(functionShim(hostFunctions.length), { host } as WebAssembly.Imports);
    const table = this.api.__indirect_function_table;
    const first = table.grow(hostFunctions.length + 1);
    for (const [i, hostFunction] of hostFunctions.entries()) {
      table.set(first + i, shim.exports[`f${i}`]);
      this.#functionIndexes.set(hostFunction, first + i);
    }
    table.set(first + hostFunctions.length, shim.exports.hook);
    return first + hostFunctions.length;
  }

  #instantiate(): LuaApi {
    const binary = luaBinary();
    const imports: Record<string, Record<string, unknown>> = {};
    for (const { module, name } of WebAssembly.Module.imports(binary)) {
      imports[module] ??= {};
      // The machine has no access to files, time zones or processes.
      imports[module][name] = () => {
        throw new Stopped(`it asked for ${name}`);
      };
    }
    let api: LuaApi;
    Object.assign(imports.env as object, {
      _emscripten_throw_longjmp: () => {
        throw LONG_JUMP;
      },
      invoke_vii: (functionIndex: number, first: number, second: number) => {
        const stack = api.stackSave();
        try {
          (api.__indirect_function_table.get(functionIndex) as (a: number, b: number) => void)(first, second);
        } catch (thrown) {
          api.stackRestore(stack);
          if (thrown !== LONG_JUMP) throw thrown;
          api.setThrew(1, 0);
        }
      },
      emscripten_memcpy_js: (to: number, from: number, bytes: number) => this.heap.copyWithin(to, from, from + bytes),
      emscripten_resize_heap: (bytes: number) => this.#grow(bytes),
      emscripten_date_now: () => 0,
      _emscripten_get_now_is_monotonic: () => 0,
    });
    Object.assign(imports.wasi_snapshot_preview1 as object, {
      // The environment is empty.
      environ_sizes_get: (countAt: number, bytesAt: number) => {
        const words = new Int32Array(api.memory.buffer);
        words[countAt >> 2] = 0;
        words[bytesAt >> 2] = 0;
        return 0;
      },
      environ_get: () => 0,
    });
    const { exports } = new WebAssembly.Instance(binary, imports as WebAssembly.Imports);
    api = exports as typeof exports & LuaApi;
    (exports.__wasm_call_ctors as () => void)();
    return api;
  }

  #grow(bytes: number): number {
    if (bytes > MAX_HEAP_BYTES) this.refuseMemory();
    const { memory } = this.api;
    const held = memory.buffer.byteLength;
    const wanted = Math.max(bytes, Math.min(held * (1 + GROWN_AHEAD), MAX_HEAP_BYTES));
    memory.grow(Math.ceil((wanted - held) / PAGE_BYTES));
    this.memory.lookAgain(memory);
    this.slices.lookSoon();
    return 1;
  }
}
