/** Selects the entries of a DLQ: by id, or a page of those that match a filter. Both DLQs use it. */
import { MAX_DLQ_COUNT } from '../../../domain/queue/index.js';
import type { DlqId } from '../../../kernel/index.js';
import { countOf, cursorOf, orderOf, type Parameters, valuesOf } from '../call-filters.js';
import { MAX_CALL_IDS } from '../queue-limits.js';

/** @param usual default number of entries. @throws Refused 400 */
export function dlqPage<Filter>(parameters: Parameters, usual: number, filterOf: (parameters: Parameters) => Filter) {
  const dlqIds = valuesOf(parameters, 'dlqIds', MAX_CALL_IDS) as DlqId[];
  if (dlqIds.length > 0) return { kind: 'ids', dlqIds: [...new Set(dlqIds)] } as const;
  return {
    kind: 'filter',
    after: cursorOf(parameters) as DlqId | undefined,
    filter: filterOf(parameters),
    count: countOf(parameters, MAX_DLQ_COUNT) ?? usual,
    order: orderOf(parameters, 'earliestFirst'),
  } as const;
}
