/** Which entries of a DLQ a call means: those that it names, or a page of those that match. Alike for both DLQs. */
import { MAX_DLQ_COUNT } from '../../../domain/queue/index.js';
import type { DlqId } from '../../../kernel/index.js';
import { invalid } from '../../http/refused.js';
import { countOf, orderOf, type Parameters, single, valuesOf } from '../call-filters.js';
import type { QueueCall } from '../queue-call.js';
import { MAX_IDS } from '../queue-limits.js';

const DLQ_ID = /^\d{1,16}-\d{1,16}$/;

export function isDlqId(text: string): boolean {
  return DLQ_ID.test(text);
}

/** An id that a client has lost would make it all of them. @throws Refused 400 */
export function refuseLostId({ path }: QueueCall): void {
  if (path.endsWith('/')) throw invalid('the dlq id is missing');
}

/** @param usual entries of a page, where the call does not say. @throws Refused 400 */
export function dlqPage<Filter>(parameters: Parameters, usual: number, filterOf: (parameters: Parameters) => Filter) {
  const dlqIds = valuesOf(parameters, 'dlqIds', MAX_IDS) as DlqId[];
  if (dlqIds.length > 0) return { kind: 'ids', dlqIds: [...new Set(dlqIds)] } as const;
  const after = single(parameters, 'cursor');
  if (after !== undefined && !isDlqId(after)) throw invalid('cursor is not one of ours');
  return {
    kind: 'filter',
    filter: filterOf(parameters),
    count: countOf(parameters, MAX_DLQ_COUNT) ?? usual,
    after: after as DlqId | undefined,
    order: orderOf(parameters, 'earliestFirst'),
  } as const;
}
