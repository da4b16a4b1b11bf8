/** Writes the journal of a shard like its owners: claims, batches and snapshots, chained by hand. */
import { encodeForJournal, hashSection, NO_HASH } from '../../../src/codec/envelope/index.js';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import type { ChainHead, ChainLink } from '../../../src/journal/index.js';
import { EMPTY_HEAD } from '../../../src/journal/index.js';
import type { CommandId, PartitionName, ShardName } from '../../../src/kernel/index.js';
import type { Journal } from '../../../src/ports/index.js';
import type { Entry, EntryBody, Section } from '../../../src/protocol/index.js';

export const SHARD = 'KV_0' as ShardName;
export const CLUSTER = 'cluster-for-tests';
export const ALPHA = 'kv:db-aaaaaaaaaaaaaaaa:0' as PartitionName;
export const BETA = 'kv:db-bbbbbbbbbbbbbbbb:0' as PartitionName;

/** Words of effects, one command per line: `SET k v`. */
export function effects(...commands: readonly (string | readonly string[])[]): Uint8Array {
  const words = commands.map((command) => (typeof command === 'string' ? command.split(' ') : command));
  return Buffer.from(words.map(encodeCommand).join(''), 'latin1');
}

export interface HistoryOptions {
  readonly shard?: ShardName;
  readonly chunkBytes?: number;
}

export class ShardHistory {
  head: ChainHead = EMPTY_HEAD;
  /** The last position; it is after the head where an incomplete chunk set follows. */
  lastPosition = 0;
  epoch = 0;
  clockMs = 1_790_000_000_000;
  readonly shard: ShardName;
  readonly #links = new Map<PartitionName, ChainLink>();
  readonly #chunkBytes: number;

  constructor(
    readonly journal: Journal,
    { shard = SHARD, chunkBytes = 512 * 1024 }: HistoryOptions = {},
  ) {
    this.shard = shard;
    this.#chunkBytes = chunkBytes;
  }

  async claim(): Promise<ChainHead> {
    this.epoch += 1;
    return this.append({ kind: 'claim', clusterId: CLUSTER });
  }

  async batch(
    byPartition: Readonly<Record<string, readonly (string | readonly string[])[]>>,
    commandIds: readonly string[] = [],
  ): Promise<ChainHead> {
    const sections = Object.entries(byPartition).map(([partition, commands]) =>
      this.section(partition as PartitionName, effects(...commands)),
    );
    return this.append({ kind: 'batch', commandIds: commandIds as CommandId[], sections });
  }

  section(partition: PartitionName, bytes: Uint8Array): Section {
    const before = this.#links.get(partition) ?? { number: 0, hash: NO_HASH };
    const section = { partition, index: before.number + 1, previousHash: before.hash, effects: bytes };
    this.#links.set(partition, { number: section.index, hash: hashSection(section) });
    return section;
  }

  entry(body: EntryBody, changes: Partial<Entry> = {}): Entry {
    return {
      shard: this.shard,
      epoch: this.epoch,
      writer: new Uint8Array(16).fill(this.epoch),
      number: this.head.number + 1,
      previousHash: this.head.hash,
      clockMs: this.clockMs,
      body,
      ...changes,
    };
  }

  /** `changes` replace correct fields by wrong ones. */
  async append(body: EntryBody, changes: Partial<Entry> = {}): Promise<ChainHead> {
    const entry = this.entry(body, changes);
    const { messages, hash } = encodeForJournal(entry, this.#chunkBytes);
    for (const message of messages) await this.#store(message);
    const { number, epoch, clockMs } = entry;
    this.head = { number, hash, epoch, clockMs, position: this.lastPosition };
    return this.head;
  }

  /** The first messages of a chunk set of a dead owner. */
  async abandon(bytes: Uint8Array, parts: number): Promise<void> {
    const links = new Map(this.#links);
    const body: EntryBody = { kind: 'batch', commandIds: [], sections: [this.section(ALPHA, bytes)] };
    const { messages } = encodeForJournal(this.entry(body), this.#chunkBytes);
    for (const message of messages.slice(0, parts)) await this.#store(message);
    this.#links.clear();
    for (const [partition, link] of links) this.#links.set(partition, link);
  }

  async #store(message: Uint8Array): Promise<void> {
    const outcome = await this.journal.append(this.shard, message, this.lastPosition);
    if (outcome.kind !== 'stored') throw new Error(`not stored: ${outcome.kind}`);
    this.lastPosition = outcome.position;
  }

  links(): ReadonlyMap<PartitionName, ChainLink> {
    return this.#links;
  }
}
