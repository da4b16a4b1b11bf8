/** The order of a query's answers: by score, by a function of fields, or by a field. */
import { FirstItems } from '../search/index.js';
import type { FieldValue } from './field-values.js';
import { compareValues } from './field-values.js';
import { firstOf } from './first-places.js';
import { SLICE_POSTINGS } from './limits.js';
import type { Matches } from './matches.js';
import type { Column } from './value-fields.js';

export type ScoreMode = 'MULTIPLY' | 'SUM' | 'REPLACE';
export const MODIFIERS = {
  NONE: (value: number) => value,
  LOG: Math.log10,
  LOG1P: (value: number) => Math.log10(value + 1),
  LOG2P: (value: number) => Math.log10(value + 2),
  LN: Math.log,
  LN1P: Math.log1p,
  LN2P: (value: number) => Math.log(value + 2),
  SQUARE: (value: number) => value * value,
  SQRT: Math.sqrt,
  RECIPROCAL: (value: number) => 1 / value,
} as const;

export interface ScoreField {
  readonly column: Column;
  readonly modifier: keyof typeof MODIFIERS;
  readonly factor: number;
  /** In place of a missing value; undefined: the field then has no influence. */
  readonly missing: number | undefined;
  /** How its value joins those of the fields before it; undefined: as the function says. */
  readonly mode: ScoreMode | undefined;
}

export interface ScoreFunction {
  /** How the values of fields are joined. */
  readonly combine: 'MULTIPLY' | 'SUM';
  /** How the joined value changes the score. */
  readonly mode: ScoreMode;
  readonly fields: readonly ScoreField[];
}

export interface FieldOrder {
  readonly column: Column;
  readonly isDescending: boolean;
}

export interface RankedDocument {
  readonly ordinal: number;
  readonly score: number;
  /** The value that it is ordered by, with ORDERBY. */
  readonly value?: FieldValue | undefined;
}

/** The scores with the function applied, in slices. */
export function* withFunction(matches: Matches, { combine, mode, fields }: ScoreFunction): Generator<void, Matches> {
  const scores = matches.scores.slice();
  for (let at = 0; at < scores.length; at += 1) {
    if (at % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    const ordinal = matches.ordinals[at] as number;
    let joined: number | undefined;
    for (const field of fields) {
      const value = valueFor(field, ordinal);
      if (value === undefined) continue;
      joined = joined === undefined ? value : applied(field.mode ?? combine, joined, value);
    }
    if (joined !== undefined) scores[at] = applied(mode, scores[at] as number, joined);
  }
  return { ordinals: matches.ordinals, scores };
}

function valueFor({ column, modifier, factor, missing }: ScoreField, ordinal: number): number | undefined {
  const given = column.first(ordinal);
  const value = given === undefined ? missing : Number(given);
  if (value === undefined) return undefined;
  const modified = MODIFIERS[modifier](factor * value);
  return Number.isFinite(modified) ? modified : 0;
}

function applied(mode: ScoreMode, score: number, value: number): number {
  if (mode === 'REPLACE') return value;
  return mode === 'SUM' ? score + value : score * value;
}

/** The best of documents that are added in ascending order: best score first, equal ones in the order of writing. */
export class BestMatches {
  readonly #best: FirstItems<RankedDocument>;
  /** A document with a lower or the same score is not one of the best. */
  #bar = Number.NEGATIVE_INFINITY;

  constructor(private readonly most: number) {
    this.#best = new FirstItems(most, (one, other) => other.score - one.score || one.ordinal - other.ordinal);
  }

  add(ordinal: number, score: number): void {
    if (score <= this.#bar || this.most === 0) return;
    this.#best.offer({ ordinal, score });
    if (this.#best.isFull) this.#bar = this.#best.last?.score ?? this.#bar;
  }

  get documents(): RankedDocument[] {
    return this.#best.inOrder();
  }
}

/** In slices. */
export function* bestOf({ ordinals, scores }: Matches, most: number): Generator<void, RankedDocument[]> {
  const best = new BestMatches(most);
  for (let from = 0; from < ordinals.length; from += SLICE_POSTINGS) {
    if (from > 0) yield;
    const to = Math.min(from + SLICE_POSTINGS, ordinals.length);
    for (let at = from; at < to; at += 1) best.add(ordinals[at] as number, scores[at] as number);
  }
  return best.documents;
}

/** As `bestOf`, by the first value of a field; documents without one come last. */
export function* orderedBy(matches: Matches, order: FieldOrder, most: number): Generator<void, RankedDocument[]> {
  const { ordinals, scores } = matches;
  const values: (FieldValue | undefined)[] = [];
  for (let at = 0; at < ordinals.length; at += 1) {
    if (at % SLICE_POSTINGS === SLICE_POSTINGS - 1) yield;
    values.push(order.column.first(ordinals[at] as number));
  }
  const before = (a: number, b: number) => {
    const [left, right] = [values[a], values[b]];
    if (left === undefined || right === undefined) {
      return left === right ? a - b : left === undefined ? 1 : -1;
    }
    const compared = compareValues(left, right);
    return (order.isDescending ? -compared : compared) || a - b;
  };
  const places = yield* firstOf(ordinals.length, most, before);
  return places.map((place) => ({
    ordinal: ordinals[place] as number,
    score: scores[place] as number,
    value: values[place],
  }));
}
