/** Events of applications, their messages with attempts, replays, and test events. */
import { MAX_DLQ_COUNT, type MessageFilter } from '../../../domain/queue/index.js';
import type { MessageId } from '../../../kernel/index.js';
import { type LogEvent, MESSAGE_STATES } from '../../../ports/index.js';
import { invalid } from '../../http/refused.js';
import { shows } from '../answer-schemas.js';
import { applicationIn, breakerOf, enabled, endpointIn } from '../applications/application-in.js';
import { labelOfEndpoint, labelOfEvent, messageFor, optionsOf, sent, takes } from '../applications/fan-out.js';
import { replayed } from '../applications/replays.js';
import { countOf, periodOf, queryParameters, single, statesIn, wordsForStates } from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { endOfPage, type QueueRoute, queueRoute } from '../queue-call.js';
import { MAX_EVENT_PAYLOAD_BYTES, MAX_REPLAYS } from '../queue-limits.js';
import { APPLICATION_BODIES, endpointRecord, sentMessageRecord } from '../records/application-record.js';
import { bodyOf, EnableRequest, EventRequest, ReplayRequest, TestRequest } from '../requests/application-request.js';
import { messagesOf } from './events.js';

const OF_MESSAGES: ReadonlySet<string> = new Set([
  'endpointId',
  'eventId',
  'state',
  'fromDate',
  'toDate',
  'count',
  'cursor',
]);
const MAX_SHOWN = 50;
const DEFAULT_SHOWN = 20;
const STATES_BY_WORD = wordsForStates(MESSAGE_STATES);
const ALL_FAILED = {
  messageIds: undefined,
  fromMs: undefined,
  toMs: undefined,
  which: 'failed',
  count: Math.min(MAX_REPLAYS, MAX_DLQ_COUNT),
  cursor: undefined,
} as const;
const TEST_TYPE = 'webhook.test';
const TEST_PAYLOAD = { type: TEST_TYPE, data: { message: 'A test of this endpoint.' } };

