/**
 * The engine of one partition: its keyspace, settings and libraries, and the synchronous execution of commands, one at
 * a time. Live commands, effects in the journal and effects in a snapshot all run through it.
 */
import { type ByteString, MillraceError, type Random } from '../../kernel/index.js';
import { AccessLog } from './access-log.js';
import { Args } from './args.js';
import { type Audience, NO_AUDIENCE } from './audience.js';
import { Closure } from './closure.js';
import type { KvEndpointName, Permissions } from './command-description.js';
import type { CommandContext, CommandSpec, SlicedHandler } from './command-spec.js';
import type { CommandTable } from './command-table.js';
import { COMMANDS, EFFECTS } from './commands.js';
import { Effects } from './effects.js';
import { FullTextIndexes } from './full-text-indexes.js';
import type { HashRange } from './hash-slot.js';
import { KeyGraphs } from './key-graphs.js';
import { KeyRemoval } from './key-removal.js';
import { Keyspace } from './keyspace.js';
import { Libraries } from './libraries.js';
import { MAX_ANSWER_BYTES, MAX_COMMAND_MS } from './limits.js';
import { MemoryBounds } from './memory-bounds.js';
import { type NotificationKind, Notifications } from './notifications.js';
import { Outbox } from './outbox.js';
import { PARAMETER_DEFAULTS } from './parameters.js';
import { type Blocked, ErrorReply, type Paused, type Reply } from './reply.js';
import type { ServerInfo } from './server-info.js';
import type { SetInPlace } from './set-in-place.js';
import { Settings } from './settings.js';
import { hasManyWords, MANY_WORDS } from './slices.js';
import { ServerCounters } from './statistics.js';
import { commandStopped, Stopped, UndoableExecution, workLimit } from './undoable-execution.js';

export interface SlicedCommand {
  /** Runs one slice at time `nowMs`; returns the reply after the last slice. */
  next(nowMs: number): Reply | undefined;
  /** Ends the command without effect. @throws PartStopped, StateInDoubt */
  stop(reason: string): Reply;
}

/** The origin of a command. Defaults: a plain REST command of a user with all permissions. */
export interface Caller {
  readonly endpoint?: KvEndpointName | undefined;
  readonly protocol?: 2 | 3 | undefined;
  readonly mayBlock?: boolean | undefined;
  readonly mayPause?: boolean | undefined;
  /** Inside a transaction. */
  readonly isNested?: boolean | undefined;
  readonly permissions?: Permissions | undefined;
  readonly slots?: HashRange | undefined;
}

const REST_CALLER: Caller = {};
const NO_WORDS: readonly ByteString[] = [];

