/** Applications, their endpoints, event types and messages as the API shows them, and the schemas of each. */
import type {
  Application,
  ApplicationEndpoint,
  BreakerView,
  EndpointSecret,
  EventType,
} from '../../../domain/queue/index.js';
import { textOfHeader } from '../../../kernel/index.js';
import { type LogEvent, MESSAGE_STATES, type SecretView } from '../../../ports/index.js';
import {
  FLAG,
  INSTANT,
  type JsonSchema,
  listOf,
  OBJECT,
  record,
  schemaNamed,
  TEXT,
  WHOLE,
  wordOf,
} from '../../http/openapi/parts.js';
import { recordSchema } from '../../http/openapi/record-schema.js';
import { messageBody } from '../../records/record-parts.js';
import type { Spelling } from '../../wire-alias.js';
import { destinationRecord } from './destination-record.js';
import { attemptsOf } from './story-record.js';

export function applicationRecord(application: Application) {
  const { id, uid, name, metadata, rate, notifyUrl, email, createdAtMs, updatedAtMs } = application;
  return {
    id,
    uid,
    name,
    metadata: Object.fromEntries(metadata),
    rate: rate?.rate,
    ratePeriodSeconds: rate?.periodSeconds,
    notifyUrl,
    email,
    createdAt: createdAtMs,
    updatedAt: updatedAtMs,
  };
}

/** @param breaker undefined: its destination has not failed */
export function endpointRecord(endpoint: ApplicationEndpoint, breaker: BreakerView | undefined) {
  const { id, url, description, eventTypes, filter, header, isDisabled, createdAtMs, updatedAtMs } = endpoint;
  return {
    id,
    url,
    description,
    eventTypes,
    filter: filter === '' ? undefined : filter,
    headers: Object.fromEntries(header.map(([name, value]) => [name, textOfHeader(value)])),
    disabled: isDisabled,
    breaker: breaker && destinationRecord(breaker),
    createdAt: createdAtMs,
    updatedAt: updatedAtMs,
  };
}

export function secretRecord({ createdAtMs, expiresAtMs }: EndpointSecret, { version, key }: SecretView) {
  return { version, key, createdAt: createdAtMs, expiresAt: expiresAtMs };
}

export function eventTypeRecord(eventType: EventType) {
  const { name, description, schema, examples, isArchived, createdAtMs, updatedAtMs } = eventType;
  return {
    name,
    description,
    schema: schema === '' ? undefined : (JSON.parse(schema) as unknown),
    examples: JSON.parse(examples) as unknown[],
    archived: isArchived,
    createdAt: createdAtMs,
    updatedAt: updatedAtMs,
  };
}

/** A message of an application with its attempts. @param events of one message, the earliest first */
export function sentMessageRecord(events: readonly LogEvent[], spelling: Spelling) {
  const first = events[0] as LogEvent;
  const { messageId, envelope, body, atMs } = first;
  return {
    messageId,
    eventId: envelope.webhook?.id,
    eventType: envelope.webhook?.eventType,
    endpointId: envelope.endpointName,
    url: envelope.url,
    state: events.at(-1)?.state ?? first.state,
    createdAt: atMs,
    nextDeliveryTime: events.at(-1)?.nextDeliveryAtMs,
    ...messageBody(body, envelope.settings),
    attempts: attemptsOf(events, spelling),
  };
}

const VERSION: JsonSchema = wordOf(['v1', 'v1a']);
const TYPES: JsonSchema = { ...listOf(TEXT), description: 'Names of event types. Empty: all.' };
const FILTER: JsonSchema = { ...TEXT, description: 'An expression of the filter language of search on the payload.' };
const HEADERS_SENT: JsonSchema = { ...OBJECT, additionalProperties: TEXT, description: 'Sent with each delivery.' };
const SCHEMA: JsonSchema = { ...OBJECT, description: 'A JSON schema (draft 7) of payloads.' };
const EXAMPLES: JsonSchema = { ...listOf({}), description: 'Payloads; the first is sent as a test.' };

