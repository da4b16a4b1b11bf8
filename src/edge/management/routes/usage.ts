/** Use of the account in a month, labels that divide it, and the webhook with it at the end of a month. */
import { type LabelsOfOne, MAX_OBJECT_LABELS } from '../../../domain/control/index.js';
import { monthIn, monthOfInstant, usageCsv, usageFields } from '../../../domain/statistics/index.js';
import { assert } from '../../../kernel/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { MANAGEMENT_REFUSALS, notFound } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT, one, PlainAnswer } from '../../http/answer-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { LabelsAnswer, UsageAnswer, UsageReportAnswer } from '../answers/usage-answers.js';
import { databaseIdIn, queueIdIn } from '../ids.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { LabelsRequest, UsageQuery, UsageReportRequest } from '../requests/usage-requests.js';

export const USAGE_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/usage', {
    summary: 'Shows the use of each database, queue and search index of the account in a month.',
    description: 'With `format=csv` the answer is a table with a column for each label.',
    permission: 'account:read',
    query: UsageQuery,
    answer: one(UsageAnswer),
    async handle(call, { query }) {
      const now = monthOfInstant(call.nowMs);
      const month = query.month === undefined ? now : monthIn(query.month);
      if (month === undefined || month > now)
        throw invalid('month: must be a past month or the present one, like 2026-11');
      const document = call.shows(await documentsOf(call).documentOf(call.account, month));
      return query.format === 'csv'
        ? new PlainAnswer('text/csv; charset=utf-8', usageCsv(document))
        : usageFields(document);
    },
  }),

  managementRoute('GET /v2/labels', {
    summary: 'Lists the labels of databases, queues and search indexes.',
    permission: 'account:read',
    answer: listOf(LabelsAnswer),
    async handle(call) {
      const { labels } = await call.ask({ type: 'ListLabels', account: call.account }, 'LabelsAre');
      return labels.map(labelsAnswer);
    },
  }),

  managementRoute('PATCH /v2/labels/:kind/:id', {
    summary: 'Sets labels of a database, queue or search index; an empty value removes a label, others stay.',
    description: `\`kind\` is database, queue or index. Up to ${MAX_OBJECT_LABELS} labels; \`costCentre\` divides costs.`,
    permission: 'billing:change',
    body: LabelsRequest,
    example: { labels: [{ name: 'costCentre', value: '4711' }] },
    answer: one(LabelsAnswer),
    async handle(call, { path: { kind, id }, body }) {
      const labels = body.labels.map(({ name, value }) => ({ name, value }));
      const of = objectIn(kind, id);
      const about = {
        action: 'setLabels',
        entity: id ?? '',
        secondary: labels.map(({ name }) => name).join(', '),
      } as const;
      const command = { type: 'SetLabels', account: call.account, ...of, labels } as const;
      const [changed] = (await call.change(command, 'LabelsAre', about)).labels;
      assert(changed !== undefined, 'labels that were set without an answer');
      return labelsAnswer(changed);
    },
  }),

  managementRoute('GET /v2/usage/webhook', {
    summary: 'Shows the address that gets the use of each month.',
    permission: 'account:read',
    answer: one(UsageReportAnswer),
    async handle(call) {
      const { url } = await call.ask({ type: 'GetUsageReport', account: call.account }, 'UsageReportIs');
      return { url };
    },
  }),

  managementRoute('POST /v2/usage/webhook', {
    summary: 'Sends the use of each month to an address, as a signed message of the queue.',
    permission: 'billing:change',
    body: UsageReportRequest,
    example: { url: 'https://example.com/usage' },
    answer: one(UsageReportAnswer),
    async handle(call, { body: { url } }) {
      const refusal = documentsOf(call).refusalOf(url);
      if (refusal !== undefined) throw invalid(`url: ${refusal}`);
      return setReport(call, url);
    },
  }),

  managementRoute('DELETE /v2/usage/webhook', {
    summary: 'Ends the webhooks with the use of each month.',
    permission: 'billing:change',
    answer: OK_ANSWER,
    async handle(call) {
      const { url } = await call.ask({ type: 'GetUsageReport', account: call.account }, 'UsageReportIs');
      if (url === '') throw new RefusedRequest(notFound('webhook'));
      await setReport(call, '');
      return OK_TEXT;
    },
  }),
];

async function setReport(call: ManagementCall, url: string): Promise<UsageReportAnswer> {
  const { account, nowMs } = call;
  const about = { action: url === '' ? 'deleteUsageReport' : 'setUsageReport', entity: url } as const;
  const command = { type: 'SetUsageReport', account, url, month: monthOfInstant(nowMs) - 1 } as const;
  const reply = await call.change(command, 'UsageReportIs', about);
  return { url: reply.url };
}

/** @throws Refused 404 */
function objectIn(kind: string | undefined, id: string | undefined) {
  if (kind === 'database') return { database: databaseIdIn(id) };
  if (kind === 'index') return { index: databaseIdIn(id) };
  if (kind === 'queue') return { queue: queueIdIn(id) };
  throw new RefusedRequest(notFound('kind of object with labels'));
}

function labelsAnswer({ id, labels }: LabelsOfOne): LabelsAnswer {
  return { id: uuidOf(id), labels: Object.fromEntries(labels.map(({ name, value }) => [name, value])) };
}

/** @throws Refused 503 if this server keeps no statistics */
function documentsOf({ endpoint }: ManagementCall) {
  const { usage } = endpoint.parts;
  if (usage === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noStatistics);
  return usage;
}
