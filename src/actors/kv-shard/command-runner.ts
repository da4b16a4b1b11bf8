/**
 * Runs the commands of one request on a partition, singly, as a transaction or in slices.
 *
 *  CR1 a reply waits for the entry with every change that its command made or saw
 *  CR2 a command that ends by an internal error leaves no change: its partition is in doubt and is rebuilt
 *  CR3 a command that runs in slices, and a transaction, has its partition exclusively until it ends
 *  CR4 when a client leaves, its half-done command is stopped, and its reads that wait after it are not made
 *  CR5 a paused command is in no entry before it is done, and does not delay other entries
 *  CR6 a command that is stopped before its end leaves no change; a stopped transaction leaves none of its commands'
 *      changes
 *  CR7 successive quick reads by one command specification are each answered, measured and made to wait as if they ran
 *      alone; conditions common to all are checked once
 */
import {
  answerTooLarge,
  Blocked,
  type CommandSpec,
  commandStopped,
  ErrorReply,
  findCommand,
  isWrite,
  type KvEngine,
  keysOf,
  notAvailable,
  PartStopped,
  Paused,
  type Reply,
  replyBytes,
} from '../../domain/kv/index.js';
import type { Clock, DataLimits, Log } from '../../ports/index.js';
import type { ShouldStop, Turn } from '../runtime/index.js';
import type { CommandClock } from './command-clock.js';
import { CommandExecution } from './command-execution.js';
import { isForMonitors, showToMonitors, track, trackScript } from './command-witnesses.js';
import { cancelReason, isScript, nextSlices, resume, suspend } from './half-done-command.js';
import type { HeldData } from './held-data.js';
import { PlanBounds } from './held-data.js';
import type { CompilePermissions, KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';
import type { TurnChanges } from './turn-changes.js';
import type { WaiterService } from './waiter-service.js';
import { hasWatchedKeyChanged, watchKeys } from './watched-keys.js';

export interface CommandRunnerPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Identifies this activation; the value is unique. */
  readonly activation: string;
  readonly permissionsOf: CompilePermissions;
  /** The limits of plans on the data of partitions; undefined: no limits. */
  readonly dataLimits?: DataLimits | undefined;
  /** Counts the data held by this process; undefined: not counted. */
  readonly held?: Pick<HeldData, 'maxBytesOf'> | undefined;
}

/** A transaction reads the clock once per this many commands, because reading costs as much as a small command. */
const COMMANDS_BETWEEN_LOOKS = 16;
/** The reply to a command of a client that has left; it is never sent. */
const NOT_ANSWERED = new ErrorReply('ERR the client has left');
const ALWAYS = () => true;
const TRANSACTION_UNDONE = new ErrorReply('ERR the transaction was undone: a command in it was stopped');

/** MULTI and EXEC, which the client sent around the commands; INFO counts them, as Redis does. */
const TRANSACTION_SPECS = [findCommand(['MULTI']), findCommand(['EXEC'])].filter((spec) => spec !== undefined);
const NO_ROOM_FOR_ALL = new ErrorReply(
  "EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.",
);

function mayGrow(words: readonly string[]): boolean {
  return findCommand(words)?.mayGrow === true;
}

function isRead(words: readonly string[]): boolean {
  return findCommand(words)?.flags.includes('readonly') === true;
}

function refuseAnswer(work: KvWork): void {
  work.progress += 1;
  work.replies.push(answerTooLarge(work.request.maxAnswerBytes as number));
}

export class ShardCommandRunner {
  readonly #plans: PlanBounds;

  constructor(
    private readonly ports: CommandRunnerPorts,
    private readonly clock: CommandClock,
    private readonly changes: TurnChanges,
    private readonly waiters: WaiterService,
  ) {
    this.#plans = new PlanBounds(ports.dataLimits, ports.held);
  }

  /** Called before each request. */
  tellLimits(owned: OwnedPartition, engine: KvEngine): void {
    this.#plans.tell(owned, engine);
  }

