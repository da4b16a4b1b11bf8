/**
 * How an owner gets its shard's state back: the newest snapshot that counts, then every entry behind it
 * up to the owner's own claim, each checked before it is handed over.
 *
 *  RRE1 the last entry handed over is the claim: that number, that hash, at that position
 *  RRE2 the entry that the lease vouches for is on the chain, or older than the snapshot
 *  RRE3 nothing between the snapshot and the claim is missing
 * Whatever breaks one of them is JOURNAL_DAMAGED: a person has to look, nothing is skipped.
 */
import type { ReadEntry } from '../codec/envelope/index.js';
import { type CommandId, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { Manifest } from '../messages/index.js';
import type { Journal, Log, ObjectStore } from '../ports/index.js';
import { Chain, type ChainHead, type ChainLink, EMPTY_HEAD } from './chain.js';
import { chainAfter, readEntries } from './entry-reader.js';
import { SnapshotStore, type StoredManifest } from './snapshot-store.js';

export interface RecoveryPorts {
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly log: Log;
}

export type RecoveredStep =
  | {
      readonly kind: 'manifest';
      /** Undefined: there is no snapshot, everything is in the entries that follow. */
      readonly manifest: Manifest | undefined;
      readonly recentCommandIds: readonly (readonly [CommandId, number])[];
    }
  | { readonly kind: 'entry'; readonly read: ReadEntry };

export interface Recovered {
  /** A manifest step first, then every entry behind it, the claim last. */
  readonly steps: AsyncIterable<RecoveredStep>;
  /** Each partition's last section, complete once `steps` has ended. */
  links(): Iterable<readonly [PartitionName, ChainLink]>;
}

/**
 * @param claim      the owner's own claim, as it was stored
 * @param highWater  the last entry known from elsewhere to be stored
 * @param avoid      manifests that turned out not to load: the one before them is used
 * The steps throw JOURNAL_DAMAGED (RRE1–RRE3), FENCED when a successor has already compacted past the claim,
 * JOURNAL_UNAVAILABLE.
 */
export function recover(
  ports: RecoveryPorts,
  shard: ShardName,
  claim: ChainHead,
  highWater: ChainLink | undefined,
  avoid: ReadonlySet<string> = new Set(),
): Recovered {
  let chain = new Chain(shard, EMPTY_HEAD);

  async function* steps(): AsyncGenerator<RecoveredStep> {
    const stored = await new SnapshotStore(ports.objects, ports.log).newest(shard, avoid);
    const manifest = stored?.manifest;
    chain = chainAfter(shard, manifest);
    const from = chain.head.position + 1;
    await checkBeginning(ports.journal, shard, claim, stored, from);
    const vouched = new Vouched(shard, highWater, chain.head);
    yield { kind: 'manifest', manifest, recentCommandIds: manifest?.recentCommandIds ?? [] };
    for await (const read of readEntries(ports.journal, shard, from, claim.position, chain)) {
      vouched.check(read);
      yield { kind: 'entry', read };
    }
    checkEnd(shard, chain.head, claim);
    vouched.checkMet();
  }

  return { steps: steps(), links: () => chain.sections() };
}

/** RRE3, and that the snapshot does not know more than the journal. */
async function checkBeginning(
  journal: Journal,
  shard: ShardName,
  claim: ChainHead,
  stored: StoredManifest | undefined,
  from: number,
): Promise<void> {
  const tail = await journal.tail(shard);
  if (stored !== undefined && from > claim.position && stored.manifest.head.number !== claim.number) {
    const details = { shard, manifest: stored.name, claim: claim.position, last: tail.last };
    // Somebody has gone on behind our claim, or the journal has lost what the snapshot covers.
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

/** RRE1 */
function checkEnd(shard: ShardName, head: ChainHead, claim: ChainHead): void {
  if (head.number === claim.number && head.position === claim.position && equal(head.hash, claim.hash)) return;
  throw new MillraceError('JOURNAL_DAMAGED', `${shard}: the claim was not reached`, {
    shard,
    claim: claim.number,
    claimPosition: claim.position,
    reached: head.number,
    reachedPosition: head.position,
  });
}

/** RRE2 */
class Vouched {
  #isMet: boolean;

  constructor(
    private readonly shard: ShardName,
    private readonly link: ChainLink | undefined,
    head: ChainLink,
  ) {
    this.#isMet = link === undefined || link.number < head.number;
    if (link !== undefined && link.number === head.number) this.#compare(head.hash);
  }

  check({ entry, hash }: ReadEntry): void {
    if (entry.number === this.link?.number) this.#compare(hash);
  }

  checkMet(): void {
    if (!this.#isMet) throw this.#damage('an entry that was vouched for is gone');
  }

  #compare(hash: Uint8Array): void {
    this.#isMet = true;
    if (this.link !== undefined && !equal(hash, this.link.hash))
      throw this.#damage('an entry is not the one vouched for');
  }

  #damage(reason: string): MillraceError {
    return new MillraceError('JOURNAL_DAMAGED', `${this.shard}: ${reason}`, {
      shard: this.shard,
      number: this.link?.number,
    });
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
