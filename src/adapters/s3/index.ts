/** Backups in S3-compatible storage. Loaded only when a bucket is used. */
export { S3Backups } from './s3-backups.js';
export type { S3Options } from './s3-bucket.js';
