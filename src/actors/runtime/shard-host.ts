/**
 * The shards that this process owns. It checks each shard's lease: takes free ones and those of silent owners, stores
 * the high-water mark, and moves shards to the processes that should own them.
 *
 *  SH1 winning a lease proves no ownership: the claim in the journal does
 *  SH2 a shard is taken after its release, or after its owner has been silent for `takeoverMs` or is known to have
 *      ended, and its session is marked dead
 *  SH3 a lease in our name without an actor is taken again or released, because while we live no other process may
 *      take it
 *  SH4 a journal in doubt stops its shard with an alarm, and is tried again only by an operator; an end that the
 *      server counts but does not return is in doubt after ten seconds
 *  SH5 a process announces each release and each claim: a release is checked immediately, a claim ends the answers of
 *      former owners; leases and the journal alone decide, and a missed announcement is found at the next check
 *  SH6 a silent owner is observed before it may be replaced: if neither its session's record nor its journal has
 *      changed since, its read lease was not extended, and ends that much sooner
 *  SH7 in a planned move the next owner replays the shard while the present one serves it, and the release comes after
 *      that
 */
import { decodeShardLease, encodeShardLease, type Heartbeat, type ShardLease } from '../../codec/leases/index.js';
import type { ChainHead } from '../../journal/index.js';
import {
  describeError,
  isMillraceError,
  isUnreadable,
  MillraceError,
  type SessionId,
  type ShardName,
} from '../../kernel/index.js';
import {
  type Clock,
  type Journal,
  type LeaseStore,
  type Log,
  RecurringFact,
  type Timer,
  type Timers,
} from '../../ports/index.js';
import type { Activation, Grant, Sighting } from './activation.js';
import { FollowedShards } from './followed-shards.js';
import { isMarkedGone } from './gone-sessions.js';
import { readJournalEnd } from './journal-end.js';
import type { Membership } from './membership.js';
import { NextOwners } from './next-owners.js';
import type { RuntimeMetrics } from './runtime-metrics.js';
import { markSessionDead, renewalsOf, type Session } from './session.js';
import type { ShardActor } from './shard-actor.js';
import type { Work } from './work.js';

export interface HostTimes {
  /** Time between two checks of the leases. */
  readonly lookEveryMs: number;
  /** Silence after which an owner may be replaced. */
  readonly takeoverMs: number;
  /** The read lease of the other owners, and the margin added to it. */
  readonly readLeaseMs: number;
  readonly marginMs: number;
  readonly highWaterEveryMs: number;
  /** A new process is given shards once it has been heard for this long. */
  readonly settleMs: number;
  readonly restartBackoffMs: number;
  /** A stopping process waits no longer for others to have replayed its shards, counted from its announcement. */
  readonly followedWithinMs: number;
}

/** Times that follow from the heartbeat and have no setting. */
export function hostTimes(
  heartbeatMs: number,
  times: Pick<HostTimes, 'takeoverMs' | 'readLeaseMs' | 'marginMs' | 'followedWithinMs'>,
): HostTimes {
  return {
    ...times,
    lookEveryMs: Math.max(20, Math.floor(heartbeatMs / 2)),
    highWaterEveryMs: times.readLeaseMs,
    settleMs: heartbeatMs * 4,
    restartBackoffMs: Math.max(50, Math.floor(heartbeatMs / 2)),
  };
}

export interface HostPorts {
  readonly journal: Journal;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: RuntimeMetrics;
}

export interface HostOptions<W extends Work> {
  readonly shards: readonly ShardName[];
  readonly clusterId: string;
  /** The operating system's lock makes this process the only possible owner: no waiting, no read lease. */
  readonly isExclusive: boolean;
  readonly readsNeedBarrier: boolean;
  createActor(activation: Activation): ShardActor<W>;
  /** Accepts requests for the actor, which is about to claim its shard. */
  serve(actor: ShardActor<W>): void;
  /** Called when an actor serves, and with every batch that it stores. */
  onServing?(actor: ShardActor<W>): void;
  onStored?(actor: ShardActor<W>, head: ChainHead, effectBytes: number): void;
  /**
   * Called before an actor is drained in order, so that its calls in progress can end. The implementation bounds the
   * time.
   */
  beforeHandOver?(actor: ShardActor<W>): Promise<void>;
}

