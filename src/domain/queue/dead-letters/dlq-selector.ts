/** Which entries of the DLQ a command means: named ones, or a page of those that a filter lets through. */
import type { DlqId } from '../../../kernel/index.js';
import { kind, listOf, oneOf, optional, type Shape, union, whole } from '../../../kernel/schema/index.js';
import { dlqId } from '../records.js';

export type DlqSelectorBy<Filter> =
  | { readonly kind: 'ids'; readonly dlqIds: readonly DlqId[] }
  | {
      readonly kind: 'filter';
      readonly filter: Filter;
      readonly count: number;
      /** The last id of the page before, exclusive. */
      readonly after: DlqId | undefined;
      readonly order: 'earliestFirst' | 'latestFirst';
    };

/** The compiler proves that it is what the type says, for any filter. */
export function dlqSelectorBy<Filter>(filter: Shape<Filter>): Shape<DlqSelectorBy<Filter>> {
  const order = oneOf('earliestFirst', 'latestFirst');
  return union('kind', {
    ids: kind(1, { dlqIds: listOf(dlqId) }),
    filter: kind(2, { filter, count: whole, after: optional(dlqId), order }),
  });
}