  runEach(
    owned: OwnedPartition,
    engine: KvEngine,
    work: KvWork,
    turn: Turn,
    shouldStop: ShouldStop,
  ): 'done' | 'more' | 'parked' {
    const execution = new CommandExecution(owned, engine, work, turn, shouldStop);
    const count = work.request.commands.length;
    if (work.isHalfway) engine.run.goOn();
    if (work.isUnwanted) {
      if (work.isHalfway) this.#runOne(execution);
      if (work.isUnwanted && onlyReads(work.request.commands, work.progress)) {
        for (; work.progress < count; work.progress += 1) work.replies.push(NOT_ANSWERED);
        return 'done';
      }
    }
    while (work.progress < count) {
      if (owned.isInDoubt) {
        owned.parked.push(work);
        return 'parked';
      }
      const reads = quickReadsOf(owned, engine, work);
      if (reads !== undefined) this.#runReads(execution, reads);
      else {
        const step = this.#runOne(execution);
        if (step !== 'done') return step;
        if (engine.keyspace.changes.ready.size > 0) this.waiters.serveReady(owned, engine, turn);
      }
      if (work.isAnswerFull) return 'done';
      if (work.progress < count && shouldStop()) return 'more';
    }
    return 'done';
  }

  runTransaction(
    owned: OwnedPartition,
    engine: KvEngine,
    work: KvWork,
    turn: Turn,
    shouldStop: ShouldStop,
  ): 'done' | 'more' {
    const execution = new CommandExecution(owned, engine, work, turn, shouldStop);
    const { commands } = work.request;
    const { length } = commands;
    if (!work.isHalfway && !this.#beginTransaction(owned, engine, work, turn)) return 'done';
    if (work.isHalfway) engine.run.goOn();
    const reason = work.slices === undefined && work.isHalfway ? cancelReason(engine, work) : undefined;
    if (reason !== undefined) this.#undoTransaction(owned, engine, work, commandStopped(reason));
    while (work.progress < length && !owned.isInDoubt) {
      if (work.isAnswerFull && isRead(commands[work.progress] as readonly string[])) {
        refuseAnswer(work);
        continue;
      }
      const step = this.#runOne(execution);
      const isPaused = step === 'more' || (work.progress % COMMANDS_BETWEEN_LOOKS === 0 && shouldStop(true));
      if (!isPaused || work.progress === length || owned.isInDoubt) continue;
      suspend(owned, engine, work);
      return 'more';
    }
    resume(owned, work);
    this.#endTransaction(execution);
    return 'done';
  }

  /** @returns false when the transaction is not run */
  #beginTransaction(owned: OwnedPartition, engine: KvEngine, work: KvWork, turn: Turn): boolean {
    if (hasWatchedKeyChanged(this.ports.activation, owned, engine, work.request.watches ?? [], turn.nowMs)) {
      work.isAborted = true;
      this.changes.note(owned, engine, turn, 0, 0);
      return false;
    }
    const { effects } = engine;
    const { count, bytes } = effects;
    const { commands } = work.request;
    const refusal = engine.judge(commands, turn.nowMs, work.callerFor(this.ports.permissionsOf));
    if (refusal !== undefined) {
      work.isAborted = true;
      work.replies.push(new ErrorReply(`EXECABORT Transaction discarded because of: ${refusal.text}`));
      this.changes.note(owned, engine, turn, 0, 0);
      return false;
    }
    const isOfResp = isOfRespEndpoint(work);
    // Over REST each command is refused separately.
    if (
      isOfResp &&
      engine.bounds.areSet &&
      commands.some(mayGrow) &&
      engine.removal.makeRoom(turn.nowMs) !== undefined
    ) {
      this.changes.note(owned, engine, turn, effects.count - count, effects.bytes - bytes);
      work.isAborted = true;
      work.isFull = true;
      this.#plans.noteFull(owned, engine);
      work.replies.push(NO_ROOM_FOR_ALL);
      return false;
    }
    // The evictions that made room are kept and stored.
    if (effects.count > count) this.changes.note(owned, engine, turn, effects.count - count, effects.bytes - bytes);
    engine.run.begin();
    if (isOfResp) for (const spec of TRANSACTION_SPECS) engine.statistics.count(spec, 0, undefined);
    if (owned.audience.isMonitored && isOfResp) showToMonitors(owned, ['multi'], work, this.ports.clock.nowMs());
    return true;
  }

