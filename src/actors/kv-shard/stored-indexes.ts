/**
 * Stores the contents of large indexes in files, and reads them after a start. A file has the state of some moment: the
 * index compares each document with its key, so any state is good enough.
 *
 *  STI1 an index waits for its file only until it was read, or could not be
 *  STI2 a draft is completed or discarded: when its index is dropped, and when the actor ends
 */
import type { FullTextIndexes, LiveIndex } from '../../domain/kv/index.js';
import { describeError } from '../../kernel/index.js';
import type { Clock, IndexDraft, IndexFiles, Log } from '../../ports/index.js';
import type { OwnedPartition } from './owned-partition.js';

/** A smaller index is built from its keys within a second. */
const MIN_DOCUMENTS = 5000;
/** An index is stored again after so many changes, at least this share of its documents, … */
const MIN_CHANGES = 1000;
const CHANGED_SHARE = 0.02;
/** … and not more often, because all of it is written. */
const STORE_EVERY_MS = 60_000;
/** The time between two looks for indexes that are to be stored. */
const LOOK_EVERY_MS = 1000;

interface Writing {
  readonly owned: OwnedPartition;
  readonly live: LiveIndex;
  readonly pieces: Generator<Uint8Array | undefined, void>;
  readonly draft: IndexDraft;
  /** A piece is on its way to the disk. */
  isBusy: boolean;
  /** The draft is discarded after the piece that is on its way. */
  isUnwanted: boolean;
}

export class StoredIndexes {
  readonly #asked = new WeakSet<LiveIndex>();
  readonly #storedAtMs = new WeakMap<LiveIndex, number>();
  /** Partitions with indexes that may have to be stored. */
  readonly #watched = new Set<OwnedPartition>();
  /** The generation of indexes that was looked at last. */
  readonly #seen = new WeakMap<FullTextIndexes, number>();
  #writing: Writing | undefined;
  #isStopped = false;

  constructor(
    private readonly files: IndexFiles,
    private readonly clock: Clock,
    private readonly log: Log,
    /** An index need not wait any more. */
    private readonly onRead: (owned: OwnedPartition) => void,
  ) {}

  /** Whether the partition had indexes when it was looked at. */
  isWatched(owned: OwnedPartition): boolean {
    return this.#watched.has(owned);
  }

  /** To be called when the partition may have other indexes than before. */
  look(owned: OwnedPartition, searches: FullTextIndexes): void {
    searches.sync();
    if (this.#seen.get(searches) === searches.generation) return;
    this.#seen.set(searches, searches.generation);
    const texts: string[] = [];
    for (const live of searches.all()) {
      texts.push(live.text);
      if (live.isHeld && !this.#asked.has(live)) this.#read(owned, live);
    }
    if (texts.length > 0) this.#watched.add(owned);
    else this.#watched.delete(owned);
    if (this.#writing?.owned === owned && !texts.includes(this.#writing.live.text)) this.#discard(this.#writing);
    this.files.keepOnly(owned.name, texts).catch((error: unknown) => this.#note(owned, error));
  }

  /** Writes no more files, because the actor ends. */
  stop(): void {
    this.#isStopped = true;
    if (this.#writing !== undefined) this.#discard(this.#writing);
  }

  /** Milliseconds until there may be work; undefined: there is none. */
  get inMs(): number | undefined {
    if (this.#writing !== undefined) return 1;
    return this.#watched.size > 0 ? LOOK_EVERY_MS : undefined;
  }

  /** Writes parts of an index until it has waited for the disk or `isOver`. */
  work(isOver: () => boolean): void {
    if (this.#isStopped) return;
    this.#writing ??= this.#nextDue();
    const writing = this.#writing;
    if (writing === undefined || writing.isBusy) return;
    while (!isOver()) {
      const step = writing.pieces.next();
      if (step.done !== true && step.value === undefined) continue;
      void this.#store(writing, step.done === true ? undefined : step.value);
      return;
    }
  }

  /** @param piece undefined: the file is complete */
  async #store(writing: Writing, piece: Uint8Array | undefined): Promise<void> {
    writing.isBusy = true;
    try {
      if (piece === undefined) await writing.draft.complete();
      else await writing.draft.append(piece);
      if (piece === undefined) this.#writing = undefined;
    } catch (error) {
      this.#note(writing.owned, error);
      writing.isUnwanted = true;
    }
    writing.isBusy = false;
    if (writing.isUnwanted && this.#writing === writing) this.#discard(writing);
  }

  #discard(writing: Writing): void {
    writing.isUnwanted = true;
    if (writing.isBusy) return;
    this.#writing = undefined;
    writing.draft.discard().catch((error: unknown) => this.#note(writing.owned, error));
  }

  #nextDue(): Writing | undefined {
    const nowMs = this.clock.monotonicMs();
    for (const owned of this.#watched) {
      const { searches } = owned.engine ?? {};
      if (searches === undefined) continue;
      for (const live of searches.all()) {
        if (!isDue(live) || nowMs - (this.#storedAtMs.get(live) ?? Number.NEGATIVE_INFINITY) < STORE_EVERY_MS) continue;
        this.#storedAtMs.set(live, nowMs);
        const draft = this.files.write(owned.name, live.text);
        return { owned, live, pieces: live.pieces(), draft, isBusy: false, isUnwanted: false };
      }
    }
    return undefined;
  }

  #read(owned: OwnedPartition, live: LiveIndex): void {
    this.#asked.add(live);
    this.files
      .read(owned.name, live.text)
      .catch((error: unknown) => {
        this.#note(owned, error);
        return undefined;
      })
      .then((bytes) => {
        live.begin(bytes);
        this.onRead(owned);
      });
  }

  #note(owned: OwnedPartition, error: unknown): void {
    this.log.warn('index-file.failed', { partition: owned.name, error: describeError(error) });
  }
}

function isDue(live: LiveIndex): boolean {
  const { unstored } = live;
  const { size } = live.contents;
  return unstored !== undefined && size >= MIN_DOCUMENTS && unstored >= Math.max(MIN_CHANGES, size * CHANGED_SHARE);
}
