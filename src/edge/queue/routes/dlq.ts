/** `/v2/dlq`: lists, deletes and retries messages that could not be delivered. */

import { type DlqSelector, MAX_DLQ_COUNT } from '../../../domain/queue/index.js';
import type { DlqId } from '../../../kernel/index.js';
import type { DlqRow } from '../../../ports/index.js';
import { notFound } from '../../error-map.js';
import { RefusedRequest } from '../../http/refused.js';
import { dlqRecord } from '../../records/message-record.js';
import { DONE_ANSWER, shows } from '../answer-schemas.js';
import {
  bulkParameters,
  filterOf,
  isGrouped,
  type Parameters,
  queryParameters,
  refuseLostId,
  trimOf,
} from '../call-filters.js';
import { filterBody, filterParameters } from '../call-parameters.js';
import { answerCounts } from '../counts-answer.js';
import { publishedJson } from '../publish-answer.js';
import { settingsOf } from '../publish-items.js';
import { endOfPage, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { dlqPage } from '../requests/dlq-page.js';
import { listFailedRuns } from './workflow-dlq.js';

const PARAMETERS = [
  'dlqIds',
  'messageId',
  'url',
  'topicName',
  'scheduleId',
  'queueName',
  'fromDate',
  'toDate',
  'responseStatus',
  'callerIp',
  'label',
  'flowControlKey',
  'priority',
  'cursor',
  'count',
  'order',
];
const NOT_OF_COUNTS = ['dlqIds', 'cursor', 'count', 'order'];
const OF_COUNTS: ReadonlySet<string> = new Set(PARAMETERS.filter((name) => !NOT_OF_COUNTS.includes(name)));
const OF_BULK: ReadonlySet<string> = new Set(PARAMETERS);
const OF_LIST: ReadonlySet<string> = new Set([...PARAMETERS, 'source', 'groupBy', 'trimBody']);

export const DLQ_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/dlq', {
    summary: 'Lists messages that could not be delivered.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: shows('DeadLetterPage', 'FailedRunPage'),
    handle: listDlq,
  }),

  queueRoute('GET /v2/dlq/counts', {
    summary: 'Counts the entries of the DLQ that a filter meets, by the status of their last response.',
    permission: 'read',
    parameters: filterParameters(OF_COUNTS),
    answer: shows('Counts'),
    async handle(call) {
      const filter = filterOf(queryParameters(call.words.rest, OF_COUNTS));
      const { messageLog } = call.endpoint.parts;
      await answerCounts(call, await messageLog.dlqCounts(call.grant.account, filter, await call.position()));
    },
  }),

  queueRoute('GET /v2/dlq/:id', {
    summary: 'Shows an entry of the DLQ.',
    permission: 'read',
    answer: shows('DeadLetter'),
    async handle(call, { path: { id } }) {
      const { entry, content, response } = await call.ask({ type: 'GetDlq', dlqId: id as DlqId }, 'Dlq');
      call.value(200, entryRecord(call, { ...entry, body: content, response: { ...entry.response, body: response } }));
    },
  }),

  queueRoute('DELETE /v2/dlq', {
    summary: 'Deletes entries of the DLQ.',
    permission: 'change',
    parameters: filterParameters(OF_BULK),
    bodyShape: filterBody(OF_BULK),
    example: { toDate: 1790000000000 },
    answer: shows('DlqDeleted'),
    async handle(call) {
      const selector = selectorOf(bulkParameters(call, OF_BULK, 'dlq'));
      const { count, after } = await call.ask({ type: 'DeleteDlq', selector }, 'DlqDeleted');
      call.value(200, { deleted: count, cursor: after });
    },
  }),

  queueRoute('DELETE /v2/dlq/:id', {
    summary: 'Deletes an entry of the DLQ.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path: { id } }) {
      const selector = { kind: 'ids', dlqIds: [id as DlqId] } as const;
      const { count } = await call.ask({ type: 'DeleteDlq', selector }, 'DlqDeleted');
      if (count === 0) throw new RefusedRequest(notFound(`dlq message ${id}`));
      call.done();
    },
  }),

  queueRoute('POST /v2/dlq/retry', {
    summary: 'Sends entries of the DLQ again.',
    permission: 'change',
    parameters: filterParameters(OF_BULK),
    bodyShape: filterBody(OF_BULK),
    example: { label: 'welcome', count: 50 },
    answer: shows('DlqRetried'),
    statuses: [201],
    async handle(call) {
      refuseLostId(call.path, 'dlq');
      const { results, after } = await retry(call, () => selectorOf(bulkParameters(call, OF_BULK, 'dlq')));
      call.json(201, `{"responses":[${results.map(publishedJson).join(',')}${endOfPage(after)}`);
    },
  }),

  queueRoute('POST /v2/dlq/retry/:id', {
    summary: 'Sends an entry of the DLQ again.',
    permission: 'change',
    answer: shows('Published'),
    statuses: [201],
    async handle(call, { path: { id } }) {
      const { results } = await retry(call, () => ({ kind: 'ids', dlqIds: [id as DlqId] }));
      const [published] = results;
      if (published === undefined) throw new RefusedRequest(notFound(`dlq message ${id}`));
      call.json(201, publishedJson(published));
    },
  }),
];

async function listDlq(call: QueueCall): Promise<void> {
  // Workflow runs have their own DLQ with its own filters.
  if (new URLSearchParams(call.words.rest).get('source') === 'workflow') {
    await listFailedRuns(call);
    return;
  }
  const parameters = queryParameters(call.words.rest, OF_LIST);
  const selector = selectorOf(parameters);
  // Each message has one entry, so grouping changes nothing here.
  isGrouped(parameters, 'messageId');
  const { messageLog } = call.endpoint.parts;
  const page = await messageLog.dlq(call.grant.account, selector, await call.position(), trimOf(parameters));
  const { entries, after } = page;
  const end = endOfPage(selector.kind === 'ids' ? undefined : after);
  await call.list(['{"messages":[', end], entries, (row) => entryRecord(call, row), page);
}

/**
 * The call's configuration overrides that of the entries; Content-Type and Content-Encoding are about the call's
 * body.
 */
async function retry(call: QueueCall, select: () => DlqSelector) {
  const { configuration, query } = call.words;
  const overrides = { headers: configuration.filter(([name]) => !name.startsWith('content-')), query };
  settingsOf(call, overrides, 'retry', { refuses: 'options' });
  const firstId = call.newMessageId();
  return await call.ask({ type: 'RetryDlq', selector: select(), firstId, overrides }, 'DlqRetried');
}

function selectorOf(parameters: Parameters): DlqSelector {
  return dlqPage(parameters, MAX_DLQ_COUNT, filterOf);
}

/** An entry from a read model, or from the queue's owner, which omits empty bodies. */
type DlqEntryView = Pick<DlqRow, 'dlqId' | 'messageId' | 'envelope' | 'createdAtMs' | 'notBeforeMs'> & {
  readonly body: Uint8Array | undefined;
  readonly isBodyCut?: boolean | undefined;
  readonly response: Omit<DlqRow['response'], 'body'> & { readonly body: Uint8Array | undefined };
};

function entryRecord(call: QueueCall, entry: DlqEntryView) {
  const { dlqId, messageId: id, envelope, createdAtMs, notBeforeMs, body: content, isBodyCut } = entry;
  const { status, header, error, body: response, isCut } = entry.response;
  const message = { id, envelope, createdAtMs, notBeforeMs, content, isBodyCut };
  return dlqRecord({ dlqId, message, status, header, error, response, isCut }, call.spellingFor(envelope.isAlias));
}
