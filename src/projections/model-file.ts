/**
 * The file of a read model, which may always be lost: opened if it can be gone on with, else made anew.
 *
 *  FM1 a file of another version, of another cluster, or one that cannot be read is removed
 *  FM2 what reads and writes the file is made with it, and made again when the file is
 */
import { describeError } from '../kernel/index.js';
import { type Log, SqlFailure, type SqlFile, type SqlFiles } from '../ports/index.js';

export interface ModelFileParts<Parts> {
  /** Lines of the log name it so. */
  readonly model: string;
  readonly clusterId: string;
  readonly version: number;
  /** SQL that makes its tables; one of them is `meta`. */
  readonly schema: string;
  /** FM2. */
  partsOf(file: SqlFile): Parts;
}

export class ModelFile<Parts> {
  #opened: readonly [SqlFile, Parts];

  constructor(
    private readonly files: SqlFiles,
    private readonly log: Log,
    private readonly options: ModelFileParts<Parts>,
  ) {
    this.#opened = this.#open();
  }

  get sql(): SqlFile {
    return this.#opened[0];
  }

  get parts(): Parts {
    return this.#opened[1];
  }

  /** Removes everything; what follows is folded from the beginning. */
  discard(reason: string): void {
    this.log.warn('read-model.discarded', { model: this.options.model, reason });
    this.#closeQuietly(this.sql);
    this.files.remove();
    this.#opened = this.#make(this.files.open());
  }

  close(): void {
    this.sql.close();
  }

  #open(): readonly [SqlFile, Parts] {
    const { model, partsOf } = this.options;
    let file: SqlFile | undefined;
    try {
      file = this.files.open();
      if (isEmpty(file)) return this.#make(file);
      const reason = this.#refusal(file);
      if (reason === undefined) return [file, partsOf(file)];
      this.log.info('read-model.rebuilding', { model, reason });
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      this.log.warn('read-model.discarded', { model, reason: describeError(error) });
    }
    if (file !== undefined) this.#closeQuietly(file);
    this.files.remove();
    return this.#make(this.files.open());
  }

  /** Of a file that is empty. */
  #make(file: SqlFile): readonly [SqlFile, Parts] {
    const { schema, version, clusterId, partsOf } = this.options;
    file.transaction(() => {
      file.exec(schema);
      const meta = file.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
      meta.run(['version', String(version)]);
      meta.run(['cluster', clusterId]);
    });
    return [file, partsOf(file)];
  }

  /** Why the file cannot be gone on with. */
  #refusal(file: SqlFile): string | undefined {
    const meta = file.prepare('SELECT value FROM meta WHERE name = ?');
    if (meta.get(['version'])?.value !== String(this.options.version)) return 'another version';
    if (meta.get(['cluster'])?.value !== this.options.clusterId) return 'another cluster';
    return undefined;
  }

  #closeQuietly(file: SqlFile): void {
    try {
      file.close();
    } catch (error) {
      // A damaged file may not even close; it is removed in any case.
      this.log.debug('read-model.not-closed', { reason: describeError(error) });
    }
  }
}

function isEmpty(file: SqlFile): boolean {
  return file.prepare('SELECT 1 AS found FROM sqlite_schema LIMIT 1').get([]) === undefined;
}
