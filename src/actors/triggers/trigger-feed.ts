/**
 * The records of a trigger for readers that ask for them, from the journals of the database's shards. A cursor has a
 * position for each shard, `KV_3:120`, and the number of the last change where a part of an entry was read:
 * `KV_3:120.7`. Shards are read one after the other, so records of one key are in order. After a change of the number of
 * partitions a cursor begins with the number of the layout's first partition: `4/KV_3:150`. The former layout is read to
 * its end before the present one.
 */
import type { Trigger } from '../../domain/control/index.js';
import { Chain, readEntries, readEntryAt } from '../../journal/index.js';
import { assert, MillraceError, type ShardName } from '../../kernel/index.js';
import type { FedRecord, FeedPage, FeedReader } from '../../ports/index.js';
import { changeRecord } from './change-record.js';
import { type ChangeSource, entryChanges, type ReadChanges } from './entry-changes.js';
import { KeySelection } from './key-selection.js';
import type { LayoutPart } from './layout-parts.js';
import { type CopyPorts, PartitionCopies } from './partition-copies.js';
import { positionIn, type ShardPartitions } from './trigger-position.js';
import { notKept } from './trigger-relay.js';

/** Messages of a journal that one page reads without finding a record; the next page continues. */
const MOST_READ = 5_000;

interface FeedPosition {
  readonly position: number;
  /** The last change that was read of the entry that ends there; undefined: all. */
  readonly index: number | undefined;
}

const CURSOR = /^(?:(\d{1,6})\/)?(.*)$/s;
const PLACE = /^([A-Z]+_\d+):(\d{1,16})(?:\.(\d{1,16}))?$/;

/** The layout in which a feed begins, and where. */
export type FeedStart = Pick<Trigger, 'starts' | 'firstPartition'>;

export class TriggerFeed implements FeedReader {
  #part: LayoutPart;
  #places: Map<ShardName, FeedPosition>;
  readonly #sources = new Map<ShardName, ChangeSource>();

  /** @throws INVALID */
  constructor(
    private readonly ports: CopyPorts,
    private readonly trigger: Trigger,
    /** The layouts to be read from a start on, as they are known now. */
    private readonly partsNow: () => (start: FeedStart) => readonly LayoutPart[],
    cursor: string | undefined,
  ) {
    const [, first = '0', text = ''] = CURSOR.exec(cursor ?? '') ?? [];
    const start = cursor === undefined ? trigger : { starts: [], firstPartition: Number(first) };
    const [part] = partsNow()(start);
    assert(part !== undefined, 'a database without a layout', { database: trigger.database });
    if (cursor !== undefined && part.firstPartition !== Number(first)) throw notOfFeed(cursor);
    this.#part = part;
    this.#places = cursor === undefined ? startsOf(part) : placesIn(text, part.partitions);
  }

