/** Backups of an installation: made, proven, restored. docs/operations/backups.md, docs/adr/0039. */
export {
  type BackupHead,
  type BackupManifest,
  filesOf,
  type JournalBackup,
  readManifest,
} from './backup-manifest.js';
export { type BackupMaker, type BackupSource, createBackup, type Installation } from './create-backup.js';
export { type KeptObjects, keptBackups, loadKept, readKept, removeAllOf, removeKept } from './kept-objects.js';
export { type KeepPorts, type KeepRequest, type Kept, keepStates } from './kept-state.js';
export type { BackupPlanes, OldLogs } from './planes.js';
export {
  checkKey,
  type RestoredShard,
  type RestoreTarget,
  refuseUsedInstallation,
  restoreBackup,
} from './restore-backup.js';
export { type BackupReader, openBackup, type PartitionDigest, verifyBackup } from './verify-backup.js';
