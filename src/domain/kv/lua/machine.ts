/**
 * One Lua machine: an instance of the binary, its state, and the way in and out. It knows nothing of Redis.
 *
 * A run is a coroutine of Lua's, so that the hook that counts instructions can leave it between two of them, and it goes
 * on there; `pcall` calls in a coroutine within that. Within a function of C that called back (a metamethod, `table.sort`,
 * a coroutine of the script's own) it cannot: there it goes on, for `holdMs` at most.
 *
 * Invariants
 *  LUM1 a run that goes beyond a limit is ended by a JavaScript exception, which no `pcall`, coroutine or error
 *       handler of Lua's can catch; the machine is unusable afterwards
 *  LUM2 the heap never exceeds MAX_HEAP_BYTES
 *  LUM3 pointers into the heap are used before anything that may allocate is called
 *  LUM4 a run is left where it has worked for as long as one may at a time, itself or what it has called, and only where
 *       Lua can go on
 */
import { type ByteString, bytesOfBuffer } from '../../../kernel/index.js';
import { Stopped } from '../run.js';
import type { Steps } from '../steps.js';
import { type WorkClock, WorkMeter } from '../work-meter.js';
import { functionShim, luaBinary } from './lua-binary.js';
import {
  FIRST_SLICE_MS,
  GROWN_AHEAD,
  INSTRUCTIONS_A_LOOK,
  INSTRUCTIONS_A_LOOK_WHEN_LARGE,
  LARGE_HEAP_BYTES,
  MAX_HEAP_BYTES,
  MAX_INSTRUCTIONS,
  SLICE_MS,
} from './lua-limits.js';
import { LuaMemory, VALUE_BYTES } from './lua-memory.js';
import type { ScriptRun } from './script-run.js';

export const LUA = { NIL: 0, BOOLEAN: 1, LIGHTUSERDATA: 2, NUMBER: 3, STRING: 4, TABLE: 5, FUNCTION: 6 } as const;
export const REGISTRY_INDEX = -10000;
export const GLOBALS_INDEX = -10002;
export const MULTIPLE_RESULTS = -1;

/** A Lua state: the main one or a coroutine. A pointer. */
export type State = number;
/** What Lua calls: takes its arguments from the stack, leaves results there and says how many. */
export type HostFunction = (machine: LuaMachine, state: State) => number;

export interface LuaApi {
  readonly memory: WebAssembly.Memory;
  readonly __indirect_function_table: WebAssembly.Table;
  malloc(bytes: number): number;
  free(pointer: number): void;
  stackSave(): number;
  stackRestore(pointer: number): void;
  setThrew(threw: number, value: number): void;
  luaL_newstate(): State;
  luaopen_base(state: State): number;
  luaopen_table(state: State): number;
  luaopen_string(state: State): number;
  luaopen_math(state: State): number;
  lua_gettop(state: State): number;
  lua_settop(state: State, index: number): void;
  lua_remove(state: State, index: number): void;
  lua_insert(state: State, index: number): void;
  lua_replace(state: State, index: number): void;
  lua_pushvalue(state: State, index: number): void;
  lua_checkstack(state: State, slots: number): number;
  lua_type(state: State, index: number): number;
  lua_typename(state: State, type: number): number;
  lua_isnumber(state: State, index: number): number;
  lua_tonumber(state: State, index: number): number;
  lua_toboolean(state: State, index: number): number;
  lua_tolstring(state: State, index: number, lengthAt: number): number;
  lua_tocfunction(state: State, index: number): number;
  lua_topointer(state: State, index: number): number;
  lua_touserdata(state: State, index: number): number;
  lua_pushnil(state: State): void;
  lua_pushnumber(state: State, value: number): void;
  lua_pushboolean(state: State, value: number): void;
  lua_pushlstring(state: State, pointer: number, bytes: number): void;
  lua_pushlightuserdata(state: State, pointer: number): void;
  lua_pushcclosure(state: State, functionIndex: number, upvalues: number): void;
  lua_createtable(state: State, items: number, fields: number): void;
  lua_getfield(state: State, index: number, name: number): void;
  lua_setfield(state: State, index: number, name: number): void;
  lua_gettable(state: State, index: number): void;
  lua_settable(state: State, index: number): void;
  lua_rawget(state: State, index: number): void;
  lua_rawgeti(state: State, index: number, at: number): void;
  lua_rawset(state: State, index: number): void;
  lua_rawseti(state: State, index: number, at: number): void;
  lua_getmetatable(state: State, index: number): number;
  lua_setmetatable(state: State, index: number): number;
  lua_next(state: State, index: number): number;
  lua_concat(state: State, count: number): void;
  lua_call(state: State, args: number, results: number): void;
  lua_pcall(state: State, args: number, results: number, handlerAt: number): number;
  lua_error(state: State): number;
  lua_newthread(state: State): State;
  lua_resume(state: State, args: number): number;
  lua_yield(state: State, results: number): number;
  lua_xmove(from: State, to: State, count: number): void;
  lua_sethook(state: State, functionIndex: number, mask: number, count: number): number;
  lua_getstack(state: State, level: number, debugAt: number): number;
  lua_getinfo(state: State, what: number, debugAt: number): number;
  luaL_ref(state: State, tableAt: number): number;
  luaL_unref(state: State, tableAt: number, ref: number): void;
  luaL_loadbuffer(state: State, source: number, bytes: number, name: number): number;
  luaL_where(state: State, level: number): void;
  luaL_argerror(state: State, argument: number, message: number): number;
  luaL_checklstring(state: State, argument: number, lengthAt: number): number;
  luaL_checknumber(state: State, argument: number): number;
  luaL_optnumber(state: State, argument: number, fallback: number): number;
  luaL_checktype(state: State, argument: number, type: number): void;
}

