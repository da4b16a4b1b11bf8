/**
 * Runs scripts in slices: how long a run works at a time, where it pauses, and the work that a host function does in
 * slices within it.
 *
 * A run is a Lua coroutine, so the hook that counts instructions can yield between two instructions, and the run
 * continues there; `pcall` uses nested coroutines. Within a C function that called back into Lua (a metamethod,
 * `table.sort`, a script's own coroutine) the run cannot pause: it continues for at most `holdMs`.
 *
 *  LUM4 a run pauses when it, or a function it has called, has worked for one slice, and only where Lua can continue
 */

import type { Steps } from '../steps.js';
import { Stopped } from '../undoable-execution.js';
import { type WorkClock, WorkMeter } from '../work-meter.js';
import { LUA, type LuaApi, REGISTRY_INDEX, type State } from './lua-api.js';
import {
  FIRST_SLICE_MS,
  INSTRUCTIONS_A_LOOK,
  INSTRUCTIONS_A_LOOK_WHEN_LARGE,
  LARGE_HEAP_BYTES,
  LONG_STRING_BYTES,
  MAX_CALL_VALUES,
  MAX_INSTRUCTIONS,
  SLICE_MS,
} from './lua-limits.js';
import { type LuaMemory, VALUE_BYTES } from './lua-memory.js';

const MASK_RETURN = 2;
const MASK_COUNT = 8;
/** The status of lua_resume and lua_status for a coroutine that has yielded. */
const YIELDED = 1;
/**
 * Offsets in lua_State on 32 bits: the current call, the base call; the depth of C calls, now and at the resume; the
 * hook's settings.
 */
const STATE_CALL = 20;
const STATE_FIRST_CALL = 40;
const STATE_C_CALLS = 52;
const STATE_HOOK_COUNT = 60;
const STATE_HOOK = 68;
/** The size of a call record; in it, the offset of the base of its values. */
const CALL_BYTES = 24;
const CALL_BASE = 0;

interface Coroutine {
  readonly state: State;
  /** Registry reference. */
  readonly ref: number;
}

/** The limits of a run, in milliseconds of work. */
export interface MeterLimits {
  readonly totalMs: number;
  /** The limit without a pause. */
  readonly holdMs: number;
}

/** The result of a host function that raises the value on top of the stack. */
export const RAISED = -1;

/** Thrown when a run has blocked other work for too long. */
export class HeldTooLong extends Stopped {}

/** The state of a run. */
export type ScriptState = 'done' | 'failed' | 'paused';

export class RunSlices {
  /** Measures the current slice. */
  readonly #meter = new WorkMeter({ nowMicros: () => 0 });
  /** When the limit may be reached; from then on processor time is checked. */
  #deadlineMicros = Number.POSITIVE_INFINITY;
  /** When to pause; infinite if the run may not pause. */
  #leaveMicros = Number.POSITIVE_INFINITY;
  /** Work of earlier slices. */
  #spentMicros = 0;
  #limits: MeterLimits = { totalMs: 0, holdMs: 0 };
  #instructions = 0;
  /** The run has ended, and its long result must still be read. */
  #hasEnded = false;
  /** Work of a host function that must finish before the run continues, and the state that called it. */
  #work: Steps<number> | undefined;
  #workFor: State = 0;
  /** The state to resume with the host function's results, and their number or `RAISED`. */
  #answered: State = 0;
  #results = 0;
  #raising: State = 0;
  /** The coroutine of runs; reused until a run fails in it. */
  #thread: State = 0;
  #threadRef = 0;
  /** The nested coroutines that the run has entered. */
  readonly #entered: Coroutine[] = [];
  /** Coroutines that have ended without an error and can be reused. */
  readonly #rested: Coroutine[] = [];
  #state: State = 0;

  /** @param hookIndex function index of the hook, which calls `look` */
  constructor(
    private readonly api: LuaApi,
    private readonly memory: LuaMemory,
    private readonly hookIndex: number,
  ) {}

