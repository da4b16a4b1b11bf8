/** `/v2/event-types`: the catalogue of events, with JSON schemas that their payloads must match. */
import { MAX_APPLICATION_COUNT } from '../../../domain/queue/index.js';
import { notFound } from '../../error-map.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { DONE_ANSWER, shows } from '../answer-schemas.js';
import { applicationIn, refuseEarlyLevel } from '../applications/application-in.js';
import { countOf, queryParameters, single } from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { APPLICATION_BODIES, eventTypeRecord } from '../records/application-record.js';
import { bodyOf, EventTypeRequest, textOfJson } from '../requests/application-request.js';

const OF_LIST: ReadonlySet<string> = new Set(['count', 'cursor']);
const EXAMPLE = {
  name: 'invoice.paid',
  description: 'An invoice was paid.',
  schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  examples: [{ id: 'in_1' }],
};

export const EVENT_TYPE_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/event-types', {
    summary: 'Lists event types by name.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: shows('EventTypePage'),
    handle: (call) => listTypes(call, () => true),
  }),

  queueRoute('POST /v2/event-types', {
    summary: 'Makes an event type, or replaces members of an existing one.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.newEventType },
    example: EXAMPLE,
    answer: shows('EventType'),
    async handle(call) {
      refuseEarlyLevel(call);
      const request = bodyOf(EventTypeRequest, call.body);
      if (request.name === undefined) throw invalid('name is required');
      await setType(call, request.name, request, true);
    },
  }),

  queueRoute('GET /v2/event-types/:name', {
    summary: 'Shows an event type.',
    permission: 'read',
    answer: shows('EventType'),
    async handle(call, { path: { name = '' } }) {
      // The first name at or after it in the order of the list.
      const after = name.slice(0, -1);
      let page = await call.ask({ type: 'ListEventTypes', after, count: MAX_APPLICATION_COUNT }, 'EventTypes');
      let found = page.eventTypes.find((one) => one.name === name);
      while (found === undefined && page.after !== undefined && page.after < name) {
        page = await call.ask(
          { type: 'ListEventTypes', after: page.after, count: MAX_APPLICATION_COUNT },
          'EventTypes',
        );
        found = page.eventTypes.find((one) => one.name === name);
      }
      if (found === undefined) throw new RefusedRequest(notFound(`event type ${name}`));
      call.value(200, eventTypeRecord(found));
    },
  }),

  queueRoute('PATCH /v2/event-types/:name', {
    summary: 'Changes members of an event type. An archived type takes no more events.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.eventType },
    example: { archived: true },
    answer: shows('EventType'),
    async handle(call, { path: { name = '' } }) {
      const request = bodyOf(EventTypeRequest, call.body);
      if (request.name !== undefined && request.name !== name) throw invalid('name cannot be changed');
      await setType(call, name, request, false);
    },
  }),

  queueRoute('DELETE /v2/event-types/:name', {
    summary: 'Deletes an event type. Endpoints keep its name in their lists.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path: { name = '' } }) {
      await call.ask({ type: 'DeleteEventType', name }, 'Done');
      call.done();
    },
  }),

  queueRoute('GET /v2/apps/:id/event-types', {
    summary: 'Lists the event types that an application may choose: all that are not archived.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: shows('EventTypePage'),
    async handle(call, { path }) {
      await applicationIn(call, path);
      await listTypes(call, ({ isArchived }) => !isArchived);
    },
  }),
];

async function listTypes(call: QueueCall, isShown: (one: { readonly isArchived: boolean }) => boolean): Promise<void> {
  const parameters = queryParameters(call.words.rest, OF_LIST);
  const count = countOf(parameters, MAX_APPLICATION_COUNT) ?? MAX_APPLICATION_COUNT;
  const after = single(parameters, 'cursor');
  const page = await call.ask({ type: 'ListEventTypes', after, count }, 'EventTypes');
  call.value(200, { eventTypes: page.eventTypes.filter(isShown).map(eventTypeRecord), cursor: page.after });
}

async function setType(call: QueueCall, name: string, request: EventTypeRequest, isNew: boolean): Promise<void> {
  const { description, archived } = request;
  const schema = textOfJson('schema', request.schema);
  const { schemas } = call.endpoint;
  if (schema !== undefined) schemas.judge(schema);
  for (const example of schema === undefined ? [] : (request.examples ?? [])) schemas.validate(schema ?? '', example);
  const examples = textOfJson('examples', request.examples);
  const command = { type: 'SetEventType', name, isNew, description, schema, examples, isArchived: archived } as const;
  call.value(200, eventTypeRecord(only((await call.ask(command, 'EventTypes')).eventTypes)));
}
