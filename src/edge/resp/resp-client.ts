/**
 * One client of the native protocol, as its commands know it: who it is, what it may do, what it has begun.
 * Bytes and their order are the connection's business (resp-connection.ts).
 */
import type { RespVersion } from '../../codec/resp/index.js';
import type { CommandSpec, ErrorReply } from '../../domain/kv/index.js';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { KvClient, KvWatch } from '../../messages/index.js';
import type { KvGrant, KvSubscription } from '../../ports/index.js';
import { bytesOfWords } from '../commands/admission.js';
import { PartitionCalls } from './partition-calls.js';
import type { RespFace } from './resp-face.js';

/** What a client's commands may do to its connection. */
export interface ClientLink {
  /** Is there room for so many bytes that stay? They are held from now on. */
  mayHold(bytes: number): boolean;
  /** Says something unasked, behind the answers that are due. */
  push(bytes: ByteString): void;
  /** Asked before each thing it listens to is told; ends the connection of one who may not hear it any more. */
  mayHear(): boolean;
  /** Ends the connection behind the answers that are due. */
  endAfterReplies(): void;
  /** Ends it now. */
  cut(reason: string): void;
  /** IP address of the peer; '' when it was gone before it was asked. */
  readonly remoteAddress: string;
  /** Bytes that wait to be read, on either side. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** How many of these it has been offered and has not read. */
  readonly unreadBytes: number;
  /** All that it holds, these included. */
  readonly heldBytes: number;
  /** How much of that are words of commands that are being run. */
  readonly requestBytes: number;
  readonly isWaiting: boolean;
}

export interface QueuedCommand {
  readonly spec: CommandSpec;
  readonly words: readonly ByteString[];
}

export interface BlockedCommand extends QueuedCommand {
  readonly grant: KvGrant;
  readonly partition: PartitionName;
  readonly waiter: string;
}

/** What has been queued since MULTI. */
export interface QueuedTransaction {
  readonly queued: QueuedCommand[];
  /** How long the queued words are. */
  bytes: number;
  /** What the queue takes in memory, with all that is known of the words. */
  heldBytes: number;
  /** A command could not be queued: EXEC will run nothing. */
  isBroken: boolean;
}

export interface ClientWatch extends KvWatch {
  readonly partition: PartitionName;
}

/** What a name that is watched or listened to costs beside its bytes, here and where it is listened to. */
const NAME_BYTES = 256;

export function namesBytes(names: readonly ByteString[]): number {
  return names.length * NAME_BYTES + bytesOfWords(names);
}

/** A subscription that failed has nothing to stop, and whoever waited for it has been told. */
export function stopOnceThere(subscription: Promise<KvSubscription> | undefined): void {
  subscription?.then(
    (there) => there.stop(),
    () => undefined,
  );
}

export type SubscriptionKind = 'channel' | 'pattern' | 'shard-channel';

/** What the client hears of: by name, the way to stop it. */
export type Subscriptions = Readonly<Record<SubscriptionKind, Map<ByteString, KvSubscription>>>;

export interface Tracking {
  readonly isBroadcast: boolean;
  /** A broadcast client hears of changed keys that begin with one of them; empty: of all keys. */
  readonly prefixes: readonly ByteString[];
  /** What the prefixes take in memory. */
  readonly heldBytes: number;
  readonly mode: 'all' | 'opt-in' | 'opt-out';
  /** Does not hear of its own changes. */
  readonly isNoLoop: boolean;
  /** The client that is told instead. */
  readonly redirect: number | undefined;
  isRedirectBroken: boolean;
  /** What CLIENT CACHING said about the next command. */
  caching: 'yes' | 'no' | undefined;
}

export class RespClient {
  readonly createdAtMs: number;
  readonly calls: PartitionCalls;
  name: ByteString = '';
  libraryName: ByteString = '';
  libraryVersion: ByteString = '';
  protocol: RespVersion = 2;
  replies: 'on' | 'off' | 'skip-next' = 'on';
  isMonitor = false;
  isNoEvict = false;
  isNoTouch = false;
  transaction: QueuedTransaction | undefined;
  /** What the transaction takes that is being run. */
  executingBytes = 0;
  #watches: ClientWatch[] = [];
  #watchedBytes = 0;
  #subscribedBytes = 0;
  tracking: Tracking | undefined;
  /** A command that waits at its owner, by the name it has there. */
  blocked: BlockedCommand | undefined;
  /** Ends the hold of a command that is held up. */
  letGo: (() => void) | undefined;
  lastCommand = 'NULL';
  lastAtMs: number;
  /** Ends what MONITOR began. */
  monitoring: KvSubscription | undefined;
  isClosed = false;
  /** The database was closed to this client after it signed in, by suspension or a list of addresses. */
  closure: ErrorReply | undefined;
  /** It selected a database that is not there: what it hears until it selects 0. */
  astray: ErrorReply | undefined;
  #grant: KvGrant | undefined;
  #identity: KvClient | undefined;
  #subscriptions: Subscriptions | undefined;

