/**
 * The grants as this process knows them. It answers immediately from its copy of the control state, and refuses to
 * answer when the copy may be old.
 *
 *  CV1 no answer is given before the copy has reached the end that the journal had when it was first heard
 *  CV2 no answer is given after neither the journal nor the owner has been heard for `staleMs`; after such a silence
 *      CV1 holds again, because missed changes have to be applied first. The owner counts as heard when the copy has
 *      all that it names (rights-freshness.ts). Where only this process can be the owner, its last stored position counts
 *      instead: while the copy has that, the journal may be silent for longer
 *  CV3 no grant outlives the change that took it away: cached lookups are dropped with every change of grants (quota
 *      leases and counts are not such changes)
 */
import { encodeControlApplied } from '../../codec/control/index.js';
import { type ControlState, isBranch, isChangingLayout, type Trigger } from '../../domain/control/index.js';
import {
  type BackupId,
  BoundedCache,
  type ByteString,
  type DatabaseId,
  describeError,
  FIRST_FORMAT_LEVEL,
  MillraceError,
  type PartitionName,
  type SessionId,
} from '../../kernel/index.js';
import type { Access, Bus, Clock, KnownDatabase, KvGrant, KvLayout, RespAccess } from '../../ports/index.js';
import { CONTROL_SHARD, kvPartitions } from '../../protocol/index.js';
import { type AppliedChange, ControlFollower, type ControlFollowerPorts } from './control-follower.js';
import { Grants } from './grants.js';
import { RightsFreshness } from './rights-freshness.js';

export interface ControlViewPorts extends ControlFollowerPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  /** Called when the journal is heard again and fully applied after a silence, before any answer is given. */
  readonly onBackInTouch?: (silentForMs: number) => void;
}

export interface ControlViewOptions {
  readonly session: SessionId;
  readonly staleMs: number;
  /**
   * The owner is asked while the journal is silent. Undefined counts as false, as where no other process may own the
   * shard.
   */
  readonly asksOwner?: boolean;
  /**
   * Where only this process may own the shard: the position of the last change of grants that its owner has stored;
   * undefined while it does not serve.
   */
  readonly storedHere?: () => number | undefined;
}

/** Cached grants, as many as a process serves clients; above this number all are dropped. */
const MAX_CACHED_GRANTS = 10_000;
/**
 * How often the journal gives a sign of life: half of the default `staleMs`, after which a silent copy stops answering.
 */
const ALIVE_EVERY_MS = 250;
/**
 * The same bound where the owner is in this process: the owner notices a stopped server much earlier, at its next
 * write.
 */
const OWNER_HERE_STALE_MS = 3000;