  /** A stopped transaction leaves no changes (CR6); the stopped command's reply says why. */
  #undoTransaction(owned: OwnedPartition, engine: KvEngine, work: KvWork, reply: Reply): void {
    const { commands } = work.request;
    if (engine.run.isOpen && !engine.run.undo())
      this.changes.putInDoubt(owned, commands[work.progress]?.[0], 'a transaction was stopped');
    work.replies = commands.map((_, i) => (i === work.progress ? reply : TRANSACTION_UNDONE));
    work.progress = commands.length;
  }

  /** The whole transaction goes into the open entry. */
  #endTransaction(execution: CommandExecution): void {
    const { owned, engine, work, turn } = execution;
    // A REST client did not send MULTI and EXEC, so monitors do not see them.
    if (owned.audience.isMonitored && isOfRespEndpoint(work)) {
      showToMonitors(owned, ['exec'], work, this.ports.clock.nowMs());
    }
    if (!engine.run.isOpen) {
      this.changes.note(owned, engine, turn, 0, 0);
      return;
    }
    execution.beginAfter(engine.effects.free);
    engine.run.end();
    this.changes.noteWritten(execution);
    if (engine.keyspace.changes.ready.size > 0) this.waiters.serveReady(owned, engine, turn);
  }

  /** Runs the following reads of the same specification together (CR7: each is answered as if it ran alone). */
  #runReads(execution: CommandExecution, spec: CommandSpec): void {
    const { owned, engine, work, turn, shouldStop } = execution;
    const { commands, maxAnswerBytes } = work.request;
    execution.beginAfter(engine.effects);
    const isStored = owned.hasNothingUnstored;
    const caller = work.callerFor(this.ports.permissionsOf);
    let words = commands[work.progress] as readonly string[];
    for (let isFirst = true; ; isFirst = false) {
      turn.commands += 1;
      execution.startedAtMs = this.clock.begin(engine, spec);
      let reply: Reply;
      try {
        // A quick read ends in one step: it neither waits nor pauses.
        reply = (isFirst ? engine.execute(spec, words, turn.nowMs, caller) : engine.executeNext(spec, words)) as Reply;
      } catch (error) {
        reply = this.changes.doubt(execution, words, error);
      }
      this.clock.end(execution, spec, words, reply);
      work.progress += 1;
      work.replies.push(reply);
      if (maxAnswerBytes !== undefined) work.answerBytes += replyBytes(reply);
      if (!isStored) this.changes.noteRead(owned, spec, words, work, turn);
      if (work.progress === commands.length || work.isAnswerFull || owned.isInDoubt) break;
      const next = commands[work.progress] as readonly string[];
      if (findCommand(next) !== spec || shouldStop()) break;
      words = next;
    }
    this.#noteRoom(owned, engine, work);
    this.changes.noteOutcome(execution, spec, words);
  }

  /** @returns `more` when slices are left; `parked` when the command waits for a key */
  #runOne(execution: CommandExecution): 'done' | 'more' | 'parked' {
    const { owned, engine, work, turn } = execution;
    const { commands, mode, trackFor } = work.request;
    const words = commands[work.progress] as readonly string[];
    const spec = findCommand(words);
    turn.commands += 1;
    if (spec === undefined) {
      work.progress += 1;
      work.replies.push(notAvailable(words[0] ?? ''));
      return 'done';
    }
    const { effects } = engine;
    const isPart = mode === 'transaction';
    const isBegun = work.slices !== undefined;
    if (spec.waitsForIndex !== undefined && !isPart && !isBegun && this.#awaitIndex(execution, spec, words)) {
      return 'parked';
    }
    execution.beginAfter(isBegun && !isPart ? effects.free : effects);
    const startedAtMs = this.clock.begin(engine, spec);
    const tracksScript = trackFor !== undefined && spec.runsScript === true;
    if (!isBegun) owned.audience.scriptReads = tracksScript ? new Set() : undefined;
    let reply: Reply | Blocked | undefined;
    try {
      if (!isBegun) reply = makeRoomFor(engine, spec, turn.nowMs);
      if (reply === undefined) reply = this.#execute(execution, spec, words);
    } catch (error) {
      work.slices = undefined;
      const isStopped = error instanceof PartStopped;
      reply = isStopped ? error.reply : this.changes.doubt(execution, words, error);
      if (isPart) {
        this.#undoTransaction(owned, engine, work, reply);
        return 'done';
      }
    }
    if (reply === undefined) {
      if (!isPart) this.#pause(execution);
      if (startedAtMs > 0) work.spentMs += this.ports.clock.monotonicMs() - startedAtMs;
      return 'more';
    }
    work.slices = undefined;
    if (isBegun && !isPart) resume(owned, work);
    if (owned.audience.isMonitored && isForMonitors(spec)) showToMonitors(owned, words, work, this.ports.clock.nowMs());
    if (reply instanceof Blocked) {
      owned.waiting.add(work, words, reply, this.ports.clock.monotonicMs(), engine.keyspace.changes);
      work.onGiveUp = () => this.waiters.dismiss(owned, work.request.waiter as string, 'GONE');
      return 'parked';
    }
    execution.startedAtMs = startedAtMs > 0 ? startedAtMs - work.spentMs : 0;
    this.clock.end(execution, spec, words, reply);
    this.#keepReply(owned, engine, work, reply);
    if (spec.waitsForIndex !== undefined && !isPart) {
      work.indexLag = (work.indexLag ?? 0) + (engine.searches.lookUp(words[1] as string)?.pending ?? 0);
    }
    if (tracksScript) trackScript(owned, work, trackFor);
    else if (trackFor !== undefined && !isWrite(spec)) track(owned, keysOf(spec, words), trackFor);
    if (!isPart) this.changes.noteOutcome(execution, spec, words);
    else if (effects.count > execution.effectsBefore) engine.statistics.changes += 1;
    else this.changes.noteRead(owned, spec, words, work, turn);
    return 'done';
  }

  /** Makes the request wait for the index of its next command. @returns whether it waits */
  #awaitIndex({ owned, engine, work }: CommandExecution, spec: CommandSpec, words: readonly string[]): boolean {
    if (work.indexAwaited === work.progress) return false;
    const name = words[1] as string;
    const live = engine.searches.lookUp(name);
    if (live === undefined || spec.waitsForIndex === undefined) return false;
    if (!owned.indexWaits.add(work, name, live, spec.waitsForIndex, this.ports.clock.monotonicMs())) return false;
    work.indexAwaited = work.progress;
    return true;
  }

  /** @returns undefined when slices are left */
  #execute(execution: CommandExecution, spec: CommandSpec, words: readonly string[]): Reply | Blocked | undefined {
    const { owned, engine, work, shouldStop } = execution;
    const { nowMs } = execution.turn;
    const caller = work.callerFor(this.ports.permissionsOf);
    const isBegun = work.slices !== undefined;
    const runsScripts = isScript(spec);
    if (work.hasWaitedInVain) {
      work.hasWaitedInVain = false;
      return new ErrorReply(`ERR Index ${words[1]} is being built, try again`);
    }
    if (isBegun || engine.isLong(spec, words, nowMs, caller)) {
      const isTimed = runsScripts && work.request.mode !== 'transaction';
      const reason = isBegun ? cancelReason(engine, work, isTimed) : undefined;
      work.slices ??= engine.begin(spec, words, caller);
      // A script limits the length of its own slices.
      if (reason === undefined) return nextSlices(work.slices, nowMs, runsScripts ? ALWAYS : shouldStop);
      return work.slices.stop(reason);
    }
    const reply = engine.execute(spec, words, nowMs, caller);
    const isPaused = runsScripts && reply instanceof Paused;
    if (isPaused) work.slices = engine.rest(reply, words, caller);
    if (owned.settingsVersion !== engine.settings.version) applySettings(owned, engine, nowMs);
    return isPaused ? undefined : reply;
  }

  #keepReply(owned: OwnedPartition, engine: KvEngine, work: KvWork, reply: Reply): void {
    work.spentMs = 0;
    this.#noteRoom(owned, engine, work);
    work.progress += 1;
    work.replies.push(reply);
    if (work.request.maxAnswerBytes !== undefined) work.answerBytes += replyBytes(reply);
    const { scriptDenials } = owned.audience;
    if (scriptDenials.length > 0) work.denials = [...(work.denials ?? []), ...scriptDenials.splice(0)];
  }

  #noteRoom(owned: OwnedPartition, engine: KvEngine, work: KvWork): void {
    work.isFull = engine.bounds.leaveNoRoom;
    if (work.isFull) this.#plans.noteFull(owned, engine);
  }

  /** Leaves the command until its next slice; its changes go into no entry before it is done (CR5). */
  #pause({ owned, engine, work, turn, effectsBefore, bytesBefore }: CommandExecution): void {
    // The evictions that made room are kept and stored.
    const { count, bytes } = engine.effects.free;
    if (count > effectsBefore) this.changes.note(owned, engine, turn, count - effectsBefore, bytes - bytesBefore);
    suspend(owned, engine, work);
  }

  watch(owned: OwnedPartition, engine: KvEngine, work: KvWork, turn: Turn): 'done' {
    const { effects } = engine;
    const effectsBefore = effects.count;
    const bytesBefore = effects.bytes;
    const keys = (work.request.commands[0] ?? []).slice(1);
    const mark = watchKeys(this.ports.activation, owned, engine, keys, turn.nowMs);
    this.changes.note(owned, engine, turn, effects.count - effectsBefore, effects.bytes - bytesBefore);
    work.replies.push(mark);
    return 'done';
  }

  /** Answers, for each script, whether it declares that it writes nothing. */
  judge(engine: KvEngine, work: KvWork): 'done' {
    for (const words of work.request.commands) {
      const spec = findCommand(words);
      work.replies.push(spec !== undefined && engine.readsOnly(spec, words) ? 1 : 0);
    }
    return 'done';
  }
}

