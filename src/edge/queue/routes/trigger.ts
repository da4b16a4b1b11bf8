/** `/v2/trigger` and `/v2/batch/trigger`: start runs with plain HTTP calls. */
import {
  headerValue,
  type Published,
  type PublishItem,
  type QueueReplyOf,
  triggerHeaders,
} from '../../../domain/queue/index.js';
import { newRunId, RUN_ID } from '../../../domain/queue/runs/index.js';
import { anyBody } from '../../http/body-shape.js';
import { pathParameter } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import { lists, shows } from '../answer-schemas.js';
import { MESSAGES } from '../body-shapes.js';
import { rawSettingsOf } from '../call-words.js';
import { destinationInPath } from '../destination.js';
import { warningHeaders } from '../publish-answer.js';
import type { RequestedMessage } from '../publish-items.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { runHeadersOf } from '../run-headers.js';
import { MESSAGE_HEADERS, OTHER_HEADERS } from '../setting-headers.js';
import { publishItems } from '../trial-requests.js';
import { runItem } from '../workflow-items.js';
import { batchItems, inWordsOfBatch } from './batch.js';

const ENDPOINT = pathParameter('destination', 'The URL of the endpoint, as written or completely percent-encoded.');
const TRIGGER = '/v2/trigger/';

export const TRIGGER_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/trigger/*destination', {
    summary: 'Starts a workflow run.',
    permission: 'publish',
    bodyBound: 'message',
    boundBy: 'day',
    description: OTHER_HEADERS,
    parameters: [ENDPOINT, ...MESSAGE_HEADERS],
    bodyShape: anyBody('The payload of the run.'),
    example: { order: 42 },
    answer: shows('Started'),
    async handle(call) {
      const { words, path, body } = call;
      const item = triggerItem(call, {
        destination: destinationInPath(path.slice(TRIGGER.length), words.rest),
        raw: rawSettingsOf(words, false),
        of: 'publish',
        queueName: undefined,
        body,
        isAlias: words.isAlias,
      });
      const { results, daily } = await start(call, [item]);
      call.json(200, startedJson(results[0], item), warningHeaders(daily));
    },
  }),

  queueRoute('POST /v2/batch/trigger', {
    summary: 'Starts workflow runs.',
    permission: 'publish',
    bodyBound: 'batch',
    boundBy: 'day',
    bodyShape: MESSAGES,
    example: [{ destination: 'https://example.com/api/orders', body: '{"order":42}' }],
    answer: lists('Started'),
    statuses: [201],
    async handle(call) {
      const items = await batchItems(call, { make: triggerItem, isSentByRun: () => false });
      const { results, daily } = await start(call, items);
      const texts = results.map((result, at) => startedJson(result, items[at]));
      call.json(201, `[${texts.join(',')}]`, warningHeaders(daily));
    },
  }),
];

function start(call: QueueCall, items: readonly PublishItem[]): Promise<QueueReplyOf<'Published'>> {
  return inWordsOfBatch(items, publishItems(call, items));
}

/** The started run, or the existing one. */
function startedJson(result: QueueReplyOf<'Published'>['results'][number] | undefined, item: PublishItem | undefined) {
  const { run, isDuplicate } = result as Published;
  // The run of a duplicate message may have ended long ago, so its id is not shown.
  const runId = run?.runId ?? (isDuplicate ? undefined : item?.workflow?.runId);
  return JSON.stringify({
    workflowRunId: runId,
    workflowCreatedAt: run?.createdAtMs,
    deduplicated: isDuplicate ? true : undefined,
  });
}

/** @throws Refused 400, 412 */
function triggerItem(call: QueueCall, asked: RequestedMessage): PublishItem {
  const { destination, raw } = asked;
  if (destination.kind === 'group') throw invalid('the destination of a workflow must be a url, not a url group');
  const runId = headerValue(raw.headers, RUN_ID) || newRunId(call.endpoint.parts.random);
  const headers = triggerHeaders(raw, destination.url, runId);
  const run = runHeadersOf(headers);
  if (run === undefined) throw invalid('the workflow run id is empty');
  return runItem(call, { ...asked, raw: { headers, query: raw.query } }, run, { needsRecentClient: true });
}
