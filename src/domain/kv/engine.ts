/**
 * One partition's engine: its keyspace, settings and libraries, and commands run against them one at a
 * time, synchronously. Live commands, the effects in the journal and those in a snapshot all come through here.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import { MillraceError } from '../../kernel/index.js';
import { AccessLog } from './access-log.js';
import { Args } from './args.js';
import { type Audience, NO_AUDIENCE } from './audience.js';
import type {
  CommandContext,
  CommandSpec,
  KvFaceName,
  Permissions,
  ServerInfo,
  SlicedHandler,
} from './command-spec.js';
import type { CommandTable } from './command-table.js';
import { COMMANDS } from './commands.js';
import { Effects } from './effects.js';
import { MAX_EVICTIONS } from './eviction.js';
import type { HashRange } from './hash-slot.js';
import { type Collection, Keyspace } from './keyspace.js';
import { Libraries } from './libraries.js';
import { MAX_ANSWER_BYTES, MAX_COMMAND_MS } from './limits.js';
import { MemoryBounds } from './memory-bounds.js';
import { type NotificationKind, Notifications } from './notifications.js';
import { PARAMETER_DEFAULTS } from './parameters.js';
import { removeExpiredFields } from './perishing.js';
import { type Blocked, ERRORS, ErrorReply, type Paused, type Reply } from './reply.js';
import { AtomicRun, commandStopped, Stopped, workLimit } from './run.js';
import type { SetInPlace } from './set-in-place.js';
import { Settings } from './settings.js';
import { hasManyWords, MANY_WORDS } from './slices.js';
import { ServerCounters } from './statistics.js';

export interface SlicedCommand {
  /** Runs one slice, judged by `nowMs`. The reply when it was the last. */
  next(nowMs: number): Reply | undefined;
  /** Ends it instead, with nothing done. @throws PartStopped, StateInDoubt */
  stop(why: string): Reply;
}

/** Who asks, and what for; what is left out is as for a plain REST command of a user who may do everything. */
export interface Caller {
  readonly face?: KvFaceName | undefined;
  readonly protocol?: 2 | 3 | undefined;
  readonly mayBlock?: boolean | undefined;
  readonly mayPause?: boolean | undefined;
  /** Inside a transaction. */
  readonly isNested?: boolean | undefined;
  readonly permissions?: Permissions | undefined;
  readonly slots?: HashRange | undefined;
}

const REST_CALLER: Caller = {};

