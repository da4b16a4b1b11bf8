/**
 * Distributes commands over several partitions, and merges their replies into one reply per command.
 *
 *  PP1 commands for one partition keep their order, and each is sent once
 *  PP2 a partition gets no further request while some of its replies wait for those of other partitions: waiting
 *      replies are bounded
 */
import {
  type CommandSpec,
  ERRORS,
  type ErrorReply,
  hashSlot,
  keysOf,
  partitionOfSlot,
  type Reply,
} from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { bytesOfWords } from './admission.js';
import { continueScan, type Merge, mergeOf, routeScan } from './fan-out.js';

/** The commands for one partition, and its replies so far. */
export class PartitionCommands {
  readonly commands: (readonly ByteString[])[] = [];
  /** One for each answered command; null after it was merged into a command's reply. */
  readonly #replies: Reply[] = [];
  #taken = 0;

  /** Commands are left to send, and no reply waits (PP2: waiting replies are bounded). */
  get isDue(): boolean {
    return this.#taken === this.#replies.length && this.#taken < this.commands.length;
  }

  /** @returns the index of its reply */
  add(words: readonly ByteString[]): number {
    return this.commands.push(words) - 1;
  }

  /** The commands left to send; after the first reply, at most `most` of them. */
  next(most: number): (readonly ByteString[])[] {
    const from = this.#replies.length;
    return from === 0 ? this.commands : this.commands.slice(from, from + most);
  }

  answer(replies: readonly Reply[]): void {
    for (const reply of replies) this.#replies.push(reply);
  }

  /** Answers all remaining commands with the refusal. */
  giveUp(refusal: ErrorReply): void {
    while (this.#replies.length < this.commands.length) this.#replies.push(refusal);
  }

  has(position: number): boolean {
    return position < this.#replies.length;
  }

  take(position: number): Reply {
    const reply = this.#replies[position] as Reply;
    this.#replies[position] = null;
    this.#taken += 1;
    return reply;
  }
}

/** How one command's reply is made from the partitions' replies. */
interface Recipe {
  readonly parts: readonly { readonly share: PartitionCommands; readonly position: number }[];
  readonly make: Merge;
}

const ONLY: Merge = ([reply]) => reply as Reply;

export class PartitionPlan {
  readonly shares: readonly PartitionCommands[];
  readonly #recipes: Recipe[] = [];
  #made = 0;

  constructor(private readonly partitions: number) {
    this.shares = Array.from({ length: partitions }, () => new PartitionCommands());
  }

  /** Every command has its reply. */
  get isOver(): boolean {
    return this.#made === this.#recipes.length;
  }

  add(spec: CommandSpec, words: readonly ByteString[]): void {
    const { acrossPartitions: how } = spec;
    if (how === undefined) this.#addByKey(spec, words);
    else if (how === 'walk') this.#addScan(words);
    else this.#recipes.push({ parts: this.shares.map((share) => partOf(share, words)), make: mergeOf(how) });
  }

  /** The replies of the next commands, up to the first one with a missing partition reply. */
  makeReplies(): Reply[] {
    const replies: Reply[] = [];
    for (; this.#made < this.#recipes.length; this.#made += 1) {
      const { parts, make } = this.#recipes[this.#made] as Recipe;
      if (!parts.every(({ share, position }) => share.has(position))) break;
      replies.push(make(parts.map(({ share, position }) => share.take(position))));
    }
    return replies;
  }

  #addByKey(spec: CommandSpec, words: readonly ByteString[]): void {
    const slot = slotOf(keysOf(spec, words));
    if (slot === 'several') this.#recipes.push({ parts: [], make: () => ERRORS.crossSlot });
    else this.#addTo(slot === undefined ? 0 : partitionOfSlot(slot, this.partitions), words, ONLY);
  }

  #addScan(words: readonly ByteString[]): void {
    const { partition, words: own } = routeScan(words, this.partitions);
    this.#addTo(partition, own, ([reply]) => continueScan(reply as Reply, partition, this.partitions));
  }

  #addTo(index: number, words: readonly ByteString[], make: Merge): void {
    this.#recipes.push({ parts: [partOf(this.shares[index] as PartitionCommands, words)], make });
  }
}

function partOf(share: PartitionCommands, words: readonly ByteString[]): Recipe['parts'][number] {
  return { share, position: share.add(words) };
}

export function bytesOfCommands(commands: readonly (readonly ByteString[])[]): number {
  let bytes = 0;
  for (const words of commands) bytes += bytesOfWords(words);
  return bytes;
}

/** The slot of a list of keys; undefined without keys. */
export function slotOf(keys: readonly ByteString[]): number | 'several' | undefined {
  let slot: number | undefined;
  for (const key of keys) {
    const own = hashSlot(key);
    if (slot !== undefined && own !== slot) return 'several';
    slot = own;
  }
  return slot;
}