interface OwnedShard<W extends Work> {
  readonly actor: ShardActor<W>;
  lease: ShardLease;
  revision: number;
  savedNumber: number;
  savedAtMs: number;
}

/** The observation of a silent owner (SH6). */
interface Seen extends Sighting {
  readonly session: SessionId;
  readonly epoch: number;
  /** The renewals of its session's record; a mark of death does not change them. */
  readonly renewals: number;
}

/**
 * The part of `takeoverMs` after which a silent owner is observed: longer than between two heartbeats, and shorter than
 * the read lease.
 */
const SIGHTED_AFTER = 1 / 4;
/** Shards that are released together: each move is a few synced writes, and would wait for those of all others. */
const MOVES_AT_ONCE = 4;
/** How long a move waits for the next owner to have replayed the shard; all shards of a joining process take turns. */
const MAX_MOVE_MS = 600_000;
const STOP_LOOK_MS = 20;
/** Damage seen this often in succession is not a stale read. */
const DAMAGE_TRIES = 5;
/** A late server returns the end of a journal within an election and a reconnect; a damaged store never does. */
const UNREADABLE_MS = 10_000;

export class ShardHost<W extends Work> {
  readonly #held = new Map<ShardName, OwnedShard<W>>();
  readonly #busy = new Set<ShardName>();
  /** Shards with a lease that may be in our name without an actor (SH3), with their epochs. */
  readonly #leftBehind = new Map<ShardName, number>();
  readonly #stopped = new Map<ShardName, MillraceError>();
  readonly #lookFailures = new Map<ShardName, string>();
  readonly #failedLooks: RecurringFact;
  readonly #damageSeen = new Map<ShardName, number>();
  /** The time since which every check of the shard found the same position unreadable (SH4). */
  readonly #unreadable = new Map<ShardName, { readonly position: unknown; readonly sinceMs: number }>();
  readonly #notBeforeMs = new Map<ShardName, number>();
  readonly #seenSilent = new Map<ShardName, Seen>();
  /** Shards to be checked once more, because of an announcement during a check (SH5). */
  readonly #heardOf = new Set<ShardName>();
  /** Ended activations of this process that may still be asked. */
  readonly #former = new Set<ShardActor<W>>();
  readonly #followed: FollowedShards<W>;
  readonly #next: NextOwners;
  #look: Timer | undefined;
  #isStopping = false;
  #isHandingOver = false;

