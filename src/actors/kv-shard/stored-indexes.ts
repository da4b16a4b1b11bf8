/**
 * Stores the contents of large indexes and the graphs of many vectors in files, and reads them after a start. A file has
 * the state of some moment: each document or vector is compared with its key, so any state is good enough.
 *
 *  STI1 contents wait for their file only until it was read, or could not be
 *  STI2 a draft is completed or discarded: when its key is deleted, and when the actor ends
 *  STI3 no file is written while the disk is nearly full
 */
import type { KvEngine, StorableContents } from '../../domain/kv/index.js';
import { type ByteString, describeError } from '../../kernel/index.js';
import {
  type Clock,
  type IndexDraft,
  type IndexFiles,
  isWorthStoring,
  type Log,
  STORE_EVERY_MS,
  type StorageGauge,
} from '../../ports/index.js';
import type { OwnedPartition } from './owned-partition.js';

/** The time between two looks for contents that are to be stored. */
const LOOK_EVERY_MS = 1000;

interface Writing {
  readonly owned: OwnedPartition;
  readonly text: ByteString;
  readonly pieces: Generator<Uint8Array | undefined, void>;
  readonly draft: IndexDraft;
  /** A piece is on its way to the disk. */
  isBusy: boolean;
  /** The draft is discarded after the piece that is on its way. */
  isUnwanted: boolean;
}

export interface StoredIndexesPorts {
  readonly files: IndexFiles;
  readonly clock: Clock;
  readonly log: Log;
  readonly storage: Pick<StorageGauge, 'isFull'>;
}

export class StoredIndexes {
  readonly #asked = new WeakSet<StorableContents>();
  readonly #storedAtMs = new WeakMap<StorableContents, number>();
  /** Partitions with contents that may have to be stored. */
  readonly #watched = new Set<OwnedPartition>();
  /** The generations of contents that were looked at last. */
  readonly #seen = new WeakMap<KvEngine, number>();
  #writing: Writing | undefined;
  #isStopped = false;

  constructor(
    private readonly ports: StoredIndexesPorts,
    /** Contents need not wait any more. */
    private readonly onRead: (owned: OwnedPartition) => void,
  ) {}

  /** Whether the partition had contents to be stored when it was looked at. */
  isWatched(owned: OwnedPartition): boolean {
    return this.#watched.has(owned);
  }

  /** To be called when the partition may have other indexes or graphs than before. */
  look(owned: OwnedPartition, engine: KvEngine): void {
    engine.searches.sync();
    engine.graphs.sync();
    const generation = engine.searches.generation + engine.graphs.generation;
    if (this.#seen.get(engine) === generation) return;
    this.#seen.set(engine, generation);
    const texts: ByteString[] = [];
    for (const contents of contentsOf(engine)) {
      texts.push(contents.text);
      if (contents.wantsFile && !this.#asked.has(contents)) this.#read(owned, contents);
    }
    if (texts.length > 0) this.#watched.add(owned);
    else this.#watched.delete(owned);
    if (this.#writing?.owned === owned && !texts.includes(this.#writing.text)) this.#discard(this.#writing);
    this.ports.files.keepOnly(owned.name, texts).catch((error: unknown) => this.#note(owned, error));
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

  /** Writes parts of a file until it has waited for the disk or `isOver`. */
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
    writing.pieces.return();
    writing.draft.discard().catch((error: unknown) => this.#note(writing.owned, error));
  }

  #nextDue(): Writing | undefined {
    const { clock, files, storage } = this.ports;
    if (storage.isFull()) return undefined;
    const nowMs = clock.monotonicMs();
    for (const owned of this.#watched) {
      if (owned.engine === undefined) continue;
      for (const contents of contentsOf(owned.engine)) {
        const { items, unstored, text } = contents;
        if (unstored === undefined || !isWorthStoring(items, unstored)) continue;
        if (nowMs - (this.#storedAtMs.get(contents) ?? Number.NEGATIVE_INFINITY) < STORE_EVERY_MS) continue;
        this.#storedAtMs.set(contents, nowMs);
        const draft = files.write(owned.name, text);
        return { owned, text, pieces: contents.pieces(), draft, isBusy: false, isUnwanted: false };
      }
    }
    return undefined;
  }

  #read(owned: OwnedPartition, contents: StorableContents): void {
    this.#asked.add(contents);
    this.ports.files
      .read(owned.name, contents.text)
      .catch((error: unknown) => {
        this.#note(owned, error);
        return undefined;
      })
      .then((bytes) => {
        contents.begin(bytes);
        this.onRead(owned);
      });
  }

  #note(owned: OwnedPartition, error: unknown): void {
    this.ports.log.warn('index-file.failed', { partition: owned.name, error: describeError(error) });
  }
}

function* contentsOf({ searches, graphs }: KvEngine): Iterable<StorableContents> {
  yield* searches.all();
  yield* graphs.all();
}
