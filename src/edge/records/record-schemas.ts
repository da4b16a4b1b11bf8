/** Schemas of the records of this folder, by their names in the OpenAPI document. */
import { HTTP_METHODS, MESSAGES_WHEN_STOPPED, PENDING_STATES, PRIORITIES } from '../../domain/queue/index.js';
import { MESSAGE_STATES } from '../../ports/index.js';
import { HEADERS, INSTANT, type JsonSchema, listOf, schemaNamed, TEXT, WHOLE, wordOf } from '../http/openapi/parts.js';
import { recordSchema } from '../http/openapi/record-schema.js';
import type { eventRecord, groupRecord } from './event-record.js';
import type { dlqRecord, messageRecord, pendingRecord } from './message-record.js';

export const METHOD = wordOf(HTTP_METHODS);
const BASE64: JsonSchema = { ...TEXT, description: 'Base64.' };

/** Only for a body that is shown in part. */
export const TRUNCATED: JsonSchema = { const: true, description: 'There is more of the body than is shown.' };

/** Shared by messages, events and schedules: `settingsMembers`, `callerMembers`. */
export const SETTINGS_MEMBERS = {
  callback: TEXT,
  failureCallback: TEXT,
  label: { ...TEXT, description: 'The first of the labels.' },
  labels: listOf(TEXT),
  flowControlKey: TEXT,
  parallelism: WHOLE,
  rate: WHOLE,
  period: { ...WHOLE, description: 'Seconds; there with any flow control.' },
  retryDelayExpression: TEXT,
  priority: { ...wordOf(PRIORITIES), description: 'Left out when it is normal.' },
  whenStopped: {
    ...wordOf(MESSAGES_WHEN_STOPPED),
    description: 'While the destination is stopped; left out: by the rules.',
  },
};
export const CALLER_MEMBERS = { callerIP: { ...TEXT, description: 'As callerIp.' }, callerIp: TEXT };
export const BODY_MEMBERS = {
  body: { ...TEXT, description: 'Left out when it is empty, or no UTF-8.' },
  bodyBase64: { ...BASE64, description: 'The body where it is no UTF-8.' },
  bodyTruncated: TRUNCATED,
};

const MESSAGE = {
  messageId: TEXT,
  url: TEXT,
  method: METHOD,
  header: HEADERS,
  maxRetries: WHOLE,
  notBefore: INSTANT,
  createdAt: INSTANT,
};
const MESSAGE_EXTRAS = {
  ...BODY_MEMBERS,
  topicName: { ...TEXT, description: 'The URL group.' },
  endpointName: TEXT,
  queueName: TEXT,
  scheduleId: TEXT,
  ...SETTINGS_MEMBERS,
  callbackHeader: HEADERS,
  failureCallbackHeader: HEADERS,
  ...CALLER_MEMBERS,
};

export const RESPONSE = {
  responseStatus: { ...WHOLE, description: 'Of the last answer; 0: there was none.' },
  responseHeader: HEADERS,
};
export const RESPONSE_EXTRAS = {
  responseBody: { ...TEXT, description: 'Left out when it is empty, or no UTF-8.' },
  responseBodyBase64: { ...BASE64, description: 'The body of the answer where it is no UTF-8.' },
  responseBodyTruncated: TRUNCATED,
};
export const DEAD_LETTER = { ...MESSAGE, dlqId: TEXT, ...RESPONSE };
export const DEAD_LETTER_EXTRAS = {
  ...MESSAGE_EXTRAS,
  ...RESPONSE_EXTRAS,
  error: { ...TEXT, description: 'Why there was no answer.' },
};

const EVENT = { time: INSTANT, messageId: TEXT, state: wordOf(MESSAGE_STATES) };
const EVENT_EXTRAS = {
  error: TEXT,
  nextDeliveryTime: INSTANT,
  responseStatus: WHOLE,
  responseBody: BASE64,
  responseBodyTruncated: TRUNCATED,
  responseHeaders: HEADERS,
  responseHeader: { ...HEADERS, description: 'As responseHeaders.' },
};
const LOGGED = { messageId: TEXT, url: TEXT, method: METHOD, maxRetries: WHOLE };
const LOGGED_EXTRAS = {
  header: HEADERS,
  body: { ...BASE64, description: 'Base64; a redacted value is plain text.' },
  bodyTruncated: TRUNCATED,
  topicName: { ...TEXT, description: 'The URL group.' },
  endpointName: TEXT,
  scheduleId: TEXT,
  queueName: TEXT,
  timeout: { ...WHOLE, description: 'Milliseconds.' },
  ...SETTINGS_MEMBERS,
  retryDelayExpr: { ...TEXT, description: 'As retryDelayExpression.' },
  callbackHeaders: HEADERS,
  failureCallbackHeaders: HEADERS,
  ...CALLER_MEMBERS,
};

type Happened = ReturnType<typeof groupRecord>['events'][number];

export const RECORD_SCHEMAS = {
  Message: recordSchema<ReturnType<typeof messageRecord>>(MESSAGE, MESSAGE_EXTRAS),
  PendingMessage: recordSchema<ReturnType<typeof pendingRecord>>(
    {
      state: wordOf(PENDING_STATES),
      ...MESSAGE,
      bodySize: { ...WHOLE, description: 'Bytes.' },
      retried: { ...WHOLE, description: 'Attempts that failed.' },
      nextDeliveryTime: INSTANT,
    },
    MESSAGE_EXTRAS,
  ),
  DeadLetter: recordSchema<ReturnType<typeof dlqRecord>>(DEAD_LETTER, DEAD_LETTER_EXTRAS),
  LogEvent: recordSchema<ReturnType<typeof eventRecord>>(
    { ...EVENT, ...LOGGED },
    { ...EVENT_EXTRAS, ...LOGGED_EXTRAS },
  ),
  MessageEvent: recordSchema<Happened>(EVENT, EVENT_EXTRAS),
  LoggedMessage: recordSchema<ReturnType<typeof groupRecord>>(
    { ...LOGGED, events: listOf(schemaNamed('MessageEvent')) },
    LOGGED_EXTRAS,
  ),
} satisfies Readonly<Record<string, JsonSchema>>;