/** Emscripten's longjmp: what its `throw` throws, told apart from every error of ours. */
const LONG_JUMP = Number.POSITIVE_INFINITY;
const MASK_RETURN = 2;
const MASK_COUNT = 8;
/** What lua_resume and lua_status answer for a coroutine that has yielded. */
const YIELDED = 1;
/**
 * Within lua_State of a 32-bit machine: the call that runs and the one that is none, of what all run in; depth of C calls,
 * now and where it was resumed; and what it is checked by.
 */
const STATE_CALL = 20;
const STATE_FIRST_CALL = 40;
const STATE_C_CALLS = 52;
const STATE_HOOK_COUNT = 60;
const STATE_HOOK = 68;
/** Of what is known of a call. */
const CALL_BYTES = 24;
const PAGE_BYTES = 65_536;
const SCRATCH_BYTES = 64 * 1024;
const DEBUG_BYTES = 128;
/** Within lua_Debug of a 32-bit machine. */
const DEBUG_WHAT = 12;
const DEBUG_SOURCE = 16;
const DEBUG_LINE = 20;
const TOO_LARGE = `more than ${MAX_HEAP_BYTES / 1024 / 1024} MiB of memory`;

/** Up to this length bytes are written one by one, which is faster than a call into the heap. */
const LOOPED_WRITE = 32;
/** Taking a longer result out is a slice of its own. */
const LONG_RESULT_BYTES = 1024 * 1024;
/** Of a long string, written at a time: about a millisecond where the heap is new. */
const SLICE_BYTES = 512 * 1024;

/** What `write` calls in the end; up to a third of its time goes into finding that out. */
interface Latin1Heap extends Buffer {
  latin1Write(bytes: ByteString, at: number, length: number): number;
}

interface Coroutine {
  readonly state: State;
  /** The reference in the registry. */
  readonly ref: number;
}

export interface CallSite {
  /** `Lua`, `main` or `C`. */
  readonly what: string;
  readonly source: ByteString;
  readonly line: number;
}

/** What a run may use up, in milliseconds of work. */
export interface MeterLimits {
  readonly totalMs: number;
  /** What it may take at a time, without a pause. */
  readonly holdMs: number;
}

/** What a function of the host returns that raises what it has left on top of the stack. */
export const RAISED = -1;

/** Thrown when a run has held up others for too long. */
export class HeldTooLong extends Stopped {}

/** What became of a run so far. */
export type ScriptState = 'done' | 'failed' | 'paused';

