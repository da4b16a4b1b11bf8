/**
 * The subscriptions of this process's clients. It tells the owner of each partition how many clients listen to each
 * name, and passes the owner's events to those clients.
 *
 *  KH1 a subscription is confirmed when the owner knows of it
 *  KH2 an owner receives the changes of a partition's subscriptions in order: one request at a time, each with all
 *      changes so far
 *  KH3 an owner that does not know this process (it is new, or forgot it) receives all subscriptions again, and
 *      clients with cached values are told that all of them may have changed
 *  KH5 while the partitions of a database are changed, its clients listen to those of both layouts; after it, clients with
 *      cached values are told that all of them may have changed
 *  KH4 an owner's events are passed on in order, a few at a time (event-fanout.ts)
 */
import {
  type ByteString,
  type DatabaseId,
  describeError,
  getOrCreate,
  type PartitionName,
  type SessionId,
} from '../../kernel/index.js';
import type { Broadcasts, KvEvents, KvGateway, KvGrant, KvSubscription, Log, Timers } from '../../ports/index.js';
import type { KvDelivery, KvEvent, KvListen, KvListenKind } from '../../protocol/index.js';
import { EventFanout, type EventListener } from './event-fanout.js';

/** How often this process renews its subscriptions at an owner. The owner forgets a process after 15 seconds. */
const RENEW_EVERY_MS = 1000;

/** Passes events on immediately, without sharing the event loop. */
const AT_ONCE: Broadcasts = {
  add: (_tenant, item) => {
    item.handOn(() => true);
    return { more: () => {} };
  },
  handOnNow: (_tenant, item) => void item.handOn(() => true),
  whenCaughtUp: () => undefined,
};
const NO_LISTENERS: ReadonlySet<EventListener> = new Set();

type OnEvent = (event: KvEvent) => void;
type DatabasePartitions = Pick<KvGrant, 'database' | 'partitions'>;

/** The subscriptions to one partition. */
interface ListenedPartition {
  readonly databasePartitions: DatabasePartitions;
  readonly partition: PartitionName;
  readonly names: Map<KvListenKind, Map<ByteString, Set<EventListener>>>;
  readonly fanout: EventFanout;
  /** Names with a changed count that the owner was not told: kind and name. */
  readonly unsaid: Map<string, readonly [KvListenKind, ByteString]>;
  activation: string | undefined;
  /** The request that is being sent. */
  saying: Promise<void> | undefined;
  /** The number of requests begun so far. */
  begun: number;
  count: number;
}

interface Subscription {
  readonly kind: KvListenKind;
  readonly name: ByteString;
  readonly listener: EventListener;
  partitions: readonly ListenedPartition[];
}

/** The partitions in which clients of a database listen, those of the present layout first. */
export type ListenedLayout = (database: DatabaseId) => readonly PartitionName[] | undefined;

export class SubscriptionRegistry implements KvEvents {
  /** No list: the partitions of the grant. */
  layoutOf: ListenedLayout = () => undefined;
  readonly #byDatabase = new Map<DatabaseId, Set<Subscription>>();
  readonly #byPartition = new Map<PartitionName, ListenedPartition>();
  #isRenewing = false;
  /** The number of listeners that ever began. */
  #listeners = 0;

  constructor(
    private readonly gateway: KvGateway,
    private readonly timers: Timers,
    private readonly log: Log,
    readonly edge: SessionId,
    private readonly broadcasts: Broadcasts = AT_ONCE,
  ) {}

