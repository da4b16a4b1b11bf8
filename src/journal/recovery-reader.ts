/**
 * Reads the history from which an owner restores its shard's state: the newest valid snapshot, then every later entry
 * up to the owner's own claim, each checked before it is returned.
 *
 *  RRE1 the last entry returned is the claim, with that number, hash and position
 *  RRE2 the entry that the lease vouches for is on the chain, or older than the snapshot
 *  RRE3 no entry between the snapshot and the claim is missing
 *  RRE4 a reader that follows another owner's journal returns its entries as they are stored; for the claim that ends
 *       it, RRE1 to RRE3 hold as for a reader that begins with it
 *
 * Any violation is JOURNAL_DAMAGED and needs an operator; no entry is skipped.
 */
import type { ReadEntry } from '../codec/envelope/index.js';
import { type CommandId, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { Journal, Log, ObjectStore } from '../ports/index.js';
import type { Manifest } from '../protocol/index.js';
import { Chain, type ChainHead, type ChainLink, EMPTY_HEAD, isSameHash } from './chain.js';
import { EntryFeed } from './entry-feed.js';
import { chainAfter } from './entry-reader.js';
import { SnapshotStore, type StoredManifest } from './snapshot-store.js';

export interface RecoveryPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly log: Log;
}

export type RecoveredStep =
  | {
      readonly kind: 'manifest';
      /** Undefined: there is no snapshot, and everything is in the following entries. */
      readonly manifest: Manifest | undefined;
      readonly recentCommandIds: readonly (readonly [CommandId, number])[];
    }
  | { readonly kind: 'entries'; readonly reads: readonly ReadEntry[] };

export interface Recovered {
  /** A manifest step first, then every later entry in order, some in each step, the claim last. */
  readonly steps: AsyncIterable<RecoveredStep>;
  /** Each partition's last section, complete once `steps` has ended. */
  links(): Iterable<readonly [PartitionName, ChainLink]>;
}

/**
 * Entries of one step, because each generator between the journal and the state costs some microseconds. Checking as many
 * takes less than a millisecond.
 */
const STEP_ENTRIES = 32;
const STEP_BYTES = 256 * 1024;
/** The most entries in one read of a follower that has caught up with the owner. */
const LEVEL_ENTRIES = 256;
/** The number of newest links kept, because a releasing owner vouches for its last entry. */
const NEWEST_LINKS = 4096;

/** The claim that ends a recovery, and facts about the journal from other sources. */
export interface RecoveryEnd {
  /** The owner's own claim, as it was stored. */
  readonly claim: ChainHead;
  /** The last entry known from another source to be stored. */
  readonly highWater: ChainLink | undefined;
}

/** A claim that is to be appended later, while the present owner continues to write. */
export interface ComingClaim {
  /** Undefined until the claim is stored. */
  readonly end: RecoveryEnd | undefined;
  /** Called when all entries except the newest few were returned. */
  level(): void;
  /** Resolves when the claim is stored, or when new entries should be read. Rejects when there will be no claim. */
  wait(): Promise<void>;
}

/**
 * @param avoid  manifests that did not load: the one before them is used
 * The steps throw JOURNAL_DAMAGED (RRE1–RRE3: the history is complete up to the claim), FENCED when a successor has
 * already compacted past the claim, JOURNAL_UNAVAILABLE.
 */
export function recover(
  ports: RecoveryPorts,
  shard: ShardName,
  claim: ChainHead,
  highWater: ChainLink | undefined,
  avoid?: ReadonlySet<string>,
): Recovered {
  const end = { claim, highWater };
  return recoverFollowing(ports, shard, { end, level: () => {}, wait: async () => {} }, avoid);
}

