/**
 * Messages that have not ended, with what is needed of them later. Most end within the transaction that they began in,
 * and are never written.
 *
 * What this object remembers is only valid as long as its transactions succeed; after one that did not, `forget` it.
 */
import { type MessageId, obtain } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { AddedRows } from '../added-rows.js';
import { type Prepared, prepared } from '../statements.js';

export interface LiveMessage {
  /** The length of its body. */
  readonly bytes: number;
  /** It belongs to a workflow's run. */
  readonly isOfRun: boolean;
}

export interface LiveTimes {
  readonly atMs: number;
  readonly notBeforeMs: number;
}

interface Held extends LiveMessage {
  readonly account: number;
  readonly id: MessageId;
  readonly atMs: number;
  /** Nothing is asked of it for long: it is looked up when its time has come. */
  readonly isForLater: boolean;
  isStored: boolean;
}

/** Some two hundred bytes each; beyond it those that are stored are looked up again. */
const MAX_HELD = 100_000;
const LATER_MS = 60_000;

export class LiveMessages {
  readonly #sql: Prepared<typeof STATEMENTS>;
  readonly #written: AddedRows;
  readonly #dropped: AddedRows;
  readonly #held = new Map<number, Map<MessageId, Held>>();
  #heldCount = 0;
  readonly #unstored = new Set<Held>();
  readonly #ended: Held[] = [];

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
    this.#written = new AddedRows(file, 'INSERT OR REPLACE INTO live', 5);
    this.#dropped = new AddedRows(file, 'DELETE FROM live WHERE (account, id) IN (', 2, ')');
  }

  add(account: number, id: MessageId, message: LiveMessage, { atMs, notBeforeMs }: LiveTimes): void {
    const known = this.#held.get(account)?.get(id);
    if (known !== undefined) this.#unstored.delete(known);
    const { bytes, isOfRun } = message;
    const isForLater = notBeforeMs - atMs >= LATER_MS;
    const held: Held = { account, id, bytes, isOfRun, atMs, isForLater, isStored: known?.isStored === true };
    this.#hold(held);
    this.#unstored.add(held);
  }

  find(account: number, id: MessageId): LiveMessage | undefined {
    return this.#find(account, id);
  }

  end(account: number, id: MessageId): void {
    const held = this.#find(account, id);
    if (held === undefined) return;
    this.#letGoOf(held);
    this.#unstored.delete(held);
    if (held.isStored) this.#ended.push(held);
  }

  /** Before an account's messages are told anew. */
  clear(account: number): void {
    for (const held of this.#held.get(account)?.values() ?? []) this.#unstored.delete(held);
    this.#heldCount -= this.#held.get(account)?.size ?? 0;
    this.#held.delete(account);
    this.#sql.clear.run([account]);
  }

  /** At the end of a transaction. */
  flush(): void {
    for (const { account, id } of this.#ended) this.#dropped.add(account, id);
    this.#dropped.flush();
    this.#ended.length = 0;
    for (const held of this.#unstored) {
      const { account, id, bytes, isOfRun, atMs } = held;
      this.#written.add(account, id, bytes, isOfRun ? 1 : 0, atMs);
      held.isStored = true;
      if (held.isForLater) this.#letGoOf(held);
    }
    this.#written.flush();
    this.#unstored.clear();
    if (this.#heldCount > MAX_HELD) this.#letGo();
  }

  forget(): void {
    this.#letGo();
    this.#unstored.clear();
    this.#ended.length = 0;
    this.#written.forget();
    this.#dropped.forget();
  }

  #letGo(): void {
    this.#held.clear();
    this.#heldCount = 0;
  }

  #letGoOf({ account, id }: Held): void {
    if (this.#held.get(account)?.delete(id) === true) this.#heldCount -= 1;
  }

  #hold(held: Held): void {
    const ofAccount = obtain(this.#held, held.account, () => new Map<MessageId, Held>());
    const before = ofAccount.size;
    ofAccount.set(held.id, held);
    this.#heldCount += ofAccount.size - before;
  }

  #find(account: number, id: MessageId): Held | undefined {
    const held = this.#held.get(account)?.get(id);
    if (held !== undefined) return held;
    const row = this.#sql.read.get([account, id]);
    if (row === undefined) return undefined;
    const found: Held = {
      account,
      id,
      bytes: row.bytes as number,
      isOfRun: row.is_of_run === 1,
      atMs: row.at_ms as number,
      isForLater: false,
      isStored: true,
    };
    this.#hold(found);
    return found;
  }
}

const STATEMENTS = {
  read: 'SELECT bytes, is_of_run, at_ms FROM live WHERE account = ? AND id = ?',
  clear: 'DELETE FROM live WHERE account = ?',
} as const;
