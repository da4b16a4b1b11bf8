/**
 * The storage of a backup's files. A name is a path with `/`, made by this program; it contains no text of a tenant.
 *
 *  BF1 a file is complete and synced, or does not exist
 */

/** It lists the backup's files and is written last; a backup is complete only with it. */
export const MANIFEST_FILE = 'manifest.json';

export interface FileRef {
  readonly name: string;
  readonly bytes: number;
  /** The digest of the whole file, 64 lower-case hex digits. */
  readonly sha256: string;
}

export interface BackupFiles {
  /** Writes a file and replaces an earlier one of the name. An error of `pieces` is thrown, and no file is written. */
  write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<FileRef>;
  /** From the beginning, in pieces. Undefined when there is no such file. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Fewer bytes at the end of the file. @throws the error of the file system, also when there is no such file */
  readAt(name: string, offset: number, bytes: number): Promise<Uint8Array>;
  /** Names of the files that begin with `prefix`, which ends in `/`, in order. */
  list(prefix: string): Promise<readonly string[]>;
  /** Removes every file with a name that begins with `prefix`, which ends in `/`. */
  removeAll(prefix: string): Promise<void>;
}

/** A place with folders that each have a backup: a directory, or a bucket of an object store. Folders are listed by name. */
export interface BackupPlace {
  /** As in messages: `/mnt/backups`, `s3://bucket/prefix`. */
  readonly label: string;
  folders(): Promise<readonly string[]>;
  /** @param folder '' is the place itself */
  filesOf(folder: string): BackupFiles;
  /**
   * Removes a folder. Its manifest is removed first, so that a folder that is removed in part is no backup.
   * @throws the error of the place
   */
  remove(folder: string): Promise<void>;
  /** True when files are locked against deletes until their time is over. */
  isLocked(): Promise<boolean>;
  close(): void;
}
