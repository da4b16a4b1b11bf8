/**
 * Builds partitions of a shard as they were at a moment: from the newest snapshot at or before it and the entries from
 * there, checked link by link. A replay can advance to later moments, but not go back.
 *
 *  RP1 a moment before the kept history is refused, with the earliest kept one; so is a position that the journal has
 *      not reached
 *  RP2 a snapshot that does not load to its stated digest is skipped, and the one before it is used
 *  RP3 an entry belongs to a moment when its last message, or its clock, is not after it
 */
import { hashSection, NO_HASH, type ReadEntry } from '../codec/envelope/index.js';
import { describeError, isMillraceError, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import { entrySections, type Moment, type Section } from '../protocol/index.js';
import type { AuditPorts } from './audit.js';
import { isAfter, tooEarly } from './audit-moment.js';
import { type ChainHead, type ChainLink, EMPTY_HEAD } from './chain.js';
import { chainAfter, readEntries } from './entry-reader.js';
import type { PartitionFold } from './partition-fold.js';
import { SnapshotStore, type StoredManifest } from './snapshot-store.js';

interface ReplayProgress {
  readonly shard: ShardName;
  /** The position replayed so far, and the journal's last. */
  readonly position: number;
  readonly last: number;
}

export interface ReplayOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called about every thousand entries. */
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined;
}

/** Called before a section is applied to its fold. The result `applied` says that it has applied the section itself. */
export type SectionVisitor<F> = (read: ReadEntry, section: Section, fold: F) => unknown;

const PROGRESS_EVERY = 1000;

/** Partitions of a shard, and what each of them is replayed into. */
export interface ReplayedPartitions<F> {
  readonly shard: ShardName;
  readonly partitions: Iterable<PartitionName>;
  readonly foldFactory: (partition: PartitionName) => F;
}

interface Beginning {
  readonly base: StoredManifest | undefined;
  /** The position at which the journal ends. */
  readonly last: number;
}

export class ShardReplay<F extends PartitionFold> {
  /** Entries applied, or skipped because they do not concern these partitions. */
  entries = 0;
  #head: ChainHead;
  /** The snapshot that it began with; undefined: the journal's beginning. */
  readonly base: StoredManifest | undefined;
  readonly #last: number;
  readonly #reads: AsyncGenerator<ReadEntry>;
  /** An entry that was read and is after the requested moment. */
  #ahead: ReadEntry | undefined;
  readonly #sections = new Map<PartitionName, Section>();

  private constructor(
    ports: AuditPorts,
    readonly shard: ShardName,
    /** One for each requested partition; empty when it had no data yet. */
    readonly folds: ReadonlyMap<PartitionName, F>,
    { base, last }: Beginning,
    private readonly options: ReplayOptions,
  ) {
    this.base = base;
    this.#last = last;
    const chain = chainAfter(shard, base?.manifest);
    this.#head = base === undefined ? EMPTY_HEAD : chain.head;
    this.#reads = readEntries(ports.journal, chain, this.#head.position + 1, last);
  }

