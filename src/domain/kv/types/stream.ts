/**
 * A stream: entries in the order of their ids, and the groups that read them.
 *
 * Invariants
 *  STM1 `lastId` is never below the id of an entry, nor does it go back when entries are removed
 *  STM2 `entriesAdded` counts all that were ever added; `maxDeletedId` is the highest id that was deleted, not trimmed
 *  STM3 an entry of the same field names as the one before shares them
 *  STM4 `bytes` follows from the contents alone: names are counted with each entry, shared or not
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Collection } from '../keyspace.js';
import { SLICE_WORDS } from '../limits.js';
import type { Settings } from '../settings.js';
import type { UndoLog } from '../undo-log.js';
import { byName, ConsumerGroup, type Ledger, UNKNOWN_COUNT } from './stream-group.js';
import { MAX_ID, MIN_ID, type StreamId } from './stream-id.js';
import { type BlockLimits, SMALL_BLOCKS, StreamOrder } from './stream-order.js';
import { factsOfStream, rebuildStream, rebuildStreamInSlices } from './stream-rebuild.js';

/** What an empty stream costs, and an entry beside its names and values, and a field. */
const STREAM_OVERHEAD_BYTES = 200;
const ENTRY_OVERHEAD_BYTES = 112;
const FIELD_OVERHEAD_BYTES = 8;
/** Redis packs an entry with its flags, the differences of its id and its length; each word has its length on both sides. */
const PACKED_ENTRY_BYTES = 10;
const PACKED_WORD_BYTES = 2;
/** Where a parameter is 0, Redis has another bound: blocks that stay quick to insert into. */
const MAX_BLOCK_ENTRIES = 10_000;

export interface StreamEntry {
  readonly names: readonly ByteString[];
  /** There are as many as names. */
  readonly values: readonly ByteString[];
}

/** An entry that is being put together (STM3, STM4); its arrays have as many places as it has fields. */
class EntryDraft {
  readonly values: ByteString[];
  bytes: number;
  packedBytes = PACKED_ENTRY_BYTES;
  /** The last entry's, until one of them is another. */
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

  /** Takes the words before `end`, which is even. */
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

  /** So many are the same as the last entry's. */
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
  readonly hasOrder = true;
  lastId: StreamId = MIN_ID;
  maxDeletedId: StreamId = MIN_ID;
  entriesAdded = 0;
  #entries = new StreamOrder<StreamEntry>();
  #entryBytes = 0;
  #lastNames: readonly ByteString[] = [];
  readonly #ledger: Ledger = { bytes: 0, undo: undefined };
  readonly #groups = new Map<ByteString, ConsumerGroup>();

  /** The groups of the stream keep what they overwrite in the same log. */
  get undo(): UndoLog | undefined {
    return this.#ledger.undo;
  }

  set undo(undo: UndoLog | undefined) {
    this.#ledger.undo = undo;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return STREAM_OVERHEAD_BYTES + this.#entryBytes + this.#ledger.bytes;
  }

  /** Names and values of entries, roughly: what counts against the largest record. */
  get payloadBytes(): number {
    return this.#entryBytes - this.size * ENTRY_OVERHEAD_BYTES;
  }

  /** The id of the first entry; the lowest id when there is none. */
  get firstId(): StreamId {
    return this.#entries.firstId ?? MIN_ID;
  }

  /** The id of the last entry that is there; the lowest id when there is none. */
  get lastEntryId(): StreamId {
    return this.#entries.lastId ?? MIN_ID;
  }

  get blockCount(): number {
    return this.#entries.blockCount;
  }

