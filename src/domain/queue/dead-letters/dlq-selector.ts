/** Which entries of the DLQ a command means: named ones, or a page of those that a filter lets through. */
import type { DlqId } from '../../../kernel/index.js';

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
