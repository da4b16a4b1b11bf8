/**
 * Runs the scripts and functions of one partition: its Lua machine, created when first needed, the compiled scripts,
 * and the limits of each run.
 *
 * Invariants
 *
 *  LSH1 a machine serves one partition only, so no data leaks from one database to another
 *  LSH2 a stopped run discards its machine, and its changes are undone; if there were too many to keep, the partition's
 *       state is in doubt
 *  LSH3 all state here can be lost at any time: clients send scripts again, and libraries are in `libraries`
 */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandContext } from '../command-spec.js';
import type { Libraries } from '../libraries.js';
import { ErrorReply, Paused, type Reply } from '../reply.js';
import type { ScriptLimits } from '../server-info.js';
import { Stopped, workLimit } from '../undoable-execution.js';
import { describe } from './describe-error.js';
import { areMany, type Given, givenInSlices, pushGiven } from './given-words.js';
import { LUA, REGISTRY_INDEX, type State } from './lua-api.js';
import {
  HOLD_COMES_BACK,
  KEPT_HEAP_BYTES,
  LEFT_HOLD_MS,
  MAX_COMPILED_SCRIPTS,
  MAX_HOLD_MS,
  MAX_MACHINES,
  MAX_SCRIPT_MS,
} from './lua-limits.js';
import { LuaRandom } from './lua-random.js';
import { oneLine, takeReply } from './lua-to-reply.js';
import type { LuaMachine } from './machine.js';
import { HeldTooLong, type ScriptState } from './run-slices.js';
import { ScriptCache } from './script-cache.js';
import { type ScriptMachine, scriptMachine } from './script-machine.js';
import type { ScriptRun } from './script-run.js';

const DEFAULT_LIMITS: ScriptLimits = { totalMs: MAX_SCRIPT_MS, holdMs: MAX_HOLD_MS };
/** The Redis version reported to scripts if the server gives none. */
const FALLBACK_VERSION = '8.2.0';
export interface RunRequest extends Given {
  /** Shown in errors: a digest, or a function's name. */
  readonly label: ByteString;
  readonly run: ScriptRun;
  /** Pops the tables of keys and arguments; returns how many values it leaves as arguments. */
  passTables(state: State): number;
}

const hosts = new WeakMap<Libraries, ScriptHost>();
/** Hosts with a machine, the least recently used first. */
const furnished = new Set<ScriptHost>();

/** The host of the partition with these libraries. */
export function scriptHost(libraries: Libraries): ScriptHost {
  let host = hosts.get(libraries);
  if (host === undefined) {
    host = new ScriptHost();
    hosts.set(libraries, host);
  }
  return host;
}

export class ScriptHost {
  readonly scripts = new ScriptCache();
  readonly random = new LuaRandom();
  /** Compiled scripts of the current machine: digest → registry reference, oldest first. */
  readonly #compiled = new Map<ByteString, number>();
  #furniture: ScriptMachine | undefined;
  /** Grows with each machine, because references of an older one are invalid. */
  generation = 0;
  #hasKeys = false;
  /** When one of its runs was last stopped because it could not be interrupted. */
  #heldUpAtMicros = Number.NEGATIVE_INFINITY;