  /** Counts instructions in the state from now on. @throws Error if the memory layout is not the expected one */
  watch(state: State): void {
    this.#state = state;
    this.api.lua_sethook(state, this.hookIndex, MASK_COUNT, INSTRUCTIONS_A_LOOK);
    const word = (offset: number) => this.memory.words[(state + offset) >> 2];
    const isKnown =
      word(STATE_HOOK_COUNT) === INSTRUCTIONS_A_LOOK &&
      word(STATE_HOOK) === this.hookIndex &&
      word(STATE_CALL) === word(STATE_FIRST_CALL);
    if (!isKnown) throw new Error('this is not the Lua whose states are known here');
  }

  /** Processor time of the process, as in Redis's `os.clock`; if unknown, the time since the start of the run. */
  get clockMicros(): number {
    const { clock, startedMicros } = this.#meter;
    return clock.workedMicros?.() ?? this.#spentMicros + clock.nowMicros() - startedMicros;
  }

  /** The coroutine of the run, 0 if there is none. */
  get thread(): State {
    return this.#thread;
  }

  /** Whether the state is the run or a coroutine entered for it, not one of the script's own. */
  isOfRun(state: State): boolean {
    return state === this.#thread || this.#entered.some((entered) => entered.state === state);
  }

  /** The number of nested coroutines. */
  get depth(): number {
    return this.#entered.length;
  }

  /** An empty coroutine within `state` in which the run can pause. It must be resumed until it ends, and then left. */
  enter(state: State): State {
    let coroutine = this.#rested.pop();
    if (coroutine === undefined) {
      const made = this.api.lua_newthread(state);
      coroutine = { state: made, ref: this.api.luaL_ref(state, REGISTRY_INDEX) };
    }
    this.#entered.push(coroutine);
    return coroutine.state;
  }