export const APPLICATION_MESSAGE_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/apps/:id/messages', {
    summary: 'Sends an event to the endpoints of an application that take its type.',
    description: 'The headers of a publish set retries and delays: `Svc-Retries`, `Svc-Retry-Delay`, `Svc-Delay`.',
    permission: 'publish',
    boundBy: 'day',
    bodyShape: { of: APPLICATION_BODIES.event },
    example: { eventType: 'invoice.paid', payload: { id: 'in_1' }, eventId: 'evt_1' },
    answer: shows('SentEvent'),
    async handle(call, { path }) {
      const { eventType, payload, eventId } = bodyOf(EventRequest, call.body);
      const options = optionsOf(call);
      if (payload === undefined) throw invalid('payload is required');
      const { application, endpoints, eventType: type } = await applicationIn(call, path, eventType);
      if (type === undefined) throw invalid(`there is no event type ${eventType}`);
      if (type.isArchived) throw invalid(`event type ${eventType} is archived`);
      call.endpoint.schemas.validate(type.schema, payload);
      const body = bodyOfPayload(payload);
      const id = eventId ?? `evt_${call.newMessageId().slice('msg_'.length)}`;
      const event = { id, eventType, body, isIdempotent: eventId !== undefined };
      const items = endpoints
        .filter((endpoint) => takes(endpoint, eventType, payload))
        .map((endpoint) => messageFor(call, { application, endpoint }, event, options));
      call.value(200, { eventId: id, eventType, messages: await sent(call, items) });
    },
  }),

  queueRoute('GET /v2/apps/:id/messages', {
    summary: 'Lists the messages of an application with their attempts, newest first.',
    permission: 'read',
    parameters: filterParameters(OF_MESSAGES),
    answer: shows('SentMessagePage'),
    async handle(call, { path }) {
      const parameters = queryParameters(call.words.rest, OF_MESSAGES);
      const [endpointId, eventId] = [single(parameters, 'endpointId'), single(parameters, 'eventId')];
      const { application } = await applicationIn(call, path);
      const label = eventId === undefined ? endpointId && labelOfEndpoint(endpointId) : labelOfEvent(eventId);
      const { fromMs, toMs } = periodOf(parameters);
      const filter: MessageFilter = {
        topicName: [application.id],
        ...(label !== undefined && { label: [label] }),
        ...(fromMs !== undefined && { fromMs }),
        ...(toMs !== undefined && { toMs }),
      };
      const query = {
        filter,
        states: statesIn(parameters, STATES_BY_WORD),
        order: 'latestFirst',
        count: countOf(parameters, MAX_SHOWN) ?? DEFAULT_SHOWN,
        cursor: single(parameters, 'cursor'),
        groupBy: 'message',
        withAnswers: true,
      } as const;
      const page = await call.endpoint.parts.messageLog.events(call.grant.account, query, await call.position());
      const groups = messagesOf(page.events)
        .map(earliestFirst)
        // Labels of one filter are or-ed, so the endpoint of an event is chosen here.
        .filter(([first]) => endpointId === undefined || first?.envelope.endpointName === endpointId);
      const record = (group: readonly LogEvent[]) =>
        sentMessageRecord(group, call.spellingFor((group[0] as LogEvent).envelope.isAlias));
      await call.list(['{"messages":[', endOfPage(page.cursor)], groups, record, page);
    },
  }),

  queueRoute('POST /v2/apps/:id/replay', {
    summary: 'Sends messages of an application again: named ones, the failed ones, or all since an instant.',
    permission: 'publish',
    boundBy: 'day',
    bodyShape: { of: APPLICATION_BODIES.replay, isNeeded: false },
    example: { which: 'failed', endpointId: 'ep_1' },
    answer: shows('Replay'),
    async handle(call, { path }) {
      const request = bodyOf(ReplayRequest, call.body);
      const { which = 'failed', from } = request;
      if (which === 'all' && request.messageIds === undefined && from === undefined) throw invalid('from is required');
      const known = await applicationIn(call, path);
      const asked = {
        messageIds: request.messageIds as MessageId[] | undefined,
        endpointId: request.endpointId,
        fromMs: from,
        toMs: request.to,
        which,
        count: request.count ?? Math.min(MAX_REPLAYS, MAX_DLQ_COUNT),
        cursor: request.cursor,
      };
      call.value(200, await replayed(call, known, asked));
    },
  }),

  queueRoute('POST /v2/apps/:id/endpoints/:endpoint/enable', {
    summary: 'Enables an endpoint: it gets its waiting messages, and with `replay` those of the DLQ, too.',
    permission: 'publish',
    boundBy: 'day',
    bodyShape: { of: APPLICATION_BODIES.enable, isNeeded: false },
    example: { replay: true },
    answer: shows('EndpointEnabled'),
    async handle(call, { path }) {
      const { replay = false } = bodyOf(EnableRequest, call.body);
      const { endpoint, breakers = [] } = await endpointIn(call, path);
      await enabled(call, path, { isDisabled: endpoint.isDisabled, breaker: breakerOf(breakers, endpoint) });
      const known = await endpointIn(call, path);
      const asked = { ...ALL_FAILED, endpointId: endpoint.id };
      const sentAgain = replay ? await replayed(call, known, asked) : { replayed: [], skipped: 0 };
      const shownBreaker = breakerOf(known.breakers ?? [], endpoint);
      call.value(200, { endpoint: endpointRecord(known.endpoint, shownBreaker), ...sentAgain });
    },
  }),

  queueRoute('POST /v2/apps/:id/endpoints/:endpoint/test', {
    summary: 'Sends a test event to an endpoint: the first example of an event type.',
    permission: 'publish',
    boundBy: 'day',
    bodyShape: { of: APPLICATION_BODIES.test, isNeeded: false },
    example: { eventType: 'invoice.paid' },
    answer: shows('SentEvent'),
    async handle(call, { path }) {
      const { eventType } = bodyOf(TestRequest, call.body);
      const { application, endpoint, eventType: type } = await endpointIn(call, path, eventType);
      if (eventType !== undefined && type === undefined) throw invalid(`there is no event type ${eventType}`);
      if (endpoint.isDisabled) throw invalid('the endpoint is disabled');
      const [example = TEST_PAYLOAD] = type === undefined ? [] : (JSON.parse(type.examples) as unknown[]);
      const event = {
        id: `test_${call.newMessageId().slice('msg_'.length)}`,
        eventType: eventType ?? TEST_TYPE,
        body: bodyOfPayload(example),
        isIdempotent: false,
        label: 'test',
      };
      const options = { settings: { ...optionsOf(call).settings, maxRetries: 0 }, notBeforeMs: undefined };
      const messages = await sent(call, [messageFor(call, { application, endpoint }, event, options)]);
      call.value(200, { eventId: event.id, eventType: event.eventType, messages });
    },
  }),
];

/** @throws Refused 400 */
function bodyOfPayload(payload: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(payload));
  if (body.length > MAX_EVENT_PAYLOAD_BYTES) {
    throw invalid(`payload is longer than ${MAX_EVENT_PAYLOAD_BYTES} bytes`);
  }
  return body;
}

function earliestFirst(events: readonly LogEvent[]): readonly LogEvent[] {
  return (events[0]?.atMs ?? 0) > (events.at(-1)?.atMs ?? 0) ? [...events].reverse() : events;
}