  /** Its last id counts as in Redis: what was removed since too. */
  get firstBlock(): { readonly size: number; readonly lastId: StreamId } {
    return { size: this.#entries.firstBlockSize, lastId: this.#entries.firstBlockLastMetId ?? MIN_ID };
  }

  /** @param id above `lastId`  @param words name, value, name, value … */
  append(id: StreamId, words: readonly ByteString[], settings: Settings): void {
    const draft = new EntryDraft(this.#lastNames, words);
    draft.take(words.length);
    this.#put(id, draft, settings);
  }

  /** The same in slices: the entry is there at their end, and nothing of it before. */
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

  /** Takes an entry out of the middle and remembers how far deletions go. False if it is not there. */
  delete(id: StreamId): boolean {
    if (!this.remove(id)) return false;
    if (id > this.maxDeletedId) this.maxDeletedId = id;
    return true;
  }

  /** Takes an entry out as trimming does: nothing is remembered. */
  remove(id: StreamId): boolean {
    const entry = this.#entries.delete(id);
    if (entry === undefined) return false;
    this.undo?.push(() => this.#entries.set(id, entry));
    this.#entryBytes -= entryBytes(entry);
    return true;
  }

  /** Trims the first block whole. */
  shiftBlock(): number {
    if (this.undo !== undefined) this.#keepFirstBlock(this.undo);
    const entries = this.#entries.shiftBlock();
    for (const entry of entries) this.#entryBytes -= entryBytes(entry);
    return entries.length;
  }

  /** Visits entries of the ids from `from` to `to`, both included, until `visit` says false. */
  walk(from: StreamId, to: StreamId, visit: (id: StreamId, entry: StreamEntry) => boolean): void {
    this.#entries.walk(from, to, visit);
  }

  walkBack(from: StreamId, to: StreamId, visit: (id: StreamId, entry: StreamEntry) => boolean): void {
    this.#entries.walkBack(from, to, visit);
  }

  /** The ids of each block, in order; not to be used once the stream has changed. */
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

  /** In the order of their names, as Redis shows them. */
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

  /** Is there a group that has yet to read it, or that has handed it out and waits? */
  isReferenced(id: StreamId): boolean {
    for (const group of this.#groups.values()) if (group.lastId < id || group.pending.has(id)) return true;
    return false;
  }

  /** Was something deleted at or after that id that a count from there would miss? */
  hasTombstoneFrom(id: StreamId): boolean {
    if (this.size === 0 || this.maxDeletedId === MIN_ID || this.firstId > this.maxDeletedId) return false;
    return id <= this.maxDeletedId;
  }

  /** How many entries were added up to that id, in all the stream's life, or UNKNOWN_COUNT. */
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

  /** How many entries the group has still to read; undefined where that cannot be told. */
  lagOf(group: ConsumerGroup): number | undefined {
    if (this.entriesAdded === 0 || this.size === 0) return 0;
    if (group.lastId < this.firstId && this.maxDeletedId < this.firstId) return this.size;
    if (group.entriesRead !== UNKNOWN_COUNT && !this.hasTombstoneFrom(group.lastId)) {
      return this.entriesAdded - group.entriesRead;
    }
    const read = this.countAddedUpTo(group.lastId);
    return read === UNKNOWN_COUNT ? undefined : this.entriesAdded - read;
  }

  /** Notes that the group has been handed the entry, the next after those it was handed before. */
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

  keepState(undo: UndoLog): void {
    const { lastId, maxDeletedId, entriesAdded } = this;
    const entryBytes = this.#entryBytes;
    const ledgerBytes = this.#ledger.bytes;
    const groups = [...this.#groups.values()].map((group) => ({
      group,
      lastId: group.lastId,
      entriesRead: group.entriesRead,
    }));
    undo.push(() => {
      Object.assign(this, { lastId, maxDeletedId, entriesAdded });
      this.#entryBytes = entryBytes;
      this.#ledger.bytes = ledgerBytes;
      for (const { group, ...position } of groups) Object.assign(group, position);
    });
  }

  #keepFirstBlock(undo: UndoLog): void {
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

/** Blocks end about where Redis's nodes end, so that trimming by whole ones leaves as much. */
function blockLimits(settings: Settings): BlockLimits {
  const maxEntries = settings.number('stream-node-max-entries');
  const maxBytes = settings.number('stream-node-max-bytes');
  return {
    maxEntries: maxEntries === 0 ? MAX_BLOCK_ENTRIES : Math.min(maxEntries, MAX_BLOCK_ENTRIES),
    maxBytes: maxBytes === 0 ? SMALL_BLOCKS.maxBytes : maxBytes,
  };
}

/** Both ends of all ids, for walks over everything. */
export const ALL_IDS: readonly [StreamId, StreamId] = [MIN_ID, MAX_ID];
