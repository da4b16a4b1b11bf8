/**
 * Writes the entries of one activation: it knows the end of the journal and the last section of each partition, builds
 * the next entry and has it stored.
 *
 *  SW1 one entry at a time: the next is built only when the one before is certainly stored, and a large one in steps
 *      between which other work runs
 *  SW2 after any error the writer stays unusable: its owner ends, and a successor begins with a claim
 */
import {
  type BatchEntry,
  bytesOf,
  encodeForJournal,
  encodeInSteps,
  hashSection,
  hashSectionInSteps,
  joinedInSteps,
} from '../../codec/envelope/index.js';
import type { AppendWatch, ChainHead, ChainLink, DefiniteAppender } from '../../journal/index.js';
import { assert, type CommandId, type PartitionName, type ShardName } from '../../kernel/index.js';
import type { Entry, EntryBody, Section, SectionAuthors } from '../../protocol/index.js';
import type { SectionEffects } from './work.js';

/** Larger effects are processed in steps; smaller ones take at most about three milliseconds. */
const LARGE_BYTES = 512 * 1024;

const FIRST_LINK: ChainLink = { number: 0, hash: new Uint8Array(32) };

export interface WriterParts {
  readonly appender: DefiniteAppender;
  readonly shard: ShardName;
  readonly epoch: number;
  /** Identifies this activation in its entries. */
  readonly writer: Uint8Array;
  readonly chunkBytes: number;
  yieldToEventLoop(): Promise<void>;
}

export class ShardWriter {
  readonly #links = new Map<PartitionName, ChainLink>();
  #isBusy = false;

  constructor(
    private readonly parts: WriterParts,
    private currentHead: ChainHead,
  ) {}

  /** The last entry that is certainly stored. */
  get head(): ChainHead {
    return this.currentHead;
  }

  get links(): ReadonlyMap<PartitionName, ChainLink> {
    return this.#links;
  }

  /** Takes the chains of the partitions from a replay. */
  adoptLinks(links: Iterable<readonly [PartitionName, ChainLink]>): void {
    for (const [partition, link] of links) this.#links.set(partition, link);
  }

  appendClaim(clusterId: string, clockMs: number, watch: AppendWatch): Promise<ChainHead> {
    return this.#append({ kind: 'claim', clusterId }, clockMs, watch);
  }

  appendSnapshot(
    body: Extract<EntryBody, { kind: 'snapshot' }>,
    clockMs: number,
    watch: AppendWatch,
  ): Promise<ChainHead> {
    return this.#append(body, clockMs, watch);
  }

  async appendBatch(
    commandIds: readonly CommandId[],
    effects: readonly SectionEffects[],
    clockMs: number,
    watch: AppendWatch,
  ): Promise<ChainHead> {
    const sections: Section[] = [];
    for (const { partition, pieces, authors } of effects) {
      const isLarge = bytesOf(pieces) > LARGE_BYTES;
      const joined = isLarge ? await this.#inSteps(joinedInSteps(pieces)) : joinedAtOnce(pieces);
      sections.push(this.#section(partition, joined, authors));
    }
    const hashes: Uint8Array[] = [];
    // Before it is stored: head and links change together.
    for (const section of sections) {
      const isLarge = section.effects.length > LARGE_BYTES;
      hashes.push(isLarge ? await this.#inSteps(hashSectionInSteps(section)) : hashSection(section));
    }
    const head = await this.#append({ kind: 'batch', commandIds, sections }, clockMs, watch);
    for (const [at, { partition, index }] of sections.entries()) {
      this.#links.set(partition, { number: index, hash: hashes[at] as Uint8Array });
    }
    return head;
  }

  #section(partition: PartitionName, effects: Uint8Array, authors: SectionAuthors | undefined): Section {
    const link = this.#links.get(partition) ?? FIRST_LINK;
    return { partition, index: link.number + 1, previousHash: link.hash, effects, authors };
  }

  async #append(body: EntryBody, clockMs: number, watch: AppendWatch): Promise<ChainHead> {
    const { appender, shard, epoch, writer, chunkBytes } = this.parts;
    assert(!this.#isBusy, 'two entries of one shard at once', { shard });
    this.#isBusy = true;
    const { number, hash: previousHash, position, clockMs: lastClockMs } = this.currentHead;
    const clock = Math.max(clockMs, lastClockMs);
    const entry: Entry = { shard, epoch, writer, number: number + 1, previousHash, clockMs: clock, body };
    const encoded = isLarge(entry)
      ? await this.#inSteps(encodeInSteps(entry, chunkBytes))
      : encodeForJournal(entry, chunkBytes);
    const storedAt = await appender.append(shard, encoded.messages, position, watch);
    this.currentHead = { number: number + 1, hash: encoded.hash, epoch, clockMs: clock, position: storedAt };
    // Not in a finally block, because the writer stays unusable after an error (SW2).
    this.#isBusy = false;
    return this.currentHead;
  }

  async #inSteps<Result>(steps: Iterator<void, Result>): Promise<Result> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.parts.yieldToEventLoop();
    }
  }
}

function joinedAtOnce(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}

function isLarge(entry: Entry): entry is BatchEntry {
  if (entry.body.kind !== 'batch') return false;
  let bytes = 0;
  for (const { effects } of entry.body.sections) bytes += effects.length;
  return bytes > LARGE_BYTES;
}