  /** The coroutine that was entered from `state`. */
  within(state: State): State {
    const at = this.#entered.findIndex((entered) => entered.state === state);
    return (this.#entered[at + 1] as Coroutine).state;
  }

  /** To be called after the results or the error of the innermost coroutine were read. */
  leave(hasFailed: boolean): void {
    const coroutine = this.#entered.pop() as Coroutine;
    // A coroutine that has failed cannot run again.
    if (hasFailed) this.api.luaL_unref(this.#state, REGISTRY_INDEX, coroutine.ref);
    else this.#rested.push(coroutine);
  }

  resume(state: State, args: number): ScriptState {
    const status = this.api.lua_resume(state, state === this.#answered ? this.#takeAnswer(state) : args);
    if (status === YIELDED) return 'paused';
    return status === 0 ? 'done' : 'failed';
  }

  /** Starts measuring a run. @param mayPause whether it may pause */
  startMeter(clock: WorkClock, limits: MeterLimits, mayPause = false): void {
    this.#meter.clock = clock;
    this.#limits = limits;
    this.#spentMicros = 0;
    this.#instructions = 0;
    this.#startSlice(mayPause ? FIRST_SLICE_MS : Number.POSITIVE_INFINITY);
  }

  /** Called by functions that take long within one instruction. @throws Stopped */
  checkMeter(): void {
    this.#judge(this.#meter.clock.nowMicros());
  }

  /** An empty coroutine on which the function and arguments of a run are pushed. */
  freshThread(): State {
    if (this.#thread === 0) {
      this.#thread = this.api.lua_newthread(this.#state);
      this.#threadRef = this.api.luaL_ref(this.#state, REGISTRY_INDEX);
    }
    return this.#thread;
  }

  /** Runs the pushed function. After `failed` the coroutine keeps its stack, with the error on top, until `endRun`. */
  start(args: number): ScriptState {
    return this.#runOn(args);
  }

  /** Continues a paused run. @throws Stopped */
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

  /** Whether the run can pause in the host function that is being called: Lua can continue only if Lua called it. */
  canPause(state: State): boolean {
    if (this.#leaveMicros === Number.POSITIVE_INFINITY || !this.canLeave(state)) return false;
    const { words } = this.memory;
    const calls = (words[(state + STATE_CALL) >> 2] as number) - (words[(state + STATE_FIRST_CALL) >> 2] as number);
    return calls > CALL_BYTES;
  }

  /**
   * LUM4 (a run pauses only where Lua can continue): whether there is no C function between the start of the run and
   * the current call.
   */
  canLeave(state: State): boolean {
    const innermost = this.#entered.at(-1)?.state ?? this.#thread;
    const calls = this.memory.words[(state + STATE_C_CALLS) >> 2] as number;
    return state === innermost && (calls & 0xffff) === calls >>> 16;
  }

  /** Reserves stack slots; false if the call would exceed its limit, regardless of pauses. */
  makeRoom(state: State, values: number): boolean {
    const { words } = this.memory;
    const base = words[((words[(state + STATE_CALL) >> 2] as number) + CALL_BASE) >> 2] as number;
    const used = (this.memory.top(state) - base) / VALUE_BYTES;
    return used + values <= MAX_CALL_VALUES && this.api.lua_checkstack(state, values) !== 0;
  }

  /**
   * Runs a host function's work in slices; the function must return the result. The last step leaves results on top of
   * the stack and returns their number, or `RAISED`. After each pause the steps find their values on top of the same or
   * other values. @throws Stopped if the run cannot pause
   */
  inSteps(state: State, work: Steps<number>): number {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value === RAISED ? this.#raise(state) : step.value;
      if (!this.canPause(state)) this.checkMeter();
      else if (this.#isSliceOver()) break;
    }
    this.#work = work;
    this.#workFor = state;
    return this.api.lua_yield(state, 0);
  }

  /** @returns whether it is done */
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

  /** The number of results, on top of the stack, of the host function that paused. */
  #takeAnswer(state: State): number {
    this.#answered = 0;
    if (this.#results !== RAISED) return this.#results;
    // The call is already over except for the hook that observes its return, so that hook raises the error.
    this.#raising = state;
    this.api.lua_sethook(state, this.hookIndex, MASK_RETURN, 0);
    return 1;
  }

  /** To be called after a run's results or error were read. */
  endRun(hasFailed: boolean): void {
    if (!hasFailed) {
      this.api.lua_settop(this.#thread, 0);
      return;
    }
    // A coroutine that has failed cannot run again.
    this.api.luaL_unref(this.#state, REGISTRY_INDEX, this.#threadRef);
    this.#thread = 0;
  }

  #runOn(args: number): ScriptState {
    const came = this.resume(this.#thread, args);
    if (came === 'paused') this.#spentMicros += this.#meter.workedMicros();
    if (came !== 'done' || this.#leaveMicros === Number.POSITIVE_INFINITY || !this.#hasLongResult()) return came;
    // Reading the result takes milliseconds, and the last step may have too.
    this.#hasEnded = true;
    return 'paused';
  }

  #hasLongResult(): boolean {
    const at = this.memory.top(this.#thread) - VALUE_BYTES;
    return this.memory.typeAt(at) === LUA.STRING && this.memory.stringLengthAt(at) > LONG_STRING_BYTES;
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

  /** Called by the hook. @throws Stopped */
  look(state: State): void {
    if (this.#raising !== 0) {
      this.#raising = 0;
      this.api.lua_sethook(state, this.hookIndex, MASK_COUNT, INSTRUCTIONS_A_LOOK);
      this.#raise(state);
    }
    const isLarge = this.memory.heap.length > LARGE_HEAP_BYTES;
    const ran = this.memory.words[(state + STATE_HOOK_COUNT) >> 2] as number;
    this.#instructions += ran;
    if (this.#instructions > MAX_INSTRUCTIONS) throw new Stopped(`it ran ${MAX_INSTRUCTIONS} instructions`);
    const nowMicros = this.#meter.clock.nowMicros();
    // A run that can pause here has blocked no other work, however long the slice was; its total is checked when it
    // continues.
    if (nowMicros > this.#leaveMicros && this.canLeave(state)) this.api.lua_yield(state, 0);
    else this.#judge(nowMicros);
    const next = isLarge ? INSTRUCTIONS_A_LOOK_WHEN_LARGE : INSTRUCTIONS_A_LOOK;
    if (next !== ran) this.api.lua_sethook(state, this.hookIndex, MASK_COUNT, next);
  }

  /** After the heap has grown, an instruction may copy more, so the run may pause after this instruction. */
  lookSoon(): void {
    const running = this.#entered.at(-1)?.state ?? this.#thread;
    if (running !== 0) this.api.lua_sethook(running, this.hookIndex, MASK_COUNT, 1);
  }

  #raise(state: State): never {
    this.api.lua_error(state);
    throw new Error('lua_error has returned');
  }
}
