/**
 * Maintains a copy of the control state from its journal: the newest snapshot and every later entry, each checked
 * against the chain. An entry that does not fit restarts the copy from a snapshot, and until it has caught up it gives
 * no answers.
 */
import { decodeControlEvents } from '../../codec/control/index.js';
import { type ControlState, evolve, rowOfControlEvent } from '../../domain/control/index.js';
import { chainAfter, EntryFeed, type FollowingReader, followLog, SnapshotStore } from '../../journal/index.js';
import { describeError, isMillraceError, isUnreadable, type MillraceError } from '../../kernel/index.js';
import type { Journal, Log, ObjectStore, StoredMessage, Timers } from '../../ports/index.js';
import { CONTROL_PARTITION, CONTROL_SHARD, entrySections } from '../../protocol/index.js';
import { ControlFold } from './control-fold.js';

export interface ControlFollowerPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly timers: Timers;
  readonly log: Log;
}

export interface AppliedChange {
  /** Grants may have changed. */
  readonly isAccess: boolean;
  /** The owner waits until this process has applied it. */
  readonly isAwaited: boolean;
}

export interface FollowerListener {
  /** The copy was rebuilt and its state is a new object; facts derived from the old one are invalid. */
  onRestart(state: ControlState): void;
  /** One more message is applied. */
  onApplied(change: AppliedChange): void;
  /** The journal answered. `isAtEnd`: it has no message after the applied ones. */
  onHeard(isAtEnd: boolean): void;
}

/** Pause before an unreadable or inconsistent journal is tried again. */
const RETRY_MS = 500;
/** Bytes that may wait while a batch is applied. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Damage seen this often in a row, without reaching the end in between, is not a stale read. */
const DAMAGE_TRIES = 5;

export class ControlFollower {
  #fold = newCopy();
  #entries = new EntryFeed(chainAfter(CONTROL_SHARD, undefined));
  #position = 0;
  readonly #stop = new AbortController();
  #damageSeen = 0;
  #damage: MillraceError | undefined;

  constructor(
    private readonly ports: ControlFollowerPorts,
    private readonly listener: FollowerListener,
    /** How often the journal has to give a sign of life; undefined: the journal's default. */
    private readonly aliveEveryMs: number | undefined,
  ) {}

  get state(): ControlState {
    return this.#fold.state;
  }

  /** The position in the control journal up to which everything is applied. */
  get position(): number {
    return this.#position;
  }

  /** The reason why the copy cannot be made and needs an operator. Tries continue all the same. */
  get damage(): MillraceError | undefined {
    return this.#damageSeen >= DAMAGE_TRIES ? this.#damage : undefined;
  }

  start(): void {
    const { journal, timers } = this.ports;
    const reader: FollowingReader = {
      follow: (from, follower) => journal.follow(CONTROL_SHARD, from, follower),
      begin: (signal) => this.#load(signal),
      take: (batch) => {
        for (const message of batch) this.#apply(message);
      },
      idle: () => {
        this.#damageSeen = 0;
        this.listener.onHeard(true);
      },
      failed: (error) => this.#failed(error),
    };
    const following = {
      shard: CONTROL_SHARD,
      maxQueuedBytes: MAX_QUEUED_BYTES,
      retryMs: RETRY_MS,
      aliveEveryMs: this.aliveEveryMs,
    };
    void followLog(timers, reader, following, this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
  }

  /**
   * Schedules another try after any failure: the front of the journal may have been purged after a snapshot while this
   * process was away.
   */
  #failed(error: unknown): boolean {
    if (isUnreadable(error)) {
      this.#damageSeen += 1;
      this.#damage = error;
    }
    const level = isMillraceError(error, 'JOURNAL_UNAVAILABLE') ? 'warn' : 'error';
    this.ports.log[level]('control.copy-failed', { position: this.#position, cause: describeError(error) });
    return true;
  }

  async #load(signal: AbortSignal): Promise<number> {
    const { objects, timers, log } = this.ports;
    const store = new SnapshotStore(objects, log);
    const stored = await store.newest(CONTROL_SHARD);
    const fold = newCopy();
    const partition = stored?.manifest.partitions.find(({ name }) => name === CONTROL_PARTITION);
    if (partition !== undefined) {
      for await (const _ of store.loadPartition(partition, fold)) await timers.yieldToEventLoop();
    }
    if (signal.aborted) return 0;
    this.#fold = fold;
    this.#entries = new EntryFeed(chainAfter(CONTROL_SHARD, stored?.manifest));
    this.#position = stored?.manifest.head.position ?? 0;
    this.listener.onRestart(fold.state);
    return this.#position;
  }

  #apply(message: StoredMessage): void {
    this.listener.onHeard(false);
    const read = this.#entries.add(message);
    this.#position = message.position;
    const change = { isAccess: false, isAwaited: false };
    for (const { effects } of read === undefined ? [] : entrySections(read.entry)) {
      for (const event of decodeControlEvents(effects)) {
        evolve(this.#fold.state, event);
        const { leavesAccess = false, isAwaited = false } = rowOfControlEvent(event);
        change.isAccess ||= !leavesAccess;
        change.isAwaited ||= isAwaited;
      }
    }
    this.listener.onApplied(change);
  }
}

/** The audit log is read at its owner, so copies do not hold its hundred thousand lines. */
function newCopy(): ControlFold {
  return new ControlFold({ keepsAudit: false });
}
