/** The queue face's part of the document: a row for each call. Source: docs/guide. */
import {
  ERROR_SCHEMA,
  type JsonSchema,
  jsonAnswer,
  type Operation,
  operationIdOf,
  type Parameter,
  type Paths,
  parametersIn,
} from './parts.js';

const ANYTHING: JsonSchema = {};
const OBJECT: JsonSchema = { type: 'object' };
const OBJECTS: JsonSchema = { type: 'array', items: OBJECT };
const CURSOR: JsonSchema = { type: 'string', description: 'Empty or left out: there is no more.' };

/** Records that published clients rely on; what else they hold is in the guide. */
export const QUEUE_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Published: record({ messageId: { type: 'string' } }, ['messageId'], {
    url: { type: 'string' },
    deduplicated: { type: 'boolean' },
  }),
  ScheduleSet: record({ scheduleId: { type: 'string' } }, ['scheduleId']),
  SigningKeys: record({ current: { type: 'string' }, next: { type: 'string' } }, ['current', 'next']),
  Cancelled: record({ cancelled: { type: 'integer' } }, ['cancelled']),
  DlqDeleted: record({ deleted: { type: 'integer' } }, ['deleted'], { cursor: CURSOR }),
  ResumedRuns: record(
    {
      workflowRuns: {
        type: 'array',
        items: record({ workflowRunId: { type: 'string' }, workflowCreatedAt: { type: 'integer' } }, [
          'workflowRunId',
          'workflowCreatedAt',
        ]),
      },
    },
    ['workflowRuns'],
    { cursor: CURSOR },
  ),
};

type Row = readonly [method: string, path: string, summary: string, answer: JsonSchema, parameters?: readonly string[]];

const FILTERS = [
  'messageId',
  'url',
  'topicName',
  'scheduleId',
  'queueName',
  'fromDate',
  'toDate',
  'label',
  'callerIp',
  'flowControlKey',
];
const RUN_FILTERS = [
  'fromDate',
  'toDate',
  'workflowUrl',
  'workflowRunId',
  'workflowCreatedAt',
  'label',
  'failureFunctionState',
  'callerIp',
  'flowControlKey',
];
const PAGE = ['cursor', 'count'];
const IDS = ['dlqIds', ...PAGE];
const LIST = [...PAGE, 'groupBy', 'trimBody'];

/** Parameters whose name begins with a capital are headers. */
const MESSAGE_SETTINGS = [
  'Svc-Method',
  'Svc-Delay',
  'Svc-Not-Before',
  'Svc-Retries',
  'Svc-Retry-Delay',
  'Svc-Timeout',
  'Svc-Callback',
  'Svc-Failure-Callback',
  'Svc-Header-Forward',
  'Svc-Flow-Control-Key',
  'Svc-Flow-Control-Value',
  'Svc-Deduplication-Id',
  'Svc-Content-Based-Deduplication',
  'Svc-Label',
];