type Question = (context: CommandContext) => boolean;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class KvEngine {
  readonly effects = new Effects();
  readonly keyspace = new Keyspace(this.effects);
  readonly settings = new Settings(PARAMETER_DEFAULTS);
  readonly libraries = new Libraries();
  readonly statistics = new ServerCounters();
  readonly bounds: MemoryBounds;
  readonly run: AtomicRun;
  readonly #notifications: Notifications;
  #isQuiet = false;
  readonly #args = new Args();
  readonly #context: Mutable<CommandContext>;

  constructor(
    random: Random,
    server: ServerInfo,
    audience: Audience = NO_AUDIENCE,
    private readonly commands: CommandTable = COMMANDS,
  ) {
    const { keyspace, effects, settings, libraries, statistics } = this;
    this.bounds = new MemoryBounds(keyspace, settings, random);
    this.run = new AtomicRun({ keyspace, effects, settings, libraries, audience }, server);
    this.#notifications = new Notifications(audience);
    settings.onChange = (name) => {
      if (name === 'maxmemory-policy') this.#keepAccess(settings.get(name) ?? '');
      if (name !== 'notify-keyspace-events') return;
      const flags = settings.get(name) ?? '';
      this.#notifications.flags = flags;
      keyspace.onNew = flags.includes('n') ? (key) => this.notify('n', 'new', key) : undefined;
      keyspace.onMissed = flags.includes('m') ? (key) => this.notify('m', 'keymiss', key) : undefined;
    };
    this.#context = {
      args: this.#args,
      commands,
      keyspace,
      effects,
      run: this.run,
      random,
      server,
      settings,
      bounds: this.bounds,
      libraries,
      statistics,
      audience,
      nowMs: 0,
      isReplay: false,
      face: 'rest',
      protocol: 2,
      mayBlock: false,
      mayPause: false,
      isNested: false,
      isFull: false,
      maxCommandBytes: Number.POSITIVE_INFINITY,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      permissions: undefined,
      slots: undefined,
      notify: (kind, event, key) => this.notify(kind, event, key),
      call: (spec, words, isQuiet = false) => this.#call(spec, words, isQuiet),
      isLong: (spec, words) => isSurelyLong(spec, words) ?? this.#isLongCall(spec, words),
      callInSlices: (spec, words, isQuiet = false) => this.#callInSlices(spec, words, isQuiet),
      aside: () => new KvEngine(random, server, NO_AUDIENCE, commands),
    };
  }

  /**
   * Runs one admitted command, judged by `nowMs`. A refusal is a reply.
   * @throws StateInDoubt, and what is not a refusal: a defect, after which the partition's state is in doubt
   */
  execute(
    spec: CommandSpec,
    words: readonly ByteString[],
    nowMs: number,
    caller: Caller = REST_CALLER,
  ): Reply | Blocked | Paused {
    this.#prepare(words, nowMs, caller);
    return this.#handle(spec);
  }

  /** The same for the same instant and caller as what was executed just before. */
  executeNext(spec: CommandSpec, words: readonly ByteString[]): Reply | Blocked | Paused {
    this.#args.words = words;
    return this.#handle(spec);
  }

  #handle({ handler }: CommandSpec): Reply | Blocked | Paused {
    try {
      return handler(this.#context);
    } catch (refusal) {
      if (refusal instanceof ErrorReply) return refusal;
      throw refusal;
    }
  }

  /** Should it run in slices? */
  isLong(spec: CommandSpec, words: readonly ByteString[], nowMs: number, caller: Caller = REST_CALLER): boolean {
    return isSurelyLong(spec, words) ?? this.#saysYes(spec.isLong as Question, words, nowMs, caller);
  }

  /** Does the script that the command runs declare that it writes nothing? @param words the first two will do */
  readsOnly(spec: CommandSpec, words: readonly ByteString[], caller: Caller = REST_CALLER): boolean {
    return spec.readsOnly !== undefined && this.#saysYes(spec.readsOnly, words, 0, caller);
  }

  #saysYes(question: Question, words: readonly ByteString[], nowMs: number, caller: Caller): boolean {
    this.#prepare(words, nowMs, caller);
    return isYes(question, this.#context);
  }

  /** The same of a command within a command. */
  #isLongCall(spec: CommandSpec, words: readonly ByteString[]): boolean {
    const outer = this.#args.words;
    this.#args.words = words;
    const isLong = isYes(spec.isLong as Question, this.#context);
    this.#args.words = outer;
    return isLong;
  }

  /** Begins a command that runs in slices; each call of `next` is one. A refusal is its reply. */
  begin(spec: CommandSpec, words: readonly ByteString[], caller: Caller = REST_CALLER): SlicedCommand {
    this.#prepare(words, 0, caller);
    const slices = (spec.sliced as SlicedHandler)(this.#context);
    return this.#inSlices(slices, words, caller, this.run.begin());
  }

  /** What is left of a command that has paused. */
  rest({ rest }: Paused, words: readonly ByteString[], caller: Caller): SlicedCommand {
    return this.#inSlices(rest, words, caller, false);
  }

  /** @param isWhole is it a run of its own, to be ended here? */
  #inSlices(
    slices: Generator<void, Reply>,
    words: readonly ByteString[],
    caller: Caller,
    isWhole: boolean,
  ): SlicedCommand {
    const { run } = this;
    const step = (nowMs: number, take: () => IteratorResult<void, Reply>): Reply | undefined => {
      this.#prepare(words, nowMs, caller);
      let reply: Reply;
      try {
        const taken = take();
        if (taken.done !== true) return undefined;
        reply = taken.value;
      } catch (thrown) {
        if (thrown instanceof Stopped) return run.stop(commandStopped(thrown.message), isWhole);
        if (!(thrown instanceof ErrorReply)) throw thrown;
        reply = thrown;
      }
      if (isWhole) run.end();
      return reply;
    };
    return {
      next: (nowMs) => step(nowMs, () => slices.next()),
      stop: (why) => step(0, () => slices.throw(new Stopped(why))) as Reply,
    };
  }

  /** Applies one journaled effect. @throws DEFECT when it does not apply: effects are total by construction */
  replay(words: readonly ByteString[]): void {
    const spec = this.commands.find(words);
    if (spec === undefined) throw notReplayable('an effect names an unknown command', words);
    const reply = this.#replaying(() => this.execute(spec, words, 0));
    if (reply instanceof ErrorReply) throw notReplayable(`an effect was refused: ${reply.text}`, words);
  }

  /** The same for a SET that is still in its block. */
  replaySet(set: SetInPlace): void {
    this.keyspace.nowMs = 0;
    this.#replaying(() => this.keyspace.setInPlace(set));
  }

  /** The same in slices, where the command has any. */
  *replayInSlices(words: readonly ByteString[]): Generator<void, void> {
    const spec = this.commands.find(words);
    if (spec?.sliced === undefined || !this.#replaying(() => this.isLong(spec, words, 0))) return this.replay(words);
    const slices = this.begin(spec, words);
    for (;;) {
      const reply = this.#replaying(() => slices.next(0));
      if (reply instanceof ErrorReply) throw notReplayable(`an effect was refused: ${reply.text}`, words);
      if (reply !== undefined) return;
      yield;
    }
  }

  #replaying<T>(run: () => T): T {
    const { effects, keyspace } = this;
    effects.isMuted = true;
    keyspace.changes.isMuted = true;
    this.#context.isReplay = true;
    const result = run();
    this.#context.isReplay = false;
    keyspace.changes.isMuted = false;
    effects.isMuted = false;
    return result;
  }

  /**
   * Removes keys whose instant has passed, recording a `DEL` for each, and fields, recording `HDEL`; at most
   * `limit`. Returns how many.
   */
  expireDue(nowMs: number, limit: number): number {
    const due = this.keyspace.dueKeys(nowMs, limit);
    for (const key of due) {
      this.keyspace.delete(key);
      this.effects.push('DEL', key);
      this.notify('x', 'expired', key);
    }
    this.statistics.expiredKeys += due.length;
    let removed = due.length;
    for (const key of this.keyspace.perishingKeys(nowMs, limit - removed)) {
      const value = this.keyspace.stored(key) as Collection;
      removed += removeExpiredFields(this, key, value, nowMs, limit - removed);
    }
    return removed;
  }

  /** Work that a command, or a transaction, may take in milliseconds. */
  get commandMs(): number {
    return workLimit(this.settings, this.#context.server.commandMs ?? MAX_COMMAND_MS);
  }

  /** Is there anything that falls due by itself? */
  get hasExpiries(): boolean {
    return this.keyspace.expiring > 0 || this.keyspace.perishing > 0;
  }

  /** Makes room for growth within its bounds, as its policy says; or why not. */
  makeRoom(nowMs: number): ErrorReply | undefined {
    const { keyspace, effects, bounds } = this;
    if (!bounds.areReached || this.#context.audience.isPaused === true) return undefined;
    keyspace.nowMs = nowMs;
    for (let i = 0; i < MAX_EVICTIONS && bounds.areReached; i += 1) {
      const victim = bounds.nextVictim();
      if (victim === undefined) return ERRORS.databaseFull;
      keyspace.delete(victim);
      effects.push('DEL', victim);
      this.statistics.evictedKeys += 1;
      this.notify('e', 'evicted', victim);
    }
    return bounds.areReached ? ERRORS.databaseFull : undefined;
  }

  /** What scripts are told: set before each that runs. */
  set isFull(isFull: boolean) {
    this.#context.isFull = isFull;
  }

  /** The bound that the limits of its database set; it is no part of the data. */
  set maxCommandBytes(bytes: number) {
    this.#context.maxCommandBytes = bytes;
  }

  /** The bound that the installation sets. */
  set maxAnswerBytes(bytes: number) {
    this.#context.maxAnswerBytes = bytes;
  }

  /** Access is logged from when a policy first needs it. */
  #keepAccess(policy: string): void {
    const order = policy.endsWith('lru') ? 'lru' : policy.endsWith('lfu') ? 'lfu' : undefined;
    const { keyspace, settings } = this;
    if (keyspace.access?.order === order) return;
    keyspace.access =
      order === undefined
        ? undefined
        : new AccessLog(
            order,
            this.#context.random,
            () => settings.number('lfu-log-factor'),
            () => settings.number('lfu-decay-time'),
          );
  }

  notify(kind: NotificationKind, event: string, key: ByteString): void {
    if (this.#notifications.isOff || this.#context.isReplay || this.#isQuiet) return;
    this.#notifications.notify(kind, event, key);
  }

  #prepare(words: readonly ByteString[], nowMs: number, caller: Caller): void {
    this.#args.words = words;
    const context = this.#context;
    context.nowMs = nowMs;
    this.keyspace.nowMs = nowMs;
    context.face = caller.face ?? 'rest';
    context.protocol = caller.protocol ?? 2;
    context.mayBlock = caller.mayBlock ?? false;
    context.mayPause = caller.mayPause ?? false;
    context.isNested = caller.isNested ?? false;
    context.permissions = caller.permissions;
    context.slots = caller.slots;
  }

  #call(spec: CommandSpec, words: readonly ByteString[], isQuiet: boolean): Reply {
    return this.#within(spec, undefined, words, isQuiet) as Reply;
  }

  *#callInSlices(spec: CommandSpec, words: readonly ByteString[], isQuiet: boolean): Generator<void, Reply> {
    const { sliced } = spec;
    if (sliced === undefined) return this.#call(spec, words, isQuiet);
    const slices = sliced(this.#context);
    for (;;) {
      const reply = this.#within(spec, slices, words, isQuiet);
      if (reply !== undefined) return reply;
      yield;
    }
  }

  /**
   * A command within a command: the outer one finds its own words again afterwards. A refusal is its reply.
   * @param slices of it the next is run, where there are some; undefined when it was not the last
   */
  #within(
    spec: CommandSpec,
    slices: Generator<void, Reply> | undefined,
    words: readonly ByteString[],
    isQuiet: boolean,
  ): Reply | undefined {
    const context = this.#context;
    const outer = this.#args.words;
    const { mayBlock, isNested } = context;
    const wasQuiet = this.#isQuiet;
    this.#isQuiet ||= isQuiet;
    this.#args.words = words;
    context.mayBlock = false;
    context.isNested = true;
    try {
      // Handlers block only where `mayBlock`.
      if (slices === undefined) return spec.handler(context) as Reply;
      const step = slices.next();
      return step.done === true ? step.value : undefined;
    } catch (refusal) {
      if (refusal instanceof ErrorReply) return refusal;
      this.keyspace.spoilUndo();
      throw refusal;
    } finally {
      this.#args.words = outer;
      this.#isQuiet = wasQuiet;
      context.mayBlock = mayBlock;
      context.isNested = isNested;
    }
  }
}

/** Undefined: its row is to be asked. */
function isSurelyLong({ sliced, isLong }: CommandSpec, words: readonly ByteString[]): boolean | undefined {
  if (sliced === undefined) return false;
  if (isLong === undefined) return true;
  // Most commands ask this question, and it needs no context.
  return isLong === hasManyWords ? words.length > MANY_WORDS : undefined;
}

/** A command that will be refused is neither long nor read-only. */
function isYes(question: Question, context: CommandContext): boolean {
  try {
    return question(context);
  } catch (refusal) {
    if (refusal instanceof ErrorReply) return false;
    throw refusal;
  }
}

function notReplayable(problem: string, words: readonly ByteString[]): MillraceError {
  return new MillraceError('DEFECT', problem, { command: words[0] });
}