export class ControlView implements Access, RespAccess {
  readonly #listeners = new Set<() => void>();
  readonly #follower: ControlFollower;
  readonly #grants = new Grants(
    () => this.state,
    () => this.#version,
  );
  #version = 0;
  readonly #grantsByToken = new BoundedCache<string, KvGrant>(MAX_CACHED_GRANTS);
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #isCaughtUp = false;
  /** The position that the journal ended at when it was asked; a copy that reaches it has caught up. */
  #goal: number | undefined;
  #isAskingForEnd = false;
  /** Increases when the copy falls behind: an older answer about the journal's end is then ignored. */
  #phase = 0;
  #silentForMs = 0;
  #isNoticeSoon = false;
  #onCaughtUp: (() => void)[] = [];
  readonly #untilFresh = new Set<() => void>();
  readonly #freshness: RightsFreshness | undefined;

  constructor(
    private readonly ports: ControlViewPorts,
    private readonly options: ControlViewOptions,
  ) {
    const listener = {
      onRestart: () => this.#restarted(),
      onApplied: (change: AppliedChange) => this.#applied(change),
      onHeard: (isAtEnd: boolean) => this.#heard(isAtEnd, ports.clock.monotonicMs()),
    };
    this.#follower = new ControlFollower(ports, listener, options.storedHere ? undefined : ALIVE_EVERY_MS);
    if (options.asksOwner === true) {
      this.#freshness = new RightsFreshness(ports, options.staleMs, (position, askedAtMs) => {
        if (position <= this.position) this.#heard(true, askedAtMs);
      });
    }
  }

  /** Begins to follow. Resolves when the copy can answer for the first time. */
  start(): Promise<void> {
    const ready = new Promise<void>((resolve) => this.#onCaughtUp.push(resolve));
    this.#follower.start();
    return ready;
  }

  stop(): void {
    this.#follower.stop();
    this.#freshness?.stop();
    this.#isCaughtUp = false;
  }

  /** The reason why the journal cannot be copied and needs an operator. */
  get damage(): MillraceError | undefined {
    return this.#follower.damage;
  }

  /** The position in the control journal up to which everything is in force here. */
  get position(): number {
    return this.#follower.position;
  }

  /** False when `grantFor` would throw. */
  get isFresh(): boolean {
    return this.#isCaughtUp && !this.#isTooLong(this.ports.clock.monotonicMs() - this.#heardAtMs);
  }

  /** True when the silence is too long to answer (CV2). */
  #isTooLong(silentForMs: number): boolean {
    if (silentForMs <= this.options.staleMs) return false;
    const stored = this.options.storedHere?.();
    return stored === undefined || stored > this.position || silentForMs > OWNER_HERE_STALE_MS;
  }

  /** Backups of databases, without failed ones; undefined while this process may have missed some. */
  knownBackups(): ReadonlySet<BackupId> | undefined {
    if (!this.isFresh) return undefined;
    const known = [...this.state.backups.byId.values()].filter(({ state }) => state !== 'failed');
    return new Set(known.map(({ id }) => id));
  }

  /** Undefined: this process does not know the database yet. A deleted branch holds no data. */
  knownDatabase(id: DatabaseId): KnownDatabase | undefined {
    const { databases, search } = this.state;
    const database = databases.get(id);
    if (database === undefined) return search.byId.has(id) ? { isBranch: false, holdsMessages: false } : undefined;
    const isLive = database.deletedAtMs === undefined;
    return { isBranch: isLive && isBranch(database), holdsMessages: database.branch?.isLive === false };
  }

  /** Branches of databases that exist; undefined while this process may have missed some. */
  knownBranches(): ReadonlySet<DatabaseId> | undefined {
    if (!this.isFresh) return undefined;
    const live = [...this.state.databases.values()].filter(({ deletedAtMs }) => deletedAtMs === undefined);
    return new Set(live.filter(isBranch).map(({ id }) => id));
  }

  /** Undefined while this process may have missed some. */
  knownTriggers(): Iterable<Trigger> | undefined {
    return this.isFresh ? this.state.triggers.byId.values() : undefined;
  }

  /** Resolves when the copy is fresh, and after `maxMs` at the latest. */
  untilFresh(maxMs: number): Promise<void> {
    if (this.isFresh) return Promise.resolve();
    return new Promise((resolve) => {
      const goOn = () => {
        timer.cancel();
        this.#untilFresh.delete(goOn);
        resolve();
      };
      const timer = this.ports.timers.after(maxMs, goOn);
      this.#untilFresh.add(goOn);
    });
  }

  grantFor(token: string): KvGrant | undefined {
    this.requireFresh();
    const cached = this.#grantsByToken.get(token);
    if (cached !== undefined) return cached;
    const grant = this.#grants.ofToken(token);
    if (grant === undefined) return undefined;
    this.#grantsByToken.set(token, grant);
    return grant;
  }

  grantForLogin(user: string | undefined, password: ByteString): KvGrant | undefined {
    this.requireFresh();
    return this.#grants.ofLogin(user, password);
  }

  renewed(grant: KvGrant): KvGrant | undefined {
    this.requireFresh();
    return this.#grants.renewed(grant);
  }

  isCurrent(grant: KvGrant): boolean {
    return this.renewed(grant) === grant;
  }

  get version(): number {
    return this.#version;
  }

  /** The present partitions of a database; it may be a moment old, and partitions of old layouts are closed. */
  layoutOf(id: DatabaseId): KvLayout | undefined {
    const database = this.state.live(id);
    return database && { partitions: kvPartitions(id, database), firstPartition: database.firstPartition };
  }

  /** The partitions in which clients of a database listen: while its layout is changed, those of both. */
  listenedLayoutOf(id: DatabaseId): readonly PartitionName[] | undefined {
    const database = this.state.live(id);
    if (database === undefined) return undefined;
    const present = kvPartitions(id, database);
    const { layoutChange } = database;
    const isChanging = layoutChange !== undefined && isChangingLayout(database);
    return isChanging ? [...present, ...kvPartitions(id, layoutChange)] : present;
  }

  /** The copy itself, which may be old: for uses that give no access, such as names in commands and lists. */
  /** The level of stored formats in force. */
  get formatLevel(): number {
    return this.state.format?.level ?? FIRST_FORMAT_LEVEL;
  }

  get state(): ControlState {
    return this.#follower.state;
  }

  #restarted(): void {
    this.#accessChanged();
    this.#fallBehind();
  }

  #accessChanged(): void {
    this.#version += 1;
    this.#grantsByToken.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Called after changes of grants, accounts and search indexes, in the order of registration. */
  whenAccessChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** @throws CONTROL_STALE */
  requireFresh(): void {
    if (!this.isFresh) throw new MillraceError('CONTROL_STALE', 'this process cannot check permissions right now');
  }

  #fallBehind(): void {
    this.#isCaughtUp = false;
    this.#goal = undefined;
    this.#phase += 1;
  }

  #applied({ isAccess, isAwaited }: AppliedChange): void {
    if (isAccess) this.#accessChanged();
    if ((isAccess || isAwaited) && this.#isCaughtUp) this.#noticeSoon();
    if (this.#goal !== undefined && this.position >= this.#goal) this.#caughtUp();
  }

  #heard(isAtEnd: boolean, atMs: number): void {
    const silentForMs = atMs - this.#heardAtMs;
    this.#heardAtMs = Math.max(this.#heardAtMs, atMs);
    this.#freshness?.heard(atMs);
    if (this.#isCaughtUp && this.#isTooLong(silentForMs)) {
      this.#fallBehind();
      this.#silentForMs = silentForMs;
    }
    if (this.#isCaughtUp) {
      // The silence was long, but too short for a change to be missed.
      for (const goOn of this.#untilFresh) goOn();
    } else if (isAtEnd) this.#caughtUp();
    else if (this.#goal === undefined) this.#askForEnd();
  }

  /** While entries keep coming, the journal never reports that it has no newer one, so its end is asked for. */
  #askForEnd(): void {
    if (this.#isAskingForEnd) return;
    this.#isAskingForEnd = true;
    const phase = this.#phase;
    this.ports.journal.tail(CONTROL_SHARD).then(
      ({ last }) => {
        this.#isAskingForEnd = false;
        if (this.#isCaughtUp || phase !== this.#phase) return;
        this.#goal = last;
        if (this.position >= last) this.#caughtUp();
      },
      (error: unknown) => {
        this.#isAskingForEnd = false;
        this.ports.log.debug('control.end-unknown', { cause: describeError(error) });
      },
    );
  }

  #caughtUp(): void {
    if (this.#isCaughtUp) return;
    this.#goal = undefined;
    if (this.#silentForMs > 0) this.ports.onBackInTouch?.(this.#silentForMs);
    this.#silentForMs = 0;
    this.#isCaughtUp = true;
    this.#noticeSoon();
    for (const resolve of this.#onCaughtUp.splice(0)) resolve();
    for (const goOn of this.#untilFresh) goOn();
  }

  /** One notice for all changes applied together. */
  #noticeSoon(): void {
    if (this.#isNoticeSoon) return;
    this.#isNoticeSoon = true;
    this.ports.timers.soon(() => {
      this.#isNoticeSoon = false;
      if (!this.#isCaughtUp) return;
      const { session } = this.options;
      this.ports.bus.publish(
        { kind: 'notice', shard: CONTROL_SHARD },
        encodeControlApplied({ session, position: this.position }),
      );
    });
  }
}
