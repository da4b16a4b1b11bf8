/**
 * Which shards this process owns. Looks after each shard's lease: takes those that are free or whose
 * owner has gone, keeps the high-water mark, hands shards over to where they belong.
 *
 *  SH1 winning a lease proves nothing: the claim in the journal does
 *  SH2 nobody's shard is taken without its release, or its silence for `takeoverMs` and its session marked dead
 *  SH3 a lease in our name without an actor is taken again or let go: while we live, nobody else may
 *  SH4 a journal in doubt stops its shard with an alarm, and is not tried again behind an operator's back
 *  SH5 who lets go of a shard says so, and who claims it too: the one is looked at at once, the other ends what former
 *      owners still answer. Leases and the journal alone decide; what is missed is found by looking
 *  SH6 a silent owner is looked at before it may be replaced. What neither its session's record nor its journal shows
 *      to have been stored since then has not lengthened its read lease, which therefore ends that much sooner
 */
import { decodeShardLease, encodeShardLease, type Heartbeat, type ShardLease } from '../../codec/leases/index.js';
import type { ChainHead } from '../../journal/index.js';
import { describeError, isMillraceError, MillraceError, type SessionId, type ShardName } from '../../kernel/index.js';
import {
  type Clock,
  type Journal,
  type LeaseStore,
  type Log,
  RecurringFact,
  type Timer,
  type Timers,
} from '../../ports/index.js';
import type { Activation, Sighting } from './activation.js';
import { readJournalEnd } from './journal-end.js';
import type { Membership } from './membership.js';
import type { RuntimeMetrics } from './runtime-metrics.js';
import { markSessionDead, renewalsOf, type Session } from './session.js';
import type { ShardActor } from './shard-actor.js';
import type { Work } from './work.js';

export interface HostTimes {
  /** Between two looks at the leases. */
  readonly lookEveryMs: number;
  /** Silence after which an owner may be replaced. */
  readonly takeoverMs: number;
  /** The read lease of the other owners, and what is added to it. */
  readonly readLeaseMs: number;
  readonly marginMs: number;
  readonly highWaterEveryMs: number;
  /** A new process is given shards once it has been heard for this long. */
  readonly settleMs: number;
  readonly restartBackoffMs: number;
}

/** What the settings do not say follows from how often a process is heard. */
export function hostTimes(
  heartbeatMs: number,
  times: Pick<HostTimes, 'takeoverMs' | 'readLeaseMs' | 'marginMs'>,
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
  /** After an actor serves, and with every batch it stores. */
  onServing?(actor: ShardActor<W>): void;
  onStored?(actor: ShardActor<W>, head: ChainHead, effectBytes: number): void;
  /** Before an actor is drained in order: what it has begun in the world may come to an end. Bounded by whoever gives it. */
  beforeHandOver?(actor: ShardActor<W>): Promise<void>;
}

interface Held<W extends Work> {
  readonly actor: ShardActor<W>;
  lease: ShardLease;
  revision: number;
  savedNumber: number;
  savedAtMs: number;
}

/** A silent owner, as it was seen (SH6). */
interface Seen extends Sighting {
  readonly session: SessionId;
  readonly epoch: number;
  /** Of its session's record; a mark of death leaves it as it is. */
  readonly renewals: number;
}

/** Of the silence after which an owner may be replaced: longer than between two heartbeats, and short of the read lease. */
const SIGHTED_AFTER = 1 / 4;
/** Shards that are let go of together: each move is a few synced writes, and behind those of all others it would wait. */
const MOVES_AT_ONCE = 4;
/** Damage seen this often in a row is not a stale read. */
const DAMAGE_TRIES = 5;

