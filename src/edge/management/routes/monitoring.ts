/** Switching a database's scrape endpoint on and off. */
import { IsOptional, IsString } from 'class-validator';
import { DEFAULT_DATABASE_SETTINGS, type SealedSecret } from '../../../domain/control/index.js';
import { hashSecret, newSecretText } from '../../../messages/index.js';
import { DatabaseAnswer, databaseAnswer } from '../answers/database-answer.js';
import { databaseIdIn } from '../ids.js';
import type { ManagementCall } from '../management-call.js';
import { one, type Route, route } from '../route.js';

export class MonitoredDatabaseAnswer extends DatabaseAnswer {
  /** Of the call that switched it on, and of no other. */
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
];

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