/**
 * Applies changed parameters, also those of a newly loaded engine. A lower memory bound evicts immediately, as in
 * Redis.
 */
function applySettings(owned: OwnedPartition, engine: KvEngine, nowMs: number): void {
  owned.settingsVersion = engine.settings.version;
  owned.audience.maxTrackedKeys = engine.settings.number('tracking-table-max-keys');
  // Room that cannot be freed now is freed before the next command that grows.
  if (engine.bounds.areSet) engine.removal.makeRoom(nowMs);
}

/**
 * @returns the reason why a command that grows the database may not run. A script gets a flag instead, because it may
 * still read.
 */
function makeRoomFor(engine: KvEngine, { mayGrow, family }: CommandSpec, nowMs: number): ErrorReply | undefined {
  const isBounded = engine.bounds.areSet;
  if (isBounded && mayGrow === true) return engine.removal.makeRoom(nowMs);
  if (isScript({ family })) engine.isFull = isBounded && engine.removal.makeRoom(nowMs) !== undefined;
  return undefined;
}

/**
 * @returns the specification of the next command when it is a quick read without observers other than its client (CR7)
 */
function quickReadsOf(owned: OwnedPartition, engine: KvEngine, work: KvWork): CommandSpec | undefined {
  const { commands, trackFor } = work.request;
  const spec = findCommand(commands[work.progress] as readonly string[]);
  const isAlone = trackFor === undefined && !owned.audience.isMonitored;
  // Changed parameters are applied by the ordinary path of the next command.
  const isObeyed = owned.settingsVersion === engine.settings.version;
  return spec?.isQuickRead === true && isAlone && isObeyed ? spec : undefined;
}

/** True when the commands from `first` on only read. */
function onlyReads(commands: KvWork['request']['commands'], first: number): boolean {
  for (let i = first; i < commands.length; i += 1) {
    if (!isRead(commands[i] as readonly string[])) return false;
  }
  return true;
}

function isOfRespEndpoint({ request }: KvWork): boolean {
  return request.client?.face === 'resp';
}
