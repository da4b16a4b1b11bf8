/**
 * The metadata of a namespace's documents by field: each document has the number of its value, and each value is stored
 * once. A filter is evaluated once for each value instead of each document.
 *
 *  MC1 a column exists for a path that a filter has used; it is filled at that query, in slices, and kept up to date
 *  MC2 marks are those that the filter gives for each document one by one
 */
import type {
  FilterCondition,
  FilterMeter,
  FilterParts,
  FilterPath,
  JsonObject,
} from '../../../domain/search/index.js';
import { GRAPH_FROM } from '../../../domain/vector-graph/index.js';
import { withRoom } from '../held-documents.js';

/** Columns of a namespace; the one that was not used for the longest time makes room. */
const MAX_COLUMNS = 16;
/** Text of arrays and objects in one column, which is stored in addition to the metadata. */
const MAX_TEXT_CHARACTERS = 16 * 1024 * 1024;
/** Values of removed documents stay until there are this many for each document … */
const VALUES_PER_DOCUMENT = 2;
/** … and this many more. */
const SPARE_VALUES = 10_000;
/** Documents or values between two pauses: about 1 ms. */
const SLICE_DOCUMENTS = 5_000;
/** Look-ups between two pauses: 0.2 ms, and several ms for the first queries, before their code is compiled. */
const SLICE_LOOKUPS = 40_000;
/** Matching documents that are also listed: of fewer, all vectors are compared. */
const LISTED = GRAPH_FROM;

const NO_DOCUMENT = 0;
const NO_CONTENT: JsonObject = {};

/** Documents that match a filter. */
export interface FilterMarks {
  /** By ordinal: 1 for a document that matches, otherwise 0. */
  readonly marks: Uint8Array;
  /** Ordinals that match. */
  readonly count: number;
  /** These ordinals in ascending order; undefined if they are many. */
  readonly few: Uint32Array | undefined;
}

/** A part of a filter with conditions that were evaluated for each value. */
interface PartMarks {
  /** Sets the marks of the ordinals from `from` to before `to`. */
  mark(marks: Uint8Array, from: number, to: number): void;
  matches(ordinal: number): boolean;
}

export interface HeldMetadata {
  /** Ordinals that were ever used. */
  readonly ordinals: number;
  /** Documents that exist. */
  readonly size: number;
  documentAt(ordinal: number): { readonly metadata: JsonObject | undefined } | undefined;
}

export class MetadataColumns {
  readonly #columns = new Map<string, MetadataColumn>();

  constructor(private readonly held: HeldMetadata) {}

  put(ordinal: number, metadata: JsonObject | undefined): void {
    const most = VALUES_PER_DOCUMENT * this.held.size + SPARE_VALUES;
    for (const [name, column] of this.#columns) {
      column.put(ordinal, metadata);
      // The next filter with this path makes the column again, without the values of removed documents.
      if (column.values > most) this.#columns.delete(name);
    }
  }

  remove(ordinal: number): void {
    for (const column of this.#columns.values()) column.remove(ordinal);
  }

  /** The documents that match; undefined if the values of a field need too much memory. */
  *marks(filter: FilterParts, meter: FilterMeter): Generator<void, FilterMarks | undefined> {
    const { ordinals } = this.held;
    const part = yield* this.#evaluated(filter, meter);
    if (part === undefined) return undefined;
    const marks = new Uint8Array(ordinals);
    const listed = new Uint32Array(Math.min(LISTED, ordinals));
    let count = 0;
    for (let from = 0; from < ordinals; from += SLICE_LOOKUPS) {
      const to = Math.min(ordinals, from + SLICE_LOOKUPS);
      part.mark(marks, from, to);
      for (let ordinal = from; ordinal < to; ordinal += 1) {
        if (marks[ordinal] === 0) continue;
        if (count < LISTED) listed[count] = ordinal;
        count += 1;
      }
      if (to < ordinals) yield;
    }
    return { marks, count, few: count <= listed.length ? listed.subarray(0, count) : undefined };
  }

  /** Evaluates all conditions for each value. */
  *#evaluated(part: FilterParts, meter: FilterMeter): Generator<void, PartMarks | undefined> {
    if (part.kind === 'condition') {
      const column = yield* this.#column(part);
      return column.isTooLarge ? undefined : yield* column.evaluated(part.fits, meter);
    }
    const [first, ...others] = part.parts;
    let all = yield* this.#evaluated(first, meter);
    for (const each of others) {
      const other = yield* this.#evaluated(each, meter);
      if (all === undefined || other === undefined) return undefined;
      all = part.kind === 'and' ? bothOf(all, other) : eitherOf(all, other);
    }
    return all;
  }