/** The same as `recover`, for a claim that is to be appended later (RRE4). */
export function recoverFollowing(
  ports: RecoveryPorts,
  shard: ShardName,
  coming: ComingClaim,
  avoid: ReadonlySet<string> = new Set(),
): Recovered {
  let chain = new Chain(shard, EMPTY_HEAD);
  const links = new LinksToCheck(coming.end);

  async function* steps(): AsyncGenerator<RecoveredStep> {
    const stored = await new SnapshotStore(ports.objects, ports.log).newest(shard, avoid);
    const manifest = stored?.manifest;
    chain = chainAfter(shard, manifest);
    const first = chain.head;
    await checkBeginning(ports.journal, shard, coming.end?.claim, stored, first.position + 1);
    yield { kind: 'manifest', manifest, recentCommandIds: manifest?.recentCommandIds ?? [] };
    for (;;) {
      const { end } = coming;
      const from = chain.head;
      const to = end?.claim.position ?? (await ports.journal.tail(shard)).last;
      const entries = new EntryFeed(chain);
      let reads: ReadEntry[] = [];
      let bytes = 0;
      if (from.position < to) {
        for await (const message of ports.journal.read(shard, from.position + 1, to)) {
          const read = entries.add(message);
          if (read === undefined) continue;
          links.add(read.entry.number, read.hash);
          bytes += read.totalBytes;
          if (reads.push(read) < STEP_ENTRIES && bytes < STEP_BYTES) continue;
          yield { kind: 'entries', reads };
          reads = [];
          bytes = 0;
        }
      }
      if (reads.length > 0) yield { kind: 'entries', reads };
      if (end !== undefined) {
        checkEnd(shard, chain.head, end.claim);
        checkNamedEntry(shard, end.highWater, first, links);
        return;
      }
      if (chain.head.number - from.number <= LEVEL_ENTRIES) coming.level();
      await coming.wait();
    }
  }

  return { steps: steps(), links: () => chain.sections() };
}

/** Checks that no entry is missing (RRE3), and that the snapshot is not ahead of the journal. */
async function checkBeginning(
  journal: Journal,
  shard: ShardName,
  claim: ChainHead | undefined,
  stored: StoredManifest | undefined,
  from: number,
): Promise<void> {
  const tail = await journal.tail(shard);
  if (
    claim !== undefined &&
    stored !== undefined &&
    from > claim.position &&
    stored.manifest.head.number !== claim.number
  ) {
    const details = { shard, manifest: stored.name, claim: claim.position, last: tail.last };
    // A successor has written after our claim, or the journal has lost entries that the snapshot covers.
    if (tail.last >= stored.manifest.head.position && stored.manifest.head.epoch > claim.epoch) {
      throw new MillraceError('FENCED', `${shard} has another owner`, { ...details, outcome: 'not-applied' });
    }
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: a snapshot covers more than the journal holds`, details);
  }
  if (tail.first > from) {
    throw new MillraceError('JOURNAL_DAMAGED', `${shard}: entries after the snapshot are missing`, {
      shard,
      manifest: stored?.name,
      needed: from,
      first: tail.first,
    });
  }
}

/** Checks that the last entry is the claim (RRE1). */
function checkEnd(shard: ShardName, head: ChainHead, claim: ChainHead): void {
  if (head.number === claim.number && head.position === claim.position && isSameHash(head.hash, claim.hash)) return;
  const details = {
    shard,
    claim: claim.number,
    claimPosition: claim.position,
    reached: head.number,
    reachedPosition: head.position,
  };
  // A follower may have read the claim of a later owner before it was told that its own was stored.
  if (head.position > claim.position && head.epoch > claim.epoch) {
    throw new MillraceError('FENCED', `${shard} has another owner`, { ...details, outcome: 'not-applied' });
  }
  throw new MillraceError('JOURNAL_DAMAGED', `${shard}: the claim was not reached`, details);
}

/** Links for the check of RRE2: the one that the lease names, or the newest ones while that is unknown. */
class LinksToCheck {
  readonly #hashes = new Map<number, Uint8Array>();
  readonly #wanted: number | undefined;

  constructor(private readonly end: RecoveryEnd | undefined) {
    this.#wanted = end?.highWater?.number;
  }

  add(number: number, hash: Uint8Array): void {
    if (this.end !== undefined && number !== this.#wanted) return;
    this.#hashes.set(number, hash);
    if (this.#hashes.size > NEWEST_LINKS) this.#hashes.delete(number - NEWEST_LINKS);
  }

  hashOf(number: number): Uint8Array | undefined {
    return this.#hashes.get(number);
  }
}

/** Checks that the entry that the lease names is on the chain (RRE2). */
function checkNamedEntry(shard: ShardName, link: ChainLink | undefined, first: ChainLink, links: LinksToCheck): void {
  if (link === undefined || link.number < first.number) return;
  const hash = link.number === first.number ? first.hash : links.hashOf(link.number);
  if (hash !== undefined && isSameHash(hash, link.hash)) return;
  const reason =
    hash === undefined
      ? 'an entry that the lease names is missing'
      : 'an entry differs from the one that the lease names';
  throw new MillraceError('JOURNAL_DAMAGED', `${shard}: ${reason}`, { shard, number: link.number });
}
