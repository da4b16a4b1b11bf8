/**
 * A process's ear: which of its clients listen to what, told to the owners of the partitions as counts, and
 * what the owners say handed on to those clients.
 *
 *  KH1 a subscription is confirmed when the owner knows of it
 *  KH2 what is said about one partition is said in order: one request at a time, each with all that has changed
 *  KH3 an owner that does not know this process (it is new, or had forgotten) is told everything again, and
 *      whoever cached anything hears that all of it may have changed
 *  KH4 what an owner says is handed on in order, some of it at a time (telling.ts)
 */
import { type ByteString, describeError, obtain, type PartitionName, type SessionId } from '../../kernel/index.js';
import type { KvDelivery, KvEvent, KvListen, KvListenKind } from '../../messages/index.js';
import type { Broadcasts, KvEvents, KvGateway, KvGrant, KvSubscription, Log, Timers } from '../../ports/index.js';
import { type EventListener, Telling } from './telling.js';

/** How often an owner hears that this process is there. It forgets after fifteen. */
const RENEW_EVERY_MS = 1000;

/** Nobody waits, and everything is handed on at once. */
const AT_ONCE: Broadcasts = {
  add: (_tenant, item) => {
    item.handOn(() => true);
    return { more: () => {} };
  },
  handOnNow: (_tenant, item) => void item.handOn(() => true),
  whenCaughtUp: () => undefined,
};
const NOBODY: ReadonlySet<EventListener> = new Set();

type OnEvent = (event: KvEvent) => void;
type Place = Pick<KvGrant, 'database' | 'partitions'>;

/** What is listened to in one partition. */
interface Ear {
  readonly place: Place;
  readonly partition: PartitionName;
  readonly names: Map<KvListenKind, Map<ByteString, Set<EventListener>>>;
  readonly telling: Telling;
  /** Names whose count has changed and has not been said: kind, name. */
  readonly unsaid: Map<string, readonly [KvListenKind, ByteString]>;
  activation: string | undefined;
  /** What is being said now. */
  saying: Promise<void> | undefined;
  /** How often what had changed was begun to be said. */
  begun: number;
  count: number;
}

export class KvHub implements KvEvents {
  readonly #earsByPartition = new Map<PartitionName, Ear>();
  #isRenewing = false;
  /** That have begun to listen. */
  #listeners = 0;

  constructor(
    private readonly gateway: KvGateway,
    private readonly timers: Timers,
    private readonly log: Log,
    readonly edge: SessionId,
    private readonly broadcasts: Broadcasts = AT_ONCE,
  ) {}