  async subscribe(
    grant: DatabasePartitions,
    kind: KvListenKind,
    name: ByteString,
    onEvent: OnEvent,
  ): Promise<KvSubscription> {
    // Every partition publishes its keyspace events, and a script publishes in the partition of its keys.
    const { database } = grant;
    const names = this.layoutOf(database) ?? grant.partitions;
    const partitions = names.map((partition) => this.#listenedOf(grant, partition));
    // A separate object for each subscription: the same function may be subscribed twice.
    const listener: EventListener = { tell: onEvent, number: this.#listeners };
    this.#listeners += 1;
    for (const listened of partitions) this.#add(listened, kind, name, listener);
    const subscription: Subscription = { kind, name, listener, partitions };
    const ofDatabase = getOrCreate(this.#byDatabase, database, () => new Set());
    ofDatabase.add(subscription);
    const stop = () => {
      ofDatabase.delete(subscription);
      if (ofDatabase.size === 0 && this.#byDatabase.get(database) === ofDatabase) this.#byDatabase.delete(database);
      for (const listened of subscription.partitions) this.#remove(listened, kind, name, listener);
    };
    try {
      await Promise.all(partitions.map((listened) => this.#say(listened)));
    } catch (error) {
      stop();
      throw error;
    }
    return { stop };
  }

  /** Called when layouts of databases may have changed (KH5). */
  layoutsChanged(): void {
    for (const [database, subscriptions] of this.#byDatabase) {
      const wanted = this.layoutOf(database);
      if (wanted === undefined) continue;
      for (const subscription of subscriptions) {
        const { partitions } = subscription;
        const isSame =
          partitions.length === wanted.length && partitions.every(({ partition }, i) => partition === wanted[i]);
        // All subscriptions of a database have the same partitions.
        if (isSame) break;
        this.#move(subscription, { database, partitions: wanted });
      }
    }
  }

  #move(subscription: Subscription, layout: DatabasePartitions): void {
    const { kind, name, listener, partitions: before } = subscription;
    const after = layout.partitions.map((partition) => this.#listenedOf(layout, partition));
    subscription.partitions = after;
    for (const listened of after) {
      if (before.includes(listened)) continue;
      this.#add(listened, kind, name, listener);
      // A failed request is repeated by the next renewal.
      this.#say(listened).catch((error: unknown) => this.#noteFailure(listened, error));
    }
    for (const listened of before) if (!after.includes(listened)) this.#remove(listened, kind, name, listener);
    if (kind === 'invalidation' && before[0] !== after[0]) {
      listener.tell({ type: 'invalidate', keys: null, by: undefined });
    }
  }

  /** Passes on events from an owner. */
  receive({ partition, activation, events }: KvDelivery): void {
    const listened = this.#byPartition.get(partition);
    if (listened === undefined || (listened.activation !== undefined && listened.activation !== activation)) return;
    for (const event of events) listened.fanout.say(event, this.#listeners);
    listened.fanout.begin();
  }

  #listenedOf(databasePartitions: DatabasePartitions, partition: PartitionName): ListenedPartition {
    const known = this.#byPartition.get(partition);
    if (known !== undefined) return known;
    const names: ListenedPartition['names'] = new Map();
    const listened: ListenedPartition = {
      databasePartitions,
      partition,
      names,
      fanout: new EventFanout(databasePartitions.database, this.broadcasts, (event) => listenersOf(names, event)),
      unsaid: new Map(),
      activation: undefined,
      saying: undefined,
      begun: 0,
      count: 0,
    };
    this.#byPartition.set(partition, listened);
    this.#renewLater();
    return listened;
  }

  #add(listened: ListenedPartition, kind: KvListenKind, name: ByteString, listener: EventListener): void {
    const byName = getOrCreate(listened.names, kind, () => new Map());
    getOrCreate(byName, name, () => new Set()).add(listener);
    listened.count += 1;
    listened.unsaid.set(`${kind} ${name}`, [kind, name]);
  }

  #remove(listened: ListenedPartition, kind: KvListenKind, name: ByteString, listener: EventListener): void {
    const byName = listened.names.get(kind);
    const listeners = byName?.get(name);
    if (listeners?.delete(listener) !== true) return;
    if (listeners.size === 0) byName?.delete(name);
    listened.count -= 1;
    listened.unsaid.set(`${kind} ${name}`, [kind, name]);
    // No caller waits for this request; when it fails, the next renewal repeats it.
    this.#say(listened).catch((error: unknown) => this.#noteFailure(listened, error));
  }

  /**
   * Resolves when the owner knows all changes that were pending at the call (KH1: a subscription is confirmed when the
   * owner knows of it).
   */
  async #say(listened: ListenedPartition): Promise<void> {
    const before = listened.begun;
    while (listened.saying !== undefined) {
      const { begun } = listened;
      const isSaid = await listened.saying.then(
        () => true,
        () => false,
      );
      // That request began after this call, so it included this call's changes.
      if (isSaid && begun > before) return;
    }
    if (listened.unsaid.size === 0) return;
    listened.saying = this.#tell(listened).finally(() => {
      listened.saying = undefined;
    });
    await listened.saying;
  }

  async #tell(listened: ListenedPartition): Promise<void> {
    const said = [...listened.unsaid];
    listened.unsaid.clear();
    listened.begun += 1;
    try {
      const counts = said.map(([, [kind, name]]) => [kind, name, countOf(listened, kind, name)] as const);
      const known = await this.#request(listened, {
        edge: this.edge,
        isWhole: listened.activation === undefined,
        counts,
      });
      if (!known) await this.#tellEverything(listened);
    } catch (error) {
      for (const [id, subscription] of said) listened.unsaid.set(id, subscription);
      throw error;
    }
  }

  /** Sends all subscriptions again (KH3). */
  async #tellEverything(listened: ListenedPartition): Promise<void> {
    listened.unsaid.clear();
    const counts: (readonly [KvListenKind, ByteString, number])[] = [];
    for (const [kind, byName] of listened.names) {
      for (const [name, listeners] of byName) counts.push([kind, name, listeners.size]);
    }
    listened.activation = undefined;
    await this.#request(listened, { edge: this.edge, isWhole: true, counts });
    listened.fanout.say({ type: 'invalidate', keys: null, by: undefined }, this.#listeners);
    listened.fanout.begin();
  }

  /** @returns true when the owner knew this process and has the same activation as before */
  async #request(listened: ListenedPartition, listen: KvListen): Promise<boolean> {
    const { database } = listened.databasePartitions;
    const { partition } = listened;
    let bytes = 64;
    for (const [, name] of listen.counts) bytes += name.length + 16;
    const { replies } = await this.gateway.execute({
      database,
      partition,
      mode: 'listen',
      commands: [],
      bytes,
      listen,
    });
    const [activation, isKnown] = replies as [string, number];
    const isSame = listened.activation === undefined || listened.activation === activation;
    listened.activation = activation;
    return isKnown === 1 && isSame;
  }

  #renewLater(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.timers.after(RENEW_EVERY_MS, () => {
      this.#isRenewing = false;
      for (const listened of this.#byPartition.values()) {
        if (listened.count === 0 && listened.unsaid.size === 0 && listened.saying === undefined) {
          this.#byPartition.delete(listened.partition);
        } else if (listened.saying === undefined) {
          listened.saying = this.#renew(listened).finally(() => {
            listened.saying = undefined;
          });
          listened.saying.catch((error: unknown) => this.#noteFailure(listened, error));
        }
      }
      if (this.#byPartition.size > 0) this.#renewLater();
    });
  }

  async #renew(listened: ListenedPartition): Promise<void> {
    if (listened.unsaid.size > 0) return this.#tell(listened);
    const isWhole = listened.activation === undefined;
    if (isWhole || !(await this.#request(listened, { edge: this.edge, isWhole, counts: [] }))) {
      await this.#tellEverything(listened);
    }
  }

  #noteFailure(listened: ListenedPartition, error: unknown): void {
    this.log.debug('kv-events.owner-not-told', { partition: listened.partition, cause: describeError(error) });
  }
}

function countOf(listened: ListenedPartition, kind: KvListenKind, name: ByteString): number {
  return listened.names.get(kind)?.get(name)?.size ?? 0;
}

function listenersOf(names: ListenedPartition['names'], event: KvEvent): Iterator<EventListener> {
  switch (event.type) {
    case 'message':
      return of(names, 'channel', event.channel);
    case 'smessage':
      return of(names, 'shard-channel', event.channel);
    case 'pmessage':
      return of(names, 'pattern', event.pattern);
    case 'monitor':
      return of(names, 'monitor', '');
    case 'invalidate':
      return allOf(names.get('invalidation'));
  }
}

function of(names: ListenedPartition['names'], kind: KvListenKind, name: ByteString): Iterator<EventListener> {
  return (names.get(kind)?.get(name) ?? NO_LISTENERS).values();
}

function* allOf(byName: ReadonlyMap<ByteString, ReadonlySet<EventListener>> | undefined): Iterator<EventListener> {
  for (const listeners of byName?.values() ?? []) yield* listeners;
}
