/** The cluster for operators: processes, shards, NATS servers, streams and their problems. */
import { forbidden } from '../../error-map.js';
import { events } from '../../http/answer-shape.js';
import { schemaNamed } from '../../http/openapi/parts.js';
import { RefusedRequest } from '../../http/refused.js';
import { type AdminCall, type AdminRoute, adminRoute } from '../admin-call.js';
import { adminAnswer } from '../admin-schemas.js';
import { clusterFeed } from '../feeds.js';
import { healthFor } from '../health.js';

export const CLUSTER_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET /v2/admin/health', {
    summary: 'Shows the problems of the cluster, for people of the first account.',
    permission: 'operation:read',
    answer: adminAnswer('Health'),
    async handle(call) {
      mustBeOperator(call);
      call.json(JSON.stringify(await healthFor(call)));
    },
  }),
  adminRoute('GET /v2/admin/cluster', {
    summary: 'Shows processes, shards, NATS servers and streams, for people of the first account.',
    permission: 'operation:read',
    answer: adminAnswer('ClusterStatus'),
    async handle(call) {
      mustBeOperator(call);
      call.json(JSON.stringify(await call.endpoint.parts.cluster.look()));
    },
  }),
  adminRoute('GET /v2/admin/cluster/events', {
    summary: 'Shows the same as it changes, for people of the first account.',
    permission: 'operation:read',
    answer: events('Events cluster, each the whole status, whenever it has changed.', {
      cluster: schemaNamed('ClusterStatus'),
    }),
    async handle(call) {
      mustBeOperator(call);
      await clusterFeed(call);
    },
  }),
];

export function mustBeOperator({ endpoint, grant }: AdminCall): void {
  if (endpoint.parts.isOperator(grant)) return;
  throw new RefusedRequest(forbidden('only people of the first account may look at the whole installation'));
}
