/** The DLQ entries that a command addresses: ids, or one page of those that match a filter. */
import type { DlqId } from '../../../kernel/index.js';
import { kind, listOf, oneOf, optional, type Shape, union, whole } from '../../../kernel/schema/index.js';
import { dlqId } from './records.js';

export type DlqSelectorBy<Filter> =
  | { readonly kind: 'ids'; readonly dlqIds: readonly DlqId[] }
  | {
      readonly kind: 'filter';
      readonly filter: Filter;
      readonly count: number;
      /** The last id of the previous page, exclusive. */
      readonly after: DlqId | undefined;
      readonly order: 'earliestFirst' | 'latestFirst';
    };

/** The shape of a selector for any filter; its type is checked by the compiler. */
export function dlqSelectorBy<Filter>(filter: Shape<Filter>): Shape<DlqSelectorBy<Filter>> {
  const order = oneOf('earliestFirst', 'latestFirst');
  return union('kind', {
    ids: kind(1, { dlqIds: listOf(dlqId) }),
    filter: kind(2, { filter, count: whole, after: optional(dlqId), order }),
  });
}
