/** Shard leases in their store: taking one, keeping its high-water mark, and releasing one that has no actor (SH3). */
import { decodeShardLease, encodeShardLease, type ShardLease } from '../../codec/leases/index.js';
import type { ChainHead } from '../../journal/index.js';
import { describeError, MillraceError, type SessionId, type ShardName } from '../../kernel/index.js';
import type { Clock, LeaseStore, Log } from '../../ports/index.js';

/** @returns the revision of the stored lease; undefined when another process was first. @throws JOURNAL_UNAVAILABLE */
export async function storeLease(
  leases: LeaseStore,
  shard: ShardName,
  lease: ShardLease,
  revision: number | undefined,
): Promise<number | undefined> {
  const value = encodeShardLease(lease);
  const outcome =
    revision === undefined ? await leases.create(shard, value) : await leases.update(shard, value, revision);
  if (outcome.kind === 'stored') return outcome.revision;
  if (outcome.kind === 'conflict') return undefined;
  const record = await leases.get(shard);
  if (record === undefined || Buffer.compare(record.value, value) !== 0) return undefined;
  return record.revision;
}

/**
 * Reports a lease that could not be created because one exists: another process was first, or the stored one is
 * damaged. @throws JOURNAL_UNAVAILABLE
 */
export async function assertLeaseExists(leases: LeaseStore, shard: ShardName): Promise<void> {
  if ((await leases.get(shard)) !== undefined) return;
  const reason = `${shard}: its lease cannot be read`;
  throw new MillraceError('JOURNAL_UNAVAILABLE', reason, { shard, unreadable: 'lease' });
}

/** The lease of a shard that this process owns. */
export class HeldLease {
  #savedNumber: number;
  #savedAtMs: number;

  constructor(
    private readonly ports: { readonly leases: LeaseStore; readonly clock: Clock; readonly log: Log },
    private readonly shard: ShardName,
    private lease: ShardLease,
    private revision: number,
  ) {
    this.#savedNumber = lease.highWater?.number ?? 0;
    this.#savedAtMs = ports.clock.monotonicMs();
  }

  get epoch(): number {
    return this.lease.epoch;
  }

  /** The time since the lease was taken or last saved. */
  get ageMs(): number {
    return this.ports.clock.monotonicMs() - this.#savedAtMs;
  }

  /** True when entries after the saved mark are stored. */
  isBehind(head: ChainHead | undefined): boolean {
    return head !== undefined && head.number !== this.#savedNumber;
  }

  /**
   * Stores the high-water mark: an entry that the journal must show to the next owner. @returns whether it is stored
   * @param isPastQuiet  false while an earlier owner may still answer reads
   */
  async save(head: ChainHead, isPastQuiet: boolean, isReleased: boolean): Promise<boolean> {
    const { number, hash, position } = head;
    const needsQuiet = this.lease.needsQuiet && !isPastQuiet;
    const lease: ShardLease = { ...this.lease, isReleased, highWater: { number, hash, position }, needsQuiet };
    const revision = await storeLease(this.ports.leases, this.shard, lease, this.revision);
    if (revision === undefined) {
      await this.#adoptRevision();
      return false;
    }
    this.lease = lease;
    this.revision = revision;
    this.#savedNumber = number;
    this.#savedAtMs = this.ports.clock.monotonicMs();
    return true;
  }

  /** Frees the lease of a drained shard. @returns whether it is stored; if not, a later check releases it (SH3) */
  async release(head: ChainHead, isPastQuiet: boolean): Promise<boolean> {
    let cause = 'the stored lease is another one';
    const isSaved = await this.save(head, isPastQuiet, true).catch((error: unknown) => {
      cause = describeError(error);
      return false;
    });
    if (!isSaved) this.ports.log.warn('shard.release-failed', { shard: this.shard, epoch: this.epoch, cause });
    return isSaved;
  }

  /** An earlier try with a lost answer may have been stored after all, so the next one must use its revision. */
  async #adoptRevision(): Promise<void> {
    const record = await this.ports.leases.get(this.shard);
    if (record === undefined || record.revision <= this.revision) return;
    const { epoch, session } = decodeShardLease(record.value);
    if (epoch === this.lease.epoch && session === this.lease.session) this.revision = record.revision;
  }
}

/** Leases that may be in the name of this process although it has no actor for the shard, with their epochs. */
export class UnusedLeases {
  readonly #epochs = new Map<ShardName, number>();

  constructor(private readonly ports: { readonly leases: LeaseStore; readonly log: Log }) {}

  note(shard: ShardName, epoch: number): void {
    this.#epochs.set(shard, epoch);
  }

  has(shard: ShardName): boolean {
    return this.#epochs.has(shard);
  }

  forget(shard: ShardName): void {
    this.#epochs.delete(shard);
  }

  /** Releases the lease if it is the session's. The last entry is in the journal; the mark stays unchanged. */
  async release(shard: ShardName, session: SessionId): Promise<void> {
    const { leases, log } = this.ports;
    const record = await leases.get(shard);
    const lease = record === undefined ? undefined : decodeShardLease(record.value);
    if (record !== undefined && lease?.session === session && !lease.isReleased) {
      const revision = await storeLease(leases, shard, { ...lease, isReleased: true }, record.revision);
      if (revision === undefined) return;
      log.info('shard.released', { shard, epoch: lease.epoch });
    }
    // A late server may still show an older lease than the one that this process tried to take.
    if ((lease?.epoch ?? 0) >= (this.#epochs.get(shard) ?? 0)) this.#epochs.delete(shard);
  }
}
