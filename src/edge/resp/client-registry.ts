/**
 * Who is connected to this process over the native protocol, by number. A client sees those of its own database
 * alone.
 */
import type { DatabaseId } from '../../kernel/index.js';
import type { RespClient } from './resp-client.js';

export class ClientRegistry {
  readonly #clients = new Map<number, RespClient>();
  /** Signed in; databases without any are left out. */
  readonly #countByDatabase = new Map<DatabaseId, number>();
  #lastId = 0;

  constructor(
    /** Told of each client that comes to a database, and that leaves one. */
    private readonly counted: (database: DatabaseId, change: 1 | -1) => void = () => {},
  ) {}

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  add(client: RespClient): void {
    this.#clients.set(client.id, client);
  }

  remove(client: RespClient): void {
    this.#clients.delete(client.id);
  }

  /** Clients that are signed in to the database. */
  countOf(database: DatabaseId): number {
    return this.#countByDatabase.get(database) ?? 0;
  }

  /** A client has gone from one database to another, or to none. */
  moved(from: DatabaseId | undefined, to: DatabaseId | undefined): void {
    if (from === to) return;
    if (from !== undefined) this.#count(from, -1);
    if (to !== undefined) this.#count(to, 1);
  }

  #count(database: DatabaseId, change: 1 | -1): void {
    const count = this.countOf(database) + change;
    if (count === 0) this.#countByDatabase.delete(database);
    else this.#countByDatabase.set(database, count);
    this.counted(database, change);
  }

  /** Undefined for one of another database too. */
  find(id: number, database: DatabaseId | undefined): RespClient | undefined {
    const client = this.#clients.get(id);
    return client?.grant?.database === database ? client : undefined;
  }

  /** In order of arrival. */
  ofDatabase(database: DatabaseId): RespClient[] {
    return [...this.#clients.values()].filter((client) => client.grant?.database === database);
  }

  all(): IterableIterator<RespClient> {
    return this.#clients.values();
  }
}
