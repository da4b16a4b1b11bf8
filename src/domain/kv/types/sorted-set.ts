/**
 * A sorted set: members with scores, found by member and in the order of (score, bytes of the member).
 *
 * Invariants
 *
 *  ZS1 the tree and the index, once it exists, hold the same entries
 *  ZS2 a set that was never larger than a leaf has no index: linear search is cheap, and many sets are small
 *  ZS3 `bytes` and `payloadBytes` depend only on the contents
 *  ZS4 a set that was once reported as large stays so, as in Redis
 */
import type { ByteString } from '../../../kernel/index.js';
import { formatDouble } from '../numbers.js';
import { SegmentedMap } from '../segmented-map.js';
import type { Settings } from '../settings.js';
import type { Collection, UndoRecorder } from '../value.js';
import { commandsOf } from './command-chunks.js';
import { type IsBefore, MAX_LEAF_ENTRIES, ScoreTree } from './score-tree.js';

/** The overhead of a member, measured on a million short members. */
const MEMBER_OVERHEAD_BYTES = 96;
const SCORE_BYTES = 8;
/** Entries copied per step of an iteration, so that the set may change between steps. */
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
  undo: UndoRecorder | undefined;

  get size(): number {
    return this.#tree.size;
  }

  get bytes(): number {
    return this.#memberBytes + this.size * MEMBER_OVERHEAD_BYTES;
  }

  /** The bytes of members and scores, which are compared with the largest record. */
  get payloadBytes(): number {
    return this.#memberBytes + this.size * SCORE_BYTES;
  }

  get encoding(): string {
    return this.#isLarge ? 'skiplist' : 'listpack';
  }

  /**
   * To be called before `count` members are added: the number alone can make the set large (ZS4: a large set stays so).
   */
  expectMembers(count: number, settings: Settings): void {
    if (count > settings.number('zset-max-listpack-entries')) this.#isLarge = true;
  }

  /**
   * To be called after members were added: adapts the encoding to their number and length (ZS4: a large set stays so).
   */
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

  /** Adds the member or changes its score. 0 and -0 are the same score. */
  put(member: ByteString, score: number): void {
    const before = this.scoreOf(member);
    if (before === score) return;
    if (before === undefined) this.add(member, score);
    else this.move(member, before, score);
  }

  /** Adds a member that does not exist. */
  add(member: ByteString, score: number): void {
    this.undo?.push(() => this.remove(member), member.length);
    this.#tree.insert(score, member);
    this.#memberBytes += member.length;
    if (member.length > this.#longestBytes) this.#longestBytes = member.length;
    if (this.#index !== undefined) this.#index.set(member, score);
    else if (this.#tree.size > MAX_LEAF_ENTRIES) this.#makeIndex();
  }

  /** Changes the score of an existing member with score `before`. */
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

  /** The number of members before it; undefined if it is missing. */
  rankOf(member: ByteString): number | undefined {
    const score = this.scoreOf(member);
    return score === undefined ? undefined : this.#tree.rankOf(score, member);
  }

  /** The number of members in the first part of the order that `isBefore` describes. */
  countWhile(isBefore: IsBefore): number {
    return this.#tree.countWhile(isBefore);
  }

  /** Visits ranks `from` up to but excluding `to`; `visit` must not change the set. */
  walk(from: number, to: number, visit: Visit): void {
    this.#tree.walk(from, to, visit);
  }

  /** As `walk`, in descending order. */
  walkBack(from: number, to: number, visit: Visit): void {
    this.#tree.walkBack(from, to, visit);
  }

  /** The members of ranks `from` up to but excluding `to`. */
  membersBetween(from: number, to: number): ByteString[] {
    const members: ByteString[] = [];
    this.#tree.walk(from, to, (member) => members.push(member));
    return members;
  }

  *[Symbol.iterator](): IterableIterator<[ByteString, number]> {
    for (let from = 0; from < this.size; from += WALK_ENTRIES) {
      const entries: [ByteString, number][] = [];
      this.#tree.walk(from, from + WALK_ENTRIES, (member, score) => entries.push([member, score]));
      yield* entries;
    }
  }

  /** One step of a scan; a small set is returned in one. @see SegmentedMap.scan */
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

  keepState(undo: UndoRecorder): void {
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
