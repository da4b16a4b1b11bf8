/**
 * What a machine runs, slice by slice: how long it works at a time, where it is left, and what a function of the host does
 * in steps meanwhile.
 *
 * A run is a coroutine of Lua's, so that the hook that counts instructions can leave it between two of them, and it goes
 * on there; `pcall` calls in a coroutine within that. Within a function of C that called back (a metamethod, `table.sort`,
 * a coroutine of the script's own) it cannot: there it goes on, for `holdMs` at most.
 *
 *  LUM4 a run is left where it has worked for as long as one may at a time, itself or what it has called, and only where
 *       Lua can go on
 */
import { Stopped } from '../run.js';
import type { Steps } from '../steps.js';
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
/** Of what is known of a call; within it, where its values begin. */
const CALL_BYTES = 24;
const CALL_BASE = 0;

interface Coroutine {
  readonly state: State;
  /** The reference in the registry. */
  readonly ref: number;
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

export class RunSlices {
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
  #state: State = 0;

  /** @param hookIndex of the function that calls `look` */
  constructor(
    private readonly api: LuaApi,
    private readonly memory: LuaMemory,
    private readonly hookIndex: number,
  ) {}

  /** Instructions of all that runs in the state are counted from now on. @throws Error where it is not laid out as here */
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

  /** Since the run began. */
  get elapsedMicros(): number {
    return this.#meter.clock.nowMicros() - this.#meter.startedMicros;
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
    if (hasFailed) this.api.luaL_unref(this.#state, REGISTRY_INDEX, coroutine.ref);
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
      this.#thread = this.api.lua_newthread(this.#state);
      this.#threadRef = this.api.luaL_ref(this.#state, REGISTRY_INDEX);
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

  /** LUM4. Is no function of C between the run's beginning and here? */
  canLeave(state: State): boolean {
    const innermost = this.#entered.at(-1)?.state ?? this.#thread;
    const calls = this.memory.words[(state + STATE_C_CALLS) >> 2] as number;
    return state === innermost && (calls & 0xffff) === calls >>> 16;
  }

  /** Makes room for so many values more; false where that is more than a call may have, however often the run was left in it. */
  makeRoom(state: State, values: number): boolean {
    const { words } = this.memory;
    const base = words[((words[(state + STATE_CALL) >> 2] as number) + CALL_BASE) >> 2] as number;
    const used = (this.memory.top(state) - base) / VALUE_BYTES;
    return used + values <= MAX_CALL_VALUES && this.api.lua_checkstack(state, values) !== 0;
  }

  /**
   * What a function of the host returns that works in steps: of these the last leaves results on top of the stack, and
   * says how many, or `RAISED`. They may find other values there, and the same above those, whenever they go on.
   * @throws Stopped where the run cannot be left
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
    this.api.lua_sethook(state, this.hookIndex, MASK_RETURN, 0);
    return 1;
  }

  /** This is called once a run's results, or its error, were taken. */
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
    // To take it takes milliseconds, and so may what it did last.
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

  /** This is called by the hook. @throws Stopped */
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
    // A run that can be left here held nobody up, however long it took; what it has spent is judged when it goes on.
    if (nowMicros > this.#leaveMicros && this.canLeave(state)) this.api.lua_yield(state, 0);
    else this.#judge(nowMicros);
    const next = isLarge ? INSTRUCTIONS_A_LOOK_WHEN_LARGE : INSTRUCTIONS_A_LOOK;
    if (next !== ran) this.api.lua_sethook(state, this.hookIndex, MASK_COUNT, next);
  }

  /** A heap that has grown holds more to be copied at a time: the run may be left after this instruction. */
  lookSoon(): void {
    const running = this.#entered.at(-1)?.state ?? this.#thread;
    if (running !== 0) this.api.lua_sethook(running, this.hookIndex, MASK_COUNT, 1);
  }

  #raise(state: State): never {
    this.api.lua_error(state);
    throw new Error('lua_error has returned');
  }
}
