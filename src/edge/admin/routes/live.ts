/** Live feeds, and the read models behind them. */
import { READ_MODEL_NAMES } from '../../../ports/index.js';
import { forbidden, MANAGEMENT_REFUSALS, notFound } from '../../error-map.js';
import { events, json } from '../../http/answer-shape.js';
import { queryParameter, record, schemaNamed, wordOf } from '../../http/openapi/parts.js';
import { RefusedRequest } from '../../http/refused.js';
import { type AdminRoute, adminRoute } from '../admin-call.js';
import { MAX_SHOWN_CLIENTS } from '../admin-limits.js';
import { adminAnswer } from '../admin-schemas.js';
import { logFeed, statisticsFeed } from '../feeds.js';
import { monitorFeed } from '../monitor.js';

const STATISTICS = 'Events statistics: the last hour, whenever it has changed.';

export const LIVE_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET /v2/admin/databases/:id/statistics', {
    summary: 'Shows the usage of a database.',
    permission: 'databases:read',
    answer: events(STATISTICS, { statistics: schemaNamed('DatabaseSeries') }),
    handle: (call) => statisticsFeed(call, 'database'),
  }),
  adminRoute('GET /v2/admin/databases/:id/monitor', {
    summary: 'Shows the commands of a database as they run.',
    permission: 'databases:use',
    answer: events('Events with the commands of one second each, and the number of commands left out.', {
      commands: schemaNamed('RunCommands'),
    }),
    handle: monitorFeed,
  }),
  adminRoute('GET /v2/admin/databases/:id/clients', {
    summary: 'Shows the connections to a database over the native protocol, of the process that answers.',
    permission: 'databases:use',
    answer: adminAnswer('ConnectedClients'),
    async handle(call) {
      const { database } = await call.database();
      const clients = [...call.endpoint.parts.clientsOf(database)];
      const more = clients.length > MAX_SHOWN_CLIENTS;
      call.json(JSON.stringify({ clients: clients.slice(0, MAX_SHOWN_CLIENTS), more }));
    },
  }),
  adminRoute('GET /v2/admin/queues/:id/logs', {
    summary: 'Shows the events of the messages of a queue.',
    permission: 'queues:use',
    parameters: [queryParameter('from', 'Milliseconds since 1970; left out: now.', { type: 'integer', minimum: 0 })],
    answer: events('Events log, each an event of a message.', { log: schemaNamed('LogEvent') }),
    handle: logFeed,
  }),
  adminRoute('GET /v2/admin/queues/:id/statistics', {
    summary: 'Shows the usage of a queue.',
    permission: 'queues:read',
    answer: events(STATISTICS, { statistics: schemaNamed('QueueSeries') }),
    handle: (call) => statisticsFeed(call, 'queue'),
  }),
  // Each process has its own read models, and only operators may rebuild them.
  adminRoute('POST /v2/admin/read-models/:id/rebuild', {
    summary: 'Rebuilds a read model of this process, for people of the first account.',
    permission: 'operation:change',
    answer: json(record({ rebuilding: wordOf(READ_MODEL_NAMES) })),
    async handle(call) {
      const { readModels, isOperator } = call.endpoint.parts;
      if (call.grant.isReadOnly) throw new RefusedRequest(MANAGEMENT_REFUSALS.readOnly);
      if (!isOperator(call.grant)) {
        throw new RefusedRequest(forbidden('only people of the first account may rebuild read models'));
      }
      const model = READ_MODEL_NAMES.find((name) => name === call.id);
      if (model === undefined) throw new RefusedRequest(notFound('read model'));
      if (readModels === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noReadModels);
      readModels.rebuild(model);
      call.json(JSON.stringify({ rebuilding: model }));
    },
  }),
];
