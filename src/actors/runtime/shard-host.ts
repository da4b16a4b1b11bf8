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
import { decodeShardLease, type Heartbeat, type ShardLease } from '../../codec/leases/index.js';
import { describeError, MillraceError, type SessionId, type ShardName } from '../../kernel/index.js';
import type { Timer } from '../../ports/index.js';
import type { Activation, Grant } from './activation.js';
import { FollowedShards } from './followed-shards.js';
import { FormerOwners } from './former-owners.js';
import type { HostOptions, HostPorts, HostTimes } from './host-options.js';
import { readJournalEnd } from './journal-end.js';
import { assertLeaseExists, HeldLease, storeLease, UnusedLeases } from './lease-records.js';
import type { Membership } from './membership.js';
import { NextOwners } from './next-owners.js';
import type { Session } from './session.js';
import type { ShardActor } from './shard-actor.js';
import { ShardFaults } from './shard-faults.js';
import type { Work } from './work.js';

interface OwnedShard<W extends Work> {
  readonly actor: ShardActor<W>;
  readonly lease: HeldLease;
}

/** Shards that are released together: each move is a few synced writes, and would wait for those of all others. */
const MOVES_AT_ONCE = 4;
/** How long a move waits for the next owner to have replayed the shard; all shards of a joining process take turns. */
const MAX_MOVE_MS = 600_000;
const STOP_LOOK_MS = 20;

