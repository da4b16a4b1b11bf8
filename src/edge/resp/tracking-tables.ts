/**
 * By database: which clients of this process may cache which keys, and which clients want every change. Owners report
 * changed keys; this file finds the clients to tell.
 *
 *  TT1 a key is recorded before it is read, so no change is missed
 *  TT2 a client is told of a key once, until it reads the key again
 *  TT3 broadcast clients get keys that change together in one message per prefix
 *  TT4 above `maxKeys`, above `TRACKED_SHARE` of the budget, or without room, the oldest key is invalidated even if
 *      it has not changed
 */
import { encodePush } from '../../codec/resp/index.js';
import type { Reply } from '../../domain/kv/index.js';
import { type ByteBudget, type ByteString, type DatabaseId, type Hold, OldestFirst } from '../../kernel/index.js';
import type { KvEvents, KvGrant, KvSubscription, Timers } from '../../ports/index.js';
import type { KvEvent } from '../../protocol/index.js';
import type { ClientRegistry } from './client-registry.js';
import { type ClientState, stopOnceThere } from './client-state.js';

/** The channel of invalidation messages for RESP2 clients. */
const RESP2_CHANNEL = '__redis__:invalidate';
const EVERY_CHANGE = '*';

/** Share of the budget for one tenant's keys: a quarter of the tenant's own share, so that requests have room. */
const TRACKED_SHARE = 0.125;
/** Memory of a key in addition to its bytes, and of each client that reads it. */
const KEY_BYTES = 192;
const CLIENT_BYTES = 48;
/** The budget is updated in steps of this size, because keys are added one by one. */
const STEP_BYTES = 16 * 1024;

interface Table {
  readonly clients: Set<ClientState>;
  readonly broadcast: Set<ClientState>;
  readonly clientsByKey: Map<ByteString, Set<ClientState>>;
  readonly oldestKeys: OldestFirst<ByteString>;
  /** Total size of all these sets. */
  noted: number;
  /** Total length of all keys. */
  keyBytes: number;
  readonly hold: Hold;
  /** Changed keys that broadcast clients have not been told of, by prefix. */
  readonly untold: Map<ClientState, Map<ByteString, Set<ByteString>>>;
  /** Both subscriptions report the same changes, so only one has a listener. */
  listening: Promise<KvSubscription> | undefined;
  listeningToAll: Promise<KvSubscription> | undefined;
}

export class TrackingTables {
  readonly #tables = new Map<DatabaseId, Table>();

  constructor(
    private readonly events: KvEvents,
    private readonly clients: ClientRegistry,
    private readonly timers: Timers,
    private readonly maxKeys: number,
    private readonly budget: ByteBudget,
  ) {}

  /** Resolves when every later change will be reported. @throws MillraceError as `KvEvents` does */
  async join(client: ClientState, grant: KvGrant, isBroadcast: boolean): Promise<void> {
    const table = this.#tableOf(grant.database);
    table.clients.add(client);
    if (isBroadcast) table.broadcast.add(client);
    try {
      table.listening ??= this.events.subscribe(grant, 'invalidation', '', (event) => this.#onEvent(table, event));
      if (isBroadcast) table.listeningToAll ??= this.events.subscribe(grant, 'invalidation', EVERY_CHANGE, () => {});
      await table.listening;
      await table.listeningToAll;
    } catch (failure) {
      this.leave(client, grant);
      throw failure;
    }
  }

  leave(client: ClientState, { database }: KvGrant): void {
    const table = this.#tables.get(database);
    if (table === undefined) return;
    table.clients.delete(client);
    table.broadcast.delete(client);
    if (table.broadcast.size === 0) {
      stopOnceThere(table.listeningToAll);
      table.listeningToAll = undefined;
    }
    // Keys of the client stay until they change; the client's tracking is checked then.
    if (table.clients.size > 0) return;
    stopOnceThere(table.listening);
    table.hold.release();
    this.#tables.delete(database);
  }

  counts(): {
    readonly trackingClients: number;
    readonly trackedKeys: number;
    readonly trackedItems: number;
    readonly trackedPrefixes: number;
  } {
    let trackingClients = 0;
    let trackedKeys = 0;
    let trackedItems = 0;
    let trackedPrefixes = 0;
    for (const table of this.#tables.values()) {
      trackingClients += table.clients.size;
      trackedKeys += table.clientsByKey.size;
      trackedItems += table.noted;
      const prefixes = new Set<ByteString>();
      for (const { tracking } of table.broadcast) for (const prefix of tracking?.prefixes ?? []) prefixes.add(prefix);
      trackedPrefixes += prefixes.size;
    }
    return { trackingClients, trackedKeys, trackedItems, trackedPrefixes };
  }

  /** Records keys before the client reads them. @returns those that were not recorded for it */
  note(client: ClientState, { database }: KvGrant, keys: readonly ByteString[]): ByteString[] {
    const fresh: ByteString[] = [];
    const table = this.#tables.get(database);
    if (table === undefined) return fresh;
    for (const key of keys) {
      const clients = table.clientsByKey.get(key);
      if (clients?.has(client) !== true) {
        fresh.push(key);
        table.noted += 1;
      }
      if (clients !== undefined) {
        clients.add(client);
        continue;
      }
      if (table.clientsByKey.size >= this.maxKeys) this.#invalidateFirst(table);
      table.clientsByKey.set(key, new Set([client]));
      table.keyBytes += key.length;
    }
    this.#makeRoom(table);
    return fresh;
  }

  /** Invalidates the oldest keys above the limits (TT4). */
  #makeRoom(table: Table): void {
    const maxBytes = this.budget.limitBytes * TRACKED_SHARE;
    while (bytesOf(table) > maxBytes || !holdsAll(table)) this.#invalidateFirst(table);
  }