export class ShardHost<W extends Work> {
  readonly #held = new Map<ShardName, Held<W>>();
  readonly #busy = new Set<ShardName>();
  /** Shards whose lease may be in our name although nothing here owns them (SH3), and with which epoch. */
  readonly #leftBehind = new Map<ShardName, number>();
  readonly #stopped = new Map<ShardName, MillraceError>();
  readonly #lookFailures = new Map<ShardName, string>();
  readonly #failedLooks: RecurringFact;
  readonly #damageSeen = new Map<ShardName, number>();
  readonly #notBeforeMs = new Map<ShardName, number>();
  readonly #seenSilent = new Map<ShardName, Seen>();
  /** To be looked at once more, because something was heard during a look (SH5). */
  readonly #heardOf = new Set<ShardName>();
  /** Activations that have ended here, and may still be asked. */
  readonly #former = new Set<ShardActor<W>>();
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
  }

  start(): void {
    this.session.whenLost((why) => this.#endAll(why));
    this.membership.whenHeard((heartbeat) => this.#hear(heartbeat));
    this.#lookNow();
  }

  /** The actor that owns the shard here, in whatever state. */
  actorOf(shard: ShardName): ShardActor<W> | undefined {
    return this.#held.get(shard)?.actor;
  }

  /** Does this process serve the shard, and may it answer for it? */
  serves(shard: ShardName): boolean {
    const actor = this.actorOf(shard);
    return actor?.state === 'serving' && actor.holdsLease;
  }

  actors(): ShardActor<W>[] {
    return [...this.#held.values()].map(({ actor }) => actor);
  }

  /** Why the last look at a shard came to nothing; those that came to something are not there. */
  lookFailures(): ReadonlyMap<ShardName, string> {
    return this.#lookFailures;
  }

  /** Shards that were stopped because their journal is in doubt, with why. */
  stoppedShards(): ReadonlyMap<ShardName, MillraceError> {
    return this.#stopped;
  }

  /** True once every shard that this process should own is served. */
  isSettled(): boolean {
    const mine = this.options.shards.filter((shard) => this.#isMine(shard));
    return mine.every((shard) => this.#held.get(shard)?.actor.state === 'serving');
  }

  /** Drains and releases everything. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#look?.cancel();
    this.session.leave();
    const { beforeHandOver } = this.options;
    const coming = new Map([...this.#held].map(([shard, { actor }]) => [shard, beforeHandOver?.(actor)] as const));
    const handOverInTurn = async () => {
      for (const [shard, isReady] of coming) {
        coming.delete(shard);
        await this.#handOver(shard, isReady);
      }
    };
    await Promise.all(Array.from({ length: MOVES_AT_ONCE }, handOverInTurn));
    // What is on its way here is answered, as long as anybody may come to whom it is sent on.
    if (this.#hasSuccessors) await Promise.all([...this.#former].map(({ forgotten }) => forgotten));
  }

  get #hasSuccessors(): boolean {
    return !this.options.isExclusive && this.membership.candidates(this.times.takeoverMs).length > 0;
  }

  /** SH5. */
  #hear({ session, news = [] }: Heartbeat): void {
    if (session === this.session.id) return;
    for (const { shard, epoch, what } of news) {
      if (what === 'released' && this.options.shards.includes(shard)) {
        if (this.#busy.has(shard)) this.#heardOf.add(shard);
        else if (!this.#isStopping) this.#lookAt(shard);
      }
      if (what === 'taken') this.#forgetFormer(shard, epoch);
    }
  }

  #forgetFormer(shard: ShardName, epoch: number): void {
    for (const actor of this.#former) if (actor.shard === shard && actor.epoch < epoch) actor.forget();
  }

  #endAll(why: string): void {
    for (const [shard, held] of this.#held) {
      const { head } = held.actor;
      held.actor.end(new MillraceError('FENCED', `the session is over: ${why}`, { outcome: 'unknown' }));
      // Nobody has to wait for our silence. Whoever has the lease by now keeps it: another revision is a conflict.
      if (head !== undefined) void this.#save(shard, held, head, true).catch(() => undefined);
    }
    this.#held.clear();
    this.#lookIn(this.times.lookEveryMs);
  }

  #lookNow(): void {
    if (this.#isStopping) return;
    for (const shard of this.options.shards) this.#lookAt(shard);
    this.#look = undefined;
    // Nobody else can take or give anything here: what is left is to say where journals end, once they have grown.
    if (!this.options.isExclusive || !this.isSettled()) this.#lookIn(this.times.lookEveryMs);
    else if (Array.from(this.#held.values()).some(hasGrown)) this.#lookAtGrowth();
  }

  #lookIn(inMs: number): void {
    this.#look?.cancel();
    if (!this.#isStopping) this.#look = this.ports.timers.after(inMs, () => this.#lookNow());
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
        if (this.#lookFailures.size === 0) this.#failedLooks.isWell();
      })
      .catch((error: unknown) => {
        this.#lookFailures.set(shard, describeError(error));
        this.#failedLooks.happened({ shard, shards: this.#lookFailures.size, cause: describeError(error) });
        if (isMillraceError(error, 'JOURNAL_DAMAGED')) this.#countDamage(shard, error);
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
    if (!this.session.mayTake) return;
    if (!this.#isMine(shard)) {
      if (this.#leftBehind.has(shard)) await this.#letGo(shard);
      else await this.#lookAtSilence(shard);
      return;
    }
    const record = await leases.get(shard);
    const lease = record === undefined ? undefined : decodeShardLease(record.value);
    const sighting = this.#seenSilent.get(shard);
    const renewals = lease === undefined ? undefined : await this.#freeAfter(lease);
    if (lease !== undefined && renewals === undefined) return;
    const isUnchanged = sighting?.epoch === lease?.epoch && sighting?.renewals === renewals;
    const end = await readJournalEnd(journal, shard);
    this.session.noteJournal(shard, end.head.clockMs);
    if (lease !== undefined && lease.createdAt !== end.createdAt) {
      this.#stopShard(shard, new MillraceError('JOURNAL_DAMAGED', `${shard}: its stream is not the one it was`));
      return;
    }
    // An owner that was replaced, or that nobody has waited out yet, may still be answering reads.
    const isAnothers = lease !== undefined && lease.session !== this.session.id && !lease.isReleased;
    const needsQuiet = !this.options.isExclusive && (isAnothers || (lease?.needsQuiet ?? false));
    const mine: ShardLease = {
      epoch: Math.max(lease?.epoch ?? 0, end.head.epoch) + 1,
      session: this.session.id,
      isReleased: false,
      createdAt: end.createdAt,
      highWater: lease?.highWater,
      needsQuiet,
    };
    // Whatever becomes of the next step, it may leave the lease in our name (SH3).
    this.#leftBehind.set(shard, mine.epoch);
    const revision = await this.#takeLease(shard, mine, record?.revision);
    if (revision === undefined || this.#isStopping || !this.#isStill(mine.session)) return;
    this.#activate(shard, mine, revision, {
      sighting: isUnchanged ? sighting : undefined,
      releasedEpoch: lease?.isReleased === true ? lease.epoch : undefined,
    });
  }

  /** A session that was lost meanwhile is another one, though this process goes on. */
  #isStill(session: SessionId): boolean {
    return this.session.isLive && this.session.id === session;
  }

  /** SH2. @returns how often the owner had renewed, undefined while the shard is not free */
  async #freeAfter({ isReleased, session }: ShardLease): Promise<number | undefined> {
    if (isReleased || this.options.isExclusive || session === this.session.id) return NO_MATTER;
    if (this.membership.silentForMs(session) < this.times.takeoverMs) return undefined;
    return markSessionDead(this.ports.leases, session);
  }

  /** SH6. Everything is read before the instant that is noted. */
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
    const { isExclusive, readsNeedBarrier, clusterId } = this.options;
    const { readLeaseMs, marginMs } = this.times;
    const actor = this.options.createActor({
      shard,
      epoch: lease.epoch,
      clusterId,
      highWater: lease.highWater,
      quietMs: lease.needsQuiet ? readLeaseMs + marginMs : 0,
      ...former,
      readsNeedBarrier,
      mayAnswerReads: isExclusive
        ? () => true
        : (sentAtMs) => this.#isStill(lease.session) && this.session.mayAnswerReads(sentAtMs),
      onStored: (head, effectBytes) => {
        this.#lookAtGrowth();
        this.options.onStored?.(actor, head, effectBytes);
      },
    });
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
    void actor.start().then(() => {
      if (actor.state !== 'serving') return;
      this.#damageSeen.delete(shard);
      this.ports.log.info('shard.serving', { shard, epoch: lease.epoch });
      this.options.onServing?.(actor);
    });
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
    if (isMillraceError(why, 'JOURNAL_DAMAGED')) this.#countDamage(shard, why);
  }

  /** JN7: a lagging replica can look like damage once; what stays is damage. */
  #countDamage(shard: ShardName, why: MillraceError): void {
    const seen = (this.#damageSeen.get(shard) ?? 0) + 1;
    this.#damageSeen.set(shard, seen);
    if (seen >= DAMAGE_TRIES) this.#stopShard(shard, why);
  }

  #stopShard(shard: ShardName, why: MillraceError): void {
    this.#stopped.set(shard, why);
    this.ports.log.error('shard.stopped', { shard, cause: describeError(why), details: why.details });
  }

  async #tend(shard: ShardName, held: Held<W>): Promise<void> {
    if (held.actor.state !== 'serving') return;
    if (await this.#shouldMove(shard)) {
      await this.#handOver(shard, this.options.beforeHandOver?.(held.actor));
      return;
    }
    const nowMs = this.ports.clock.monotonicMs();
    const { head } = held.actor;
    if (head === undefined || !hasGrown(held)) return;
    if (nowMs - held.savedAtMs < this.times.highWaterEveryMs) return;
    await this.#save(shard, held, head, false);
  }

  /** Shards move one at a time, to processes that have been there for a while. */
  async #shouldMove(shard: ShardName): Promise<boolean> {
    if (this.options.isExclusive || this.#isHandingOver) return false;
    const candidates = this.membership.candidates(this.times.takeoverMs / 2, this.times.settleMs, shard);
    if (!candidates.includes(this.session.id)) return candidates.length > 0 && this.session.isExcluded;
    const { placement, id } = this.session;
    const owner = placement.ownerOf(shard, candidates);
    return owner !== undefined && owner !== id && placement.isKnownTo(owner, shard, candidates);
  }

  async #handOver(shard: ShardName, isReady: Promise<void> | undefined): Promise<void> {
    const held = this.#held.get(shard);
    if (held === undefined) return;
    this.#isHandingOver = true;
    try {
      await isReady;
      const head = await held.actor.drain();
      this.#held.delete(shard);
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
    }
  }

  /** An earlier try whose answer was lost may have been stored after all: the next one has to follow it. */
  async #adoptRevision(shard: ShardName, held: Held<W>): Promise<void> {
    const record = await this.ports.leases.get(shard);
    if (record === undefined || record.revision <= held.revision) return;
    const { epoch, session } = decodeShardLease(record.value);
    if (epoch === held.lease.epoch && session === held.lease.session) held.revision = record.revision;
  }

  /** SH3. What was stored last is in the journal; the mark stays where it was. */
  async #letGo(shard: ShardName): Promise<void> {
    const record = await this.ports.leases.get(shard);
    const lease = record === undefined ? undefined : decodeShardLease(record.value);
    if (record !== undefined && lease?.session === this.session.id && !lease.isReleased) {
      const revision = await this.#takeLease(shard, { ...lease, isReleased: true }, record.revision);
      if (revision === undefined) return;
      this.ports.log.info('shard.released', { shard, epoch: lease.epoch });
    }
    // An older lease than the one we tried to take may be all that a lagging server shows yet.
    if ((lease?.epoch ?? 0) >= (this.#leftBehind.get(shard) ?? 0)) this.#leftBehind.delete(shard);
  }

  /** The high-water mark: an entry that a journal must show to be trusted by the next owner. */
  async #save(shard: ShardName, held: Held<W>, head: ChainHead, isReleased: boolean): Promise<boolean> {
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

/** Nobody has to be waited for. */
const NO_MATTER = -1;

/** It has stored more than the mark of its journal says. */
function hasGrown<W extends Work>({ actor: { head }, savedNumber }: Held<W>): boolean {
  return head !== undefined && head.number !== savedNumber;
}
