/**
 * Where the files of a backup lie. A name is a path with `/`, made of our own words; nothing a tenant wrote is in it.
 *
 *  BF1 a file is there whole and synced, or not at all
 */

/** What makes a backup whole: it is written last, and says which files belong to it. */
export const MANIFEST_FILE = 'manifest.json';

export interface FileRef {
  readonly name: string;
  readonly bytes: number;
  /** It is the digest of the whole file, 64 lower-case hex digits. */
  readonly sha256: string;
}

export interface BackupFiles {
  /** Writes a file in place of an earlier one of the name. What `pieces` throws is thrown, and nothing is written. */
  write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<FileRef>;
  /** From its beginning, in pieces of some size. Undefined when there is no such file. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Fewer bytes where the file ends before. @throws the error of the file system, also when there is no such file */
  readAt(name: string, offset: number, bytes: number): Promise<Uint8Array>;
  /** Removes everything whose name begins with `prefix`, which ends in `/`. */
  removeAll(prefix: string): Promise<void>;
}