export class ShardHost<W extends Work> {
  readonly #held = new Map<ShardName, OwnedShard<W>>();
  readonly #busy = new Set<ShardName>();
  readonly #unused: UnusedLeases;
  readonly #faults: ShardFaults;
  readonly #former: FormerOwners;
  readonly #notBeforeMs = new Map<ShardName, number>();
  /** Shards to be checked once more, because of an announcement during a check (SH5). */
  readonly #heardOf = new Set<ShardName>();
  /** Ended activations of this process that may still be asked. */
  readonly #ended = new Set<ShardActor<W>>();
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
    this.#unused = new UnusedLeases(ports);
    this.#faults = new ShardFaults(ports);
    this.#former = new FormerOwners(ports, session, membership, times.takeoverMs, options.isExclusive);
    this.#next = new NextOwners(ports.clock, membership, MAX_MOVE_MS);
    this.#followed = new FollowedShards<W>(
      ports,
      (shard, epoch) => this.#newActor(shard, epoch, { highWater: undefined, quietMs: 0 }),
      (shard) => this.#lookAgainAt(shard),
    );
  }

  start(): void {
    this.session.whenLost((reason) => this.#endAll(reason));
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
    return this.#faults.failures;
  }

  /** Shards that were stopped because their journal is in doubt, with the reason. */
  stoppedShards(): ReadonlyMap<ShardName, MillraceError> {
    return this.#faults.stopped;
  }

  /** The refusal of requests for a shard that this process should own and has stopped. */
  whyStopped(shard: ShardName): MillraceError | undefined {
    const reason = this.#faults.stopped.get(shard);
    if (reason === undefined || !this.#isMine(shard)) return undefined;
    return new MillraceError(reason.code, `${shard} is stopped`, { shard, isStopped: true }, reason);
  }

  /** True once every shard that this process should own is served, apart from those that were stopped. */
  isSettled(): boolean {
    const mine = this.options.shards.filter((shard) => !this.#faults.stopped.has(shard) && this.#isMine(shard));
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
    if (this.#hasSuccessors) await Promise.all([...this.#ended].map(({ forgotten }) => forgotten));
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
    for (const { shard, epoch, what: change } of news) {
      if (change === 'released' && this.options.shards.includes(shard)) this.#lookAgainAt(shard);
      if (change === 'taken') this.#forgetFormer(shard, epoch);
      if (change === 'followed') this.#hearFollowed(shard, { session, epoch });
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
    for (const actor of this.#ended) if (actor.shard === shard && actor.epoch < epoch) actor.forget();
  }

  #endAll(reason: string): void {
    for (const { actor, lease } of this.#held.values()) {
      const { head } = actor;
      actor.end(new MillraceError('FENCED', `the session is over: ${reason}`, { outcome: 'unknown' }));
      // The release saves the others the wait for our silence. If another process has the lease, the update is a conflict.
      if (head !== undefined) void lease.save(head, actor.isPastQuiet, true).catch(() => undefined);
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
    else if (Array.from(this.#held.values()).some(({ actor, lease }) => lease.isBehind(actor.head)))
      this.#lookAtGrowth();
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
    if (this.#busy.has(shard) || this.#faults.stopped.has(shard)) return;
    if ((this.#notBeforeMs.get(shard) ?? 0) > this.ports.clock.monotonicMs()) return;
    this.#busy.add(shard);
    const held = this.#held.get(shard);
    const step = held === undefined ? this.#tryToTake(shard) : this.#tend(shard, held);
    step
      .then(
        () => this.#faults.checkSucceeded(shard),
        (error: unknown) => this.#faults.checkFailed(shard, error),
      )
      .finally(() => {
        this.#busy.delete(shard);
        if (this.#heardOf.delete(shard) && !this.#isStopping) this.#lookAt(shard);
      });
  }

  #isMine(shard: ShardName): boolean {
    if (this.options.isExclusive) return true;
    return this.session.expectedOwner(shard, this.times.takeoverMs) === this.session.id;
  }

  async #tryToTake(shard: ShardName): Promise<void> {
    const { leases, journal } = this.ports;
    if (!this.session.mayTake) {
      // Former owners are observed during the comparison of clocks, because their silence counts from now.
      if (this.session.isLive) await this.#former.observe(shard);
      return;
    }
    if (!this.#isMine(shard)) {
      this.#followed.drop(shard);
      if (this.#unused.has(shard)) await this.#unused.release(shard, this.session.id);
      else await this.#former.observe(shard);
      return;
    }
    const record = await leases.get(shard);
    const lease = record === undefined ? undefined : decodeShardLease(record.value);
    const isGone = lease !== undefined && !lease.isReleased && (await this.#former.isGone(lease.session));
    const renewals = lease === undefined ? undefined : await this.#former.freeAfter(lease, isGone);
    if (lease !== undefined && renewals === undefined) {
      this.#follow(shard, lease);
      return;
    }
    const sighting = this.#former.sightingOf(shard, lease?.epoch, renewals);
    const end = await readJournalEnd(journal, shard);
    this.session.noteJournal(shard, end.head.clockMs);
    if (lease !== undefined && lease.createdAt !== end.createdAt) {
      this.#faults.stop(shard, streamReplaced(shard));
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
    this.#unused.note(shard, mine.epoch);
    const revision = await storeLease(leases, shard, mine, record?.revision);
    if (revision === undefined && record === undefined) await assertLeaseExists(leases, shard);
    if (revision === undefined || this.#isStopping || !this.#isStill(mine.session)) return;
    this.#activate(shard, mine, revision, {
      sighting,
      releasedEpoch: lease?.isReleased === true ? lease.epoch : undefined,
    });
  }

  /** SH7. The owner is there, and is to let go of the shard. */
  #follow(shard: ShardName, lease: ShardLease): void {
    if (this.#isStopping || this.#former.isSilent(lease.session)) return;
    const isLevel = this.#followed.follow(shard, lease, this.session.id);
    if (isLevel) this.session.tell({ shard, epoch: lease.epoch, what: 'followed' });
  }

  /** A session that was lost meanwhile is another one, though this process goes on. */
  #isStill(session: SessionId): boolean {
    return this.session.isLive && this.session.id === session;
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
    this.#unused.forget(shard);
    this.#former.forget(shard);
    this.#held.set(shard, { actor, lease: new HeldLease(this.ports, shard, lease, revision) });
    this.ports.log.info('shard.claiming', { shard, epoch: lease.epoch });
    this.ports.metrics.takeover(shard);
    void actor.ended.then((reason) => this.#onEnded(shard, actor, reason));
    void actor.claimed.then(() => {
      this.#forgetFormer(shard, lease.epoch);
      this.session.tell({ shard, epoch: lease.epoch, what: 'taken' });
    });
    void actor.start(grant).then(() => {
      if (actor.state !== 'serving') return;
      this.#faults.served(shard);
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

  #onEnded(shard: ShardName, actor: ShardActor<W>, reason: MillraceError): void {
    if (this.#held.get(shard)?.actor === actor) this.#held.delete(shard);
    this.#unused.note(shard, actor.epoch);
    this.#ended.add(actor);
    void actor.forgotten.then(() => this.#ended.delete(actor));
    if (this.options.isExclusive) actor.forget();
    if (reason.code === 'SHUTTING_DOWN') return;
    this.#notBeforeMs.set(shard, this.ports.clock.monotonicMs() + this.times.restartBackoffMs);
    this.#lookIn(this.times.lookEveryMs);
    this.ports.log.warn('shard.ended', { shard, epoch: actor.epoch, code: reason.code, cause: describeError(reason) });
    this.#faults.noteDamage(shard, reason);
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
    const { actor, lease } = held;
    const { head, isPastQuiet } = actor;
    if (head === undefined || !lease.isBehind(head)) return;
    if (lease.ageMs >= this.times.highWaterEveryMs) await lease.save(head, isPastQuiet, false);
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
      if (!(await held.lease.release(head, held.actor.isPastQuiet))) return;
      this.#unused.forget(shard);
      const { epoch } = held.lease;
      this.session.tell({ shard, epoch, what: 'released' });
      this.ports.log.info('shard.released', { shard, epoch, number: head.number });
    } finally {
      this.#isHandingOver = false;
      // The next one moves.
      for (const other of this.#next.followed()) this.#lookAgainAt(other);
    }
  }
}

function streamReplaced(shard: ShardName): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: its stream was deleted and created again`);
}
