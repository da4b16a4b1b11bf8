/** Backups of databases. Daily backups are a setting (database-settings.ts). */

import { IsIn, IsInt, IsString } from 'class-validator';
import type { Backup } from '../../../domain/control/index.js';
import { type BackupId, type DatabaseId, describeError } from '../../../kernel/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { MANAGEMENT_REFUSALS } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT } from '../../http/answer-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { TextFlag, textFlag, unixSeconds } from '../../http/shapes.js';
import { mustBeAllowed } from '../../team-permissions.js';
import { EXAMPLE_ID } from '../example-id.js';
import { backupIdIn, databaseIdIn } from '../ids.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { databaseIn } from '../owned.js';
import { CreateBackupRequest, RestoreBackupRequest } from '../requests/database-requests.js';

/** A backup as the management API shows it. */
class BackupAnswer {
  @IsString() readonly backup_id!: string;
  @IsString() readonly database_id!: string;
  @IsString() readonly customer_id!: string;
  @IsString() readonly name!: string;
  @IsInt() readonly creation_time!: number;
  @IsIn(['pending', 'completed', 'failed']) readonly state!: string;
  /** Bytes; 0 until it is completed. */
  @IsInt() readonly backup_size!: number;
  @TextFlag() readonly daily_backup!: 'true' | 'false';
  @TextFlag() readonly hourly_backup!: 'true' | 'false';
  @IsString() readonly internal_backup_tag!: string;
}

function backupAnswer({ customerId }: ManagementCall, backup: Backup): BackupAnswer {
  return {
    backup_id: uuidOf(backup.id),
    database_id: uuidOf(backup.database),
    customer_id: customerId,
    name: backup.name,
    creation_time: unixSeconds(backup.createdAtMs),
    state: backup.state,
    backup_size: backup.bytes,
    daily_backup: textFlag(backup.isDaily),
    hourly_backup: textFlag(false),
    internal_backup_tag: '',
  };
}

export const BACKUP_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/kv/list-backup/:id', {
    summary: 'Lists the backups of a database, newest first.',
    permission: 'databases:read',
    answer: listOf(BackupAnswer),
    async handle(call, { path }) {
      return (await backupsOf(call, databaseIdIn(path.id))).map((backup) => backupAnswer(call, backup));
    },
  }),

  managementRoute('POST /v2/kv/create-backup/:id', {
    summary: 'Begins a backup of a database, which the list of backups shows from then on.',
    permission: 'databases:change',
    body: CreateBackupRequest,
    example: { name: 'before the move' },
    answer: OK_ANSWER,
    async handle(call, { path, body: { name } }) {
      const backups = backupsPort(call);
      const database = await databaseIn(call, path.id);
      const backup = call.endpoint.secrets.backupId();
      const command = {
        type: 'StartBackup',
        account: call.account,
        database: database.id,
        backup,
        name,
        isDaily: false,
      } as const;
      const about = { action: 'createBackup', entity: database.name, secondary: name } as const;
      await call.change(command, 'OneBackup', about);
      backups.start(database.id, backup);
      return OK_TEXT;
    },
  }),

  managementRoute('DELETE /v2/kv/delete-backup/:id/:backup_id', {
    summary: 'Deletes a backup.',
    permission: 'databases:change',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      backupsPort(call);
      const database = await databaseIn(call, path.id);
      const { backup } = await backupOf(call, backupIdIn(path.backup_id));
      const command = {
        type: 'DeleteBackup',
        account: call.account,
        database: database.id,
        backup: backup.id,
      } as const;
      const about = { action: 'deleteBackup', entity: database.name, secondary: backup.name } as const;
      await call.change(command, 'OneBackup', about);
      await removed(call, backup);
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/kv/restore-backup/:id', {
    summary: 'Puts a backup, of this database or another of the account, in place of all that a database holds.',
    permission: 'databases:change',
    body: RestoreBackupRequest,
    example: { backup_id: EXAMPLE_ID },
    answer: OK_ANSWER,
    async handle(call, { path, body: { backup_id } }) {
      const backups = backupsPort(call);
      const database = await databaseIn(call, path.id);
      const { backup } = await backupOf(call, backupIdIn(backup_id));
      mustBeAllowed(call.grant, 'databases:use', uuidOf(backup.database));
      if (backup.state !== 'completed') throw invalid(`backup_id: the backup is ${backup.state}`);
      // Journaled first: the change to the data is in the log even if the restore is interrupted.
      const command = { type: 'ChangeDatabase', account: call.account, database: database.id, change: {} } as const;
      const about = { action: 'restoreBackup', entity: database.name, secondary: backup.name } as const;
      await call.change(command, 'OneDatabase', about);
      await backups.restore(database.id, backup.manifests);
      return OK_TEXT;
    },
  }),
];

/** @throws Refused 503 */
function backupsPort({ endpoint }: ManagementCall) {
  const { backups } = endpoint.parts;
  if (backups === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noBackups);
  return backups;
}

/** The backup is off the list already, so remaining objects concern the operator, not the caller. */
async function removed(call: ManagementCall, { id, manifests }: Backup): Promise<void> {
  try {
    await backupsPort(call).delete(manifests);
  } catch (failure) {
    call.endpoint.parts.log.warn('management.backup.remains', { backup: id, error: describeError(failure) });
  }
}

async function backupsOf(call: ManagementCall, database: DatabaseId): Promise<readonly Backup[]> {
  return (await call.ask({ type: 'ListBackups', account: call.account, database }, 'Backups')).backups;
}

/** A backup of any database of the account. @throws Refused 404 */
function backupOf(call: ManagementCall, backup: BackupId) {
  return call.ask({ type: 'GetBackup', account: call.account, backup }, 'OneBackup');
}
