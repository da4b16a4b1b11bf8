/**
 * Messages that have not ended, with what is needed of them later. Most end within the transaction that they began in,
 * and are never written.
 *
 * What this object remembers is only valid as long as its transactions succeed; after one that did not, `forget` it.
 */
import type { MessageId } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';

export interface LiveMessage {
  /** The length of its body. */
  readonly bytes: number;
  /** It belongs to a workflow's run. */
  readonly isOfRun: boolean;
}

interface Held extends LiveMessage {
  readonly account: number;
  readonly id: MessageId;
  readonly atMs: number;
  isStored: boolean;
}

/** Some two hundred bytes each; beyond it those that are stored are looked up again. */
const MAX_HELD = 100_000;

export class LiveMessages {
  readonly #sql: Prepared<typeof STATEMENTS>;
  readonly #held = new Map<string, Held>();
  readonly #unstored = new Set<Held>();
  readonly #ended: Held[] = [];

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
  }

  add(account: number, id: MessageId, message: LiveMessage, atMs: number): void {
    const key = keyOf(account, id);
    const known = this.#held.get(key);
    if (known !== undefined) this.#unstored.delete(known);
    const held: Held = { account, id, ...message, atMs, isStored: known?.isStored === true };
    this.#held.set(key, held);
    this.#unstored.add(held);
  }

  find(account: number, id: MessageId): LiveMessage | undefined {
    return this.#find(account, id);
  }

  end(account: number, id: MessageId): void {
    const held = this.#find(account, id);
    if (held === undefined) return;
    this.#held.delete(keyOf(account, id));
    this.#unstored.delete(held);
    if (held.isStored) this.#ended.push(held);
  }

  /** Before an account's messages are told anew. */
  clear(account: number): void {
    for (const [key, held] of this.#held) {
      if (held.account !== account) continue;
      this.#held.delete(key);
      this.#unstored.delete(held);
    }
    this.#sql.clear.run([account]);
  }

  /** At the end of a transaction. */
  flush(): void {
    for (const { account, id } of this.#ended) this.#sql.drop.run([account, id]);
    this.#ended.length = 0;
    for (const held of this.#unstored) {
      const { account, id, bytes, isOfRun, atMs } = held;
      this.#sql.write.run([account, id, bytes, isOfRun ? 1 : 0, atMs]);
      held.isStored = true;
    }
    this.#unstored.clear();
    if (this.#held.size > MAX_HELD) this.#held.clear();
  }

  forget(): void {
    this.#held.clear();
    this.#unstored.clear();
    this.#ended.length = 0;
  }

  #find(account: number, id: MessageId): Held | undefined {
    const key = keyOf(account, id);
    const held = this.#held.get(key);
    if (held !== undefined) return held;
    const row = this.#sql.read.get([account, id]);
    if (row === undefined) return undefined;
    const found: Held = {
      account,
      id,
      bytes: row.bytes as number,
      isOfRun: row.is_of_run === 1,
      atMs: row.at_ms as number,
      isStored: true,
    };
    this.#held.set(key, found);
    return found;
  }
}

function keyOf(account: number, id: MessageId): string {
  return `${account} ${id}`;
}

const STATEMENTS = {
  read: 'SELECT bytes, is_of_run, at_ms FROM live WHERE account = ? AND id = ?',
  write: 'INSERT OR REPLACE INTO live VALUES (?, ?, ?, ?, ?)',
  clear: 'DELETE FROM live WHERE account = ?',
  drop: 'DELETE FROM live WHERE account = ? AND id = ?',
} as const;