const ROWS: readonly Row[] = [
  ['post', '/v2/publish/{destination}', 'Publishes a message to a URL or a URL group.', published(), MESSAGE_SETTINGS],
  [
    'post',
    '/v2/enqueue/{queue}/{destination}',
    'Publishes a message by way of a queue.',
    published(),
    MESSAGE_SETTINGS,
  ],
  ['post', '/v2/batch', 'Publishes many messages.', { type: 'array', items: published() }],
  ['get', '/v2/messages/{id}', 'Shows a message that is under way.', OBJECT],
  ['delete', '/v2/messages/{id}', 'Cancels a message.', ANYTHING],
  ['delete', '/v2/messages', 'Cancels messages.', ref('Cancelled'), ['messageIds', ...FILTERS]],
  ['get', '/v2/logs', 'Lists what happened to messages, newest first.', OBJECT, ['state', ...LIST, ...FILTERS]],
  ['get', '/v2/events', 'As /v2/logs, by its older name.', OBJECT, ['state', ...LIST, ...FILTERS]],
  [
    'get',
    '/v2/dlq',
    'Lists messages that could not be delivered.',
    OBJECT,
    ['dlqIds', ...LIST, 'responseStatus', ...FILTERS],
  ],
  ['delete', '/v2/dlq', 'Deletes entries of the DLQ.', ref('DlqDeleted'), [...IDS, 'responseStatus', ...FILTERS]],
  ['get', '/v2/dlq/{id}', 'Shows an entry of the DLQ.', OBJECT],
  ['delete', '/v2/dlq/{id}', 'Deletes an entry of the DLQ.', ANYTHING],
  ['post', '/v2/dlq/retry', 'Sends entries of the DLQ again.', OBJECT, [...IDS, 'responseStatus', ...FILTERS]],
  ['post', '/v2/dlq/retry/{id}', 'Sends an entry of the DLQ again.', ANYTHING],
  ['get', '/v2/queues', 'Lists queues.', OBJECTS],
  ['post', '/v2/queues', 'Makes or changes a queue.', ANYTHING],
  ['get', '/v2/queues/{name}', 'Shows a queue.', OBJECT],
  ['delete', '/v2/queues/{name}', 'Deletes a queue.', ANYTHING],
  ['post', '/v2/queues/{name}/pause', 'Pauses a queue.', ANYTHING],
  ['post', '/v2/queues/{name}/resume', 'Lets a queue go on.', ANYTHING],
  ['get', '/v2/topics', 'Lists URL groups.', OBJECTS],
  ['get', '/v2/topics/{name}', 'Shows a URL group.', OBJECT],
  ['patch', '/v2/topics/{name}', 'Sets the default headers of a URL group.', ANYTHING],
  ['delete', '/v2/topics/{name}', 'Deletes a URL group.', ANYTHING],
  ['post', '/v2/topics/{name}/endpoints', 'Adds endpoints to a URL group.', ANYTHING],
  ['delete', '/v2/topics/{name}/endpoints', 'Takes endpoints out of a URL group.', ANYTHING],
  ['get', '/v2/schedules', 'Lists schedules.', OBJECTS],
  [
    'post',
    '/v2/schedules/{destination}',
    'Makes or changes a schedule.',
    ref('ScheduleSet'),
    ['Svc-Cron', 'Svc-Schedule-Id', ...MESSAGE_SETTINGS],
  ],
  ['get', '/v2/schedules/{id}', 'Shows a schedule.', OBJECT],
  ['delete', '/v2/schedules/{id}', 'Deletes a schedule.', ANYTHING],
  ['post', '/v2/schedules/{id}/pause', 'Pauses a schedule.', ANYTHING],
  ['post', '/v2/schedules/{id}/resume', 'Lets a schedule go on.', ANYTHING],
  ['get', '/v2/flowControl', 'Lists flow control keys.', OBJECTS],
  ['get', '/v2/flowControl/{key}', 'Shows a flow control key.', OBJECT],
  ['get', '/v2/globalParallelism', 'Shows how many attempts are under way.', OBJECT],
  ['get', '/v2/keys', 'Shows the keys that deliveries are signed with.', ref('SigningKeys')],
  ['post', '/v2/keys/rotate', 'Makes the next key the current one.', ref('SigningKeys')],
  ['post', '/v2/trigger/{destination}', 'Starts a workflow run.', OBJECT],
  ['post', '/v2/batch/trigger', 'Starts workflow runs.', OBJECTS],
  ['post', '/v2/wait/{event}', 'Lets a run wait for an event.', OBJECT],
  ['post', '/v2/notify/{event}', 'Wakes the runs that wait for an event.', OBJECTS],
  ['get', '/v2/waiters/{event}', 'Lists the runs that wait for an event.', OBJECTS],
  ['get', '/v2/workflows/logs', 'Lists workflow runs, newest first.', OBJECT, [...LIST, 'state', ...RUN_FILTERS]],
  ['get', '/v2/workflows/events', 'Lists what happened in workflow runs.', OBJECT, [...PAGE, ...RUN_FILTERS]],
  ['get', '/v2/workflows/runs/{id}', 'Shows the steps of a run.', OBJECTS],
  ['delete', '/v2/workflows/runs/{id}', 'Cancels a run.', ANYTHING],
  ['delete', '/v2/workflows/runs', 'Cancels runs.', ref('Cancelled')],
  ['get', '/v2/workflows/dlq', 'Lists failed runs.', OBJECT, ['dlqIds', ...LIST, ...RUN_FILTERS]],
  ['delete', '/v2/workflows/dlq', 'Deletes failed runs.', ref('DlqDeleted'), [...IDS, ...RUN_FILTERS]],
  ['get', '/v2/workflows/dlq/{id}', 'Shows a failed run.', OBJECT],
  ['delete', '/v2/workflows/dlq/{id}', 'Deletes a failed run.', ANYTHING],
  [
    'post',
    '/v2/workflows/dlq/resume',
    'Resumes failed runs where they stopped.',
    ref('ResumedRuns'),
    [...IDS, ...RUN_FILTERS],
  ],
  ['post', '/v2/workflows/dlq/resume/{id}', 'Resumes a failed run where it stopped.', OBJECT],
  [
    'post',
    '/v2/workflows/dlq/restart',
    'Starts failed runs from the beginning.',
    ref('ResumedRuns'),
    [...IDS, ...RUN_FILTERS],
  ],
  ['post', '/v2/workflows/dlq/restart/{id}', 'Starts a failed run from the beginning.', OBJECT],
  ['post', '/v2/workflows/dlq/callback/{id}', 'Calls the failure function of a failed run again.', OBJECT],
  ['delete', '/v2/workflows/dlq/callback/{id}', 'Stops the failure function of a failed run.', ANYTHING],
];

export function queuePaths(): Paths {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const row of ROWS) {
    const [method, path] = row;
    paths[path] ??= {};
    (paths[path] as Record<string, Operation>)[method] = operationOf(row);
  }
  return paths;
}

function operationOf([method, path, summary, schema, parameters = []]: Row): Operation {
  return {
    operationId: operationIdOf(method, path),
    tags: ['queue'],
    summary,
    security: [{ bearer: [] }, { queueTokenInQuery: [] }],
    parameters: [...parametersIn(path), ...[...new Set(parameters)].map(optional)],
    responses: {
      // A webhook's intake and a schedule answer alike: 200, or 201 where something was made.
      '2XX': jsonAnswer('Done.', schema),
      401: jsonAnswer('The token is missing or wrong.', ERROR_SCHEMA),
      default: jsonAnswer('Refused, or not possible right now.', ERROR_SCHEMA),
    },
  };
}

function optional(name: string): Parameter {
  const isHeader = /^[A-Z]/.test(name);
  return { name, in: isHeader ? 'header' : 'query', required: false, schema: { type: 'string' } };
}

function published(): JsonSchema {
  return { oneOf: [ref('Published'), { type: 'array', items: ref('Published') }] };
}

function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function record(
  properties: Record<string, JsonSchema>,
  required: readonly string[],
  others: Record<string, JsonSchema> = {},
): JsonSchema {
  return { type: 'object', properties: { ...properties, ...others }, required };
}
