/**
 * The file itself, which may always be lost: opened if it can be gone on with, else made anew.
 *
 *  SF1 a file of another version, of another cluster, or one that cannot be read is removed
 */
import { describeError } from '../../kernel/index.js';
import { type Log, SqlFailure, type SqlFile, type SqlFiles } from '../../ports/index.js';
import { SCHEMA, SCHEMA_VERSION } from './schema.js';

const MODEL = 'statistics';

export class StatsFile {
  #sql: SqlFile;

  constructor(
    private readonly files: SqlFiles,
    private readonly log: Log,
    private readonly clusterId: string,
  ) {
    this.#sql = this.#open();
  }

  get sql(): SqlFile {
    return this.#sql;
  }

  /** Removes everything, and begins with nothing. */
  discard(reason: string): void {
    this.log.warn('read-model.discarded', { model: MODEL, reason });
    this.#closeQuietly(this.#sql);
    this.files.remove();
    this.#sql = this.#create();
  }

  close(): void {
    this.#sql.close();
  }

  #open(): SqlFile {
    let file: SqlFile | undefined;
    try {
      file = this.files.open();
      const reason = this.#refusal(file);
      if (reason === undefined) return file;
      if (reason !== 'empty') this.log.info('read-model.rebuilding', { model: MODEL, reason });
    } catch (error) {
      if (!(error instanceof SqlFailure)) throw error;
      this.log.warn('read-model.discarded', { model: MODEL, reason: describeError(error) });
    }
    if (file !== undefined) this.#closeQuietly(file);
    this.files.remove();
    return this.#create();
  }

  #create(): SqlFile {
    const file = this.files.open();
    file.transaction(() => {
      file.exec(SCHEMA);
      const meta = file.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
      meta.run(['version', String(SCHEMA_VERSION)]);
      meta.run(['cluster', this.clusterId]);
    });
    return file;
  }

  /** Why the file cannot be gone on with. */
  #refusal(file: SqlFile): string | undefined {
    if (file.prepare('SELECT 1 AS found FROM sqlite_schema LIMIT 1').get([]) === undefined) return 'empty';
    const meta = file.prepare('SELECT value FROM meta WHERE name = ?');
    if (meta.get(['version'])?.value !== String(SCHEMA_VERSION)) return 'another version';
    if (meta.get(['cluster'])?.value !== this.clusterId) return 'another cluster';
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
