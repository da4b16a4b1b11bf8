/** Operators' placement wishes for shards: each is recorded in the audit log, stored, and followed by processes. */
import { auditActionNumber } from '../../../domain/control/index.js';
import type { SessionId, ShardName } from '../../../kernel/index.js';
import type { ClusterSteering } from '../../../ports/index.js';
import { MANAGEMENT_REFUSALS } from '../../error-map.js';
import { OK_ANSWER } from '../../http/answer-shape.js';
import { queryParameter } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { type AdminCall, type AdminRoute, adminRoute } from '../admin-call.js';
import { mustBeOperator } from './cluster.js';

export const STEERING_ROUTES: readonly AdminRoute[] = [
  adminRoute('POST /v2/admin/cluster/processes/:id/drain', {
    summary: 'Wishes that a process owns no shard, for people of the first account.',
    permission: 'operation:change',
    answer: OK_ANSWER,
    handle: (call) => wish(call, 'drain', (steering, by) => steering.drain(call.id as SessionId, by)),
  }),
  adminRoute('POST /v2/admin/cluster/processes/:id/undrain', {
    summary: 'Takes that wish back.',
    permission: 'operation:change',
    answer: OK_ANSWER,
    handle: (call) => wish(call, 'undrain', (steering, by) => steering.undrain(call.id as SessionId, by)),
  }),
  adminRoute('POST /v2/admin/cluster/shards/:id/move', {
    summary: 'Wishes that a process owns a shard, for people of the first account.',
    permission: 'operation:change',
    parameters: [queryParameter('process', 'Left out: automatic placement.')],
    answer: OK_ANSWER,
    async handle(call) {
      const process = call.query.get('process') ?? undefined;
      await wish(call, `move to ${process ?? 'anywhere'}`, (steering, by) =>
        steering.move(call.id as ShardName, process as SessionId | undefined, by),
      );
    },
  }),
];

type Wish = (steering: ClusterSteering, by: string) => Promise<string | undefined> | Promise<void>;

/** Logged before it is stored. The events of the cluster show when processes have followed. @throws Refused */
async function wish(call: AdminCall, instruction: string, write: Wish): Promise<void> {
  mustBeOperator(call);
  const { endpoint, grant } = call;
  if (grant.isReadOnly) throw new RefusedRequest(MANAGEMENT_REFUSALS.readOnly);
  const note = {
    actor: grant.email,
    action: auditActionNumber('steerCluster'),
    source: `API_KEY - ${grant.keyName}`,
    entity: call.id,
    secondaryEntity: instruction,
    thirdEntity: '',
    ip: endpoint.addresses.of(call.request),
    reason: '',
  };
  const look = { type: 'ListQueues', account: grant.account } as const;
  await call.ask({ type: 'Audited', account: grant.account, note, command: look, always: true }, 'Accounts');
  const refusal = await write(endpoint.parts.steering, grant.email);
  if (typeof refusal === 'string') throw invalid(refusal);
  call.json('"OK"');
}
