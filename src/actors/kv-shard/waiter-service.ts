/** Serves the clients that wait for a changed key, and ends the waits of the others. */
import {
  Blocked,
  type CommandSpec,
  ERRORS,
  ErrorReply,
  findCommand,
  type KvEngine,
  type Reply,
} from '../../domain/kv/index.js';
import { MillraceError } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';
import type { Turn } from '../runtime/index.js';
import type { CommandClock } from './command-clock.js';
import { CommandExecution } from './command-execution.js';
import type { CompilePermissions, KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';
import type { TurnChanges } from './turn-changes.js';
import type { WaitingCommand } from './waiting-commands.js';

const NEVER_STOP = () => true;
const NO_WORKS: KvWork[] = [];

export class WaiterService {
  /** Requests that waited for a key and are done. */
  readonly #finished: KvWork[] = [];

  constructor(
    private readonly ports: { readonly clock: Clock; readonly permissionsOf: CompilePermissions },
    private readonly clock: CommandClock,
    private readonly changes: TurnChanges,
  ) {}

  /** Takes the requests that waited for a key and are done. */
  takeFinished(): KvWork[] {
    return this.#finished.length === 0 ? NO_WORKS : this.#finished.splice(0);
  }

  /** Serves clients that wait for keys that have become ready, until no further one can be served. */
  serveReady(owned: OwnedPartition, engine: KvEngine, turn: Turn): void {
    const { changes } = engine.keyspace;
    while (changes.ready.size > 0 && !owned.isInDoubt) {
      const keys = [...changes.ready];
      changes.ready.clear();
      for (const key of keys) {
        for (const waiter of owned.waiting.waitingFor(key)) {
          if (owned.isInDoubt) return;
          // A reader of a stream is also woken when its key is deleted, because its group is deleted too. Other clients
          // wait on.
          const isForIt = engine.keyspace.isThere(key) || findCommand(waiter.words)?.family === 'stream';
          if (isForIt) this.#serve(owned, engine, key, waiter, turn);
        }
      }
    }
  }

  #serve(owned: OwnedPartition, engine: KvEngine, key: string, waiter: WaitingCommand, turn: Turn): void {
    const { work, words } = waiter;
    if (!owned.waiting.isWaiting(waiter)) return;
    // The caller stopped renewing its wait so long ago that it may have been told of a timeout.
    if (work.deadlineMs < this.ports.clock.monotonicMs()) {
      owned.waiting.remove(waiter, engine.keyspace.changes);
      work.reject(new MillraceError('SHARD_UNAVAILABLE', 'its time limit passed before it was executed'));
      return;
    }
    const spec = findCommand(words) as CommandSpec;
    const execution = new CommandExecution(owned, engine, work, turn, NEVER_STOP);
    execution.beginAfter(engine.effects);
    owned.audience.currentClient = work.request.client?.id;
    execution.startedAtMs = this.clock.begin(engine, spec);
    let reply: Reply | Blocked;
    try {
      reply = engine.execute(spec, words, turn.nowMs, work.callerFor(this.ports.permissionsOf));
    } catch (error) {
      reply = this.changes.doubt(execution, words, error);
    }
    // The client waits on when the key holds a value of another type.
    if (reply instanceof Blocked || (reply === ERRORS.wrongType && !isOfKind(engine, key, spec))) return;
    owned.waiting.remove(waiter, engine.keyspace.changes);
    this.clock.end(execution, spec, work.request.commands[0] ?? words, reply);
    work.progress = 1;
    work.replies.push(reply);
    this.changes.noteOutcome(execution, spec, words);
    this.#finished.push(work);
  }

  /** Ends the wait of the named client. @returns whether it was waiting */
  dismiss(owned: OwnedPartition, name: string, how: string): boolean {
    const dismissed = owned.waiting.dismiss(name, how, owned.engine?.keyspace.changes);
    if (dismissed === undefined) return false;
    this.#end(owned, dismissed.waiter, dismissed.reply);
    return true;
  }

  endOverdue(owned: OwnedPartition, nowMs: number): void {
    for (const waiter of owned.waiting.takeOverdue(nowMs, owned.engine?.keyspace.changes)) {
      this.#end(owned, waiter, waiter.onTimeout);
    }
  }

  /** Answers a client after the end of its wait for a value that did not come, and counts its command. */
  #end({ engine }: OwnedPartition, { work, words }: WaitingCommand, reply: Reply): void {
    const spec = findCommand(words);
    const error = reply instanceof ErrorReply ? reply.text : undefined;
    if (spec !== undefined) engine?.statistics.count(spec, 0, error);
    work.replies.push(reply);
    this.#finished.push(work);
  }
}

/** True when the key now holds the type that the command waits for. Readers of streams are told of every type. */
function isOfKind({ keyspace }: KvEngine, key: string, { family }: CommandSpec): boolean {
  if (family === 'stream') return true;
  const value = keyspace.stored(key);
  return typeof value === 'object' && value.kind === (family === 'sorted-set' ? 'zset' : family);
}
