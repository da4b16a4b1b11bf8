/**
 * A stream: entries in the order of their ids, and its consumer groups.
 *
 * Invariants
 *
 *  STM1 `lastId` is never below the id of an entry, and does not decrease when entries are removed
 *  STM2 `entriesAdded` counts all entries ever added; `maxDeletedId` is the highest id that was deleted, not trimmed
 *  STM3 an entry with the same field names as the one before shares their array
 *  STM4 `bytes` depends only on the contents: names are counted with each entry, shared or not
 */
import type { ByteString } from '../../../kernel/index.js';
import { SLICE_WORDS } from '../limits.js';
import type { Settings } from '../settings.js';
import type { Collection, UndoRecorder } from '../value.js';
import { type BlockLimits, OrderedBlocks, SMALL_BLOCKS } from './ordered-blocks.js';
import { byName, ConsumerGroup, type Ledger, UNKNOWN_COUNT } from './stream-group.js';
import { MAX_ID, MIN_ID, type StreamId } from './stream-id.js';
import { type ProducerSettings, StreamProducers } from './stream-producers.js';
import { factsOfStream, rebuildStream, rebuildStreamInSlices, type StreamEntry } from './stream-rebuild.js';

/** The overhead of an empty stream, of an entry in addition to its names and values, and of a field. */
const STREAM_OVERHEAD_BYTES = 200;
const ENTRY_OVERHEAD_BYTES = 112;
const FIELD_OVERHEAD_BYTES = 8;
/** Redis packs an entry with flags, id differences and its length; each word has its length on both sides. */
const PACKED_ENTRY_BYTES = 10;
const PACKED_WORD_BYTES = 2;
/** The bound if the parameter is 0, so that insertion into a block stays fast. */
const MAX_BLOCK_ENTRIES = 10_000;

/**
 * An entry under construction (STM3: an entry with the same field names as the one before shares their array; STM4:
 * names are counted with each entry).
 */
class EntryDraft {
  readonly values: ByteString[];
  bytes: number;
  packedBytes = PACKED_ENTRY_BYTES;
  /** The names of the last entry, until one differs. */
  names: readonly ByteString[];
  #ownNames: ByteString[] | undefined;
  #taken = 0;

  constructor(
    lastNames: readonly ByteString[],
    private readonly words: readonly ByteString[],
  ) {
    const count = words.length >>> 1;
    this.values = new Array(count);
    this.bytes = ENTRY_OVERHEAD_BYTES + count * FIELD_OVERHEAD_BYTES;
    this.names = lastNames;
    if (lastNames.length !== count) this.#useOwnNames(0);
  }

  /** Processes the words before `end`, which is even. */
  take(end: number): void {
    const { words, values } = this;
    for (let i = this.#taken; i < end; i += 2) {
      const at = i >>> 1;
      const name = words[i] as ByteString;
      const value = words[i + 1] as ByteString;
      if (this.#ownNames === undefined && this.names[at] !== name) this.#useOwnNames(at);
      if (this.#ownNames !== undefined) {
        this.#ownNames[at] = name;
        this.packedBytes += name.length + PACKED_WORD_BYTES;
      }
      values[at] = value;
      this.bytes += name.length + value.length;
      this.packedBytes += value.length + PACKED_WORD_BYTES;
    }
    this.#taken = end;
  }

  /** Copies the first `count` names, which equal those of the last entry. */
  #useOwnNames(count: number): void {
    const own: ByteString[] = new Array(this.values.length);
    for (let i = 0; i < count; i += 1) {
      own[i] = this.names[i] as ByteString;
      this.packedBytes += (own[i] as ByteString).length + PACKED_WORD_BYTES;
    }
    this.#ownNames = own;
    this.names = own;
  }
}

export class Stream implements Collection {
  readonly kind = 'stream';
  readonly encoding = 'stream';
  readonly mayBeEmpty = true;
  readonly hasOrder = true;
  lastId: StreamId = MIN_ID;
  maxDeletedId: StreamId = MIN_ID;
  entriesAdded = 0;
  #entries = new OrderedBlocks<StreamEntry>();
  #entryBytes = 0;
  #lastNames: readonly ByteString[] = [];
  readonly #ledger: Ledger = { bytes: 0, undo: undefined };
  readonly #groups = new Map<ByteString, ConsumerGroup>();
  /** Set while the stream recognises repeated messages. */
  #producers: StreamProducers | undefined;

  /** The groups of the stream use the same undo log. */
  get undo(): UndoRecorder | undefined {
    return this.#ledger.undo;
  }

  set undo(undo: UndoRecorder | undefined) {
    this.#ledger.undo = undo;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return STREAM_OVERHEAD_BYTES + this.#entryBytes + this.#ledger.bytes + (this.#producers?.bytes ?? 0);
  }

  /** The approximate bytes of names, values and known messages, which are compared with the largest record. */
  get payloadBytes(): number {
    return this.#entryBytes - this.size * ENTRY_OVERHEAD_BYTES + (this.#producers?.bytes ?? 0);
  }

  get producers(): StreamProducers | undefined {
    return this.#producers;
  }

