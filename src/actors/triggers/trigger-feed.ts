/**
 * The records of a trigger for readers that ask for them, from the journals of the database's shards. A cursor has a
 * position for each shard, `KV_3:120`, and the number of the last change where a part of an entry was read:
 * `KV_3:120.7`. Shards are read one after the other, so records of one key are in order.
 */
import type { Trigger } from '../../domain/control/index.js';
import { Chain, readEntries, readEntryAt } from '../../journal/index.js';
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type { FedRecord, FeedPage, FeedReader } from '../../ports/index.js';
import { changeRecord } from './change-record.js';
import { type ChangeSource, entryChanges, type ReadChanges } from './entry-changes.js';
import { KeySelection } from './key-selection.js';
import { type CopyPorts, PartitionCopies } from './partition-copies.js';
import { type ShardPartitions, startOf } from './trigger-position.js';
import { notKept } from './trigger-relay.js';

/** Messages of a journal that one page reads without finding a record; the next page continues. */
const MOST_READ = 5_000;

interface Place {
  readonly position: number;
  /** The last change that was read of the entry that ends there; undefined: all. */
  readonly index: number | undefined;
}

const PLACE = /^([A-Z]+_\d+):(\d{1,16})(?:\.(\d{1,16}))?$/;

export class TriggerFeed implements FeedReader {
  readonly #places: Map<ShardName, Place>;
  readonly #sources = new Map<ShardName, ChangeSource>();

  /** @throws INVALID */
  constructor(
    private readonly ports: CopyPorts,
    private readonly trigger: Trigger,
    private readonly partitions: ShardPartitions,
    cursor: string | undefined,
  ) {
    this.#places = cursor === undefined ? startsOf(trigger, partitions) : placesIn(cursor, partitions);
  }

  async next(most: number, signal: AbortSignal): Promise<FeedPage> {
    const records: FedRecord[] = [];
    for (const shard of this.#places.keys()) {
      if (records.length < most && !signal.aborted) await this.#read(shard, records, most, signal);
    }
    return { records, cursor: this.#cursor };
  }

  async #read(shard: ShardName, records: FedRecord[], most: number, signal: AbortSignal): Promise<void> {
    const { journal, timers } = this.ports;
    const { first, last } = await journal.tail(shard);
    const { position, index } = this.#places.get(shard) as Place;
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
    const partitions = this.partitions.get(shard) ?? new Set();
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
    return [...this.#places]
      .map(([shard, { position, index }]) => `${shard}:${position}${index === undefined ? '' : `.${index}`}`)
      .join(',');
  }
}

function startsOf(trigger: Trigger, partitions: ShardPartitions): Map<ShardName, Place> {
  return new Map(
    [...partitions.keys()].map((shard) => [shard, { position: startOf(trigger, shard), index: undefined }]),
  );
}

function placesIn(cursor: string, partitions: ShardPartitions): Map<ShardName, Place> {
  const places = new Map<ShardName, Place>();
  for (const text of cursor.split(',')) {
    const [, shard = '', position, index] = PLACE.exec(text) ?? [];
    places.set(shard as ShardName, {
      position: Number(position),
      index: index === undefined ? undefined : Number(index),
    });
  }
  const isWhole = places.size === partitions.size && [...places.keys()].every((shard) => partitions.has(shard));
  if (!isWhole) throw new MillraceError('INVALID', `cursor: ${JSON.stringify(cursor)} is not one of this feed`);
  return places;
}