type Question = (context: CommandContext) => boolean;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class KvEngine {
  readonly effects = new Effects();
  readonly keyspace = new Keyspace(this.effects);
  readonly settings = new Settings(PARAMETER_DEFAULTS);
  readonly libraries = new Libraries();
  readonly outbox = new Outbox(this.effects);
  readonly closure = new Closure();
  readonly searches = new FullTextIndexes(this.keyspace);
  readonly graphs = new KeyGraphs(this.keyspace);
  readonly statistics = new ServerCounters();
  readonly bounds: MemoryBounds;
  readonly run: UndoableExecution;
  readonly removal: KeyRemoval;
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
    const { keyspace, effects, settings, libraries, searches, outbox, statistics } = this;
    this.bounds = new MemoryBounds(keyspace, settings, random);
    searches.hasRoom = (bytes, isForAWhile) => this.bounds.hasRoomForIndexes(bytes, isForAWhile);
    this.run = new UndoableExecution({ keyspace, effects, settings, libraries, searches, audience, outbox }, server);
    this.#notifications = new Notifications(audience);
    keyspace.onExpired = (key) => this.removal.noteExpired(key);
    settings.onChange = (name) => {
      if (name === 'slowlog-max-len') statistics.trimSlow(settings.number(name));
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
      outbox,
      closure: this.closure,
      searches,
      statistics,
      audience,
      nowMs: 0,
      isReplay: false,
      endpoint: 'rest',
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
    this.removal = new KeyRemoval(this.#context, this.bounds, audience);
  }

  /**
   * Runs one admitted command at time `nowMs`; a refusal is returned as the reply. @throws StateInDoubt, or any other
   * error that is not a refusal: a defect, after which the partition's state is in doubt
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

  /** As `execute`, with the time and caller of the preceding call. */
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
    } finally {
      // An unused database would keep the last request in memory, and each garbage collection of many databases copied theirs.
      this.#args.words = NO_WORDS;
    }
  }

  /** Whether the command needs slices. */
  isLong(spec: CommandSpec, words: readonly ByteString[], nowMs: number, caller: Caller = REST_CALLER): boolean {
    return isSurelyLong(spec, words) ?? this.#saysYes(spec.isLong as Question, words, nowMs, caller);
  }

  /** Whether the script that the command runs declares that it writes no keys. @param words the first two are enough */
  readsOnly(spec: CommandSpec, words: readonly ByteString[], caller: Caller = REST_CALLER): boolean {
    return spec.readsOnly !== undefined && this.#saysYes(spec.readsOnly, words, 0, caller);
  }

  #saysYes(question: Question, words: readonly ByteString[], nowMs: number, caller: Caller): boolean {
    this.#prepare(words, nowMs, caller);
    return isYes(question, this.#context);
  }

  /** As `isLong`, for a command within a command. */
  #isLongCall(spec: CommandSpec, words: readonly ByteString[]): boolean {
    const outer = this.#args.words;
    this.#args.words = words;
    const isLong = isYes(spec.isLong as Question, this.#context);
    this.#args.words = outer;
    return isLong;
  }

  /** Judges the commands of a transaction before the first one runs. @returns the first refusal */
  judge(commands: readonly (readonly ByteString[])[], nowMs: number, caller: Caller): ErrorReply | undefined {
    this.outbox.beginJudging();
    for (const words of commands) {
      const judge = this.commands.find(words)?.judge;
      if (judge === undefined) continue;
      this.#prepare(words, nowMs, caller);
      try {
        judge(this.#context);
      } catch (refusal) {
        if (refusal instanceof ErrorReply) return refusal;
        throw refusal;
      }
    }
    return undefined;
  }

  /** Starts a command in slices; each call of `next` runs one. A refusal is returned as the reply. */
  begin(spec: CommandSpec, words: readonly ByteString[], caller: Caller = REST_CALLER): SlicedCommand {
    this.#prepare(words, 0, caller);
    const slices = (spec.sliced as SlicedHandler)(this.#context);
    return this.#inSlices(slices, words, caller, this.run.begin());
  }

  /** The rest of a command that has paused. */
  rest({ rest }: Paused, words: readonly ByteString[], caller: Caller): SlicedCommand {
    return this.#inSlices(rest, words, caller, false);
  }

  /** @param isWhole whether the command is a complete run, which ends with it */
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
      } finally {
        this.#args.words = NO_WORDS;
      }
      if (isWhole) run.end();
      return reply;
    };
    return {
      next: (nowMs) => step(nowMs, () => slices.next()),
      stop: (reason) => step(0, () => slices.throw(new Stopped(reason))) as Reply,
    };
  }

  /** Applies one effect from the journal. @throws DEFECT when it does not apply; a recorded effect always should */
  replay(words: readonly ByteString[]): void {
    const spec = this.commands.find(words) ?? EFFECTS.find(words);
    if (spec === undefined) throw unknownEffect(words);
    const reply = this.#replaying(() => this.execute(spec, words, 0));
    if (reply instanceof ErrorReply) throw notReplayable(`an effect was refused: ${reply.text}`, words);
  }

  /** As `replay`, for a SET that is read directly from its block. */
  replaySet(set: SetInPlace): void {
    this.keyspace.nowMs = 0;
    this.#replaying(() => this.keyspace.setInPlace(set));
  }

  /** As `replay`, in slices if the command has them. */
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

  /** The most work of a command or transaction, in milliseconds. */
  get commandMs(): number {
    return workLimit(this.settings, this.#context.server.commandMs ?? MAX_COMMAND_MS);
  }

  /** Whether any key or field has an expiry. */
  get hasExpiries(): boolean {
    return this.keyspace.expiring > 0 || this.keyspace.keysWithFieldExpiry > 0;
  }

  /** Tells scripts whether the database is full; set before each script. */
  set isFull(isFull: boolean) {
    this.#context.isFull = isFull;
  }

  /** The bound from the database's limits; not part of the data. */
  set maxCommandBytes(bytes: number) {
    this.#context.maxCommandBytes = bytes;
  }

  /** The bound from the installation's configuration. */
  set maxAnswerBytes(bytes: number) {
    this.#context.maxAnswerBytes = bytes;
  }

  /** Starts or stops the access log as the eviction policy requires. */
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
    context.endpoint = caller.endpoint ?? 'rest';
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
   * Runs a command within a command and then restores the outer command's words. A refusal is returned as the reply.
   * @param slices if given, runs the next slice; undefined is returned unless it was the last
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
      // Handlers return `Blocked` only if `mayBlock`.
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

/** Undefined: the row's `isLong` must be asked. */
function isSurelyLong({ sliced, isLong }: CommandSpec, words: readonly ByteString[]): boolean | undefined {
  if (sliced === undefined) return false;
  if (isLong === undefined) return true;
  // Most commands use this question, and it needs no context.
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

/**
 * The effects' bytes passed their hash check, and this release knows every command that it writes: an unknown command
 * comes from a newer release.
 */
function unknownEffect([command]: readonly ByteString[]): MillraceError {
  const reason = `an entry was written by a newer release (the effect ${command}, which this program does not know)`;
  const advice = 'install that release or a later one (docs/operations/upgrades.md)';
  return new MillraceError('NEWER_FORMAT', `${reason}: ${advice}`, { command });
}

function notReplayable(problem: string, words: readonly ByteString[]): MillraceError {
  return new MillraceError('DEFECT', problem, { command: words[0] });
}