  async subscribe(grant: Place, kind: KvListenKind, name: ByteString, onEvent: OnEvent): Promise<KvSubscription> {
    // Every partition publishes its keyspace events, and scripts publish where their keys are.
    const ears = grant.partitions.map((partition) => this.#earOf(grant, partition));
    // One of its own for each subscription: the same function may listen twice.
    const listener: EventListener = { tell: onEvent, number: this.#listeners };
    this.#listeners += 1;
    for (const ear of ears) this.#add(ear, kind, name, listener);
    const stop = () => {
      for (const ear of ears) this.#remove(ear, kind, name, listener);
    };
    try {
      await Promise.all(ears.map((ear) => this.#say(ear)));
    } catch (error) {
      stop();
      throw error;
    }
    return { stop };
  }

  /** Hands on what an owner said. */
  receive({ partition, activation, events }: KvDelivery): void {
    const ear = this.#earsByPartition.get(partition);
    if (ear === undefined || (ear.activation !== undefined && ear.activation !== activation)) return;
    for (const event of events) ear.telling.say(event, this.#listeners);
    ear.telling.begin();
  }

  #earOf(place: Place, partition: PartitionName): Ear {
    const known = this.#earsByPartition.get(partition);
    if (known !== undefined) return known;
    const names: Ear['names'] = new Map();
    const ear: Ear = {
      place,
      partition,
      names,
      telling: new Telling(place.database, this.broadcasts, (event) => listenersOf(names, event)),
      unsaid: new Map(),
      activation: undefined,
      saying: undefined,
      begun: 0,
      count: 0,
    };
    this.#earsByPartition.set(partition, ear);
    this.#renewLater();
    return ear;
  }

  #add(ear: Ear, kind: KvListenKind, name: ByteString, listener: EventListener): void {
    const byName = obtain(ear.names, kind, () => new Map());
    obtain(byName, name, () => new Set()).add(listener);
    ear.count += 1;
    ear.unsaid.set(`${kind} ${name}`, [kind, name]);
  }

  #remove(ear: Ear, kind: KvListenKind, name: ByteString, listener: EventListener): void {
    const byName = ear.names.get(kind);
    const listeners = byName?.get(name);
    if (listeners?.delete(listener) !== true) return;
    if (listeners.size === 0) byName?.delete(name);
    ear.count -= 1;
    ear.unsaid.set(`${kind} ${name}`, [kind, name]);
    // Nobody waits for it; if it fails, the renewal says it again.
    this.#say(ear).catch((error: unknown) => this.#noteFailure(ear, error));
  }

  /** Resolves when everything that was unsaid when it was called is known to the owner (KH1, KH2). */
  async #say(ear: Ear): Promise<void> {
    const before = ear.begun;
    while (ear.saying !== undefined) {
      const { begun } = ear;
      const isSaid = await ear.saying.then(
        () => true,
        () => false,
      );
      // It was begun after this was called, so it has said this too: what has changed since is for others to wait for.
      if (isSaid && begun > before) return;
    }
    if (ear.unsaid.size === 0) return;
    ear.saying = this.#tell(ear).finally(() => {
      ear.saying = undefined;
    });
    await ear.saying;
  }

  async #tell(ear: Ear): Promise<void> {
    const said = [...ear.unsaid];
    ear.unsaid.clear();
    ear.begun += 1;
    try {
      const counts = said.map(([, [kind, name]]) => [kind, name, countOf(ear, kind, name)] as const);
      const known = await this.#request(ear, { edge: this.edge, isWhole: ear.activation === undefined, counts });
      if (!known) await this.#tellEverything(ear);
    } catch (error) {
      for (const [id, what] of said) ear.unsaid.set(id, what);
      throw error;
    }
  }

  /** KH3 */
  async #tellEverything(ear: Ear): Promise<void> {
    ear.unsaid.clear();
    const counts: (readonly [KvListenKind, ByteString, number])[] = [];
    for (const [kind, byName] of ear.names) {
      for (const [name, listeners] of byName) counts.push([kind, name, listeners.size]);
    }
    ear.activation = undefined;
    await this.#request(ear, { edge: this.edge, isWhole: true, counts });
    ear.telling.say({ type: 'invalidate', keys: null, by: undefined }, this.#listeners);
    ear.telling.begin();
  }

  /** @returns did the owner know this process, and is it the one that was told before? */
  async #request(ear: Ear, listen: KvListen): Promise<boolean> {
    const { database } = ear.place;
    const { partition } = ear;
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
    const isSame = ear.activation === undefined || ear.activation === activation;
    ear.activation = activation;
    return isKnown === 1 && isSame;
  }

  #renewLater(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.timers.after(RENEW_EVERY_MS, () => {
      this.#isRenewing = false;
      for (const ear of this.#earsByPartition.values()) {
        if (ear.count === 0 && ear.unsaid.size === 0 && ear.saying === undefined) {
          this.#earsByPartition.delete(ear.partition);
        } else if (ear.saying === undefined) {
          ear.saying = this.#renew(ear).finally(() => {
            ear.saying = undefined;
          });
          ear.saying.catch((error: unknown) => this.#noteFailure(ear, error));
        }
      }
      if (this.#earsByPartition.size > 0) this.#renewLater();
    });
  }

  async #renew(ear: Ear): Promise<void> {
    if (ear.unsaid.size > 0) return this.#tell(ear);
    const isWhole = ear.activation === undefined;
    if (isWhole || !(await this.#request(ear, { edge: this.edge, isWhole, counts: [] }))) {
      await this.#tellEverything(ear);
    }
  }

  #noteFailure(ear: Ear, error: unknown): void {
    this.log.debug('kv-events.owner-not-told', { partition: ear.partition, cause: describeError(error) });
  }
}

function countOf(ear: Ear, kind: KvListenKind, name: ByteString): number {
  return ear.names.get(kind)?.get(name)?.size ?? 0;
}

function listenersOf(names: Ear['names'], event: KvEvent): Iterator<EventListener> {
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

function of(names: Ear['names'], kind: KvListenKind, name: ByteString): Iterator<EventListener> {
  return (names.get(kind)?.get(name) ?? NOBODY).values();
}

function* allOf(byName: ReadonlyMap<ByteString, ReadonlySet<EventListener>> | undefined): Iterator<EventListener> {
  for (const listeners of byName?.values() ?? []) yield* listeners;
}
