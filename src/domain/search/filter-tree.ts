/** The syntax tree of a filter. */

export type FilterLiteral = string | number | boolean;

/**
 * From the document's content or metadata downwards: names of fields and indexes of array elements, negative ones
 * from the end.
 */
export interface FilterPath {
  readonly root: 'content' | 'metadata';
  readonly steps: readonly (string | number)[];
}

export const ORDER_OPERATORS = ['<', '<=', '>', '>='] as const;
export type OrderOperator = (typeof ORDER_OPERATORS)[number];

export type FilterNode =
  | { readonly kind: 'or' | 'and'; readonly parts: readonly FilterNode[] }
  | { readonly kind: 'has'; readonly path: FilterPath; readonly isNegated: boolean }
  | { readonly kind: 'equals'; readonly path: FilterPath; readonly value: FilterLiteral; readonly isNegated: boolean }
  | {
      readonly kind: 'order';
      readonly path: FilterPath;
      readonly operator: OrderOperator;
      readonly value: string | number;
    }
  | { readonly kind: 'glob'; readonly path: FilterPath; readonly pattern: string; readonly isNegated: boolean }
  | {
      readonly kind: 'in';
      readonly path: FilterPath;
      readonly values: readonly FilterLiteral[];
      readonly isNegated: boolean;
    }
  | {
      readonly kind: 'contains';
      readonly path: FilterPath;
      readonly value: FilterLiteral;
      readonly isNegated: boolean;
    };
