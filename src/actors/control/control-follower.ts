/**
 * A copy of the control state, kept up with its journal: the newest snapshot, then every entry behind it,
 * checked link by link. What does not fit makes it begin again; it is silent meanwhile, never wrong.
 */
import { decodeControlEvents } from '../../codec/control/index.js';
import { type ControlState, evolve, rowOfControlEvent } from '../../domain/control/index.js';
import { chainAfter, EntryFeed, type FollowingReader, followLog, SnapshotStore } from '../../journal/index.js';
import { describeError, isMillraceError, type MillraceError } from '../../kernel/index.js';
import { CONTROL_PARTITION, CONTROL_SHARD, entrySections } from '../../messages/index.js';
import type { Journal, Log, ObjectStore, StoredMessage, Timers } from '../../ports/index.js';
import { ControlFold } from './control-fold.js';

export interface ControlFollowerPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly timers: Timers;
  readonly log: Log;
}

export interface FollowerListener {
  /** The state is another object: it was built anew. What is known of the old one means nothing. */
  onRestart(state: ControlState): void;
  /** One more message is applied. */
  onApplied(changesAccess: boolean): void;
  /** The journal answered. `isAtEnd`: it knows of nothing newer than what was applied. */
  onHeard(isAtEnd: boolean): void;
}

/** A journal that cannot be read, or does not fit, is tried again after this. */
const RETRY_MS = 500;
/** What waits while a batch is applied. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Damage seen this often in a row, without being at the end between, is not a stale read. */
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
    /** How often the journal has to show that it is there; undefined: as often as any journal does. */
    private readonly aliveEveryMs: number | undefined,
  ) {}

  get state(): ControlState {
    return this.#fold.state;
  }

  /** In the control journal: everything up to it is applied. */
  get position(): number {
    return this.#position;
  }

  /** Why the copy cannot be made, and will not be until somebody has looked; it is tried on all the same. */
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

  /** It is tried again, whatever it was: its front may have been purged while this process was away, for a snapshot. */
  #failed(error: unknown): boolean {
    if (isMillraceError(error, 'JOURNAL_DAMAGED')) {
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
      for await (const _ of store.loadPartition(partition, fold)) await timers.breathe();
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
    let isAccess = false;
    for (const { effects } of read === undefined ? [] : entrySections(read.entry)) {
      for (const event of decodeControlEvents(effects)) {
        evolve(this.#fold.state, event);
        isAccess ||= rowOfControlEvent(event).leavesAccess !== true;
      }
    }
    this.listener.onApplied(isAccess);
  }
}

/** The audit log is read at its owner: a hundred thousand lines in every process would serve nobody. */
function newCopy(): ControlFold {
  return new ControlFold({ keepsAudit: false });
}
