/** What the records of this folder look like, by the names that the OpenAPI document has for them. */
import { HTTP_METHODS, PENDING_STATES } from '../../domain/queue/index.js';
import { MESSAGE_STATES } from '../../ports/index.js';
import { HEADERS, INSTANT, type JsonSchema, listOf, schemaNamed, TEXT, WHOLE, wordOf } from '../http/openapi/parts.js';
import { shownRecord } from '../http/openapi/shown-record.js';
import type { eventRecord, groupRecord } from './event-record.js';
import type { dlqRecord, messageRecord, pendingRecord } from './message-record.js';

export const METHOD = wordOf(HTTP_METHODS);
const BASE64: JsonSchema = { ...TEXT, description: 'Base64.' };

/** Of messages, events and schedules alike: `settingsMembers`, `callerMembers`. */
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
};
export const CALLER_MEMBERS = { callerIP: { ...TEXT, description: 'As callerIp.' }, callerIp: TEXT };
export const BODY_MEMBERS = {
  body: { ...TEXT, description: 'Left out when it is empty, or no UTF-8.' },
  bodyBase64: { ...BASE64, description: 'The body where it is no UTF-8.' },
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
  responseHeaders: HEADERS,
  responseHeader: { ...HEADERS, description: 'As responseHeaders.' },
};
const LOGGED = { messageId: TEXT, url: TEXT, method: METHOD, maxRetries: WHOLE };
const LOGGED_EXTRAS = {
  header: HEADERS,
  body: { ...BASE64, description: 'Base64; what is redacted is a plain text.' },
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
  Message: shownRecord<ReturnType<typeof messageRecord>>(MESSAGE, MESSAGE_EXTRAS),
  PendingMessage: shownRecord<ReturnType<typeof pendingRecord>>(
    {
      state: wordOf(PENDING_STATES),
      ...MESSAGE,
      bodySize: { ...WHOLE, description: 'Bytes.' },
      retried: { ...WHOLE, description: 'Attempts that failed.' },
      nextDeliveryTime: INSTANT,
    },
    MESSAGE_EXTRAS,
  ),
  DeadLetter: shownRecord<ReturnType<typeof dlqRecord>>(DEAD_LETTER, DEAD_LETTER_EXTRAS),
  LogEvent: shownRecord<ReturnType<typeof eventRecord>>({ ...EVENT, ...LOGGED }, { ...EVENT_EXTRAS, ...LOGGED_EXTRAS }),
  MessageEvent: shownRecord<Happened>(EVENT, EVENT_EXTRAS),
  LoggedMessage: shownRecord<ReturnType<typeof groupRecord>>(
    { ...LOGGED, events: listOf(schemaNamed('MessageEvent')) },
    LOGGED_EXTRAS,
  ),
} satisfies Readonly<Record<string, JsonSchema>>;