export class LuaMachine {
  /** What is running; set by whoever runs it. */
  run: ScriptRun | undefined;
  /** Lua's own functions that the sandbox has wrapped: name → index in the function table. */
  readonly natives = new Map<string, number>();
  /** Read-only tables: pointer to the empty table that scripts see → registry reference of the one behind it. */
  readonly shielded = new Map<number, number>();
  readonly api: LuaApi;
  readonly state: State;
  /** Seen anew whenever it has grown. */
  readonly memory: LuaMemory;
  readonly #lengthAt: number;
  readonly #scratch: number;
  readonly #debugAt: number;
  readonly #names = new Map<string, number>();
  readonly #hookIndex: number;
  readonly #functionIndexes = new Map<HostFunction, number>();
  /** Indexes of those that may work in steps. */
  readonly #stepped = new Set<number>();
  /** Measures the present slice. */
  readonly #meter = new WorkMeter({ nowMicros: () => 0 });
  /** When it may have used up what it may: then processor time is asked for. */
  #deadlineMicros = Number.POSITIVE_INFINITY;
  /** When it is to be left; never where the run may not pause. */
  #leaveMicros = Number.POSITIVE_INFINITY;
  /** Work of earlier slices. */
  #spentMicros = 0;
  #limits: MeterLimits = { totalMs: 0, holdMs: 0 };
  #instructions = 0;
  /** It is done, and its long result is still to be taken. */
  #hasEnded = false;
  /** What a function of the host still does before the run goes on, and the state that has called it. */
  #work: Steps<number> | undefined;
  #workFor: State = 0;
  /** The state that is to be resumed with that many results of it, or `RAISED`. */
  #answered: State = 0;
  #results = 0;
  #raising: State = 0;
  /** The coroutine that runs are: one serves until one fails in it. */
  #thread: State = 0;
  #threadRef = 0;
  /** The coroutines that the run has entered, each within the one before. */
  readonly #entered: Coroutine[] = [];
  /** Coroutines that have ended well, and can serve again. */
  readonly #rested: Coroutine[] = [];