  /** Makes the stream recognise repeated messages, or forgets all known ones. */
  configureProducers(settings: ProducerSettings): void {
    if (this.#producers === undefined) this.#producers = new StreamProducers(settings);
    else this.#producers.configure(settings);
  }

  /** Records which entry a message became. */
  recordMessage(producer: ByteString, id: ByteString, entry: StreamId): void {
    this.#producers?.record(producer, id, entry, this.undo);
  }

  /** The id of the first entry; the lowest id if empty. */
  get firstId(): StreamId {
    return this.#entries.firstId ?? MIN_ID;
  }

  /** The id of the last existing entry; the lowest id if empty. */
  get lastEntryId(): StreamId {
    return this.#entries.lastId ?? MIN_ID;
  }

  get blockCount(): number {
    return this.#entries.blockCount;
  }

  /** As in Redis, `lastId` includes removed entries. */
  get firstBlock(): { readonly size: number; readonly lastId: StreamId } {
    return { size: this.#entries.firstBlockSize, lastId: this.#entries.firstBlockLastMetId ?? MIN_ID };
  }

  /** @param id above `lastId` @param words name, value, name, value … */
  append(id: StreamId, words: readonly ByteString[], settings: Settings): void {
    const draft = new EntryDraft(this.#lastNames, words);
    draft.take(words.length);
    this.#put(id, draft, settings);
  }

  /** As `append`, in slices: the entry is added at the end, in one step. */
  *appendInSlices(id: StreamId, words: readonly ByteString[], settings: Settings): Generator<void, void> {
    const draft = new EntryDraft(this.#lastNames, words);
    for (let end = SLICE_WORDS; end < words.length; end += SLICE_WORDS) {
      draft.take(end);
      yield;
    }
    draft.take(words.length);
    this.#put(id, draft, settings);
  }

  #put(id: StreamId, { names, values, bytes, packedBytes }: EntryDraft, settings: Settings): void {
    this.#lastNames = names;
    this.#entries.append(id, { names, values }, packedBytes, blockLimits(settings));
    this.undo?.push(() => this.#entries.delete(id), bytes);
    this.#entryBytes += bytes;
    this.lastId = id;
    this.entriesAdded += 1;
  }

  has(id: StreamId): boolean {
    return this.#entries.has(id);
  }

  entry(id: StreamId): StreamEntry | undefined {
    return this.#entries.get(id);
  }

  /** Deletes an entry and updates `maxDeletedId`. @returns false if it is missing */
  delete(id: StreamId): boolean {
    if (!this.remove(id)) return false;
    if (id > this.maxDeletedId) this.maxDeletedId = id;
    return true;
  }

  /** Removes an entry as trimming does, without updating `maxDeletedId`. */
  remove(id: StreamId): boolean {
    const entry = this.#entries.delete(id);
    if (entry === undefined) return false;
    this.undo?.push(() => this.#entries.set(id, entry));
    this.#entryBytes -= entryBytes(entry);
    return true;
  }

  shiftBlock(): number {
    if (this.undo !== undefined) this.#keepFirstBlock(this.undo);
    const entries = this.#entries.shiftBlock();
    for (const entry of entries) this.#entryBytes -= entryBytes(entry);
    return entries.length;
  }

  /** Visits entries with ids from `from` to `to`, both included, until `visit` returns false. */
  walk(from: StreamId, to: StreamId, visit: (id: StreamId, entry: StreamEntry) => boolean): void {
    this.#entries.walk(from, to, visit);
  }

  walkBack(from: StreamId, to: StreamId, visit: (id: StreamId, entry: StreamEntry) => boolean): void {
    this.#entries.walkBack(from, to, visit);
  }

  /** The ids of each block, in order; invalid after a change of the stream. */
  blocks(): IterableIterator<readonly StreamId[]> {
    return this.#entries.blocks();
  }

  entries(): IterableIterator<[StreamId, StreamEntry]> {
    return this.#entries.entries();
  }

  get groupCount(): number {
    return this.#groups.size;
  }

  group(name: ByteString): ConsumerGroup | undefined {
    return this.#groups.get(name);
  }

  /** Sorted by name, as Redis shows them. */
  groups(): ConsumerGroup[] {
    return this.#groups.size === 0 ? [] : [...this.#groups.values()].sort(byName);
  }

  addGroup(name: ByteString, lastId: StreamId, entriesRead: number): ConsumerGroup {
    const group = new ConsumerGroup(name, this.#ledger, lastId, entriesRead);
    this.#groups.set(name, group);
    this.undo?.push(() => this.#groups.delete(name));
    return group;
  }

  removeGroup(group: ConsumerGroup): void {
    this.undo?.push(() => this.#groups.set(group.name, group));
    group.leave();
    this.#groups.delete(group.name);
  }

  /** Whether a group has not read the entry yet, or has not acknowledged it. */
  isReferenced(id: StreamId): boolean {
    for (const group of this.#groups.values()) if (group.lastId < id || group.pending.has(id)) return true;
    return false;
  }

  /** Whether an entry at or after that id was deleted, which makes counting from there wrong. */
  hasTombstoneFrom(id: StreamId): boolean {
    if (this.size === 0 || this.maxDeletedId === MIN_ID || this.firstId > this.maxDeletedId) return false;
    return id <= this.maxDeletedId;
  }

  /** The number of entries ever added up to that id, or UNKNOWN_COUNT. */
  countAddedUpTo(id: StreamId): number {
    if (this.entriesAdded === 0) return 0;
    if (this.size === 0 && id <= this.lastId) return this.entriesAdded;
    if (id !== MIN_ID && id < this.maxDeletedId) return UNKNOWN_COUNT;
    if (id === this.lastId) return this.entriesAdded;
    if (id > this.lastId) return UNKNOWN_COUNT;
    if (this.maxDeletedId === MIN_ID || this.maxDeletedId < this.firstId) {
      if (id < this.firstId) return this.entriesAdded - this.size;
      if (id === this.firstId) return this.entriesAdded - this.size + 1;
    }
    return UNKNOWN_COUNT;
  }

  /** The number of entries that the group has not read; undefined if it cannot be determined. */
  lagOf(group: ConsumerGroup): number | undefined {
    if (this.entriesAdded === 0 || this.size === 0) return 0;
    if (group.lastId < this.firstId && this.maxDeletedId < this.firstId) return this.size;
    if (group.entriesRead !== UNKNOWN_COUNT && !this.hasTombstoneFrom(group.lastId)) {
      return this.entriesAdded - group.entriesRead;
    }
    const read = this.countAddedUpTo(group.lastId);
    return read === UNKNOWN_COUNT ? undefined : this.entriesAdded - read;
  }

  /** Records that the group was delivered the next entry. */
  advance(group: ConsumerGroup, id: StreamId): void {
    if (id <= group.lastId) return;
    if (group.entriesRead !== UNKNOWN_COUNT && group.lastId >= this.firstId && !this.hasTombstoneFrom(group.lastId)) {
      group.entriesRead += 1;
    } else if (this.entriesAdded > 0) {
      group.entriesRead = this.countAddedUpTo(id);
    }
    group.lastId = id;
  }

  rebuild(key: ByteString): Iterable<ByteString[]> {
    return rebuildStream(key, this);
  }

  rebuildInSlices(key: ByteString): Generator<void, Iterable<ByteString[]>> {
    return rebuildStreamInSlices(key, this);
  }

  contents(): Iterable<ByteString> {
    return factsOfStream(this);
  }

  keepState(undo: UndoRecorder): void {
    const { lastId, maxDeletedId, entriesAdded } = this;
    const entryBytes = this.#entryBytes;
    const ledgerBytes = this.#ledger.bytes;
    const groups = [...this.#groups.values()].map((group) => ({
      group,
      lastId: group.lastId,
      entriesRead: group.entriesRead,
    }));
    const producers = this.#producers;
    producers?.keepState(undo);
    undo.push(() => {
      this.#producers = producers;
      Object.assign(this, { lastId, maxDeletedId, entriesAdded });
      this.#entryBytes = entryBytes;
      this.#ledger.bytes = ledgerBytes;
      for (const { group, ...position } of groups) Object.assign(group, position);
    });
  }

  #keepFirstBlock(undo: UndoRecorder): void {
    const [ids = []] = this.#entries.blocks();
    const entries = ids.map((id) => [id, this.#entries.get(id) as StreamEntry] as const);
    const putBack = (): void => {
      for (const [id, entry] of entries) this.#entries.set(id, entry);
    };
    undo.push(putBack, 0, entries.length);
  }

  clone(): Stream {
    const copy = new Stream();
    copy.lastId = this.lastId;
    copy.maxDeletedId = this.maxDeletedId;
    copy.entriesAdded = this.entriesAdded;
    copy.#entries = this.#entries.clone((entry) => entry);
    copy.#entryBytes = this.#entryBytes;
    copy.#producers = this.#producers?.clone();
    for (const [name, group] of this.#groups) copy.#groups.set(name, group.clone(copy.#ledger));
    return copy;
  }
}

function entryBytes({ names, values }: StreamEntry): number {
  let bytes = ENTRY_OVERHEAD_BYTES + names.length * FIELD_OVERHEAD_BYTES;
  for (const name of names) bytes += name.length;
  for (const value of values) bytes += value.length;
  return bytes;
}

/** Blocks end about where Redis's nodes end, so that trimming by whole blocks leaves as many entries as in Redis. */
function blockLimits(settings: Settings): BlockLimits {
  const maxEntries = settings.number('stream-node-max-entries');
  const maxBytes = settings.number('stream-node-max-bytes');
  return {
    maxEntries: maxEntries === 0 ? MAX_BLOCK_ENTRIES : Math.min(maxEntries, MAX_BLOCK_ENTRIES),
    maxBytes: maxBytes === 0 ? SMALL_BLOCKS.maxBytes : maxBytes,
  };
}

/** The lowest and highest id, to visit everything. */
export const ALL_IDS: readonly [StreamId, StreamId] = [MIN_ID, MAX_ID];
