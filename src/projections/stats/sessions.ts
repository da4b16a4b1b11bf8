/**
 * The last record of each process: a process sends them in order, and one again until it is stored, so that what has
 * been seen before is at or below the last.
 *
 * What this object remembers is only valid as long as its transactions succeed; after one that did not, `forget` it.
 */
import { DAY_MS } from '../../domain/statistics/index.js';
import type { MeterRecord } from '../../messages/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';

/** A process that was last heard of before then sends nothing again. */
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

  /** The row is counted; the next time it is not. */
  isNew({ session, number, atMs }: Pick<MeterRecord, 'session' | 'number' | 'atMs'>): boolean {
    const last = this.#last.get(session) ?? this.#stored(session);
    if (last !== undefined && number <= last.number) return false;
    this.#last.set(session, { number, day: Math.floor(atMs / DAY_MS) });
    this.#unstored.add(session);
    return true;
  }

  /** At the end of a transaction. */
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
