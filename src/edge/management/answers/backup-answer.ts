/** A backup as the management API shows it. */
import { IsIn, IsInt, IsString } from 'class-validator';
import type { Backup } from '../../../domain/control/index.js';
import { uuidOf } from '../../../messages/index.js';
import { TextFlag, textFlag, unixSeconds } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';

export class BackupAnswer {
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

export function backupAnswer({ customerId }: ManagementCall, backup: Backup): BackupAnswer {
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