const APPLICATION_MEMBERS = {
  name: TEXT,
  uid: { ...TEXT, description: 'Your id of the customer, which names the application in paths, too.' },
  metadata: { ...OBJECT, additionalProperties: TEXT },
  rate: { ...WHOLE, description: 'Deliveries started per period. 0: no limit.' },
  ratePeriodSeconds: { ...WHOLE, description: 'Left out: 1.' },
  notifyUrl: {
    ...TEXT,
    description: 'Of the customer: gets a webhook when an endpoint is stopped, disabled or working again.',
  },
  email: { ...TEXT, description: 'Of the customer: gets a mail in the same cases. Of no characters: none.' },
};
const ENDPOINT_MEMBERS = {
  description: TEXT,
  eventTypes: TYPES,
  filter: FILTER,
  headers: HEADERS_SENT,
  disabled: FLAG,
};
const EVENT_TYPE_MEMBERS = { description: TEXT, schema: SCHEMA, examples: EXAMPLES, archived: FLAG };

export const APPLICATION_BODIES = {
  application: record({}, APPLICATION_MEMBERS),
  newEndpoint: record(
    { url: TEXT },
    {
      ...ENDPOINT_MEMBERS,
      secret: { ...TEXT, description: 'whsec_ and base64. Left out: random.' },
      signatures: { ...listOf(VERSION), description: 'v1: HMAC-SHA256, v1a: Ed25519. Left out: v1.' },
    },
  ),
  endpoint: record({}, { url: TEXT, ...ENDPOINT_MEMBERS }),
  rotation: record(
    {},
    {
      version: { ...VERSION, description: 'Left out: v1.' },
      secret: { ...TEXT, description: 'Only v1. Left out: random.' },
      keepSeconds: { ...WHOLE, description: 'How long the earlier secrets still sign. Left out: 86400.' },
    },
  ),
  newEventType: record({ name: TEXT }, EVENT_TYPE_MEMBERS),
  eventType: record({}, EVENT_TYPE_MEMBERS),
  event: record(
    { eventType: TEXT, payload: { description: 'Any JSON; it is the body of each delivery.' } },
    { eventId: { ...TEXT, description: 'The webhook-id; a repeated id is accepted once. Left out: made here.' } },
  ),
  test: record({}, { eventType: { ...TEXT, description: 'Its first example is sent. Left out: webhook.test.' } }),
  replay: record(
    {},
    {
      messageIds: { ...listOf(TEXT), description: 'Exactly these messages.' },
      endpointId: { ...TEXT, description: 'Only messages to this endpoint.' },
      from: { ...WHOLE, description: 'The earliest instant. Milliseconds since 1970.' },
      to: { ...WHOLE, description: 'The latest instant. Left out: now.' },
      which: { ...wordOf(['failed', 'all']), description: 'Left out: failed, those in the DLQ.' },
      count: { ...WHOLE, description: 'Messages of this call. Left out: 100.' },
      cursor: { ...TEXT, description: 'Of the answer before.' },
    },
  ),
  enable: record(
    {},
    { replay: { ...FLAG, description: 'True: its messages of the DLQ are sent again, 100 per call.' } },
  ),
  revokedLink: record(
    {},
    {
      link: { ...TEXT, description: 'The id of a link, its token or its URL. Left out: all links of the application.' },
    },
  ),
  portal: record(
    {},
    {
      expiresIn: { oneOf: [TEXT, WHOLE], description: 'A duration like 1h, or seconds. Left out: 1h.' },
      readOnly: { ...FLAG, description: 'True: the holder sees everything but secrets, and changes none of it.' },
    },
  ),
};

const CURSOR = { cursor: { ...TEXT, description: 'Where the next page begins; left out: there is no more.' } };

