/** What the OpenAPI document says of the queue and of workflows as a whole. */
import { PENDING_STATES } from '../../domain/queue/index.js';
import { MESSAGE_STATES } from '../../ports/index.js';
import type { ApiArea } from '../http/openapi/area.js';
import { FLAG, type JsonSchema, record, TEXT, WHOLE } from '../http/openapi/parts.js';
import { QUEUE_FACE_ROUTES } from './routes/index.js';
import { PUBLISH_ROUTES } from './routes/publish.js';

const CURSOR: JsonSchema = { ...TEXT, description: 'Empty or left out: there is no more.' };
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const RUN_NAME = record({ workflowRunId: TEXT, workflowCreatedAt: WHOLE });

const WAITING_STEP = record({
  eventId: TEXT,
  workflowRunId: TEXT,
  workflowCreatedAt: WHOLE,
  stepId: WHOLE,
  stepName: TEXT,
  addedAt: WHOLE,
  deadline: WHOLE,
});

const HEADER: JsonSchema = { type: 'object', additionalProperties: listOf(TEXT) };

/** Of a message; those that it was not given are left out. */
const MESSAGE = {
  messageId: TEXT,
  url: TEXT,
  method: TEXT,
  header: HEADER,
  maxRetries: WHOLE,
  notBefore: WHOLE,
  createdAt: WHOLE,
};
const MESSAGE_IF_GIVEN = {
  ...textsOf(
    'body',
    'bodyBase64',
    'topicName',
    'endpointName',
    'queueName',
    'scheduleId',
    'callback',
    'failureCallback',
  ),
  ...textsOf('label', 'flowControlKey', 'retryDelayExpression', 'callerIP', 'callerIp'),
  labels: listOf(TEXT),
  parallelism: WHOLE,
  rate: WHOLE,
  period: WHOLE,
  callbackHeader: HEADER,
  failureCallbackHeader: HEADER,
};
const PENDING_MESSAGE = record(
  { state: { enum: PENDING_STATES }, ...MESSAGE, bodySize: WHOLE, retried: WHOLE, nextDeliveryTime: WHOLE },
  MESSAGE_IF_GIVEN,
);
const RESPONSE = {
  responseStatus: WHOLE,
  responseHeader: HEADER,
  ...textsOf('responseBody', 'responseBodyBase64', 'error'),
};
const STATE: JsonSchema = { enum: MESSAGE_STATES };

const MESSAGE_STORY = record(
  {
    messageId: TEXT,
    state: STATE,
    isUnderWay: FLAG,
    message: record(MESSAGE, MESSAGE_IF_GIVEN),
    events: listOf(record({ time: WHOLE, state: STATE }, { nextDeliveryTime: WHOLE, error: TEXT })),
    attempts: listOf(
      record(
        { retried: WHOLE, startedAt: WHOLE },
        { endedAt: WHOLE, outcome: TEXT, nextDeliveryTime: WHOLE, ...RESPONSE },
      ),
    ),
    callbacks: listOf(
      record({ messageId: TEXT, kind: TEXT, url: TEXT, retried: WHOLE, createdAt: WHOLE, state: STATE }),
    ),
  },
  {
    callbackOf: TEXT,
    nextDeliveryTime: WHOLE,
    dlq: record({ dlqId: TEXT, failedAt: WHOLE }, RESPONSE),
    cursor: CURSOR,
  },
);

export const QUEUE_AREA: ApiArea = {
  name: 'queue',
  description: 'Messages delivered over HTTP, and workflows.',
  isAt: 'queue',
  routes: [...PUBLISH_ROUTES, ...QUEUE_FACE_ROUTES],
  security: [{ bearer: [] }, { queueTokenInQuery: [] }],
  // A webhook's intake and a schedule answer alike: 200, or 201 where something was made.
  success: '2XX',
  refusals: () => ({ 401: 'The token is missing or wrong.' }),
  // Records that published clients rely on; what else they hold is in the guide.
  schemas: {
    Published: record({ messageId: TEXT }, { url: TEXT, deduplicated: FLAG }),
    ScheduleSet: record({ scheduleId: TEXT }),
    SigningKeys: record({ current: TEXT, next: TEXT }),
    Cancelled: record({ cancelled: WHOLE }),
    MessageList: record(
      {
        messages: listOf(PENDING_MESSAGE),
        counts: record(Object.fromEntries(PENDING_STATES.map((state) => [state, WHOLE]))),
      },
      { cursor: CURSOR },
    ),
    MessageStory: MESSAGE_STORY,
    WaitingSteps: record({ waiters: listOf(WAITING_STEP), total: WHOLE }, { cursor: CURSOR }),
    Counts: record({ total: WHOLE, counts: { type: 'object', additionalProperties: WHOLE }, isWhole: FLAG }),
    Ticks: record({ cron: TEXT, ticks: listOf(WHOLE) }),
    DlqDeleted: record({ deleted: WHOLE }, { cursor: CURSOR }),
    ResumedRuns: record({ workflowRuns: listOf(RUN_NAME) }, { cursor: CURSOR }),
  },
};

function textsOf(...names: readonly string[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(names.map((name) => [name, TEXT]));
}