  /** @param stepped those of them that may work in steps */
  constructor(hostFunctions: readonly HostFunction[], stepped: readonly HostFunction[]) {
    this.api = this.#instantiate();
    const { api } = this;
    this.memory = new LuaMemory(api.memory);
    this.#lengthAt = api.malloc(8);
    this.#scratch = api.malloc(SCRATCH_BYTES);
    this.#debugAt = api.malloc(DEBUG_BYTES);
    this.#hookIndex = this.#install(hostFunctions);
    for (const hostFunction of stepped) this.#stepped.add(this.#functionIndexes.get(hostFunction) as number);
    this.state = api.luaL_newstate();
    api.lua_sethook(this.state, this.#hookIndex, MASK_COUNT, INSTRUCTIONS_A_LOOK);
    const word = (offset: number) => this.memory.words[(this.state + offset) >> 2];
    const isKnown =
      word(STATE_HOOK_COUNT) === INSTRUCTIONS_A_LOOK &&
      word(STATE_HOOK) === this.#hookIndex &&
      word(STATE_CALL) === word(STATE_FIRST_CALL);
    if (!isKnown || !this.#knowsMemory()) throw new Error('this is not the Lua whose states are known here');
  }

  #knowsMemory(): boolean {
    const { api, state, memory } = this;
    api.lua_pushnumber(state, 1.5);
    this.push(state, 'known');
    api.lua_createtable(state, 0, 0);
    api.lua_createtable(state, 1, 0);
    api.lua_pushvalue(state, 2);
    api.lua_rawseti(state, 4, 1);
    const isKnown = memory.knows(state);
    api.lua_settop(state, 0);
    return isKnown;
  }

  /** All of its memory. */
  get heap(): Buffer {
    return this.memory.heap;
  }

  get heapBytes(): number {
    return this.heap.length;
  }

  /** Since the run began. */
  get elapsedMicros(): number {
    return this.#meter.clock.nowMicros() - this.#meter.startedMicros;
  }

  isShielded(state: State, index: number): boolean {
    return this.shielded.has(this.api.lua_topointer(state, index));
  }

  /** The coroutine that is the run, where there is one. */
  get thread(): State {
    return this.#thread;
  }

  /** Is it the run, or a coroutine that it has entered, and none of the script's own? */
  isOfRun(state: State): boolean {
    return state === this.#thread || this.#entered.some((entered) => entered.state === state);
  }

  /** How many coroutines are entered, each within the one before. */
  get depth(): number {
    return this.#entered.length;
  }

  /** An empty coroutine within `state`, where the run can be left. To be resumed until it is done, and then left. */
  enter(state: State): State {
    let coroutine = this.#rested.pop();
    if (coroutine === undefined) {
      const made = this.api.lua_newthread(state);
      coroutine = { state: made, ref: this.api.luaL_ref(state, REGISTRY_INDEX) };
    }
    this.#entered.push(coroutine);
    return coroutine.state;
  }

  /** The coroutine that was entered in `state`. */
  within(state: State): State {
    const at = this.#entered.findIndex((entered) => entered.state === state);
    return (this.#entered[at + 1] as Coroutine).state;
  }

  /** This is called once the results, or the error, of the one that was entered last were taken. */
  leave(hasFailed: boolean): void {
    const coroutine = this.#entered.pop() as Coroutine;
    // A coroutine that has failed cannot run again.
    if (hasFailed) this.api.luaL_unref(this.state, REGISTRY_INDEX, coroutine.ref);
    else this.#rested.push(coroutine);
  }

  resume(state: State, args: number): ScriptState {
    const status = this.api.lua_resume(state, state === this.#answered ? this.#takeAnswer(state) : args);
    if (status === YIELDED) return 'paused';
    return status === 0 ? 'done' : 'failed';
  }

  /** Begins to count what is run from now on. @param mayPause may it be left on the way? */
  startMeter(clock: WorkClock, limits: MeterLimits, mayPause = false): void {
    this.#meter.clock = clock;
    this.#limits = limits;
    this.#spentMicros = 0;
    this.#instructions = 0;
    this.#startSlice(mayPause ? FIRST_SLICE_MS : Number.POSITIVE_INFINITY);
  }

  /** This is called by whatever takes long within one instruction. @throws Stopped */
  checkMeter(): void {
    this.#judge(this.#meter.clock.nowMicros());
  }

  /** An empty coroutine: function and arguments of a run are to be pushed on it. */
  freshThread(): State {
    if (this.#thread === 0) {
      this.#thread = this.api.lua_newthread(this.state);
      this.#threadRef = this.api.luaL_ref(this.state, REGISTRY_INDEX);
    }
    return this.#thread;
  }

  /** Runs what was pushed. After `failed` the coroutine is as it was then, the error on top, until `endRun`. */
  start(args: number): ScriptState {
    return this.#runOn(args);
  }

  /** Goes on where it was left. @throws Stopped */
  goOn(): ScriptState {
    if (this.#hasEnded) {
      this.#hasEnded = false;
      return 'done';
    }
    const { totalMs } = this.#limits;
    if (this.#spentMicros >= totalMs * 1000) throw new Stopped(`it took longer than ${totalMs} ms`);
    this.#startSlice(SLICE_MS);
    if (this.#work === undefined || this.#workOn(this.#work)) return this.#runOn(0);
    this.#spentMicros += this.#meter.workedMicros();
    return 'paused';
  }

  /** May the run be left by the function of the host that is called now? Lua can go on only where Lua has called it. */
  canPause(state: State): boolean {
    if (this.#leaveMicros === Number.POSITIVE_INFINITY || !this.canLeave(state)) return false;
    const { words } = this.memory;
    const calls = (words[(state + STATE_CALL) >> 2] as number) - (words[(state + STATE_FIRST_CALL) >> 2] as number);
    return calls > CALL_BYTES;
  }

  /** Is it a function of the host that may work in steps? */
  mayTakeSteps(state: State, index: number): boolean {
    return this.#stepped.has(this.api.lua_tocfunction(state, index));
  }

  /**
   * What a function of the host returns that works in steps: of these the last leaves results on top of the stack, and
   * says how many, or `RAISED`. They may find other values there, and the same above those, whenever they go on.
   * @throws Stopped where the run cannot be left
   */
  inSteps(state: State, work: Steps<number>): number {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value === RAISED ? this.raise(state) : step.value;
      if (!this.canPause(state)) this.checkMeter();
      else if (this.#isSliceOver()) break;
    }
    this.#work = work;
    this.#workFor = state;
    return this.api.lua_yield(state, 0);
  }

  /** @returns is it done? */
  #workOn(work: Steps<number>): boolean {
    do {
      const step = work.next();
      if (step.done !== true) continue;
      this.#work = undefined;
      this.#answered = this.#workFor;
      this.#results = step.value;
      return true;
    } while (!this.#isSliceOver());
    return false;
  }

  #isSliceOver(): boolean {
    return this.#meter.clock.nowMicros() > this.#leaveMicros;
  }

  /** How many values, on top of its stack, the call that has left the state returns. */
  #takeAnswer(state: State): number {
    this.#answered = 0;
    if (this.#results !== RAISED) return this.#results;
    // The call is over already, but for the hook that sees it return: what is raised there is raised by it.
    this.#raising = state;
    this.api.lua_sethook(state, this.#hookIndex, MASK_RETURN, 0);
    return 1;
  }

  /** This is called once a run's results, or its error, were taken. */
  endRun(hasFailed: boolean): void {
    if (!hasFailed) {
      this.api.lua_settop(this.#thread, 0);
      return;
    }
    // A coroutine that has failed cannot run again.
    this.api.luaL_unref(this.state, REGISTRY_INDEX, this.#threadRef);
    this.#thread = 0;
  }

  #runOn(args: number): ScriptState {
    const came = this.resume(this.#thread, args);
    if (came === 'paused') this.#spentMicros += this.#meter.workedMicros();
    if (came !== 'done' || this.#leaveMicros === Number.POSITIVE_INFINITY || !this.#hasLongResult()) return came;
    // To take it takes milliseconds, and so may what it did last.
    this.#hasEnded = true;
    return 'paused';
  }

  #hasLongResult(): boolean {
    const at = this.memory.top(this.#thread) - VALUE_BYTES;
    return this.memory.typeAt(at) === LUA.STRING && this.memory.stringLengthAt(at) > LONG_RESULT_BYTES;
  }

  #startSlice(sliceMs: number): void {
    const nowMicros = this.#meter.start();
    const { totalMs, holdMs } = this.#limits;
    this.#deadlineMicros = nowMicros + Math.min(totalMs * 1000 - this.#spentMicros, holdMs * 1000);
    this.#leaveMicros = nowMicros + sliceMs * 1000;
  }

  /** @throws Stopped */
  #judge(nowMicros: number): void {
    if (nowMicros <= this.#deadlineMicros) return;
    const { totalMs, holdMs } = this.#limits;
    const worked = this.#meter.workedMicros(nowMicros);
    const left = totalMs * 1000 - this.#spentMicros - worked;
    if (left <= 0) throw new Stopped(`it took longer than ${totalMs} ms`);
    const leftHere = holdMs * 1000 - worked;
    if (leftHere <= 0)
      throw new HeldTooLong(`it took longer than ${Math.round(holdMs)} ms where it cannot be interrupted`);
    this.#deadlineMicros = nowMicros + Math.min(left, leftHere);
  }

  /** LUM4. Is no function of C between the run's beginning and here? */
  canLeave(state: State): boolean {
    const innermost = this.#entered.at(-1)?.state ?? this.#thread;
    const calls = this.memory.words[(state + STATE_C_CALLS) >> 2] as number;
    return state === innermost && (calls & 0xffff) === calls >>> 16;
  }

  /** @throws Stopped */
  refuseMemory(): never {
    throw new Stopped(`it needs ${TOO_LARGE}`);
  }

  /** A C string that stays, for names of fields. */
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
      this.#write(bytes, this.#scratch);
      this.api.lua_pushlstring(state, this.#scratch, length);
      return;
    }
    const pointer = this.#copyIn(bytes);
    this.api.lua_pushlstring(state, pointer, length);
    this.api.free(pointer);
  }

  /** The same of a long one, in slices. It may be given up between two. */
  *pushInSlices(state: State, bytes: ByteString): Generator<void, void> {
    const { length } = bytes;
    const pointer = this.#room(length);
    try {
      for (let from = 0; from < length; from += SLICE_BYTES) {
        if (from > 0) yield;
        this.#write(bytes.slice(from, from + SLICE_BYTES), pointer + from);
      }
      yield;
      this.api.lua_pushlstring(state, pointer, length);
    } finally {
      this.api.free(pointer);
    }
  }

  pushFunction(state: State, hostFunction: HostFunction, upvalues = 0): void {
    this.api.lua_pushcclosure(state, this.#functionIndexes.get(hostFunction) as number, upvalues);
  }

  /** The string at the index; a number there becomes one. Undefined for other types. */
  string(state: State, index: number): ByteString | undefined {
    const pointer = this.api.lua_tolstring(state, index, this.#lengthAt);
    if (pointer === 0) return undefined;
    return this.memory.read(pointer, this.memory.words[this.#lengthAt >> 2] as number);
  }

  /** Where the string argument lies. Pinned while it is on the stack. @throws as Lua does for other types */
  checkedSpan(state: State, argument: number): { at: number; length: number } {
    const at = this.api.luaL_checklstring(state, argument, this.#lengthAt);
    return { at, length: this.memory.words[this.#lengthAt >> 2] as number };
  }

  checkedString(state: State, argument: number): ByteString {
    const { at, length } = this.checkedSpan(state, argument);
    return this.memory.read(at, length);
  }

  /** A field, without metamethods, left on the stack; its type. */
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
    return this.#cString(this.api.lua_typename(state, this.api.lua_type(state, index)));
  }

  /** Compiles a chunk and leaves it on the stack; or leaves the error and says so. Never takes bytecode. */
  load(state: State, source: ByteString, chunkName: ByteString): boolean {
    const pointer = this.#copyIn(source.charCodeAt(0) === 27 ? ` ${source}` : source);
    const name = this.#copyIn(`${chunkName}\0`);
    const length = source.charCodeAt(0) === 27 ? source.length + 1 : source.length;
    const failed = this.api.luaL_loadbuffer(state, pointer, length, name);
    this.api.free(pointer);
    this.api.free(name);
    return failed === 0;
  }

  /** What runs at that level of the stack: 0 is the function itself. */
  callSite(state: State, level: number): CallSite | undefined {
    if (this.api.lua_getstack(state, level, this.#debugAt) === 0) return undefined;
    this.api.lua_getinfo(state, this.name('nSl'), this.#debugAt);
    const word = (offset: number): number => this.memory.words[(this.#debugAt + offset) >> 2] as number;
    return {
      what: this.#cString(word(DEBUG_WHAT)),
      source: this.#cString(word(DEBUG_SOURCE)),
      line: word(DEBUG_LINE),
    };
  }

  /** Raises an error with the place of the caller in front. */
  fail(state: State, message: ByteString): never {
    this.api.luaL_where(state, 1);
    this.push(state, message);
    this.api.lua_concat(state, 2);
    return this.raise(state);
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

  /** Raises what is on top of the stack. */
  raise(state: State): never {
    this.api.lua_error(state);
    throw new Error('lua_error has returned');
  }

  /** Calls the C function of that table index in the present frame. */
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

  #look(state: State): void {
    if (this.#raising !== 0) {
      this.#raising = 0;
      this.api.lua_sethook(state, this.#hookIndex, MASK_COUNT, INSTRUCTIONS_A_LOOK);
      this.raise(state);
    }
    const isLarge = this.heap.length > LARGE_HEAP_BYTES;
    const ran = this.memory.words[(state + STATE_HOOK_COUNT) >> 2] as number;
    this.#instructions += ran;
    if (this.#instructions > MAX_INSTRUCTIONS) throw new Stopped(`it ran ${MAX_INSTRUCTIONS} instructions`);
    const nowMicros = this.#meter.clock.nowMicros();
    // A run that can be left here held nobody up, however long it took; what it has spent is judged when it goes on.
    if (nowMicros > this.#leaveMicros && this.canLeave(state)) this.api.lua_yield(state, 0);
    else this.#judge(nowMicros);
    const next = isLarge ? INSTRUCTIONS_A_LOOK_WHEN_LARGE : INSTRUCTIONS_A_LOOK;
    if (next !== ran) this.api.lua_sethook(state, this.#hookIndex, MASK_COUNT, next);
  }

  /** A heap that has grown holds more to be copied at a time: the run may be left after this instruction. */
  #lookSoon(): void {
    const running = this.#entered.at(-1)?.state ?? this.#thread;
    if (running !== 0) this.api.lua_sethook(running, this.#hookIndex, MASK_COUNT, 1);
  }

  /** Puts the host's functions into the machine's table; the hook's index. */
  #install(hostFunctions: readonly HostFunction[]): number {
    const host: Record<string, unknown> = { hook: (state: State) => this.#look(state) };
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
      // The machine gets nothing of the world: no files, no time zones, no processes.
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
    api = exports as unknown as LuaApi;
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
    this.#lookSoon();
    return 1;
  }
}
