/**
 * A sorted set: members with scores, found by member and in the order of (score, bytes of the member).
 *
 * Invariants
 *  ZS1 the tree and, once there is one, the index hold the same entries
 *  ZS2 a set that was never larger than a leaf has no index: looking at every entry is cheap, and many sets are small
 *  ZS3 `bytes` and `payloadBytes` follow from the contents alone
 *  ZS4 a set that has been called large once stays so, as in Redis
 */
import type { ByteString } from '../../../kernel/index.js';
import type { Collection } from '../keyspace.js';
import { formatDouble } from '../numbers.js';
import { SegmentedMap } from '../segmented-map.js';
import type { Settings } from '../settings.js';
import type { UndoLog } from '../undo-log.js';
import { commandsOf } from './command-chunks.js';
import { type IsBefore, MAX_LEAF_ENTRIES, ScoreTree } from './score-tree.js';

/** What a member costs beside its bytes: measured on a million short members. */
const MEMBER_OVERHEAD_BYTES = 96;
const SCORE_BYTES = 8;
/** Entries copied at once from the order, so that nothing is walked while others change it. */
const WALK_ENTRIES = 512;

export type Visit = (member: ByteString, score: number) => void;

export class SortedSet implements Collection {
  readonly kind = 'zset';
  readonly hasOrder = true;
  #tree = new ScoreTree();
  #index: SegmentedMap<number> | undefined;
  #memberBytes = 0;
  #longestBytes = 0;
  #isLarge = false;
  undo: UndoLog | undefined;

  get size(): number {
    return this.#tree.size;
  }

  get bytes(): number {
    return this.#memberBytes + this.size * MEMBER_OVERHEAD_BYTES;
  }

  /** Bytes of its members and scores alone: what counts against the largest record. */
  get payloadBytes(): number {
    return this.#memberBytes + this.size * SCORE_BYTES;
  }

  get encoding(): string {
    return this.#isLarge ? 'skiplist' : 'listpack';
  }

  /** This is called before so many members are added: their number alone can make the set large (ZS4). */
  expectMembers(count: number, settings: Settings): void {
    if (count > settings.number('zset-max-listpack-entries')) this.#isLarge = true;
  }

  /** This is called after members were added: the encoding changes with their number and length (ZS4). */
  settle(settings: Settings): void {
    if (this.#isLarge) return;
    this.#isLarge =
      this.size > settings.number('zset-max-listpack-entries') ||
      this.#longestBytes > settings.number('zset-max-listpack-value');
  }

  scoreOf(member: ByteString): number | undefined {
    return this.#index === undefined ? this.#tree.scoreInLoneLeaf(member) : this.#index.get(member);
  }

  has(member: ByteString): boolean {
    return this.scoreOf(member) !== undefined;
  }

  /** Adds the member or gives it another score. 0 and -0 are one score. */
  put(member: ByteString, score: number): void {
    const before = this.scoreOf(member);
    if (before === score) return;
    if (before === undefined) this.add(member, score);
    else this.move(member, before, score);
  }

  /** Adds a member that is not there. */
  add(member: ByteString, score: number): void {
    this.undo?.push(() => this.remove(member), member.length);
    this.#tree.insert(score, member);
    this.#memberBytes += member.length;
    if (member.length > this.#longestBytes) this.#longestBytes = member.length;
    if (this.#index !== undefined) this.#index.set(member, score);
    else if (this.#tree.size > MAX_LEAF_ENTRIES) this.#makeIndex();
  }

  /** Gives a member that is there with score `before` another one. */
  move(member: ByteString, before: number, score: number): void {
    this.undo?.push(() => this.move(member, score, before), member.length);
    this.#tree.delete(before, member);
    this.#tree.insert(score, member);
    this.#index?.set(member, score);
  }

  remove(member: ByteString): boolean {
    const score = this.scoreOf(member);
    if (score === undefined) return false;
    this.undo?.push(() => this.add(member, score), member.length);
    this.#tree.delete(score, member);
    this.#index?.delete(member);
    this.#memberBytes -= member.length;
    return true;
  }

  /** How many members stand before it; undefined if it is not there. */
  rankOf(member: ByteString): number | undefined {
    const score = this.scoreOf(member);
    return score === undefined ? undefined : this.#tree.rankOf(score, member);
  }

  /** How many members stand in the first part of the order that `isBefore` describes. */
  countWhile(isBefore: IsBefore): number {
    return this.#tree.countWhile(isBefore);
  }

  /** Visits ranks `from` to before `to`; `visit` must not change the set. */
  walk(from: number, to: number, visit: Visit): void {
    this.#tree.walk(from, to, visit);
  }

  /** The same, the last first. */
  walkBack(from: number, to: number, visit: Visit): void {
    this.#tree.walkBack(from, to, visit);
  }

  /** Members of the ranks `from` to before `to`. */
  membersBetween(from: number, to: number): ByteString[] {
    const members: ByteString[] = [];
    this.#tree.walk(from, to, (member) => members.push(member));
    return members;
  }

  /** All entries in order. */
  *[Symbol.iterator](): IterableIterator<[ByteString, number]> {
    for (let from = 0; from < this.size; from += WALK_ENTRIES) {
      const entries: [ByteString, number][] = [];
      this.#tree.walk(from, from + WALK_ENTRIES, (member, score) => entries.push([member, score]));
      yield* entries;
    }
  }

  /** One step of a scan; a small set is met in one. @see SegmentedMap.scan */
  scan(cursor: number, count: number): { readonly cursor: number; readonly entries: readonly [ByteString, number][] } {
    if (this.#index !== undefined) return this.#index.scan(cursor, count);
    return { cursor: 0, entries: [...this] };
  }

  rebuild(key: ByteString): Iterable<ByteString[]> {
    return commandsOf(['ZADD', key], this.#scoredMembers());
  }

  *contents(): IterableIterator<ByteString> {
    for (const [member, score] of this) {
      yield formatDouble(score);
      yield member;
    }
  }

  keepState(undo: UndoLog): void {
    const isLarge = this.#isLarge;
    const longestBytes = this.#longestBytes;
    undo.push(() => {
      this.#isLarge = isLarge;
      this.#longestBytes = longestBytes;
    });
  }

  clone(): SortedSet {
    const copy = new SortedSet();
    for (const [member, score] of this) copy.add(member, score);
    copy.#isLarge = this.#isLarge;
    copy.#longestBytes = this.#longestBytes;
    return copy;
  }

  *#scoredMembers(): Iterable<[ByteString, ByteString]> {
    for (const [member, score] of this) yield [formatDouble(score), member];
  }

  #makeIndex(): void {
    const index = new SegmentedMap<number>();
    this.#tree.walk(0, this.#tree.size, (member, score) => index.set(member, score));
    this.#index = index;
  }
}