  constructor(
    readonly face: RespFace,
    readonly link: ClientLink,
    readonly id: number,
    readonly address: string,
    readonly localAddress: string,
  ) {
    this.createdAtMs = face.parts.clock.monotonicMs();
    this.lastAtMs = this.createdAtMs;
    this.calls = new PartitionCalls(face, this);
  }

  get grant(): KvGrant | undefined {
    return this.#grant;
  }

  set grant(grant: KvGrant | undefined) {
    if (this.#grant !== undefined && this.#grant.database !== grant?.database) this.#leaveDatabase();
    if (!this.isClosed) this.face.clients.moved(this.#grant?.database, grant?.database);
    this.#grant = grant;
    this.closure = undefined;
    this.#identity = undefined;
  }

  /** The name and rights by which owners know it. */
  get identity(): KvClient {
    if (this.#identity?.protocol !== this.protocol) {
      const { id, address, protocol } = this;
      const rules = this.#grant?.rules;
      this.#identity = {
        face: 'resp',
        protocol,
        id: `${this.face.parts.events.edge}:${id}`,
        address,
        user: this.user,
        ...(rules === undefined ? {} : { rules }),
      };
    }
    return this.#identity as KvClient;
  }

  get user(): string {
    return this.#grant?.user ?? 'default';
  }

  /** What it has begun and not ended. */
  get lastingBytes(): number {
    const queuedBytes = this.transaction === undefined ? 0 : this.transaction.heldBytes;
    const trackingBytes = this.tracking === undefined ? 0 : this.tracking.heldBytes;
    const namesBytes = this.name.length + this.libraryName.length + this.libraryVersion.length;
    return queuedBytes + this.executingBytes + this.#watchedBytes + this.#subscribedBytes + trackingBytes + namesBytes;
  }

  get watches(): readonly ClientWatch[] {
    return this.#watches;
  }

  watch(watch: ClientWatch): void {
    this.#watches.push(watch);
    this.#watchedBytes += namesBytes(watch.keys);
  }

  unwatch(): void {
    this.#watches = [];
    this.#watchedBytes = 0;
  }

  get subscriptions(): Subscriptions | undefined {
    return this.#subscriptions;
  }

  subscribed(kind: SubscriptionKind, name: ByteString, subscription: KvSubscription): void {
    this.#subscriptions ??= { channel: new Map(), pattern: new Map(), 'shard-channel': new Map() };
    const names = this.#subscriptions[kind];
    if (!names.has(name)) this.#subscribedBytes += namesBytes([name]);
    names.set(name, subscription);
  }

  unsubscribe(kind: SubscriptionKind, name: ByteString): void {
    const names = this.#subscriptions?.[kind];
    names?.get(name)?.stop();
    if (names?.delete(name) === true) this.#subscribedBytes -= namesBytes([name]);
  }

  subscriptionCount(...kinds: readonly SubscriptionKind[]): number {
    let count = 0;
    for (const kind of kinds) count += this.#subscriptions?.[kind].size ?? 0;
    return count;
  }

  get isSubscriber(): boolean {
    return this.#subscriptions !== undefined && this.subscriptionCount('channel', 'pattern', 'shard-channel') > 0;
  }

  /** Something is said to it unasked. */
  get isTold(): boolean {
    return this.isMonitor || this.isSubscriber || this.tracking !== undefined;
  }

  /** Stops listening; silent. */
  unsubscribeAll(): void {
    for (const names of Object.values(this.#subscriptions ?? {})) {
      for (const subscription of names.values()) subscription.stop();
      names.clear();
    }
    this.#subscriptions = undefined;
    this.#subscribedBytes = 0;
  }

  stopMonitoring(): void {
    this.monitoring?.stop();
    this.monitoring = undefined;
    this.isMonitor = false;
  }

  /** Makes it as it was when it connected, but for its number. */
  reset(): void {
    this.#leaveDatabase();
    this.grant = undefined;
    this.astray = undefined;
    this.name = '';
    this.protocol = 2;
    this.replies = 'on';
    this.isNoEvict = false;
    this.isNoTouch = false;
  }

  close(): void {
    if (!this.isClosed) this.face.clients.moved(this.#grant?.database, undefined);
    this.isClosed = true;
    this.letGo?.();
    this.#leaveDatabase();
  }

  /** What it has begun belongs to the database it is leaving. */
  #leaveDatabase(): void {
    this.transaction = undefined;
    this.unwatch();
    this.unsubscribeAll();
    this.stopMonitoring();
    if (this.tracking !== undefined && this.#grant !== undefined) this.face.tracking.leave(this, this.#grant);
    this.tracking = undefined;
  }
}
