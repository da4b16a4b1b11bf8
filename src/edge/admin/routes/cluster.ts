/** The cluster as operators see it: processes, shards, NATS servers, streams, and what is wrong with any of them. */
import { forbidden } from '../../error-map.js';
import { events, json } from '../../http/answer-shape.js';
import { FLAG, OBJECT, OBJECT_LIST, record, TEXT, WHOLE } from '../../http/openapi/parts.js';
import { RefusedRequest } from '../../http/refused.js';
import { type AdminCall, type AdminRoute, adminRoute } from '../admin-call.js';
import { clusterFeed } from '../feeds.js';
import { ATTENTION_LEVELS, healthFor } from '../health.js';

const STATUS = record(
  {
    clusterId: TEXT,
    alarms: { type: 'array', items: TEXT },
    processes: OBJECT_LIST,
    shards: OBJECT_LIST,
    servers: OBJECT_LIST,
    streams: OBJECT_LIST,
    drained: OBJECT_LIST,
    moves: OBJECT_LIST,
  },
  { format: WHOLE },
);

const HEALTH = record({
  isWell: FLAG,
  attention: { type: 'array', items: record({ about: TEXT, level: { enum: ATTENTION_LEVELS }, text: TEXT }) },
  processes: OBJECT_LIST,
  metrics: OBJECT,
  verified: { type: ['object', 'null'] },
});

export const CLUSTER_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET /v2/admin/health', {
    summary: 'Shows what needs attention, for people of the first account.',
    permission: 'read',
    answer: json(HEALTH),
    async handle(call) {
      mustBeOperator(call);
      call.json(JSON.stringify(await healthFor(call)));
    },
  }),
  adminRoute('GET /v2/admin/cluster', {
    summary: 'Shows processes, shards, NATS servers and streams, for people of the first account.',
    permission: 'read',
    answer: json(STATUS),
    async handle(call) {
      mustBeOperator(call);
      call.json(JSON.stringify(await call.face.parts.cluster.look()));
    },
  }),
  adminRoute('GET /v2/admin/cluster/events', {
    summary: 'Shows the same as it changes, for people of the first account.',
    permission: 'read',
    answer: events('Events cluster, each the whole status, whenever it has changed.'),
    async handle(call) {
      mustBeOperator(call);
      await clusterFeed(call);
    },
  }),
];

export function mustBeOperator({ face, grant }: AdminCall): void {
  if (face.parts.isOperator(grant)) return;
  throw new RefusedRequest(forbidden('only people of the first account may look at the whole installation'));
}
