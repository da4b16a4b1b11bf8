/**
 * The last record number of each process. A process sends records in order and repeats one until it is stored, so a
 * number at or below the last was already counted. Caches of this object are valid only after successful
 * transactions; call `forget` after a failed one.
 */
import { DAY_MS } from '../../domain/statistics/index.js';
import type { SqlFile } from '../../ports/index.js';
import type { MeterRecord } from '../../protocol/index.js';
import { type Prepared, prepared } from '../statements.js';

/** A process without records for so long sends none again. */
const KEPT_DAYS = 3;

interface Last {
  readonly number: number;
  readonly day: number;
}

export class CountedSessions {
  readonly #last = new Map<string, Last>();
  readonly #unstored = new Set<string>();
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /** Marks the record as counted; a second call returns false. */
  isNew({ session, number, atMs }: Pick<MeterRecord, 'session' | 'number' | 'atMs'>): boolean {
    const last = this.#last.get(session) ?? this.#stored(session);
    if (last !== undefined && number <= last.number) return false;
    this.#last.set(session, { number, day: Math.floor(atMs / DAY_MS) });
    this.#unstored.add(session);
    return true;
  }

  /** Called at the end of a transaction. */
  flush(): void {
    for (const session of this.#unstored) {
      const { number, day } = this.#last.get(session) as Last;
      this.#sql.write.run([session, number, day]);
    }
    this.#unstored.clear();
  }

  prune(nowMs: number): void {
    this.#sql.prune.run([Math.floor(nowMs / DAY_MS) - KEPT_DAYS]);
    this.#last.clear();
  }

  forget(): void {
    this.#last.clear();
    this.#unstored.clear();
  }

  #stored(session: string): Last | undefined {
    const row = this.#sql.read.get([session]);
    return row && { number: row.number as number, day: row.day as number };
  }
}

const STATEMENTS = {
  read: 'SELECT number, day FROM sessions WHERE name = ?',
  write: 'INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)',
  prune: 'DELETE FROM sessions WHERE day < ?',
} as const;
