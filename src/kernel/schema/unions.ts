/** Records of several kinds, distinguished by a leading number or name, which is never reused. */
import { assert, MillraceError } from '../errors.js';
import { writtenByNewer } from '../format-level.js';
import { type Declared, fields, inList, openRecord, type Plain, type RecordType } from './records.js';
import type { Fields, Shape, TypeOf } from './shape.js';
import { refuse } from './unpacker.js';

/** Fields follow the number in its list; any other shape is the second value of that list. */
export type Member<T = unknown> = Fields<T> | Shape<T>;

interface Found {
  readonly word: string;
  readonly member: Fields<unknown>;
}

/** The members by their tag value (`type`, `kind` …), each with its number or name in the bytes. */
export interface Cases {
  readonly [word: string]: readonly [code: number | string, Member];
}

export function kind<const F extends Declared>(number: number, shapes: F): readonly [number, Fields<RecordType<F>>] {
  return [number, fields(shapes)];
}

/** An open record, in a separate list. */
export function openKind<const F extends Declared>(number: number, shapes: F): readonly [number, Shape<RecordType<F>>] {
  return [number, openRecord(shapes)];
}

export type UnionOf<Tag extends string, C extends Cases> = {
  [Word in keyof C]: Plain<{ readonly [K in Tag]: Word } & TypeOf<C[Word][1]>>;
}[keyof C];

/**
 * One list: the member's number, then its fields. A member that changes in more than a new last field becomes a new
 * member.
 */
export function union<Tag extends string, const C extends Cases>(tag: Tag, cases: C): Shape<UnionOf<Tag, C>> {
  return inList(unionFields(tag, cases));
}

/** A union without the surrounding list: its number follows the preceding values of the record. */
export function unionFields<Tag extends string, const C extends Cases>(tag: Tag, cases: C): Fields<UnionOf<Tag, C>> {
  const byWord = new Map<string, readonly [number | string, Fields<unknown>]>();
  const byNumber: (Found | undefined)[] = [];
  const byName = new Map<string, Found>();
  let places = 0;
  for (const [word, [code, given]] of Object.entries(cases)) {
    const found = { word, member: inOneList(given) };
    places = Math.max(places, 1 + found.member.places);
    byWord.set(word, [code, found.member]);
    if (typeof code === 'string') byName.set(code, found);
    else {
      assert(byNumber[code] === undefined, 'a number is given twice', { word, code });
      byNumber[code] = found;
    }
  }
  const ofNumber = (code: number) => {
    if (code >= byNumber.length)
      throw writtenByNewer('a record', { of: 'kind', found: code, known: byNumber.length - 1 });
    return byNumber[code];
  };
  const refuseKind = () => refuse('a record of a kind that is known');
  const memberOf = (value: object) => {
    const word = (value as { readonly [K in Tag]: string })[tag];
    const found = byWord.get(word);
    assert(found !== undefined, 'a record of a kind that is not known', { kind: word });
    return found;
  };
  return {
    places,
    count: (value: object) => 1 + memberOf(value)[1].count(value),
    write: (out, value: object) => {
      const [code, member] = memberOf(value);
      if (typeof code === 'number') out.whole(code);
      else out.text(code);
      member.write(out, value);
    },
    read: (from, count) => {
      if (count < 1) refuse('a kind');
      const { word, member } = (byName.size > 0 ? byName.get(from.text()) : ofNumber(from.whole())) ?? refuseKind();
      const read = member.read(from, count - 1) as Record<string, unknown>;
      if (!(tag in read)) read[tag] = word;
      return read as UnionOf<Tag, C>;
    },
  };
}

type Either<Tag extends string, Yes, No> =
  | Plain<{ readonly [K in Tag]: true } & Yes>
  | Plain<{ readonly [K in Tag]: false } & No>;

/** Fields of two kinds, preceded by a boolean that selects one. */
export function either<Tag extends string, Yes, No>(
  tag: Tag,
  yes: Fields<Yes>,
  no: Fields<No>,
): Fields<Either<Tag, Yes, No>> {
  const of = (value: object) => ((value as { [K in Tag]: boolean })[tag] ? yes : no) as Fields<unknown>;
  return {
    places: 1 + Math.max(yes.places, no.places),
    count: (value: object) => 1 + of(value).count(value),
    write: (out, value: object) => {
      out.flag((value as { [K in Tag]: boolean })[tag]);
      of(value).write(out, value);
    },
    read: (from, count) => {
      const isYes = from.flag();
      const read = (isYes ? yes : no).read(from, count - 1) as Record<string, unknown>;
      read[tag] = isYes;
      return read as Either<Tag, Yes, No>;
    },
  };
}

/**
 * A value preceded by its format version, in one list. The versions in `older` are read for ever but no longer written.
 */
export function versioned<T>(
  version: number,
  member: Member<T>,
  older: { readonly [version: number]: Member<T> } = {},
): Shape<T> {
  const current = inOneList(member);
  return {
    write: (out, value) => {
      out.list(1 + current.count(value));
      out.whole(version);
      current.write(out, value);
    },
    read: (from) => {
      const count = from.list() - 1;
      if (count < 0) refuse('a version');
      const found = from.whole();
      if (found === version) return current.read(from, count);
      const old = older[found];
      if (old === undefined) throw unknownVersion(found, version);
      return inOneList(old).read(from, count);
    },
  };
}

/** The version followed by the value, without a surrounding list. */
export function behindVersion<T>(version: number, shape: Shape<T>): Shape<T> {
  return {
    write: (out, value) => {
      out.whole(version);
      shape.write(out, value);
    },
    read: (from) => {
      const found = from.whole();
      if (found !== version) throw unknownVersion(found, version);
      return shape.read(from);
    },
  };
}

function unknownVersion(version: number, known: number): MillraceError {
  if (version > known) return writtenByNewer('a record', { of: 'version', found: version, known });
  return new MillraceError('JOURNAL_DAMAGED', `version ${version} is not known`);
}

function inOneList<T>(member: Member<T>): Fields<T> {
  if ('count' in member) return member;
  return {
    places: 1,
    count: () => 1,
    write: (out, value) => member.write(out, value),
    read: (from, count) => {
      if (count < 1) refuse('a record');
      const value = member.read(from);
      for (let more = count; more > 1; more -= 1) from.skip();
      return value;
    },
  };
}