  /** The limits of a run. @param mayPause whether the run may pause */
  limits({ settings, server }: CommandContext, mayPause = false): ScriptLimits {
    const { totalMs, holdMs } = server.scriptLimits ?? DEFAULT_LIMITS;
    const ownMs = workLimit(settings, totalMs);
    const isAsUsual = !mayPause || this.#heldUpAtMicros === Number.NEGATIVE_INFINITY;
    if (isAsUsual) return ownMs === totalMs ? (server.scriptLimits ?? DEFAULT_LIMITS) : { totalMs: ownMs, holdMs };
    const passedMs = Math.max(0, server.nowMicros() - this.#heldUpAtMicros) / 1000;
    const leftMs = LEFT_HOLD_MS + passedMs * HOLD_COMES_BACK;
    if (leftMs >= holdMs) this.#heldUpAtMicros = Number.NEGATIVE_INFINITY;
    return { totalMs: ownMs, holdMs: Math.min(holdMs, leftMs) };
  }

  furniture(context: CommandContext): ScriptMachine {
    let furniture = this.#furniture;
    if (furniture === undefined) {
      furniture = scriptMachine(context.server.info().get('server')?.get('redis_version') ?? FALLBACK_VERSION);
      this.#furniture = furniture;
      this.generation += 1;
      for (const oldest of furnished) {
        if (furnished.size < MAX_MACHINES) break;
        oldest.drop();
      }
      furnished.add(this);
    } else if (furnished.size > 1) {
      furnished.delete(this);
      furnished.add(this);
    }
    return furniture;
  }

  get current(): ScriptMachine | undefined {
    return this.#furniture;
  }

  /** Discards the machine and its contents (LSH3: all state here can be lost at any time). */
  drop(): void {
    this.#furniture = undefined;
    this.#compiled.clear();
    this.#hasKeys = false;
    furnished.delete(this);
  }

  flushScripts(): void {
    const { machine } = this.#furniture ?? {};
    for (const callback of this.#compiled.values()) {
      machine?.api.luaL_unref(machine.state, REGISTRY_INDEX, callback);
    }
    this.#compiled.clear();
    this.scripts.clear();
  }

  /** The compiled form of a script, cached by digest. @throws ErrorReply `… compiling …` */
  compile(context: CommandContext, body: ByteString, digest: ByteString): number {
    const known = this.#compiled.get(digest);
    if (known !== undefined) return known;
    const callback = this.compileChunk(context, body, '@user_script', 'Error compiling script (new function)');
    for (const [oldest, stale] of this.#compiled) {
      if (this.#compiled.size < MAX_COMPILED_SCRIPTS) break;
      this.#furniture?.machine.api.luaL_unref(this.#furniture.machine.state, REGISTRY_INDEX, stale);
      this.#compiled.delete(oldest);
    }
    this.#compiled.set(digest, callback);
    return callback;
  }

  /** @throws ErrorReply */
  compileChunk(context: CommandContext, body: ByteString, chunkName: ByteString, problem: string): number {
    const { machine } = this.furniture(context);
    const { api, state } = machine;
    return this.guarded(context, '', () => {
      api.lua_settop(state, 0);
      machine.slices.startMeter(context.server, this.limits(context));
      if (machine.load(state, body, chunkName)) return api.luaL_ref(state, REGISTRY_INDEX);
      const text = machine.string(state, -1) ?? '';
      throw new ErrorReply(`ERR ${problem}: ${oneLine(text)}`);
    });
  }

  /** Runs a function and returns its result as a reply. @throws as `guarded` */
  run(context: CommandContext, request: RunRequest): Reply | Paused {
    const { machine } = this.furniture(context);
    const isWhole = context.run.begin();
    // Pauses before the first word is pushed.
    const isLong = context.mayPause && areMany(request);
    if (!isLong) {
      const work = (): Reply | undefined => {
        pushGiven(machine, request);
        return this.#start(context, request, machine);
      };
      const reply = this.guarded(context, labelled(request), work, isWhole);
      if (reply !== undefined) {
        if (isWhole) context.run.end();
        return reply;
      }
    }
    const rest = this.#rest(context, request, machine, isWhole, isLong ? givenInSlices(machine, request) : undefined);
    // Runs the generator to its first pause, so that errors can be thrown into it there.
    rest.next();
    return new Paused(rest);
  }

  /** Runs the pushed function, keys and arguments. */
  #start(context: CommandContext, request: RunRequest, machine: LuaMachine): Reply | undefined {
    const count = request.passTables(machine.slices.thread);
    machine.run = request.run;
    machine.slices.startMeter(context.server, this.limits(context, context.mayPause), context.mayPause);
    return this.#outcome(machine, request, machine.slices.start(count));
  }

  /** Continues a paused run, slice by slice. @param pushing values to push before it starts */
  *#rest(
    context: CommandContext,
    request: RunRequest,
    machine: LuaMachine,
    isWhole: boolean,
    pushing: Iterator<void, void> | undefined,
  ): Generator<void, Reply> {
    let stopped: unknown;
    let isStarted = pushing === undefined;
    const work = (): Reply | undefined => {
      if (stopped !== undefined) {
        pushing?.return?.();
        throw stopped;
      }
      if (isStarted) return this.#outcome(machine, request, machine.slices.goOn());
      if (pushing?.next().done === false) return undefined;
      isStarted = true;
      return this.#start(context, request, machine);
    };
    for (;;) {
      try {
        yield;
      } catch (thrown) {
        stopped = thrown;
      }
      const reply = this.guarded(context, labelled(request), work, isWhole);
      if (reply === undefined) continue;
      if (isWhole) context.run.end();
      return reply;
    }
  }

