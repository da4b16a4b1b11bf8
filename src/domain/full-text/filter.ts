/** A parsed filter: conditions on fields, joined by boolean operators. */
import type { IndexField } from './definition.js';
import type { FieldValue } from './field-values.js';
import type { FieldRange } from './value-fields.js';

export type Condition =
  /** A text: all words as a phrase; another field: the value itself. */
  | { readonly kind: 'equals'; readonly value: FieldValue }
  | { readonly kind: 'in'; readonly values: readonly FieldValue[] }
  | { readonly kind: 'range'; readonly range: FieldRange }
  | {
      readonly kind: 'fuzzy';
      readonly value: string;
      readonly distance: number;
      readonly isSwapOne: boolean;
      readonly isPrefix: boolean;
    }
  | { readonly kind: 'phrase'; readonly value: string; readonly slop: number; readonly isPrefix: boolean }
  | { readonly kind: 'regex'; readonly test: (term: string) => boolean }
  | { readonly kind: 'smart'; readonly value: string };

export type DocumentFilter =
  | { readonly kind: 'all'; readonly boost: number }
  | { readonly kind: 'field'; readonly field: IndexField; readonly condition: Condition; readonly boost: number }
  | {
      readonly kind: 'boolean';
      readonly must: readonly DocumentFilter[];
      /** With `must` they only add to the score; otherwise one has to match. */
      readonly should: readonly DocumentFilter[];
      /** One of them has to match, even with `must`. */
      readonly any: readonly DocumentFilter[];
      readonly mustNot: readonly DocumentFilter[];
      readonly boost: number;
    };
