/**
 * Messages that have not ended, with the data that later events need. Most end in the transaction in which they began
 * and are never written. Caches of this object are valid only after successful transactions; call `forget` after a
 * failed one.
 */
import { getOrCreate, type MessageId } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { AddedRows } from '../added-rows.js';
import { type Prepared, prepared } from '../statements.js';

export interface LiveMessage {
  /** The length of the body. */
  readonly bytes: number;
  /** Whether the message belongs to a workflow run. */
  readonly isOfRun: boolean;
}

export interface LiveTimes {
  readonly atMs: number;
  readonly notBeforeMs: number;
}

interface CachedMessage extends LiveMessage {
  readonly account: number;
  readonly id: MessageId;
  readonly atMs: number;
  /** The message is not needed for a long time, so it is not cached. */
  readonly isForLater: boolean;
  isStored: boolean;
}

/** About two hundred bytes each; above this stored ones are read again. */
const MAX_HELD = 100_000;
const LATER_MS = 60_000;

export class LiveMessages {
  readonly #sql: Prepared<typeof STATEMENTS>;
  readonly #written: AddedRows;
  readonly #dropped: AddedRows;
  readonly #held = new Map<number, Map<MessageId, CachedMessage>>();
  #heldCount = 0;
  readonly #unstored = new Set<CachedMessage>();
  readonly #ended: CachedMessage[] = [];

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
    const held: CachedMessage = { account, id, bytes, isOfRun, atMs, isForLater, isStored: known?.isStored === true };
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

  /** Called before an account's messages are restored. */
  clear(account: number): void {
    for (const held of this.#held.get(account)?.values() ?? []) this.#unstored.delete(held);
    this.#heldCount -= this.#held.get(account)?.size ?? 0;
    this.#held.delete(account);
    this.#sql.clear.run([account]);
  }

  /** Called at the end of a transaction. */
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

  #letGoOf({ account, id }: CachedMessage): void {
    if (this.#held.get(account)?.delete(id) === true) this.#heldCount -= 1;
  }

  #hold(held: CachedMessage): void {
    const ofAccount = getOrCreate(this.#held, held.account, () => new Map<MessageId, CachedMessage>());
    const before = ofAccount.size;
    ofAccount.set(held.id, held);
    this.#heldCount += ofAccount.size - before;
  }

  #find(account: number, id: MessageId): CachedMessage | undefined {
    const held = this.#held.get(account)?.get(id);
    if (held !== undefined) return held;
    const row = this.#sql.read.get([account, id]);
    if (row === undefined) return undefined;
    const found: CachedMessage = {
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
