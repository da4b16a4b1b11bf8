/** The place of backups that a setting or an option names: a directory, or a bucket. */

import type { Config } from '../../config/index.js';
import type { BackupPlace } from '../../ports/index.js';
import { BackupDirectories } from '../node/index.js';
import type { S3Backups, S3Options } from '../s3/index.js';

/** Plain data, which can be sent to another process. */
export type PlaceOptions = { readonly directory: string } | { readonly s3: S3Options };

const S3 = 's3://';

export function isBucket(place: string): boolean {
  return place.startsWith(S3);
}

export function placeOptionsOf({ backups }: Config, place: string): PlaceOptions {
  if (!isBucket(place)) return { directory: place };
  const [bucket = '', ...prefix] = place.slice(S3.length).replace(/\/+$/, '').split('/');
  const { backupS3KeyId, backupS3Secret, backupS3Endpoint, backupS3Region, backupS3Lock } = backups;
  const credentials = backupS3KeyId &&
    backupS3Secret && { accessKeyId: backupS3KeyId.reveal(), secretAccessKey: backupS3Secret.reveal() };
  const s3: S3Options = {
    bucket,
    prefix: prefix.join('/'),
    endpoint: backupS3Endpoint,
    region: backupS3Region,
    credentials,
    lock: backupS3Lock,
    // The full backup of a folder is needed until the last moment of its rounds is no longer kept.
    lockMs: backups.backupKeepMs + backups.backupFullMs,
  };
  return { s3 };
}

/** @param onFile  called for each file that is written or read */
export async function openPlace(options: PlaceOptions, onFile?: (name: string) => void): Promise<BackupPlace> {
  return 's3' in options ? openBucket(options.s3, onFile) : new BackupDirectories(options.directory, onFile);
}

async function openBucket(options: S3Options, onFile?: (name: string) => void): Promise<S3Backups> {
  const { S3Backups } = await import('../s3/index.js');
  return new S3Backups(options, onFile);
}