  async next(most: number, signal: AbortSignal): Promise<FeedPage> {
    const records: FedRecord[] = [];
    this.#refresh();
    do {
      for (const shard of this.#places.keys()) {
        if (records.length < most && !signal.aborted) await this.#read(shard, records, most, signal);
      }
    } while (this.#beginNext());
    return { records, cursor: this.#cursor };
  }

  /** The switch to another layout gives the journals of this one their ends. */
  #refresh(): void {
    const { firstPartition, starts, ends } = this.#part;
    if (ends !== undefined) return;
    const [part] = this.partsNow()({ firstPartition, starts });
    if (part?.firstPartition === firstPartition) this.#part = part;
    // The layout before the present one is the oldest that is known.
    else
      throw new MillraceError('INVALID', 'cursor: the partitions of the database have been changed twice since then');
  }

  /** Begins the next layout, if this one was read to its end. */
  #beginNext(): boolean {
    const { ends, firstPartition } = this.#part;
    if (ends === undefined) return false;
    for (const [shard, { position, index }] of this.#places) {
      if (index !== undefined || position < positionIn(ends, shard)) return false;
    }
    const next = this.partsNow()(this.#part).find((part) => part.firstPartition > firstPartition);
    if (next === undefined) return false;
    this.#part = next;
    this.#places = startsOf(next);
    this.#sources.clear();
    return true;
  }

  async #read(shard: ShardName, records: FedRecord[], most: number, signal: AbortSignal): Promise<void> {
    const { journal, timers } = this.ports;
    const tail = await journal.tail(shard);
    const { first } = tail;
    const last = this.#part.ends === undefined ? tail.last : positionIn(this.#part.ends, shard);
    const { position, index } = this.#places.get(shard) as FeedPosition;
    if (position >= last && index === undefined) return;
    if (position + 1 < first) throw notKept(shard, position + 1);
    const source = await this.#sourceOf(shard, index === undefined ? position : position - 1, signal);
    if (index !== undefined) {
      const entry = await readEntryAt(journal, shard, position, () => timers.yieldToEventLoop());
      if (entry === undefined) throw notKept(shard, position);
      if (!this.#add(source, { entry, position }, records, most)) return;
    }
    const until = Math.min(last, position + MOST_READ);
    for await (const read of readEntries(journal, new Chain(shard, undefined), position + 1, until)) {
      if (!this.#add(source, read, records, most) || signal.aborted) return;
    }
  }

  /** @returns false when the page is full */
  #add(source: ChangeSource, read: ReadChanges, records: FedRecord[], most: number): boolean {
    const { shard } = source;
    const { position } = read;
    const before = this.#places.get(shard);
    const readUpTo = before?.position === position ? (before.index ?? -1) : -1;
    let isCut = false;
    for (const change of entryChanges(source, read)) {
      if (change.index <= readUpTo) continue;
      isCut ||= records.length >= most;
      if (isCut) continue;
      this.#places.set(shard, { position, index: change.index });
      records.push({ cursor: this.#cursor, record: changeRecord(this.trigger, change) });
    }
    // The copies are after the entry, and the next page begins within it.
    if (isCut) this.#forget(shard);
    else this.#places.set(shard, { position, index: undefined });
    return !isCut && records.length < most;
  }

  close(): void {
    for (const shard of [...this.#sources.keys()]) this.#forget(shard);
  }

  #forget(shard: ShardName): void {
    this.#sources.get(shard)?.copies?.close();
    this.#sources.delete(shard);
  }

  async #sourceOf(shard: ShardName, position: number, signal: AbortSignal): Promise<ChangeSource> {
    const known = this.#sources.get(shard);
    if (known !== undefined) return known;
    const { trigger } = this;
    const partitions = this.#part.partitions.get(shard) ?? new Set();
    const { account } = trigger;
    const needsCopies = trigger.filter !== '' || trigger.values.length > 0;
    const copies = needsCopies
      ? await PartitionCopies.at(this.ports, { account, shard, partitions, position }, signal)
      : undefined;
    const source = { shard, partitions, selection: new KeySelection(trigger), copies };
    this.#sources.set(shard, source);
    return source;
  }

  get #cursor(): string {
    const { firstPartition } = this.#part;
    const places = [...this.#places]
      .map(([shard, { position, index }]) => `${shard}:${position}${index === undefined ? '' : `.${index}`}`)
      .join(',');
    return firstPartition === 0 ? places : `${firstPartition}/${places}`;
  }
}

function startsOf({ partitions, starts }: LayoutPart): Map<ShardName, FeedPosition> {
  return new Map(
    [...partitions.keys()].map((shard) => [shard, { position: positionIn(starts, shard), index: undefined }]),
  );
}

function notOfFeed(cursor: string): MillraceError {
  return new MillraceError('INVALID', `cursor: ${JSON.stringify(cursor)} is not one of this feed`);
}

function placesIn(cursor: string, partitions: ShardPartitions): Map<ShardName, FeedPosition> {
  const places = new Map<ShardName, FeedPosition>();
  for (const text of cursor.split(',')) {
    const [, shard = '', position, index] = PLACE.exec(text) ?? [];
    places.set(shard as ShardName, {
      position: Number(position),
      index: index === undefined ? undefined : Number(index),
    });
  }
  const isWhole = places.size === partitions.size && [...places.keys()].every((shard) => partitions.has(shard));
  if (!isWhole) throw notOfFeed(cursor);
  return places;
}
