/**
 * Values of applications: the events have bytes recorded in test/fixtures/journals/queue-events.json and are never
 * edited; commands and replies cross the bus.
 */
import type { QueueCommandOf, QueueEventOf, QueueReplyOf } from '../../../../src/domain/queue/index.js';

const atMs = 1_767_225_600_000;
const application = {
  id: 'app_aaaabbbbccccdddd',
  uid: 'customer-17',
  name: 'Customer Ltd',
  metadata: [['plan', 'gold']],
  rate: { rate: 10, periodSeconds: 60 },
  createdAtMs: atMs,
  updatedAtMs: atMs + 1,
} as const;
const endpoint = {
  id: 'ep_aaaabbbbccccdddd',
  application: application.id,
  url: 'https://customer.example/hooks',
  description: 'first',
  eventTypes: ['invoice.paid'],
  filter: "currency = 'EUR'",
  header: [['X-Key', 'a']],
  secrets: [
    { version: 'v1', sealed: 's1.k.b', createdAtMs: atMs, expiresAtMs: undefined },
    { version: 'v1a', sealed: 's1.k.a', createdAtMs: atMs, expiresAtMs: atMs + 2 },
  ],
  isDisabled: true,
  createdAtMs: atMs,
  updatedAtMs: atMs + 1,
} as const;
const eventType = {
  name: 'invoice.paid',
  description: 'An invoice was paid.',
  schema: '{"type":"object"}',
  examples: '[{"id":"in_1"}]',
  isArchived: false,
  createdAtMs: atMs,
  updatedAtMs: atMs + 1,
} as const;

type Types =
  | 'ApplicationSet'
  | 'ApplicationDeleted'
  | 'ApplicationEndpointSet'
  | 'ApplicationEndpointDeleted'
  | 'EventTypeSet'
  | 'EventTypeDeleted';

export const APPLICATION_EVENTS: { readonly [Type in Types]: QueueEventOf<Type> } = {
  ApplicationSet: { type: 'ApplicationSet', application, atMs },
  ApplicationDeleted: { type: 'ApplicationDeleted', id: application.id, atMs },
  ApplicationEndpointSet: { type: 'ApplicationEndpointSet', endpoint, atMs },
  ApplicationEndpointDeleted: {
    type: 'ApplicationEndpointDeleted',
    application: application.id,
    id: endpoint.id,
    atMs,
  },
  EventTypeSet: { type: 'EventTypeSet', eventType, atMs },
  EventTypeDeleted: { type: 'EventTypeDeleted', name: eventType.name, atMs },
};

type CommandTypes =
  | 'SetApplication'
  | 'DeleteApplication'
  | 'GetApplication'
  | 'ListApplications'
  | 'SetApplicationEndpoint'
  | 'DeleteApplicationEndpoint'
  | 'RevokePortalLinks'
  | 'RotateEndpointSecret'
  | 'SetEventType'
  | 'DeleteEventType'
  | 'ListEventTypes';

const members = { uid: 'u', name: 'n', metadata: [['a', 'b']], rate: { rate: 1, periodSeconds: 2 } } as const;
const noMembers = { uid: undefined, name: undefined, metadata: undefined, rate: undefined };
const { id, url, description, eventTypes, filter, header } = endpoint;
const { id: app } = application;
const secret = { version: 'v1a', sealed: 's1.k.c' } as const;

export const APPLICATION_COMMANDS: { readonly [Type in CommandTypes]: readonly QueueCommandOf<Type>[] } = {
  SetApplication: [
    { type: 'SetApplication', id: app, isNew: true, ...members },
    { type: 'SetApplication', id: app, isNew: false, ...noMembers },
    { type: 'SetApplication', id: app, isNew: false, ...noMembers, notifyUrl: 'https://customer.example/notices' },
    { type: 'SetApplication', id: app, isNew: false, ...noMembers, email: 'anna@customer.example' },
  ],
  DeleteApplication: [{ type: 'DeleteApplication', id: app }],
  GetApplication: [
    { type: 'GetApplication', id: app, eventType: 'invoice.paid' },
    { type: 'GetApplication', id: app, eventType: undefined },
  ],
  ListApplications: [{ type: 'ListApplications', search: 'c', after: undefined, count: 7 }],
  SetApplicationEndpoint: [
    {
      type: 'SetApplicationEndpoint',
      application: app,
      id,
      isNew: true,
      url,
      description,
      eventTypes,
      filter,
      header,
      isDisabled: false,
      secrets: [secret],
    },
  ],
  DeleteApplicationEndpoint: [{ type: 'DeleteApplicationEndpoint', application: app, id }],
  RevokePortalLinks: [
    { type: 'RevokePortalLinks', application: app, generation: 3, link: undefined },
    { type: 'RevokePortalLinks', application: app, generation: undefined, link: { id: 'plk_a', untilMs: atMs } },
  ],
  RotateEndpointSecret: [{ type: 'RotateEndpointSecret', application: app, endpoint: id, secret, keepsMs: 5 }],
  SetEventType: [
    {
      type: 'SetEventType',
      name: 'a.b',
      isNew: true,
      description: undefined,
      schema: '{}',
      examples: '[]',
      isArchived: true,
    },
  ],
  DeleteEventType: [{ type: 'DeleteEventType', name: 'a.b' }],
  ListEventTypes: [{ type: 'ListEventTypes', after: 'a', count: 1 }],
};

const breaker = {
  endpoint: id,
  url,
  state: 'open',
  reason: 'failures',
  failures: 3,
  failingSinceMs: atMs,
  changedAtMs: atMs,
  nextProbeAtMs: atMs + 5,
  probes: 1,
  probe: undefined,
  status: 500,
  error: 'HTTP status 500',
  waiting: 4,
} as const;

export const APPLICATION_REPLIES: {
  readonly [Type in 'Application' | 'Applications' | 'EventTypes']: readonly QueueReplyOf<Type>[];
} = {
  Application: [
    { type: 'Application', application, endpoints: [endpoint], eventType },
    { type: 'Application', application, endpoints: [], eventType: undefined },
    { type: 'Application', application, endpoints: [], eventType: undefined, breakers: [breaker] },
  ],
  Applications: [{ type: 'Applications', applications: [application], endpointCounts: [3], after: 'x', total: 9 }],
  EventTypes: [{ type: 'EventTypes', eventTypes: [eventType], after: undefined }],
};
