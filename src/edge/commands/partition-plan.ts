/**
 * Which partition of several is asked for which commands, and how their replies become one for each command.
 *
 * Invariants
 *  PP1 commands for one partition keep their order, and each is asked for once
 *  PP2 of a partition nothing more is asked while replies of it wait for those of others: what waits is bounded
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

/** What one partition is asked, and what it has answered so far. */
export class Share {
  readonly commands: (readonly ByteString[])[] = [];
  /** One for each command in front; null where it has become part of a command's reply. */
  readonly #replies: Reply[] = [];
  #taken = 0;

  /** Something is left to be asked, and nothing waits. (PP2) */
  get isDue(): boolean {
    return this.#taken === this.#replies.length && this.#taken < this.commands.length;
  }

  /** @returns where its reply will be */
  add(words: readonly ByteString[]): number {
    return this.commands.push(words) - 1;
  }

  /** What is left to be asked; `most` commands at a time once something has been answered. */
  next(most: number): (readonly ByteString[])[] {
    const from = this.#replies.length;
    return from === 0 ? this.commands : this.commands.slice(from, from + most);
  }

  answer(replies: readonly Reply[]): void {
    for (const reply of replies) this.#replies.push(reply);
  }

  /** All that is left is answered so. */
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

/** One command's reply: of which partitions' replies, and how. */
interface Recipe {
  readonly parts: readonly { readonly share: Share; readonly position: number }[];
  readonly make: Merge;
}

const ONLY: Merge = ([reply]) => reply as Reply;

export class PartitionPlan {
  readonly shares: readonly Share[];
  readonly #recipes: Recipe[] = [];
  #made = 0;

  constructor(private readonly partitions: number) {
    this.shares = Array.from({ length: partitions }, () => new Share());
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

  /** The replies of the next commands, for as long as all that they are made of is there. */
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
    this.#recipes.push({ parts: [partOf(this.shares[index] as Share, words)], make });
  }
}

function partOf(share: Share, words: readonly ByteString[]): Recipe['parts'][number] {
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
