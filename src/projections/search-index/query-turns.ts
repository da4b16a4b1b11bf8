/**
 * Who may search now: of one database a few queries at a time, the others in the order in which they came. All
 * databases share a thread slice by slice; within one, more at a time would only mean more memory.
 *
 *  QT1 a database's queries never keep those of another from beginning
 *  QT2 what runs and what waits of one database are bounded
 */
import { type DatabaseId, MillraceError } from '../../kernel/index.js';

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

/** Two, so that a short query does not always wait for a long one. Each holds some 30 bytes a document. */
const MAX_RUNNING = 2;
export const MAX_WAITING_QUERIES = 64;

export class QueryTurns {
  readonly #byDatabase = new Map<DatabaseId, Turns>();

  /** @throws MAILBOX_FULL, and what `query` throws */
  async take<T>(database: DatabaseId, query: () => Promise<T>): Promise<T> {
    const turns = this.#byDatabase.get(database) ?? { running: 0, waiting: [] };
    this.#byDatabase.set(database, turns);
    if (turns.running < MAX_RUNNING) {
      turns.running += 1;
    } else {
      if (turns.waiting.length >= MAX_WAITING_QUERIES) {
        throw new MillraceError('MAILBOX_FULL', 'too many queries to one search database wait', { database });
      }
      // Whoever ends hands over its turn: `running` stays as it is.
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
