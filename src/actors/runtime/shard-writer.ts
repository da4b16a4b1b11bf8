/**
 * The pen of one activation of a shard: knows where the journal ends, what the last entry was, and how
 * each partition's sections chain on; builds the next entry and gets it stored.
 *
 *  W1 one entry at a time; the next is built only when the one before is definitely stored
 *  W2 after any error the pen is broken for good: its owner ends, and a successor begins with a claim
 */
import { type EncodedEntry, encodeForJournal, hashSection } from '../../codec/envelope/index.js';
import type { AppendWatch, ChainHead, ChainLink, DefiniteAppender } from '../../journal/index.js';
import { assert, type CommandId, type PartitionName, type ShardName } from '../../kernel/index.js';
import type { EntryBody, Section } from '../../messages/index.js';
import type { SectionEffects } from './work.js';

const FIRST_LINK: ChainLink = { number: 0, hash: new Uint8Array(32) };

export class ShardWriter {
  readonly #links = new Map<PartitionName, ChainLink>();
  #isBusy = false;

  constructor(
    private readonly appender: DefiniteAppender,
    private readonly shard: ShardName,
    private readonly epoch: number,
    private readonly writer: Uint8Array,
    private readonly chunkBytes: number,
    private currentHead: ChainHead,
  ) {}

  /** The last entry that is definitely stored. */
  get head(): ChainHead {
    return this.currentHead;
  }

  get links(): ReadonlyMap<PartitionName, ChainLink> {
    return this.#links;
  }

  /** Takes over the partitions' chains after a replay. */
  adoptLinks(links: Iterable<readonly [PartitionName, ChainLink]>): void {
    for (const [partition, link] of links) this.#links.set(partition, link);
  }

  /** For a deliberate bug alone: goes on behind whatever stands there. */
  breakFence(head: ChainHead): void {
    this.currentHead = head;
    this.#isBusy = false;
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
    const sections = effects.map((part) => this.#section(part));
    const head = await this.#append({ kind: 'batch', commandIds, sections }, clockMs, watch);
    for (const section of sections) {
      this.#links.set(section.partition, { number: section.index, hash: hashSection(section) });
    }
    return head;
  }

  #section({ partition, effects }: SectionEffects): Section {
    const link = this.#links.get(partition) ?? FIRST_LINK;
    return { partition, index: link.number + 1, previousHash: link.hash, effects };
  }

  async #append(body: EntryBody, clockMs: number, watch: AppendWatch): Promise<ChainHead> {
    assert(!this.#isBusy, 'two entries of one shard at once', { shard: this.shard });
    this.#isBusy = true;
    const { number, hash: previousHash, position, clockMs: lastClockMs } = this.currentHead;
    const { shard, epoch, writer } = this;
    const clock = Math.max(clockMs, lastClockMs);
    const encoded: EncodedEntry = encodeForJournal(
      { shard, epoch, writer, number: number + 1, previousHash, clockMs: clock, body },
      this.chunkBytes,
    );
    const storedAt = await this.appender.append(shard, encoded.messages, position, watch);
    this.currentHead = { number: number + 1, hash: encoded.hash, epoch, clockMs: clock, position: storedAt };
    // Not in a finally: after an error the pen stays broken (W2).
    this.#isBusy = false;
    return this.currentHead;
  }
}