  constructor(
    private readonly ports: HostPorts,
    private readonly times: HostTimes,
    private readonly options: HostOptions<W>,
    private readonly session: Session,
    private readonly membership: Membership,
  ) {
    this.#failedLooks = new RecurringFact(ports, 'shard.look-failed', 'shard.looks-well');
    this.#next = new NextOwners(ports.clock, membership, MAX_MOVE_MS);
    this.#followed = new FollowedShards<W>(
      ports,
      (shard, epoch) => this.#newActor(shard, epoch, { highWater: undefined, quietMs: 0 }),
      (shard) => this.#lookAgainAt(shard),
    );
  }

  start(): void {
    this.session.whenLost((why) => this.#endAll(why));
    this.membership.whenHeard((heartbeat) => this.#hear(heartbeat));
    this.#lookNow();
  }

  /** The actor that owns the shard here, in any state. */
  actorOf(shard: ShardName): ShardActor<W> | undefined {
    return this.#held.get(shard)?.actor;
  }

  /** True when this process serves the shard and may answer for it. */
  serves(shard: ShardName): boolean {
    const actor = this.actorOf(shard);
    return actor?.state === 'serving' && actor.holdsLease;
  }

  actors(): ShardActor<W>[] {
    return [...this.#held.values()].map(({ actor }) => actor);
  }

  /** The shards that this process owns and keeps, with their epochs. */
  ownedShards(): (readonly [shard: ShardName, epoch: number])[] {
    const kept = [...this.#held].filter(([, { actor }]) => actor.state !== 'draining');
    return kept.map(([shard, { lease }]) => [shard, lease.epoch]);
  }

  /** The reasons of failed last checks, by shard. */
  lookFailures(): ReadonlyMap<ShardName, string> {
    return this.#lookFailures;
  }

  /** Shards that were stopped because their journal is in doubt, with the reason. */
  stoppedShards(): ReadonlyMap<ShardName, MillraceError> {
    return this.#stopped;
  }

  /** The refusal of requests for a shard that this process should own and has stopped. */
  whyStopped(shard: ShardName): MillraceError | undefined {
    const why = this.#stopped.get(shard);
    if (why === undefined || !this.#isMine(shard)) return undefined;
    return new MillraceError(why.code, `${shard} is stopped`, { shard, isStopped: true }, why);
  }

  /** True once every shard that this process should own is served, apart from those that were stopped. */
  isSettled(): boolean {
    const mine = this.options.shards.filter((shard) => !this.#stopped.has(shard) && this.#isMine(shard));
    return mine.every((shard) => this.#held.get(shard)?.actor.state === 'serving');
  }

  /** Drains and releases everything. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#look?.cancel();
    this.session.leave();
    this.#followed.dropAll();
    const left = new Set(this.#held.keys());
    const ready = new Map<ShardName, Promise<void> | undefined>();
    const noteReady = () => {
      for (const shard of left) {
        const held = this.#held.get(shard);
        if (ready.has(shard) || (held !== undefined && !this.#mayLetGo(shard, held))) continue;
        ready.set(shard, held && this.options.beforeHandOver?.(held.actor));
      }
    };
    const handOverInTurn = async () => {
      while (left.size > 0) {
        noteReady();
        const shard = [...left].find((name) => ready.has(name));
        if (shard === undefined) {
          await this.ports.timers.pause(STOP_LOOK_MS);
          continue;
        }
        left.delete(shard);
        await this.#handOver(shard, ready.get(shard));
      }
    };
    await Promise.all(Array.from({ length: MOVES_AT_ONCE }, handOverInTurn));
    // Callers in transit are answered while there may be a successor to which they are sent on.
    if (this.#hasSuccessors) await Promise.all([...this.#former].map(({ forgotten }) => forgotten));
  }

  /** True when a stopping process may release the shard (SH7). */
  #mayLetGo(shard: ShardName, { lease, actor }: OwnedShard<W>): boolean {
    if (this.options.isExclusive || actor.state !== 'serving') return true;
    if (this.session.leavingForMs >= this.times.followedWithinMs) return true;
    const candidates = this.membership.candidates(this.times.takeoverMs / 2, 0, shard);
    const next = this.session.placement.ownerOf(shard, candidates);
    return next === undefined || this.#next.mayHaveIt(next, shard, lease.epoch);
  }

  get #hasSuccessors(): boolean {
    return !this.options.isExclusive && this.membership.candidates(this.times.takeoverMs).length > 0;
  }

  /** Handles announcements of other processes (SH5). */
  #hear({ session, news = [], isGone = false }: Heartbeat): void {
    if (session === this.session.id) return;
    if (isGone) for (const shard of this.options.shards) this.#lookAgainAt(shard);
    for (const { shard, epoch, what } of news) {
      if (what === 'released' && this.options.shards.includes(shard)) this.#lookAgainAt(shard);
      if (what === 'taken') this.#forgetFormer(shard, epoch);
      if (what === 'followed') this.#hearFollowed(shard, { session, epoch });
    }
  }

  /** Checks the shard immediately or, if it is being checked, once more. */
  #lookAgainAt(shard: ShardName): void {
    if (this.#busy.has(shard)) this.#heardOf.add(shard);
    else if (!this.#isStopping) this.#lookAt(shard);
  }

  #hearFollowed(shard: ShardName, follower: { readonly session: SessionId; readonly epoch: number }): void {
    if (this.#held.get(shard)?.lease.epoch !== follower.epoch) return;
    this.#next.hear(shard, follower);
    if (!this.#isStopping) this.#lookAt(shard);
  }

  #forgetFormer(shard: ShardName, epoch: number): void {
    for (const actor of this.#former) if (actor.shard === shard && actor.epoch < epoch) actor.forget();
  }

  #endAll(why: string): void {
    for (const [shard, held] of this.#held) {
      const { head } = held.actor;
      held.actor.end(new MillraceError('FENCED', `the session is over: ${why}`, { outcome: 'unknown' }));
      // Releases the lease, so that others need not wait for our silence. If another process has it already, the update
      // is a conflict.
      if (head !== undefined) void this.#save(shard, held, head, true).catch(() => undefined);
    }
    this.#held.clear();
    this.#followed.dropAll();
    this.#lookIn(this.times.lookEveryMs);
  }

  #lookNow(): void {
    if (this.#isStopping) return;
    for (const shard of this.options.shards) this.#lookAt(shard);
    this.#look = undefined;
    // No other process can take or give a shard, so the only remaining task is to store the marks of journals that have
    // grown.
    const isSettled = this.isSettled();
    if (!isSettled) this.#lookIn(this.times.lookEveryMs);
    else if (!this.options.isExclusive) this.#lookAboutIn(this.times.lookEveryMs);
    else if (Array.from(this.#held.values()).some(hasGrown)) this.#lookAtGrowth();
  }

  #lookIn(inMs: number): void {
    this.#look?.cancel();
    if (!this.#isStopping) this.#look = this.ports.timers.after(inMs, () => this.#lookNow());
  }

  /** Together with other recurring work, because each waking of an idle process costs as much as the look. */
  #lookAboutIn(aboutMs: number): void {
    this.#look?.cancel();
    this.#look = this.ports.timers.roughlyAfter(aboutMs, () => this.#lookNow());
  }

  #lookAtGrowth(): void {
    if (this.#look === undefined) this.#lookIn(this.times.highWaterEveryMs / 2);
  }

  #lookAt(shard: ShardName): void {
    if (this.#busy.has(shard) || this.#stopped.has(shard)) return;
    if ((this.#notBeforeMs.get(shard) ?? 0) > this.ports.clock.monotonicMs()) return;
    this.#busy.add(shard);
    const held = this.#held.get(shard);
    const step = held === undefined ? this.#tryToTake(shard) : this.#tend(shard, held);
    step
      .then(() => {
        this.#lookFailures.delete(shard);
        this.#unreadable.delete(shard);
        if (this.#lookFailures.size === 0) this.#failedLooks.isWell();
      })
      .catch((error: unknown) => {
        this.#lookFailures.set(shard, describeError(error));
        this.#failedLooks.happened({ shard, shards: this.#lookFailures.size, cause: describeError(error) });
        this.#noteUnreadable(shard, error);
        if (isUnreadable(error)) this.#countDamage(shard, error);
      })
      .finally(() => {
        this.#busy.delete(shard);
        if (this.#heardOf.delete(shard) && !this.#isStopping) this.#lookAt(shard);
      });
  }

  #isMine(shard: ShardName): boolean {
    if (this.options.isExclusive) return true;
    return (
      this.session.placement.ownerOf(shard, this.membership.candidates(this.times.takeoverMs, 0, shard)) ===
      this.session.id
    );
  }

  async #tryToTake(shard: ShardName): Promise<void> {
    const { leases, journal } = this.ports;
    if (!this.session.mayTake) {
      // Former owners are observed during the comparison of clocks, because their silence counts from now.
      if (this.session.isLive) await this.#lookAtSilence(shard);
      return;
    }
    if (!this.#isMine(shard)) {
      this.#followed.drop(shard);
      if (this.#leftBehind.has(shard)) await this.#letGo(shard);
      else await this.#lookAtSilence(shard);
      return;
    }
    const record = await leases.get(shard);
    const lease = record === undefined ? undefined : decodeShardLease(record.value);
    const sighting = this.#seenSilent.get(shard);
    const isGone = lease !== undefined && !lease.isReleased && (await this.#isGone(lease.session));
    const renewals = lease === undefined ? undefined : await this.#freeAfter(lease, isGone);
    if (lease !== undefined && renewals === undefined) {
      this.#follow(shard, lease);
      return;
    }
    const isUnchanged = sighting?.epoch === lease?.epoch && sighting?.renewals === renewals;
    const end = await readJournalEnd(journal, shard);
    this.session.noteJournal(shard, end.head.clockMs);
    if (lease !== undefined && lease.createdAt !== end.createdAt) {
      this.#stopShard(
        shard,
        new MillraceError('JOURNAL_DAMAGED', `${shard}: its stream was deleted and created again`),
      );
      return;
    }
    // A replaced owner, or one whose read lease is not over, may still be answering reads.
    const isAnothers = lease !== undefined && lease.session !== this.session.id && !lease.isReleased && !isGone;
    const needsQuiet = !this.options.isExclusive && (isAnothers || (lease?.needsQuiet ?? false));
    const mine: ShardLease = {
      epoch: Math.max(lease?.epoch ?? 0, end.head.epoch) + 1,
      session: this.session.id,
      isReleased: false,
      createdAt: end.createdAt,
      highWater: lease?.highWater,
      needsQuiet,
    };
    // The next step, with any outcome, may leave the lease in our name (SH3).
    this.#leftBehind.set(shard, mine.epoch);
    const revision = await this.#takeLease(shard, mine, record?.revision);
    if (revision === undefined && record === undefined) await this.#mustHaveLease(shard);
    if (revision === undefined || this.#isStopping || !this.#isStill(mine.session)) return;
    this.#activate(shard, mine, revision, {
      sighting: isUnchanged ? sighting : undefined,
      releasedEpoch: lease?.isReleased === true ? lease.epoch : undefined,
    });
  }

  /** SH7. The owner is there, and is to let go of the shard. */
  #follow(shard: ShardName, lease: ShardLease): void {
    if (this.#isStopping || this.membership.silentForMs(lease.session) > this.times.takeoverMs * SIGHTED_AFTER) return;
    const isLevel = this.#followed.follow(shard, lease, this.session.id);
    if (isLevel) this.session.tell({ shard, epoch: lease.epoch, what: 'followed' });
  }

  /** A session that was lost meanwhile is another one, though this process goes on. */
  #isStill(session: SessionId): boolean {
    return this.session.isLive && this.session.id === session;
  }

  /** SH2. @returns how often the owner had renewed, undefined while the shard is not free */
  async #freeAfter({ isReleased, session }: ShardLease, isGone: boolean): Promise<number | undefined> {
    if (isReleased || this.options.isExclusive || session === this.session.id) return NO_MATTER;
    if (!isGone && this.membership.silentForMs(session) < this.times.takeoverMs) return undefined;
    return markSessionDead(this.ports.leases, session);
  }

  /** True when the owner's process is known to have ended: its silence need not be waited for. */
  async #isGone(session: SessionId): Promise<boolean> {
    if (this.options.isExclusive || session === this.session.id) return false;
    if (this.membership.isGone(session)) return true;
    // A session that was heard is alive, or silent.
    return this.membership.processOf(session) === undefined && isMarkedGone(this.ports.leases, session);
  }

  /** Observes the silent owner (SH6). All facts are read before the noted instant. */
  async #lookAtSilence(shard: ShardName): Promise<void> {
    const { leases, journal, clock } = this.ports;
    const sightedAfterMs = this.times.takeoverMs * SIGHTED_AFTER;
    const heard = this.membership.candidates(sightedAfterMs, 0, shard);
    if (this.session.placement.ownerOf(shard, heard) !== this.session.id) {
      this.#seenSilent.delete(shard);
      return;
    }
    if (this.#seenSilent.has(shard)) return;
    const record = await leases.get(shard);
    if (record === undefined) return;
    const { session, epoch, isReleased } = decodeShardLease(record.value);
    if (isReleased || this.membership.silentForMs(session) < sightedAfterMs) return;
    const renewals = await renewalsOf(leases, session);
    const { last: position } = await journal.tail(shard);
    if (renewals === undefined) return;
    this.#seenSilent.set(shard, { session, epoch, renewals, position, atMs: clock.monotonicMs() });
  }

  /**
   * Reports a lease that could not be created because one exists: another process was first, or the stored one is
   * damaged.
   */
  async #mustHaveLease(shard: ShardName): Promise<void> {
    if ((await this.ports.leases.get(shard)) !== undefined) return;
    const reason = `${shard}: its lease cannot be read`;
    throw new MillraceError('JOURNAL_UNAVAILABLE', reason, { shard, unreadable: 'lease' });
  }

  async #takeLease(shard: ShardName, lease: ShardLease, revision: number | undefined): Promise<number | undefined> {
    const { leases } = this.ports;
    const value = encodeShardLease(lease);
    const outcome =
      revision === undefined ? await leases.create(shard, value) : await leases.update(shard, value, revision);
    if (outcome.kind === 'stored') return outcome.revision;
    if (outcome.kind === 'conflict') return undefined;
    const record = await leases.get(shard);
    if (record === undefined || Buffer.compare(record.value, value) !== 0) return undefined;
    return record.revision;
  }

  #activate(
    shard: ShardName,
    lease: ShardLease,
    revision: number,
    former: Pick<Activation, 'sighting' | 'releasedEpoch'>,
  ): void {
    const { readLeaseMs, marginMs } = this.times;
    const quietMs = lease.needsQuiet ? readLeaseMs + marginMs : 0;
    const grant: Grant = { highWater: lease.highWater, quietMs, ...former };
    // A copy is valid only after a release in order (FOL2).
    if (former.releasedEpoch === undefined) this.#followed.drop(shard);
    const actor = this.#followed.take(shard, lease.epoch, lease.session) ?? this.#newActor(shard, lease.epoch, grant);
    this.options.serve(actor);
    const savedNumber = lease.highWater?.number ?? 0;
    this.#leftBehind.delete(shard);
    this.#seenSilent.delete(shard);
    this.#held.set(shard, { actor, lease, revision, savedNumber, savedAtMs: this.ports.clock.monotonicMs() });
    this.ports.log.info('shard.claiming', { shard, epoch: lease.epoch });
    this.ports.metrics.takeover(shard);
    void actor.ended.then((why) => this.#onEnded(shard, actor, why));
    void actor.claimed.then(() => {
      this.#forgetFormer(shard, lease.epoch);
      this.session.tell({ shard, epoch: lease.epoch, what: 'taken' });
    });
    void actor.start(grant).then(() => {
      if (actor.state !== 'serving') return;
      this.#damageSeen.delete(shard);
      this.ports.log.info('shard.serving', { shard, epoch: lease.epoch });
      this.options.onServing?.(actor);
    });
  }

  #newActor(shard: ShardName, epoch: number, grant: Grant): ShardActor<W> {
    const { isExclusive, readsNeedBarrier, clusterId } = this.options;
    const session = this.session.id;
    const actor: ShardActor<W> = this.options.createActor({
      shard,
      epoch,
      clusterId,
      ...grant,
      readsNeedBarrier,
      mayAnswerReads: isExclusive
        ? () => true
        : (sentAtMs) => this.#isStill(session) && this.session.mayAnswerReads(sentAtMs),
      onStored: (head, effectBytes) => {
        this.#lookAtGrowth();
        this.options.onStored?.(actor, head, effectBytes);
      },
    });
    return actor;
  }

  #onEnded(shard: ShardName, actor: ShardActor<W>, why: MillraceError): void {
    if (this.#held.get(shard)?.actor === actor) this.#held.delete(shard);
    this.#leftBehind.set(shard, actor.epoch);
    this.#former.add(actor);
    void actor.forgotten.then(() => this.#former.delete(actor));
    if (this.options.isExclusive) actor.forget();
    if (why.code === 'SHUTTING_DOWN') return;
    this.#notBeforeMs.set(shard, this.ports.clock.monotonicMs() + this.times.restartBackoffMs);
    this.#lookIn(this.times.lookEveryMs);
    this.ports.log.warn('shard.ended', { shard, epoch: actor.epoch, code: why.code, cause: describeError(why) });
    if (isUnreadable(why)) this.#countDamage(shard, why);
  }

  /**
   * A late replica can look like damage once (JN7: reads may be stale); repeated damage is real. Data of a newer
   * release stays unreadable.
   */
  #countDamage(shard: ShardName, why: MillraceError): void {
    const seen = (this.#damageSeen.get(shard) ?? 0) + 1;
    this.#damageSeen.set(shard, seen);
    if (seen >= DAMAGE_TRIES || why.code === 'NEWER_FORMAT') this.#stopShard(shard, why);
  }

  /**
   * Counts the time of an unreadable end (SH4). Any other failure in between, such as a lost connection, restarts it.
   */
  #noteUnreadable(shard: ShardName, why: unknown): void {
    const position = isMillraceError(why, 'JOURNAL_UNAVAILABLE') ? why.details.unreadable : undefined;
    const nowMs = this.ports.clock.monotonicMs();
    const known = this.#unreadable.get(shard);
    if (position === undefined) this.#unreadable.delete(shard);
    else if (known?.position !== position) this.#unreadable.set(shard, { position, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= UNREADABLE_MS) {
      this.#stopShard(shard, new MillraceError('JOURNAL_DAMAGED', describeError(why), { shard, position }));
    }
  }

  #stopShard(shard: ShardName, why: MillraceError): void {
    this.#stopped.set(shard, why);
    this.#lookFailures.delete(shard);
    this.#unreadable.delete(shard);
    this.ports.log.error('shard.stopped', { shard, cause: describeError(why), details: why.details });
  }

  async #tend(shard: ShardName, held: OwnedShard<W>): Promise<void> {
    if (held.actor.state !== 'serving') return;
    const next = this.#nextOwnerOf(shard);
    if (next === undefined && !this.#isHandingOver) this.#next.forget(shard);
    // Waits for the next owner's replay (SH7), unless our clock excludes us from owning shards.
    if (next !== undefined && (this.session.isExcluded || this.#next.mayHaveIt(next, shard, held.lease.epoch))) {
      await this.#handOver(shard, this.options.beforeHandOver?.(held.actor));
      return;
    }
    const nowMs = this.ports.clock.monotonicMs();
    const { head } = held.actor;
    if (head === undefined || !hasGrown(held)) return;
    if (nowMs - held.savedAtMs < this.times.highWaterEveryMs) return;
    await this.#save(shard, held, head, false);
  }

  /**
   * Shards move one at a time, to processes that have been present for a while. A process that has announced its end, or
   * has a successor, moves them to any process. @returns undefined when the shard stays
   */
  #nextOwnerOf(shard: ShardName): SessionId | undefined {
    if (this.options.isExclusive || this.#isHandingOver) return undefined;
    const { placement, id, isExcluded, isLeaving } = this.session;
    const withinMs = this.times.takeoverMs / 2;
    const isReplaced = isLeaving || this.membership.isSucceeded(id, withinMs);
    const candidates = this.membership.candidates(withinMs, isReplaced ? 0 : this.times.settleMs, shard);
    const owner = placement.ownerOf(shard, candidates);
    if (!candidates.includes(id)) return isExcluded || isLeaving ? owner : undefined;
    return owner !== undefined && owner !== id && placement.isKnownTo(owner, shard, candidates) ? owner : undefined;
  }

  async #handOver(shard: ShardName, isReady: Promise<void> | undefined): Promise<void> {
    const held = this.#held.get(shard);
    if (held === undefined) return;
    this.#isHandingOver = true;
    try {
      await isReady;
      const head = await held.actor.drain();
      this.#held.delete(shard);
      this.#next.forget(shard);
      if (head === undefined) return;
      this.#notBeforeMs.set(shard, this.ports.clock.monotonicMs() + this.times.lookEveryMs);
      const isSaved = await this.#save(shard, held, head, true).catch(() => false);
      if (!isSaved) return;
      this.#leftBehind.delete(shard);
      const { epoch } = held.lease;
      this.session.tell({ shard, epoch, what: 'released' });
      this.ports.log.info('shard.released', { shard, epoch, number: head.number });
    } finally {
      this.#isHandingOver = false;
      // The next one moves.
      for (const other of this.#next.followed()) this.#lookAgainAt(other);
    }
  }

  /** An earlier try with a lost answer may have been stored after all, so the next one must use its revision. */
  async #adoptRevision(shard: ShardName, held: OwnedShard<W>): Promise<void> {
    const record = await this.ports.leases.get(shard);
    if (record === undefined || record.revision <= held.revision) return;
    const { epoch, session } = decodeShardLease(record.value);
    if (epoch === held.lease.epoch && session === held.lease.session) held.revision = record.revision;
  }

  /** Releases a lease without an actor (SH3). The last entry is in the journal; the mark stays unchanged. */
  async #letGo(shard: ShardName): Promise<void> {
    const record = await this.ports.leases.get(shard);
    const lease = record === undefined ? undefined : decodeShardLease(record.value);
    if (record !== undefined && lease?.session === this.session.id && !lease.isReleased) {
      const revision = await this.#takeLease(shard, { ...lease, isReleased: true }, record.revision);
      if (revision === undefined) return;
      this.ports.log.info('shard.released', { shard, epoch: lease.epoch });
    }
    // A late server may still show an older lease than the one that we tried to take.
    if ((lease?.epoch ?? 0) >= (this.#leftBehind.get(shard) ?? 0)) this.#leftBehind.delete(shard);
  }

  /** Stores the high-water mark: an entry that the journal must show to the next owner. */
  async #save(shard: ShardName, held: OwnedShard<W>, head: ChainHead, isReleased: boolean): Promise<boolean> {
    const { number, hash, position } = head;
    const needsQuiet = held.lease.needsQuiet && !held.actor.isPastQuiet;
    const lease: ShardLease = { ...held.lease, isReleased, highWater: { number, hash, position }, needsQuiet };
    const revision = await this.#takeLease(shard, lease, held.revision);
    if (revision === undefined) {
      await this.#adoptRevision(shard, held);
      return false;
    }
    held.lease = lease;
    held.revision = revision;
    held.savedNumber = number;
    held.savedAtMs = this.ports.clock.monotonicMs();
    return true;
  }
}

/** There is no owner to wait for. */
const NO_MATTER = -1;

/** True when it has stored more than the saved mark. */
function hasGrown<W extends Work>({ actor: { head }, savedNumber }: OwnedShard<W>): boolean {
  return head !== undefined && head.number !== savedNumber;
}