  /**
   * The state at `at`. The caller closes the replay.
   * @throws INVALID (RP1: the moment is not kept), JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted
   */
  static async open<F extends PartitionFold>(
    ports: AuditPorts,
    { shard, partitions, foldFactory }: ReplayedPartitions<F>,
    at: Moment,
    options: ReplayOptions = {},
  ): Promise<ShardReplay<F>> {
    const names = [...partitions];
    const broken = new Set<string>();
    for (;;) {
      const beginning = await beginningFor(ports, shard, at, broken);
      const { base } = beginning;
      const folds = new Map(names.map((name) => [name, foldFactory(name)] as const));
      try {
        await load(ports, base, folds);
      } catch (error) {
        if (base === undefined || !isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
        ports.log.error('snapshot.broken', { shard, manifest: base.name, reason: describeError(error) });
        broken.add(base.name);
        continue;
      }
      const replay = new ShardReplay(ports, shard, folds, beginning, options);
      await replay.advance(at);
      return replay;
    }
  }

  /** The last entry that is in the state. */
  get head(): ChainHead {
    return this.#head;
  }

  /** A partition's last section in the state; number 0 where there is none. */
  link(partition: PartitionName): ChainLink {
    const section = this.#sections.get(partition);
    if (section !== undefined) return { number: section.index, hash: hashSection(section) };
    const covered = this.base?.manifest.partitions.find(({ name }) => name === partition);
    return covered === undefined ? { number: 0, hash: NO_HASH } : { number: covered.index, hash: covered.hash };
  }

  /** Advances to a later moment. @throws as `open` */
  async advance(to: Moment, visit: SectionVisitor<F> = () => {}): Promise<void> {
    if (to.kind === 'position' && to.position > this.#last) throw beyondEnd(this.shard, to.position, this.#last);
    for (;;) {
      const read = this.#ahead ?? (await this.#next());
      if (read === undefined) return;
      this.#ahead = read;
      if (isAfter(read.position, read.entry.clockMs, to)) return;
      this.#ahead = undefined;
      this.#apply(read, visit);
    }
  }

  async close(): Promise<void> {
    await this.#reads.return(undefined);
  }

  async #next(): Promise<ReadEntry | undefined> {
    if (this.options.signal?.aborted === true) throw new MillraceError('SHUTTING_DOWN', 'the replay was interrupted');
    const { done, value } = await this.#reads.next();
    return done === true ? undefined : value;
  }

  #apply(read: ReadEntry, visit: SectionVisitor<F>): void {
    const { entry, hash, position } = read;
    for (const section of entrySections(entry)) {
      const fold = this.folds.get(section.partition);
      if (fold === undefined) continue;
      if (visit(read, section, fold) !== 'applied') fold.apply(section.effects);
      this.#sections.set(section.partition, section);
    }
    const { number, epoch, clockMs } = entry;
    this.#head = { number, epoch, clockMs, hash, position };
    this.entries += 1;
    const { onProgress } = this.options;
    if (this.entries % PROGRESS_EVERY === 0) onProgress?.({ shard: this.shard, position, last: this.#last });
  }
}

/** Finds the snapshot to begin with, or refuses the moment (RP1). */
export async function beginningFor(
  { journal, objects, log }: AuditPorts,
  shard: ShardName,
  at: Moment,
  broken: ReadonlySet<string>,
): Promise<Beginning> {
  const { first, last } = await journal.tail(shard);
  if (at.kind === 'position' && at.position > last) throw beyondEnd(shard, at.position, last);
  let earliest: StoredManifest | undefined;
  for await (const stored of new SnapshotStore(objects, log).newestFirst(shard, broken)) {
    const { position, clockMs } = stored.manifest.head;
    if (position < first - 1) break;
    if (!isAfter(position, clockMs, at)) return { base: stored, last };
    earliest = stored;
  }
  if (first === 1) return { base: undefined, last };
  if (earliest === undefined) throw tooEarly(shard, 'the first entries were removed, and no usable snapshot is kept');
  const { position, clockMs } = earliest.manifest.head;
  throw tooEarly(shard, `the earliest is position ${position}, ${new Date(clockMs).toISOString()}`);
}

async function load<F extends PartitionFold>(
  { objects, log }: AuditPorts,
  base: StoredManifest | undefined,
  folds: ReadonlyMap<PartitionName, F>,
): Promise<void> {
  const store = new SnapshotStore(objects, log);
  for (const partition of base?.manifest.partitions ?? []) {
    const fold = folds.get(partition.name);
    if (fold !== undefined) await store.loadWhole(partition, fold, { checkDigest: true });
  }
}

function beyondEnd(shard: ShardName, position: number, last: number): MillraceError {
  return new MillraceError('INVALID', `${shard}: there is no position ${position} yet, the last is ${last}`, { shard });
}
