/** The objects of a backup as a read-only object store. */
import { MillraceError } from '../../kernel/index.js';
import type { BackupFiles, FileRef, ObjectInfo, ObjectStore } from '../../ports/index.js';
import { placesOf, type RecordPlace } from './record-files.js';

export class BackupObjects implements ObjectStore {
  private constructor(
    private readonly files: BackupFiles,
    private readonly places: ReadonlyMap<string, RecordPlace>,
  ) {}

  /** @throws JOURNAL_DAMAGED */
  static async open(files: BackupFiles, refs: readonly FileRef[]): Promise<BackupObjects> {
    return new BackupObjects(files, await placesOf(files, refs));
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const place = this.places.get(name);
    if (place === undefined) return undefined;
    const bytes = await this.files.readAt(place.file, place.offset, place.bytes);
    if (bytes.length === place.bytes) return bytes;
    throw new MillraceError('JOURNAL_DAMAGED', `${place.file} of the backup is shorter than it was`, { name });
  }

  async list(prefix: string): Promise<ObjectInfo[]> {
    return [...this.places]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, { bytes }]) => ({ name, bytes }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  put(name: string): Promise<void> {
    return Promise.reject(new MillraceError('DEFECT', 'a backup is read-only', { name }));
  }

  delete(name: string): Promise<void> {
    return Promise.reject(new MillraceError('DEFECT', 'a backup is read-only', { name }));
  }
}
