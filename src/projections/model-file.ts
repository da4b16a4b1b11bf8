/**
 * The file of a read model. It is disposable: it is opened if it fits, and otherwise rebuilt.
 *
 *  FM1 a file of another version or cluster, or an unreadable one, is removed
 *  FM2 the readers and writers of a file are created with it, and again when it is rebuilt
 */
import { describeError } from '../kernel/index.js';
import { type Log, SqlFailure, type SqlFile, type SqlFiles } from '../ports/index.js';

export interface ModelFileParts<Parts> {
  /** The name in log lines. */
  readonly model: string;
  readonly clusterId: string;
  readonly version: number;
  /** SQL that creates the tables; one of them is `meta`. */
  readonly schema: string;
  /** Makes the readers and writers: FM2 (they are created with the file). */
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

  /** Removes all rows; folding then starts from the beginning. */
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

  /** Initialises an empty file. */
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

  /** The reason why the file cannot be used. */
  #refusal(file: SqlFile): string | undefined {
    const meta = file.prepare('SELECT value FROM meta WHERE name = ?');
    const { version } = this.options;
    const found = Number(meta.get(['version'])?.value);
    if (found > version) return `written by a newer release (version ${found}, this program has ${version})`;
    if (found !== version) return 'another version';
    if (meta.get(['cluster'])?.value !== this.options.clusterId) return 'another cluster';
    return undefined;
  }

  #closeQuietly(file: SqlFile): void {
    try {
      file.close();
    } catch (error) {
      // Closing a damaged file may fail; it is removed anyway.
      this.log.debug('read-model.not-closed', { reason: describeError(error) });
    }
  }
}

function isEmpty(file: SqlFile): boolean {
  return file.prepare('SELECT 1 AS found FROM sqlite_schema LIMIT 1').get([]) === undefined;
}
