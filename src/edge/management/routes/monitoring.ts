/** Switches the scrape endpoint of a database or queue account on and off. */

import { IsOptional, IsString } from 'class-validator';
import { DEFAULT_DATABASE_SETTINGS, type SealedSecret } from '../../../domain/control/index.js';
import { hashSecret, newSecretText } from '../../../protocol/index.js';
import { one } from '../../http/answer-shape.js';
import { mustBeAllowed } from '../../team-permissions.js';
import { DatabaseAnswer, databaseAnswer } from '../answers/database-answer.js';
import { QueueAccountAnswer, queueAccountAnswer } from '../answers/queue-account-answer.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { changedDatabase, changedQueue, databaseIn, planChange, queueIn } from '../owned.js';

class MonitoredDatabaseAnswer extends DatabaseAnswer {
  /** Shown only by the call that switched it on. */
  @IsOptional() @IsString() readonly prometheus_token?: string;
}

class MonitoredQueueAnswer extends QueueAccountAnswer {
  /** Shown only by the call that switched it on. */
  @IsOptional() @IsString() readonly prometheus_token?: string;
}

const TOKEN_PREFIX = 'mrm_';

export const MONITORING_SWITCH_ROUTES: readonly ManagementRoute[] = [
  managementRoute('POST /v2/kv/enable-prometheus/:id', {
    summary:
      'Opens the scrape endpoint of a database, and shows its token this once; one that is open keeps its token.',
    permission: 'databases:change',
    answer: one(MonitoredDatabaseAnswer),
    async handle(call, { path }) {
      const { settings = DEFAULT_DATABASE_SETTINGS } = await databaseIn(call, path.id);
      if (settings.prometheusToken !== undefined) return switched(call, path.id, 'enablePrometheus', undefined);
      const { text, secret } = newToken(call);
      const answer = await switched(call, path.id, 'enablePrometheus', secret);
      return { ...answer, prometheus_token: text };
    },
  }),

  managementRoute('POST /v2/kv/disable-prometheus/:id', {
    summary: 'Closes the scrape endpoint of a database: its token is refused from then on.',
    permission: 'databases:change',
    answer: one(DatabaseAnswer),
    handle: (call, { path }) => switched(call, path.id, 'disablePrometheus', null),
  }),

  managementRoute('POST /v2/msgq/enable-prometheus/:id', {
    summary:
      'Opens the scrape endpoint of a message queue account, which has the databases of its owner too, and shows its token this once; one that is open keeps its token.',
    permission: 'queues:change',
    answer: one(MonitoredQueueAnswer),
    async handle(call, { path }) {
      mustBeAllowed(call.grant, 'databases:read');
      const { plan } = await queueIn(call, path.id);
      if (plan?.prometheusToken !== undefined) return switchedQueue(call, path.id, 'enablePrometheus', undefined);
      const { text, secret } = newToken(call);
      const answer = await switchedQueue(call, path.id, 'enablePrometheus', secret);
      return { ...answer, prometheus_token: text };
    },
  }),

  managementRoute('POST /v2/msgq/disable-prometheus/:id', {
    summary: 'Closes the scrape endpoint of a message queue account: its token is refused from then on.',
    permission: 'queues:change',
    answer: one(QueueAccountAnswer),
    handle: (call, { path }) => switchedQueue(call, path.id, 'disablePrometheus', null),
  }),
];

type Switching = 'enablePrometheus' | 'disablePrometheus';

/** @param token null: remove it; undefined: keep it */
function tokenChange(token: SealedSecret | null | undefined) {
  return token === undefined ? {} : { prometheusToken: token };
}

async function switchedQueue(
  call: ManagementCall,
  uuid: string | undefined,
  action: Switching,
  token: SealedSecret | null | undefined,
): Promise<QueueAccountAnswer> {
  return queueAccountAnswer(call, await changedQueue(call, uuid, action, planChange(tokenChange(token))));
}

async function switched(
  call: ManagementCall,
  uuid: string | undefined,
  action: Switching,
  token: SealedSecret | null | undefined,
): Promise<DatabaseAnswer> {
  return databaseAnswer(call, await changedDatabase(call, uuid, action, () => ({ settings: tokenChange(token) })));
}

function newToken({ endpoint }: ManagementCall): { readonly text: string; readonly secret: SealedSecret } {
  const text = TOKEN_PREFIX + newSecretText(endpoint.parts.random);
  return { text, secret: { sha256: hashSecret(text), sealed: endpoint.parts.sealing().seal(text) } };
}
