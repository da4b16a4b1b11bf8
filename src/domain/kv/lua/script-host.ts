/**
 * Runs the scripts and functions of one partition: its machine, made when it is first needed, what is
 * compiled in it, and the limits of each run.
 *
 * Invariants
 *  LSH1 a machine is used by one partition alone, so nothing leaks from one database to another
 *  LSH2 a run that is stopped leaves no machine behind, and nothing of what it wrote: that is taken back, or, where it
 *       was too much to be kept, the partition is left in doubt
 *  LSH3 what is remembered here can be lost at any time: scripts come again, libraries are in `libraries`
 */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandContext, ScriptLimits } from '../command-spec.js';
import type { Libraries } from '../libraries.js';
import { ErrorReply, Paused, type Reply } from '../reply.js';
import { Stopped, workLimit } from '../run.js';
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
/** The server whose scripts come here, where nobody says. */
const FALLBACK_VERSION = '8.2.0';
export interface RunRequest extends Given {
  /** In errors: a digest, or a function's name. */
  readonly label: ByteString;
  readonly run: ScriptRun;
  /** Takes the tables of keys and arguments from the top of the stack, and leaves there what is passed: says how many. */
  passTables(state: State): number;
}

const hosts = new WeakMap<Libraries, ScriptHost>();
/** The hosts that have a machine; the one that has rested longest comes first. */
const furnished = new Set<ScriptHost>();

/** The host of the partition whose libraries these are. */
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
  /** Compiled scripts of the present machine: digest → registry reference, the longest unused first. */
  readonly #compiled = new Map<ByteString, number>();
  #furniture: ScriptMachine | undefined;
  /** Grows with each machine: references of an older one are void. */
  generation = 0;
  #hasKeys = false;
  /** When one of its runs was last ended because it could not be interrupted. */
  #heldUpAtMicros = Number.NEGATIVE_INFINITY;

  /** What a run may use up. @param mayPause can it be left on the way, if it is so kind? */
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

  /** The machine, made now if there is none. */
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

  /** The machine, if there is one. */
  get current(): ScriptMachine | undefined {
    return this.#furniture;
  }

  /** Forgets the machine and all that lived in it (LSH3). */
  drop(): void {
    this.#furniture = undefined;
    this.#compiled.clear();
    this.#hasKeys = false;
    furnished.delete(this);
  }

  /** Forgets all scripts. */
  flushScripts(): void {
    const { machine } = this.#furniture ?? {};
    for (const callback of this.#compiled.values()) {
      machine?.api.luaL_unref(machine.state, REGISTRY_INDEX, callback);
    }
    this.#compiled.clear();
    this.scripts.clear();
  }

  /** The compiled form of a chunk, of that digest if it has one. @throws ErrorReply `… compiling …` */
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

  /** What the function returns, as a reply. @throws as `guarded` */
  run(context: CommandContext, request: RunRequest): Reply | Paused {
    const { machine } = this.furniture(context);
    const isWhole = context.run.begin();
    // It pauses before the first word.
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
    // It runs as far as its first pause: what is thrown into it there is its own affair.
    rest.next();
    return new Paused(rest);
  }

  /** Runs what was pushed: function, keys, arguments. */
  #start(context: CommandContext, request: RunRequest, machine: LuaMachine): Reply | undefined {
    const count = request.passTables(machine.slices.thread);
    machine.run = request.run;
    machine.slices.startMeter(context.server, this.limits(context, context.mayPause), context.mayPause);
    return this.#outcome(machine, request, machine.slices.start(count));
  }

  /** Goes on with a run that was left, slice by slice. @param pushing what is to be pushed before it starts */
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

  /** The reply, once there is one. */
  #outcome(machine: LuaMachine, request: RunRequest, runState: ScriptState): Reply | undefined {
    if (runState === 'paused') return undefined;
    const { api, state } = machine;
    const { thread } = machine.slices;
    let reply: Reply;
    if (runState === 'done') {
      // A call has one result, however many the script returns.
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

  /** Functions have their keys as arguments; those of a script that ran before are not for them. */
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
   * Does something with the machine.
   * @param isWhole is that a run of its own, to be ended when it fails? Undefined: it writes nothing
   * @throws ErrorReply, and PartStopped or StateInDoubt when it is stopped (LSH2)
   */
  guarded<T>(
    { run, server }: CommandContext,
    where: string,
    work: () => T,
    isWhole?: boolean,
    what = 'Script stopped',
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
      const reply = new ErrorReply(`ERR ${what}: ${reason}${where}`);
      throw isWhole === undefined ? reply : run.stop(reply, isWhole);
    }
  }
}

function labelled({ label }: RunRequest): string {
  return ` script: ${label}`;
}

/** Why the run was stopped; undefined where the script did not cause what was thrown. */
function stopReason(thrown: unknown): string | undefined {
  if (thrown instanceof Stopped) return thrown.message;
  if (thrown instanceof RangeError) return 'its calls went too deep or a value grew too large';
  // A trap within the binary: nothing of the machine can be trusted, and nothing outside of it was touched.
  if (thrown instanceof WebAssembly.RuntimeError) return 'the machine failed';
  return undefined;
}

/** The error on top of the stack, as `describeError` left it. */
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
  const where = source !== undefined && line !== undefined ? ` script: ${label}, on ${source}:${line}.` : '';
  return new ErrorReply(`${oneLine(text)}${oneLine(where)}`);
}
