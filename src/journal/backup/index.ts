/** Making, verifying and restoring backups of an installation: docs/operations/backups.md, docs/decisions/backups.md. */
export {
  type BackupManifest,
  filesOf,
  readManifest,
} from './backup-manifest.js';
export { ContinuousCopy, type CopyNews, type CopyParts, type CopyTimes } from './continuous-copy.js';
export { backupAt, beginOf, type CopyInFolder, copyIn, folderName, foldersIn, type OpenFiles } from './copy-folders.js';
export { type BackupMaker, createBackup, type Installation } from './create-backup.js';
export {
  type KeptObjects,
  keptBackups,
  loadKept,
  readKept,
  removeAllOf,
  removeKept,
} from './kept-objects.js';
export { type KeepRequest, type KeptState, keepStates } from './kept-state.js';
export type { BackupPlanes } from './planes.js';
export { checkKey, type RestoredShard, refuseUsedInstallation, restoreBackup } from './restore-backup.js';
export { checkFiles, type PartitionDigest, verifyBackup } from './verify-backup.js';