export const APPLICATION_SCHEMAS = {
  Application: recordSchema<ReturnType<typeof applicationRecord>>(
    {
      id: TEXT,
      name: TEXT,
      metadata: { ...OBJECT, additionalProperties: TEXT },
      createdAt: INSTANT,
      updatedAt: INSTANT,
    },
    { uid: TEXT, rate: WHOLE, ratePeriodSeconds: WHOLE, notifyUrl: TEXT, email: TEXT },
  ),
  ApplicationPage: record({ applications: listOf(schemaNamed('ListedApplication')), total: WHOLE }, CURSOR),
  ListedApplication: record(
    { id: TEXT, name: TEXT, metadata: OBJECT, endpoints: WHOLE, createdAt: INSTANT, updatedAt: INSTANT },
    { uid: TEXT, rate: WHOLE, ratePeriodSeconds: WHOLE, notifyUrl: TEXT, email: TEXT },
  ),
  ApplicationEndpoint: recordSchema<ReturnType<typeof endpointRecord>>(
    {
      id: TEXT,
      url: TEXT,
      description: TEXT,
      eventTypes: TYPES,
      headers: HEADERS_SENT,
      disabled: FLAG,
      createdAt: INSTANT,
      updatedAt: INSTANT,
    },
    {
      filter: FILTER,
      breaker: { ...schemaNamed('Destination'), description: 'Left out: no failure since its last success.' },
    },
  ),
  EndpointSecret: recordSchema<ReturnType<typeof secretRecord>>(
    { version: VERSION, key: { ...TEXT, description: 'Of v1a the public key.' }, createdAt: INSTANT },
    { expiresAt: { ...INSTANT, description: 'A replaced secret signs until then.' } },
  ),
  EventType: recordSchema<ReturnType<typeof eventTypeRecord>>(
    { name: TEXT, description: TEXT, examples: EXAMPLES, archived: FLAG, createdAt: INSTANT, updatedAt: INSTANT },
    { schema: SCHEMA },
  ),
  EventTypePage: record({ eventTypes: listOf(schemaNamed('EventType')) }, CURSOR),
  SentEvent: record({
    eventId: TEXT,
    eventType: TEXT,
    messages: listOf(record({ endpointId: TEXT, messageId: TEXT }, { deduplicated: FLAG })),
  }),
  SentMessage: recordSchema<ReturnType<typeof sentMessageRecord>>(
    {
      messageId: TEXT,
      url: TEXT,
      state: wordOf(MESSAGE_STATES),
      createdAt: INSTANT,
      attempts: listOf(schemaNamed('Attempt')),
    },
    {
      eventId: TEXT,
      eventType: TEXT,
      endpointId: TEXT,
      nextDeliveryTime: INSTANT,
      body: TEXT,
      bodyBase64: TEXT,
    },
  ),
  SentMessagePage: record({ messages: listOf(schemaNamed('SentMessage')) }, CURSOR),
  Replay: record(
    {
      replayed: listOf(record({ endpointId: TEXT, messageId: TEXT, replayOf: TEXT })),
      skipped: { ...WHOLE, description: 'Messages to endpoints that are deleted or disabled.' },
    },
    CURSOR,
  ),
  EndpointEnabled: record(
    {
      endpoint: schemaNamed('ApplicationEndpoint'),
      replayed: listOf(record({ endpointId: TEXT, messageId: TEXT, replayOf: TEXT })),
      skipped: { ...WHOLE, description: 'Messages that are no events of the endpoint.' },
    },
    { cursor: { ...TEXT, description: 'For `replay`, which goes on; left out: there are no more.' } },
  ),
  Portal: record(
    {
      application: record({ id: TEXT, name: TEXT }),
      readOnly: FLAG,
      look: record(
        { words: { ...OBJECT, additionalProperties: TEXT } },
        { title: TEXT, accent: TEXT, accentDark: TEXT, logo: TEXT },
      ),
    },
    { expiresAt: { ...INSTANT, description: 'The end of the link.' } },
  ),
  PortalLink: record({ id: TEXT, url: TEXT, token: TEXT, expiresAt: INSTANT }),
};
