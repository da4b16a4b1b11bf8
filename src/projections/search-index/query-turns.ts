/**
 * Limits the concurrent queries of one database; the others wait in order. All databases share the thread slice by
 * slice, so more concurrency within one would only take more memory.
 *
 *  QT1 queries of one database never keep those of another from starting
 *  QT2 running and waiting queries of one database are bounded
 */
import { type DatabaseId, MillraceError } from '../../kernel/index.js';

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

/** Two, so that a short query does not always wait for a long one. Each takes about 30 bytes per document. */
const MAX_RUNNING = 2;
export const MAX_WAITING_QUERIES = 64;

export class QueryTurns {
  readonly #byDatabase = new Map<DatabaseId, Turns>();

  /** @throws MAILBOX_FULL, and errors of `query` */
  async take<T>(database: DatabaseId, query: () => Promise<T>): Promise<T> {
    const turns = this.#byDatabase.get(database) ?? { running: 0, waiting: [] };
    this.#byDatabase.set(database, turns);
    if (turns.running < MAX_RUNNING) {
      turns.running += 1;
    } else {
      if (turns.waiting.length >= MAX_WAITING_QUERIES) {
        throw new MillraceError('MAILBOX_FULL', 'too many queries to one search database wait', { database });
      }
      // A finished query hands its turn over, so `running` stays unchanged.
      await new Promise<void>((resolve) => turns.waiting.push(resolve));
    }
    try {
      return await query();
    } finally {
      this.#end(database, turns);
    }
  }

  #end(database: DatabaseId, turns: Turns): void {
    const next = turns.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    turns.running -= 1;
    if (turns.running === 0) this.#byDatabase.delete(database);
  }
}
