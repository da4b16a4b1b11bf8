/** The past of databases and queues, and its verification. It requires the right to use the database or queue. */
import { forbidden } from '../../error-map.js';
import { events } from '../../http/answer-shape.js';
import { ERROR_SCHEMA, FLAG, queryParameter, schemaNamed } from '../../http/openapi/parts.js';
import { RefusedRequest } from '../../http/refused.js';
import { type AdminRoute, adminRoute } from '../admin-call.js';
import { adminAnswer } from '../admin-schemas.js';
import { diff, stateAt, timeline, verify } from '../past.js';

const MOMENT = 'A position of the journal, or an instant of ISO 8601 with its zone.';
const FROM = queryParameter('from', MOMENT);
const TO = queryParameter('to', MOMENT);
const LIMIT = queryParameter('limit', 'The highest number of records.', { type: 'integer', minimum: 1 });
const NEWEST = queryParameter('newest', 'The last records instead of the first, in descending order.', FLAG);
const VALUES = queryParameter('values', 'Also returns the commands that create each value again.', FLAG);
const PROOF = events('Events progress, report for each journal, and done; failed if it was interrupted.', {
  progress: schemaNamed('AuditProgress'),
  report: schemaNamed('AuditReport'),
  done: schemaNamed('AuditDone'),
  failed: ERROR_SCHEMA,
});

export const PAST_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET /v2/admin/databases/:id/timeline', {
    summary: 'Shows the journal entries of a database, or those that touched one key.',
    permission: 'databases:use',
    parameters: [
      FROM,
      TO,
      LIMIT,
      NEWEST,
      queryParameter('key', 'Only entries that changed this key, with these effects.'),
      queryParameter('key_base64', 'The same, as base64.'),
    ],
    answer: adminAnswer('Timeline'),
    handle: async (call) => timeline(call, await call.database()),
  }),
  adminRoute('GET /v2/admin/databases/:id/state', {
    summary: 'Shows the content of a database at a moment.',
    permission: 'databases:use',
    parameters: [
      { ...queryParameter('at', MOMENT), required: true },
      queryParameter('after', 'The key after which the list begins.'),
      queryParameter('after_base64', 'The same, as base64.'),
      LIMIT,
      VALUES,
      queryParameter('key', 'Only this key; the numbers are then those of its partition.'),
      queryParameter('key_base64', 'The same, as base64.'),
    ],
    answer: adminAnswer('PastKeys'),
    handle: stateAt,
  }),
  adminRoute('GET /v2/admin/databases/:id/diff', {
    summary: 'Shows the changes of a database between two moments.',
    permission: 'databases:use',
    parameters: [{ ...FROM, required: true }, { ...TO, required: true }, LIMIT, VALUES],
    answer: adminAnswer('KeyChanges'),
    handle: diff,
  }),
  adminRoute('GET /v2/admin/databases/:id/verify', {
    summary: 'Proves the journal of a database.',
    permission: 'databases:read',
    answer: PROOF,
    handle: async (call) => verify(call, await call.database()),
  }),
  adminRoute('GET /v2/admin/queues/:id/timeline', {
    summary: 'Shows the journal entries of a queue.',
    permission: 'queues:use',
    parameters: [FROM, TO, LIMIT, NEWEST],
    answer: adminAnswer('Timeline'),
    handle: async (call) => timeline(call, await call.queue()),
  }),
  adminRoute('GET /v2/admin/queues/:id/verify', {
    summary: 'Proves the journal of a queue.',
    permission: 'queues:read',
    answer: PROOF,
    handle: async (call) => verify(call, await call.queue()),
  }),
  adminRoute('GET /v2/admin/verify', {
    summary: 'Proves every journal, for people of the first account.',
    permission: 'operation:read',
    answer: PROOF,
    async handle(call) {
      if (!call.endpoint.parts.isOperator(call.grant)) {
        throw new RefusedRequest(forbidden('only people of the first account may verify the whole installation'));
      }
      await verify(call, undefined);
    },
  }),
];