  *#column({ path, read }: FilterCondition): Generator<void, MetadataColumn> {
    const name = nameOf(path);
    const known = this.#columns.get(name);
    const column = known ?? new MetadataColumn(read);
    this.#columns.delete(name);
    this.#columns.set(name, column);
    for (const oldest of this.#columns.keys()) {
      if (this.#columns.size <= MAX_COLUMNS) break;
      this.#columns.delete(oldest);
    }
    yield* column.fill(this.held);
    return column;
  }
}

function bothOf(one: PartMarks, other: PartMarks): PartMarks {
  return {
    matches: (ordinal) => one.matches(ordinal) && other.matches(ordinal),
    mark: (marks, from, to) => {
      one.mark(marks, from, to);
      for (let at = from; at < to; at += 1) if (marks[at] === 1 && !other.matches(at)) marks[at] = 0;
    },
  };
}

function eitherOf(one: PartMarks, other: PartMarks): PartMarks {
  return {
    matches: (ordinal) => one.matches(ordinal) || other.matches(ordinal),
    mark: (marks, from, to) => {
      one.mark(marks, from, to);
      for (let at = from; at < to; at += 1) if (marks[at] === 0 && other.matches(at)) marks[at] = 1;
    },
  };
}

function nameOf({ root, steps }: FilterPath): string {
  return JSON.stringify([root, ...steps]);
}

class MetadataColumn {
  /** By ordinal: the place of the value in `#values`. */
  #places = new Uint32Array(16);
  /** The first place is for ordinals without a document; it has no value. */
  readonly #values: unknown[] = [undefined];
  readonly #placesByValue = new Map<unknown, number>();
  /** Of arrays and objects, by their JSON text. */
  readonly #placesByText = new Map<string, number>();
  #textCharacters = 0;
  #filledTo = 0;

  constructor(private readonly read: FilterCondition['read']) {}

  get values(): number {
    return this.#values.length;
  }

  get isTooLarge(): boolean {
    return this.#textCharacters > MAX_TEXT_CHARACTERS;
  }

  put(ordinal: number, metadata: JsonObject | undefined): void {
    if (this.isTooLarge) return;
    this.#places = withRoom(this.#places, ordinal);
    this.#places[ordinal] = this.#placeOf(this.read({ content: metadata ?? NO_CONTENT }));
  }

  remove(ordinal: number): void {
    if (ordinal < this.#places.length) this.#places[ordinal] = NO_DOCUMENT;
  }

  /** Documents may be put or removed between two slices; each is read again. */
  *fill(held: HeldMetadata): Generator<void> {
    while (this.#filledTo < held.ordinals && !this.isTooLarge) {
      const to = Math.min(held.ordinals, this.#filledTo + SLICE_DOCUMENTS);
      for (let ordinal = this.#filledTo; ordinal < to; ordinal += 1) {
        const document = held.documentAt(ordinal);
        if (document !== undefined) this.put(ordinal, document.metadata);
      }
      this.#filledTo = to;
      yield;
    }
  }

  /** @param meter the one that `fits` counts with */
  *evaluated(fits: (value: unknown) => boolean, meter: FilterMeter): Generator<void, PartMarks> {
    const accepted = new Uint8Array(this.#values.length);
    for (let place = NO_DOCUMENT + 1; place < accepted.length; place += 1) {
      if (fits(this.#values[place])) accepted[place] = 1;
      if (meter.isPauseDue()) yield;
    }
    // A value that was added since is that of a document that the query does not see.
    return {
      matches: (ordinal) => accepted[this.#places[ordinal] as number] === 1,
      mark: (marks, from, to) => {
        const places = this.#places;
        const end = Math.min(to, places.length);
        for (let at = from; at < end; at += 1) marks[at] = accepted[places[at] as number] ?? 0;
      },
    };
  }

  #placeOf(value: unknown): number {
    if (typeof value !== 'object' || value === null) return this.#placeIn(this.#placesByValue, value, value);
    const text = JSON.stringify(value);
    const before = this.#placesByText.size;
    const place = this.#placeIn(this.#placesByText, text, value);
    if (this.#placesByText.size > before) this.#textCharacters += text.length;
    return place;
  }

  #placeIn<Key>(places: Map<Key, number>, key: Key, value: unknown): number {
    const known = places.get(key);
    if (known !== undefined) return known;
    const place = this.#values.length;
    this.#values.push(value);
    places.set(key, place);
    return place;
  }
}
