/** API calls for the DLQ: entries that match a filter, their number, and bulk actions. */
import type { Schemas } from '#api';
import { ofQueue, type Query } from '../../api/call.js';
import type { PageQuery } from '../../api/query.js';
import { instantOf } from '../queue/messages/message-rows.js';

export type DeadLetter = Schemas['DeadLetter'];
export type DeadLetterPage = Schemas['DeadLetterPage'];

/** Entries per API call. */
const PAGE = 100;

const WORDS = [
  'messageId',
  'url',
  'label',
  'responseStatus',
  'queueName',
  'topicName',
  'scheduleId',
  'flowControlKey',
  'priority',
  'callerIp',
];

/** The address's filters in the API's form. */
export function filterOf(query: PageQuery): Query {
  const given = Object.fromEntries(WORDS.map((word) => [word, query[word]]));
  return { ...given, fromDate: instantOf(query.fromDate), toDate: instantOf(query.toDate) };
}

/** Newest first, without bodies. @throws CallError */
export async function deadLetters(
  account: string,
  filter: Query,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<DeadLetterPage> {
  const query = { ...filter, cursor, count: PAGE, order: 'latestFirst', trimBody: -1 };
  return (await ofQueue(account, 'GET /v2/dlq', { query, signal })) as DeadLetterPage;
}

/** Counts by the status of the last answer; 0: no answer. @throws CallError */
export function countsOf(account: string, filter: Query): Promise<Schemas['Counts']> {
  return ofQueue(account, 'GET /v2/dlq/counts', { query: filter });
}

/** The time of the failure, taken from the id. */
export function failedAtOf({ dlqId }: Pick<DeadLetter, 'dlqId'>): number {
  return Number(dlqId.split('-')[0]);
}

export type BulkAction = 'retry' | 'delete';

export interface BulkStep {
  readonly count: number;
  readonly cursor: string | undefined;
}

/** One page of the matching entries, the oldest first. @throws CallError */
export async function bulkPage(
  account: string,
  action: BulkAction,
  filter: Query,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<BulkStep> {
  const options = { query: { ...filter, cursor, count: PAGE }, signal };
  return step(account, action, options);
}

/** The named entries. @throws CallError */
export function bulkOf(account: string, action: BulkAction, dlqIds: readonly string[]): Promise<BulkStep> {
  return step(account, action, { body: { dlqIds } });
}

async function step(account: string, action: BulkAction, options: Parameters<typeof ofQueue>[2]): Promise<BulkStep> {
  if (action === 'retry') {
    const { responses, cursor } = await ofQueue(account, 'POST /v2/dlq/retry', options);
    return { count: responses.length, cursor };
  }
  const { deleted, cursor } = await ofQueue(account, 'DELETE /v2/dlq', options);
  return { count: deleted, cursor };
}
