/**
 * A process's ear: which of its clients listen to what, told to the owners of the partitions as counts, and
 * what the owners say handed on to those clients.
 *
 *  E1 a subscription is confirmed when the owner knows of it
 *  E2 what is said about one partition is said in order: one request at a time, each with all that has changed
 *  E3 an owner that does not know this process (it is new, or had forgotten) is told everything again, and
 *     whoever cached anything hears that all of it may have changed
 */
import { type ByteString, describeError, type PartitionName, type SessionId } from '../../kernel/index.js';
import type { KvDelivery, KvEvent, KvListen, KvListenKind } from '../../messages/index.js';
import type { KvEvents, KvGateway, KvGrant, KvSubscription, Log, Timers } from '../../ports/index.js';

/** How often an owner hears that this process is there. It forgets after fifteen. */
const RENEW_EVERY_MS = 1000;

type OnEvent = (event: KvEvent) => void;
type Place = Pick<KvGrant, 'database' | 'partitions'>;

/** What is listened to in one partition. */
interface Ear {
  readonly place: Place;
  readonly partition: PartitionName;
  readonly names: Map<KvListenKind, Map<ByteString, Set<OnEvent>>>;
  /** Names whose count has changed and has not been said: kind, name. */
  readonly unsaid: Map<string, readonly [KvListenKind, ByteString]>;
  activation: string | undefined;
  /** What is being said now. */
  saying: Promise<void> | undefined;
  count: number;
}

export class KvHub implements KvEvents {
  readonly #earsByPartition = new Map<PartitionName, Ear>();
  #isRenewing = false;

  constructor(
    private readonly gateway: KvGateway,
    private readonly timers: Timers,
    private readonly log: Log,
    readonly edge: SessionId,
  ) {}

  async subscribe(grant: Place, kind: KvListenKind, name: ByteString, onEvent: OnEvent): Promise<KvSubscription> {
    // Every partition publishes its keyspace events, and scripts publish where their keys are.
    const ears = grant.partitions.map((partition) => this.#earOf(grant, partition));
    // A callback of its own for each subscription: the same function may listen twice.
    const listener: OnEvent = (event) => onEvent(event);
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
    for (const event of events) handOn(ear, event);
  }

  #earOf(place: Place, partition: PartitionName): Ear {
    const known = this.#earsByPartition.get(partition);
    if (known !== undefined) return known;
    const ear: Ear = {
      place,
      partition,
      names: new Map(),
      unsaid: new Map(),
      activation: undefined,
      saying: undefined,
      count: 0,
    };
    this.#earsByPartition.set(partition, ear);
    this.#renewLater();
    return ear;
  }

  #add(ear: Ear, kind: KvListenKind, name: ByteString, listener: OnEvent): void {
    let byName = ear.names.get(kind);
    if (byName === undefined) {
      byName = new Map();
      ear.names.set(kind, byName);
    }
    const listeners = byName.get(name);
    if (listeners === undefined) byName.set(name, new Set([listener]));
    else listeners.add(listener);
    ear.count += 1;
    ear.unsaid.set(`${kind} ${name}`, [kind, name]);
  }

  #remove(ear: Ear, kind: KvListenKind, name: ByteString, listener: OnEvent): void {
    const byName = ear.names.get(kind);
    const listeners = byName?.get(name);
    if (listeners?.delete(listener) !== true) return;
    if (listeners.size === 0) byName?.delete(name);
    ear.count -= 1;
    ear.unsaid.set(`${kind} ${name}`, [kind, name]);
    // Nobody waits for it; if it fails, the renewal says it again.
    this.#say(ear).catch((error: unknown) => this.#noteFailure(ear, error));
  }

  /** Resolves when everything that was unsaid when it was called is known to the owner (E1, E2). */
  async #say(ear: Ear): Promise<void> {
    while (ear.saying !== undefined) await ear.saying.catch(() => undefined);
    if (ear.unsaid.size === 0) return;
    ear.saying = this.#tell(ear).finally(() => {
      ear.saying = undefined;
    });
    await ear.saying;
  }

  async #tell(ear: Ear): Promise<void> {
    const said = [...ear.unsaid];
    ear.unsaid.clear();
    try {
      const counts = said.map(([, [kind, name]]) => [kind, name, countOf(ear, kind, name)] as const);
      const known = await this.#request(ear, { edge: this.edge, isWhole: ear.activation === undefined, counts });
      if (!known) await this.#tellEverything(ear);
    } catch (error) {
      for (const [id, what] of said) ear.unsaid.set(id, what);
      throw error;
    }
  }

  /** E3 */
  async #tellEverything(ear: Ear): Promise<void> {
    ear.unsaid.clear();
    const counts: (readonly [KvListenKind, ByteString, number])[] = [];
    for (const [kind, byName] of ear.names) {
      for (const [name, listeners] of byName) counts.push([kind, name, listeners.size]);
    }
    ear.activation = undefined;
    await this.#request(ear, { edge: this.edge, isWhole: true, counts });
    handOn(ear, { type: 'invalidate', keys: null, by: undefined });
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

function handOn(ear: Ear, event: KvEvent): void {
  switch (event.type) {
    case 'message':
      toAll(ear, 'channel', event.channel, event);
      break;
    case 'smessage':
      toAll(ear, 'shard-channel', event.channel, event);
      break;
    case 'pmessage':
      toAll(ear, 'pattern', event.pattern, event);
      break;
    case 'monitor':
      toAll(ear, 'monitor', '', event);
      break;
    case 'invalidate':
      for (const listeners of ear.names.get('invalidation')?.values() ?? []) for (const tell of listeners) tell(event);
  }
}

function toAll(ear: Ear, kind: KvListenKind, name: ByteString, event: KvEvent): void {
  // A copy: one that hears of it may stop listening.
  for (const tell of [...(ear.names.get(kind)?.get(name) ?? [])]) tell(event);
}
