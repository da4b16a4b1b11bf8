/** Backups in folders below a prefix of a bucket. */
import { MillraceError } from '../../kernel/index.js';
import { type BackupFiles, type BackupPlace, type FileRef, MANIFEST_FILE } from '../../ports/index.js';
import { referTo } from '../node/index.js';
import { S3Bucket, type S3Options } from './s3-bucket.js';

/** One request for each piece, so that a long pause between two pieces ends no connection. */
const READ_BYTES = 8 * 1024 * 1024;
/** No upload of this program takes longer; other writers' uploads are not touched before. */
const UPLOAD_MS = 86_400_000;

export class S3Backups implements BackupPlace {
  readonly #bucket: S3Bucket;

  /** @param onFile  called for each file that is written or read */
  constructor(
    options: S3Options,
    private readonly onFile: (name: string) => void = () => undefined,
  ) {
    this.#bucket = new S3Bucket(options);
  }

  get label(): string {
    return this.#bucket.label;
  }

  folders(): Promise<readonly string[]> {
    return this.#bucket.folders();
  }

  filesOf(folder: string): BackupFiles {
    return new S3Files(this.#bucket, folder === '' ? '' : `${folder}/`, this.onFile);
  }

  async remove(folder: string): Promise<void> {
    await this.#bucket.delete([`${folder}/${MANIFEST_FILE}`]);
    await this.filesOf(folder).removeAll('');
    await this.#bucket.abortUploads(`${folder}/`, Date.now() - UPLOAD_MS);
  }

  isLocked(): Promise<boolean> {
    return this.#bucket.isLocked();
  }

  close(): void {
    this.#bucket.close();
  }
}

class S3Files implements BackupFiles {
  constructor(
    private readonly bucket: S3Bucket,
    private readonly folder: string,
    private readonly onFile: (name: string) => void,
  ) {}

  async write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<FileRef> {
    this.onFile(name);
    return referTo(name, pieces, (counted) => this.bucket.put(this.folder + name, counted));
  }

  async read(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    this.onFile(name);
    const { bucket } = this;
    const key = this.folder + name;
    const first = await bucket.get(key, 0, READ_BYTES);
    if (first === undefined) return undefined;
    return (async function* () {
      let piece = first;
      for (let at = 0; piece.length > 0; piece = (await bucket.get(key, at, READ_BYTES)) ?? new Uint8Array(0)) {
        yield piece;
        if (piece.length < READ_BYTES) return;
        at += piece.length;
      }
    })();
  }

  async readAt(name: string, offset: number, bytes: number): Promise<Uint8Array> {
    const read = await this.bucket.get(this.folder + name, offset, bytes);
    if (read !== undefined) return read;
    throw new MillraceError('JOURNAL_DAMAGED', `${name} of the backup is missing`);
  }

  async list(prefix: string): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const name of this.bucket.list(this.folder + prefix)) found.push(name.slice(this.folder.length));
    return found;
  }

  async removeAll(prefix: string): Promise<void> {
    const names = await this.list(prefix);
    await this.bucket.delete(names.map((name) => this.folder + name));
  }
}
