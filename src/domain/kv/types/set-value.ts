/**
 * A set of members. A small set is one packed string, a large one a SegmentedMap; a set that has grown stays in the
 * large form, so that scan cursors stay valid.
 *
 * Invariants
 *
 *  SV1 `bytes` depends only on the members, not on their history or representation
 *  SV2 `encoding` is the name Redis would report, independent of the representation here
 */
import type { ByteString } from '../../../kernel/index.js';
import { parseInt64 } from '../numbers.js';
import { SegmentedMap } from '../segmented-map.js';
import type { Collection, UndoRecorder } from '../value.js';
import { commandsOf } from './command-chunks.js';
import {
  findWord,
  flat,
  MAX_PACKED_BYTES,
  MAX_PACKED_ENTRIES,
  MAX_PACKED_WORD_BYTES,
  packWord,
  unpackWords,
} from './packed-words.js';

/** Measured: a Map entry with a short string, without its characters. */
const LARGE_ENTRY_BYTES = 64;
/** The length character. */
const SMALL_ENTRY_BYTES = 1;

type Encoding = 'intset' | 'listpack' | 'hashtable';

export interface SetEncodingLimits {
  readonly maxIntegers: number;
  readonly maxEntries: number;
  readonly maxValueBytes: number;
}

export class SetValue implements Collection {
  #members: ByteString | SegmentedMap<true> = '';
  #size = 0;
  #contentBytes = 0;
  #encoding: Encoding = 'intset';
  undo: UndoRecorder | undefined;

  get kind(): 'set' {
    return 'set';
  }

  get hasOrder(): boolean {
    return false;
  }

  get size(): number {
    return this.#size;
  }

  get contentBytes(): number {
    return this.#contentBytes;
  }

  get bytes(): number {
    const entryBytes = this.#size <= MAX_PACKED_ENTRIES ? SMALL_ENTRY_BYTES : LARGE_ENTRY_BYTES;
    return this.#contentBytes + this.#size * entryBytes;
  }

  get encoding(): string {
    return this.#encoding;
  }

  /** Whether listing all members is cheaper than drawing one. */
  get isSmall(): boolean {
    return typeof this.#members === 'string';
  }

  has(member: ByteString): boolean {
    const members = this.#members;
    return typeof members === 'string' ? findWord(members, member, 1) >= 0 : members.has(member);
  }

  /** @returns whether it was new */
  add(member: ByteString): boolean {
    const members = this.#members;
    if (typeof members !== 'string') {
      const before = members.size;
      members.set(member, true);
      if (members.size === before) return false;
      this.#count(member);
      this.undo?.push(() => this.delete(member), member.length);
      return true;
    }
    if (findWord(members, member, 1) >= 0) return false;
    this.#count(member);
    this.undo?.push(() => this.delete(member), member.length);
    if (this.#fitsSmall(member)) this.#members = flat(members + packWord(member));
    else this.#grow().set(member, true);
    return true;
  }

  /** @returns whether it existed */
  delete(member: ByteString): boolean {
    const members = this.#members;
    if (typeof members !== 'string') {
      if (!members.delete(member)) return false;
    } else {
      const at = findWord(members, member, 1);
      if (at < 0) return false;
      this.#members = flat(members.slice(0, at) + members.slice(at + 1 + member.length));
    }
    this.#size -= 1;
    this.#contentBytes -= member.length;
    this.undo?.push(() => this.add(member), member.length);
    return true;
  }

  members(): Iterable<ByteString> {
    const members = this.#members;
    return typeof members === 'string' ? unpackWords(members) : members.keys();
  }

  /** As SegmentedMap.scan; a small set is returned in one step. */
  scan(cursor: number, count: number): { cursor: number; members: ByteString[] } {
    const members = this.#members;
    if (typeof members === 'string') return { cursor: 0, members: unpackWords(members) };
    const step = members.scan(cursor, count);
    return { cursor: step.cursor, members: step.entries.map(([member]) => member) };
  }

  /** A random member; all have about the same chance. @param float uniform in [0, 1) */
  draw(float: () => number): ByteString | undefined {
    const members = this.#members;
    if (typeof members !== 'string') return members.randomKey(float);
    return unpackWords(members)[Math.floor(float() * this.#size)];
  }

  /** Chooses the encoding before `count` members are added (SV2: `encoding` is the name Redis would report). */
  expectMembers(first: ByteString, count: number, limits: SetEncodingLimits): void {
    if (this.#size === 0) {
      if (isInteger(first) && count <= limits.maxIntegers) this.#encoding = 'intset';
      else this.#encoding = count <= limits.maxEntries ? 'listpack' : 'hashtable';
    } else if (this.#encoding === 'listpack' && count > limits.maxEntries) {
      this.#encoding = 'hashtable';
    } else if (this.#encoding === 'intset' && count > limits.maxIntegers) {
      this.#encoding = 'hashtable';
    }
  }

  /** Adapts the encoding after a member was added (SV2: `encoding` is the name Redis would report). */
  adaptEncoding(member: ByteString, limits: SetEncodingLimits): void {
    if (this.#encoding === 'hashtable') return;
    if (this.#encoding === 'intset' && isInteger(member)) {
      if (this.#size > limits.maxIntegers) this.#encoding = 'hashtable';
    } else if (this.#size <= limits.maxEntries && member.length <= limits.maxValueBytes) {
      this.#encoding = 'listpack';
    } else {
      this.#encoding = 'hashtable';
    }
  }

  *rebuild(key: ByteString): Iterable<ByteString[]> {
    yield* commandsOf(['SADD', key], asEntries(this.members()));
  }

  *contents(): Iterable<ByteString> {
    yield* this.members();
  }

  keepState(undo: UndoRecorder): void {
    const encoding = this.#encoding;
    undo.push(() => {
      this.#encoding = encoding;
    });
  }

  clone(): SetValue {
    const copy = new SetValue();
    copy.#size = this.#size;
    copy.#contentBytes = this.#contentBytes;
    copy.#encoding = this.#encoding;
    if (typeof this.#members === 'string') {
      copy.#members = this.#members;
    } else {
      const table = new SegmentedMap<true>();
      for (const member of this.#members.keys()) table.set(member, true);
      copy.#members = table;
    }
    return copy;
  }

  #count(member: ByteString): void {
    this.#size += 1;
    this.#contentBytes += member.length;
  }

  /** Whether the small form can hold it; size and bytes already include the new member. */
  #fitsSmall(member: ByteString): boolean {
    return (
      this.#size <= MAX_PACKED_ENTRIES &&
      this.#contentBytes + this.#size * SMALL_ENTRY_BYTES <= MAX_PACKED_BYTES &&
      member.length <= MAX_PACKED_WORD_BYTES
    );
  }

  #grow(): SegmentedMap<true> {
    const table = new SegmentedMap<true>();
    for (const member of this.members()) table.set(member, true);
    this.#members = table;
    return table;
  }
}

/** Each member as an entry of one word. */
export function* asEntries(members: Iterable<ByteString>): Iterable<[ByteString]> {
  for (const member of members) yield [member];
}

function isInteger(member: ByteString): boolean {
  return parseInt64(member) !== undefined;
}
