/** Switching the scrape endpoint of a database, or of a message queue account, on and off. */
import { IsOptional, IsString } from 'class-validator';
import { DEFAULT_DATABASE_SETTINGS, type SealedSecret } from '../../../domain/control/index.js';
import { hashSecret, newSecretText } from '../../../messages/index.js';
import { DatabaseAnswer, databaseAnswer } from '../answers/database-answer.js';
import { QueueAccountAnswer, queueAccountAnswer } from '../answers/queue-account-answer.js';
import { databaseIdIn } from '../ids.js';
import type { ManagementCall } from '../management-call.js';
import { one, type Route, route } from '../route.js';
import { changedQueue, planChange, queueOf } from './queue-accounts.js';

class MonitoredDatabaseAnswer extends DatabaseAnswer {
  /** Of the call that switched it on, and of no other. */
  @IsOptional() @IsString() readonly prometheus_token?: string;
}

class MonitoredQueueAnswer extends QueueAccountAnswer {
  /** As of a database. */
  @IsOptional() @IsString() readonly prometheus_token?: string;
}

const TOKEN_PREFIX = 'mrm_';

export const MONITORING_ROUTES: readonly Route[] = [
  route('POST /v2/kv/enable-prometheus/:id', {
    summary:
      'Opens the scrape endpoint of a database, and shows its token this once; one that is open keeps its token.',
    permission: 'databases',
    answer: one(MonitoredDatabaseAnswer),
    async handle(call, { path }) {
      const { settings = DEFAULT_DATABASE_SETTINGS } = await call.database(databaseIdIn(path.id));
      if (settings.prometheusToken !== undefined) return switched(call, path.id, 'enablePrometheus', undefined);
      const { text, secret } = newToken(call);
      const answer = await switched(call, path.id, 'enablePrometheus', secret);
      return { ...answer, prometheus_token: text };
    },
  }),

  route('POST /v2/kv/disable-prometheus/:id', {
    summary: 'Closes the scrape endpoint of a database: its token opens nothing any more.',
    permission: 'databases',
    answer: one(DatabaseAnswer),
    handle: (call, { path }) => switched(call, path.id, 'disablePrometheus', null),
  }),

  route('POST /v2/msgq/enable-prometheus/:id', {
    summary:
      'Opens the scrape endpoint of a message queue account, which has the databases of its owner too, and shows its token this once; one that is open keeps its token.',
    permission: 'databases',
    answer: one(MonitoredQueueAnswer),
    async handle(call, { path }) {
      const { plan } = await queueOf(call, path.id);
      if (plan?.prometheusToken !== undefined) return switchedQueue(call, path.id, 'enablePrometheus', undefined);
      const { text, secret } = newToken(call);
      const answer = await switchedQueue(call, path.id, 'enablePrometheus', secret);
      return { ...answer, prometheus_token: text };
    },
  }),

  route('POST /v2/msgq/disable-prometheus/:id', {
    summary: 'Closes the scrape endpoint of a message queue account: its token opens nothing any more.',
    permission: 'databases',
    answer: one(QueueAccountAnswer),
    handle: (call, { path }) => switchedQueue(call, path.id, 'disablePrometheus', null),
  }),
];

/** @param prometheusToken as of `switched` */
async function switchedQueue(
  call: ManagementCall,
  uuid: string | undefined,
  action: 'enablePrometheus' | 'disablePrometheus',
  prometheusToken: SealedSecret | null | undefined,
): Promise<QueueAccountAnswer> {
  const plan = prometheusToken === undefined ? {} : { prometheusToken };
  return queueAccountAnswer(call, await changedQueue(call, uuid, action, ({ id }) => planChange(id, plan)));
}

/** @param prometheusToken null: off; undefined: as it is */
async function switched(
  call: ManagementCall,
  uuid: string | undefined,
  action: 'enablePrometheus' | 'disablePrometheus',
  prometheusToken: SealedSecret | null | undefined,
): Promise<DatabaseAnswer> {
  const { id, name } = await call.database(databaseIdIn(uuid));
  const change = { settings: prometheusToken === undefined ? {} : { prometheusToken } };
  const command = { type: 'ChangeDatabase', account: call.account, database: id, change } as const;
  const { database } = await call.change(command, 'OneDatabase', { action, entity: name });
  return databaseAnswer(call, database);
}

function newToken({ face }: ManagementCall): { readonly text: string; readonly secret: SealedSecret } {
  const text = TOKEN_PREFIX + newSecretText(face.parts.random);
  return { text, secret: { sha256: hashSecret(text), sealed: face.parts.sealing().seal(text) } };
}