  #invalidateFirst(table: Table): void {
    this.#invalidate(table, table.oldestKeys.next() as ByteString, undefined);
  }

  /** Removes keys that the client did not read after all. */
  forget(client: ClientState, { database }: KvGrant, keys: Iterable<ByteString>): void {
    const table = this.#tables.get(database);
    for (const key of keys) {
      const clients = table?.clientsByKey.get(key);
      if (table === undefined || clients?.delete(client) !== true) continue;
      table.noted -= 1;
      if (clients.size > 0) continue;
      table.clientsByKey.delete(key);
      table.keyBytes -= key.length;
    }
  }

  #tableOf(database: DatabaseId): Table {
    let table = this.#tables.get(database);
    if (table === undefined) {
      const clientsByKey = new Map<ByteString, Set<ClientState>>();
      table = {
        clients: new Set(),
        broadcast: new Set(),
        clientsByKey,
        oldestKeys: new OldestFirst(clientsByKey),
        noted: 0,
        keyBytes: 0,
        hold: this.budget.hold(database),
        untold: new Map(),
        listening: undefined,
        listeningToAll: undefined,
      };
      this.#tables.set(database, table);
    }
    return table;
  }

  #onEvent(table: Table, event: KvEvent): void {
    if (event.type !== 'invalidate') return;
    const { keys, by } = event;
    if (keys === null) {
      table.clientsByKey.clear();
      table.noted = 0;
      table.keyBytes = 0;
      holdsAll(table);
      for (const client of table.clients) this.#tell(client, null);
      return;
    }
    for (const key of keys) this.#invalidate(table, key, by);
    holdsAll(table);
    for (const client of table.broadcast) {
      const { tracking } = client;
      if (tracking === undefined || (tracking.isNoLoop && client.identity.id === by)) continue;
      for (const key of keys) {
        for (const prefix of tracking.prefixes) if (key.startsWith(prefix)) this.#tellSoon(table, client, prefix, key);
      }
    }
  }

  /** Collects keys that change together (TT3: one message per prefix). */
  #tellSoon(table: Table, client: ClientState, prefix: ByteString, key: ByteString): void {
    const { untold } = table;
    if (untold.size === 0) {
      this.timers.soon(() => {
        const messages = [...untold];
        untold.clear();
        for (const [to, byPrefix] of messages) for (const keys of byPrefix.values()) this.#tell(to, [...keys]);
      });
    }
    let byPrefix = untold.get(client);
    if (byPrefix === undefined) {
      byPrefix = new Map();
      untold.set(client, byPrefix);
    }
    const known = byPrefix.get(prefix);
    if (known === undefined) byPrefix.set(prefix, new Set([key]));
    else known.add(key);
  }

  #invalidate(table: Table, key: ByteString, by: string | undefined): void {
    const clients = table.clientsByKey.get(key);
    if (clients === undefined) return;
    table.clientsByKey.delete(key);
    table.keyBytes -= key.length;
    table.noted -= clients.size;
    for (const client of clients) {
      const { tracking } = client;
      if (tracking === undefined || tracking.isBroadcast) continue;
      if (tracking.isNoLoop && client.identity.id === by) continue;
      this.#tell(client, [key]);
    }
  }

  /** @param keys null: all keys */
  #tell(client: ClientState, keys: readonly ByteString[] | null): void {
    const { tracking } = client;
    if (tracking === undefined || !client.link.mayHear()) return;
    if (tracking.redirect === undefined) {
      //  RESP2 has no pushes except to a subscriber, which has to be another connection.
      if (client.protocol === 3) push(client, ['invalidate', keys]);
      return;
    }
    const target = this.clients.find(tracking.redirect, client.grant?.database);
    if (target === undefined) {
      tracking.isRedirectBroken = true;
      if (client.protocol === 3) push(client, ['tracking-redir-broken', tracking.redirect]);
    } else if (target.protocol === 3) push(target, ['invalidate', keys]);
    else if (target.isSubscriber) push(target, ['message', RESP2_CHANNEL, keys]);
  }
}

/** @returns whether the budget has room; the first step is not counted */
function holdsAll(table: Table): boolean {
  return table.hold.resize(Math.floor(bytesOf(table) / STEP_BYTES) * STEP_BYTES);
}

function bytesOf({ clientsByKey, keyBytes, noted }: Table): number {
  return keyBytes + clientsByKey.size * KEY_BYTES + noted * CLIENT_BYTES;
}

function push(client: ClientState, items: readonly Reply[]): void {
  if (!client.link.mayHear()) return;
  client.link.push(encodePush(items, client.protocol));
}