  /** The reply, once the run has ended. */
  #outcome(machine: LuaMachine, request: RunRequest, runState: ScriptState): Reply | undefined {
    if (runState === 'paused') return undefined;
    const { api, state } = machine;
    const { thread } = machine.slices;
    let reply: Reply;
    if (runState === 'done') {
      // A call has one result; further ones are dropped.
      api.lua_settop(thread, 1);
      reply = takeReply(machine, thread, request.run.protocol);
    } else {
      api.lua_settop(state, 0);
      api.lua_xmove(thread, state, 1);
      describe(machine, state, thread, 0);
      reply = errorOf(machine, request.label);
    }
    machine.run = undefined;
    machine.slices.endRun(runState === 'failed');
    if (machine.heapBytes > KEPT_HEAP_BYTES) this.drop();
    return reply;
  }

  /** Makes the tables on top of the stack the globals KEYS and ARGV. */
  setKeys({ machine, globals }: ScriptMachine, state: State): void {
    const { api } = machine;
    this.#hasKeys = true;
    api.lua_rawgeti(state, REGISTRY_INDEX, globals);
    api.lua_insert(state, -3);
    api.lua_setfield(state, -3, machine.name('ARGV'));
    api.lua_setfield(state, -2, machine.name('KEYS'));
    machine.pop(state);
  }

  /** Functions get their keys as arguments and must not see those of an earlier script. */
  clearKeys({ machine, globals }: ScriptMachine): void {
    if (!this.#hasKeys) return;
    this.#hasKeys = false;
    const { api, state } = machine;
    api.lua_rawgeti(state, REGISTRY_INDEX, globals);
    for (const name of ['KEYS', 'ARGV']) {
      api.lua_pushnil(state);
      api.lua_setfield(state, -2, machine.name(name));
    }
    machine.pop(state);
  }

  /**
   * Executes work with the machine and handles stops. @param isWhole whether the work is a complete atomic run;
   * undefined: it writes no data @throws ErrorReply, and PartStopped or StateInDoubt when stopped (LSH2: its changes
   * are undone or the state is in doubt)
   */
  guarded<T>(
    { run, server }: CommandContext,
    place: string,
    work: () => T,
    isWhole?: boolean,
    outcome = 'Script stopped',
  ): T {
    try {
      return work();
    } catch (thrown) {
      const reason = thrown instanceof ErrorReply ? undefined : stopReason(thrown);
      if (reason === undefined) {
        if (isWhole === true && thrown instanceof ErrorReply) run.end();
        if (!(thrown instanceof ErrorReply)) this.drop();
        throw thrown;
      }
      this.drop();
      if (thrown instanceof HeldTooLong) this.#heldUpAtMicros = server.nowMicros();
      const reply = new ErrorReply(`ERR ${outcome}: ${reason}${place}`);
      throw isWhole === undefined ? reply : run.stop(reply, isWhole);
    }
  }
}

function labelled({ label }: RunRequest): string {
  return ` script: ${label}`;
}

/** The reason for a stop; undefined if the script did not cause the error. */
function stopReason(thrown: unknown): string | undefined {
  if (thrown instanceof Stopped) return thrown.message;
  if (thrown instanceof RangeError) return 'its calls went too deep or a value grew too large';
  // A trap in the binary: the machine must be discarded, but nothing outside it was affected.
  if (thrown instanceof WebAssembly.RuntimeError) return 'the machine failed';
  return undefined;
}

/** Converts the error on top of the stack, as left by `describeError`. */
export function errorOf(machine: LuaMachine, label: ByteString): ErrorReply {
  const { state } = machine;
  if (machine.api.lua_type(state, -1) !== LUA.TABLE) {
    const text = machine.string(state, -1) ?? 'execution failure';
    return new ErrorReply(`ERR Error running script ${label}, ${oneLine(text).slice(0, 100)}`);
  }
  const field = (name: string): ByteString | undefined => {
    machine.rawField(state, -1, name);
    const text = machine.string(state, -1);
    machine.pop(state);
    return text;
  };
  const text = field('err') ?? 'ERR unknown error';
  const source = field('source');
  const line = field('line');
  const place = source !== undefined && line !== undefined ? ` script: ${label}, on ${source}:${line}.` : '';
  return new ErrorReply(`${oneLine(text)}${oneLine(place)}`);
}
