/**
 * A copy of the control state, kept up with its journal: the newest snapshot, then every entry behind it,
 * checked link by link. What does not fit makes it begin again; it is silent meanwhile, never wrong.
 */
import { decodeControlEvents } from '../../codec/control/index.js';
import { EntryAssembler } from '../../codec/envelope/index.js';
import { type ControlState, evolve, rowOfControlEvent } from '../../domain/control/index.js';
import { type Chain, chainAfter, SnapshotStore } from '../../journal/index.js';
import { describeError, isMillraceError, MillraceError } from '../../kernel/index.js';
import { CONTROL_PARTITION, CONTROL_SHARD } from '../../messages/index.js';
import type { Journal, Log, ObjectStore, StoredMessage, Subscription, Timer, Timers } from '../../ports/index.js';
import { ControlFold } from './control-fold.js';

export interface FollowerPorts {
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
/** Damage seen this often in a row, without being at the end between, is not a stale read. */
const DAMAGE_TRIES = 5;

export class ControlFollower {
  #fold = newCopy();
  #chain: Chain = chainAfter(CONTROL_SHARD, undefined);
  #assembler = new EntryAssembler();
  #position = 0;
  #subscription: Subscription | undefined;
  #retry: Timer | undefined;
  /** Grows with every beginning: what an older one still hears is dropped. */
  #life = 0;
  #isStopped = false;
  #damageSeen = 0;
  #damage: MillraceError | undefined;

  constructor(
    private readonly ports: FollowerPorts,
    private readonly listener: FollowerListener,
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
    this.#begin();
  }

  stop(): void {
    this.#isStopped = true;
    this.#life += 1;
    this.#subscription?.stop();
    this.#retry?.cancel();
  }

  #begin(): void {
    this.#life += 1;
    const life = this.#life;
    this.#load(life).catch((error: unknown) => this.#again(life, error));
  }

  #again(life: number, error: unknown): void {
    if (life !== this.#life || this.#isStopped) return;
    this.#subscription?.stop();
    this.#life += 1;
    if (isMillraceError(error, 'JOURNAL_DAMAGED')) {
      this.#damageSeen += 1;
      this.#damage = error;
    }
    const level = isMillraceError(error, 'JOURNAL_UNAVAILABLE') ? 'warn' : 'error';
    this.ports.log[level]('control.copy-failed', { position: this.#position, cause: describeError(error) });
    this.#retry = this.ports.timers.after(RETRY_MS, () => this.#begin());
  }

  async #load(life: number): Promise<void> {
    const { journal, objects, log } = this.ports;
    const store = new SnapshotStore(objects, log);
    const stored = await store.newest(CONTROL_SHARD);
    const fold = newCopy();
    const partition = stored?.manifest.partitions.find(({ name }) => name === CONTROL_PARTITION);
    if (partition !== undefined) {
      for await (const _ of store.loadPartition(partition, fold)) await this.#breathe();
    }
    if (life !== this.#life) return;
    this.#fold = fold;
    this.#chain = chainAfter(CONTROL_SHARD, stored?.manifest);
    this.#assembler = new EntryAssembler();
    this.#position = stored?.manifest.head.position ?? 0;
    this.listener.onRestart(fold.state);
    this.#subscription = journal.follow(CONTROL_SHARD, this.#position + 1, {
      onMessage: (message) => this.#guarded(life, () => this.#apply(message)),
      onAlive: () =>
        this.#guarded(life, () => {
          this.#damageSeen = 0;
          this.listener.onHeard(true);
        }),
    });
  }

  #breathe(): Promise<void> {
    return new Promise((resolve) => this.ports.timers.soon(resolve));
  }

  #guarded(life: number, step: () => void): void {
    if (life !== this.#life || this.#isStopped) return;
    try {
      step();
    } catch (error) {
      this.#again(life, error);
    }
  }

  #apply({ position, bytes }: StoredMessage): void {
    if (position <= this.#position) return;
    // Its front was purged while this process was away: a snapshot has what is missing.
    if (position !== this.#position + 1) {
      throw new MillraceError('JOURNAL_DAMAGED', `${CONTROL_SHARD}: the control journal goes on behind a hole`, {
        position,
      });
    }
    this.listener.onHeard(false);
    const read = this.#assembler.add(position, bytes);
    if (read !== undefined) this.#chain.follow(read);
    this.#position = position;
    const body = read?.entry.body;
    let isAccess = false;
    for (const { effects } of body?.kind === 'batch' ? body.sections : []) {
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
