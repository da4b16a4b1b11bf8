/** The RESP clients of this process, by number. A client sees only those of its own database. */
import type { DatabaseId } from '../../kernel/index.js';
import type { ClientState } from './client-state.js';

export class ClientRegistry {
  readonly #clients = new Map<number, ClientState>();
  /** Signed-in clients; databases without clients have no entry. */
  readonly #countByDatabase = new Map<DatabaseId, number>();
  #lastId = 0;

  constructor(
    /** Called when a client joins or leaves a database. */
    private readonly counted: (database: DatabaseId, change: 1 | -1) => void = () => {},
  ) {}

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  add(client: ClientState): void {
    this.#clients.set(client.id, client);
  }

  remove(client: ClientState): void {
    this.#clients.delete(client.id);
  }

  /** Clients that are signed in to the database. */
  countOf(database: DatabaseId): number {
    return this.#countByDatabase.get(database) ?? 0;
  }

  /** A client has changed its database, or signed in or out. */
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

  /** Undefined for a client of another database, or one that has ended while its socket is still closing. */
  find(id: number, database: DatabaseId | undefined): ClientState | undefined {
    const client = this.#clients.get(id);
    return client !== undefined && isOf(client, database) ? client : undefined;
  }

  /** In order of connection. */
  ofDatabase(database: DatabaseId): ClientState[] {
    return [...this.#clients.values()].filter((client) => isOf(client, database));
  }

  all(): IterableIterator<ClientState> {
    return this.#clients.values();
  }
}

function isOf(client: ClientState, database: DatabaseId | undefined): boolean {
  return !client.isClosed && client.grant?.database === database;
}
