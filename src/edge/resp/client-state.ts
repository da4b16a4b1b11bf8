/**
 * The state of one RESP client: identity, rights, and open transactions, watches and subscriptions. Bytes and their
 * order are in resp-connection.ts.
 */
import type { RespVersion } from '../../codec/resp/index.js';
import type { CommandSpec, ErrorReply } from '../../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName } from '../../kernel/index.js';
import type { Clock, KvEvents, KvGrant, KvSubscription } from '../../ports/index.js';
import type { KvClient, KvWatch } from '../../protocol/index.js';
import { bytesOfWords } from '../commands/admission.js';

/** The operations of a command on its connection. */
export interface ClientLink {
  /** Reserves bytes that stay with the client. @returns whether the budget has room */
  mayHold(bytes: number): boolean;
  /** Sends a message that is not an answer, after the answers that are due. */
  push(bytes: ByteString): void;
  /** Called before each message; disconnects a client that may no longer hear it. */
  mayHear(): boolean;
  /** Closes the connection after the answers that are due. */
  endAfterReplies(): void;
  /** Closes it after the running commands, without their answers. */
  endUnanswered(): void;
  /** Closes it immediately. */
  cut(reason: string): void;
  /** IP address of the peer; '' if it disconnected before this was read. */
  readonly remoteAddress: string;
  /** Unread bytes in each direction. */
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** The part of `outputBytes` that was offered to the client. */
  readonly unreadBytes: number;
  /** All bytes that the connection holds, including these. */
  readonly heldBytes: number;
  /** The part of `heldBytes` for words of running commands. */
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

/** The commands queued since MULTI. */
export interface QueuedTransaction {
  readonly queued: QueuedCommand[];
  /** Bytes of the queued words. */
  bytes: number;
  /** Memory of the queue, with its overhead. */
  heldBytes: number;
  /** A command could not be queued: EXEC will fail. */
  isBroken: boolean;
}

export interface ClientWatch extends KvWatch {
  readonly partition: PartitionName;
}

/** Memory of a watched or subscribed name in addition to its bytes, here and at its owner. */
const NAME_BYTES = 256;

export function namesBytes(names: readonly ByteString[]): number {
  return names.length * NAME_BYTES + bytesOfWords(names);
}

/** A failed subscription needs no stop, and its error was reported. */
export function stopOnceThere(subscription: Promise<KvSubscription> | undefined): void {
  subscription?.then(
    (there) => there.stop(),
    () => undefined,
  );
}

export type SubscriptionKind = 'channel' | 'pattern' | 'shard-channel';

/** Subscriptions by kind and name. */
export type Subscriptions = Readonly<Record<SubscriptionKind, Map<ByteString, KvSubscription>>>;

export interface Tracking {
  readonly isBroadcast: boolean;
  /** A broadcast client gets changed keys with one of these prefixes; '' means all keys. */
  readonly prefixes: readonly ByteString[];
  /** Memory of the prefixes. */
  readonly heldBytes: number;
  readonly mode: 'all' | 'opt-in' | 'opt-out';
  /** Gets no message about its own changes. */
  readonly isNoLoop: boolean;
  /** The client that gets the messages instead. */
  readonly redirect: number | undefined;
  isRedirectBroken: boolean;
  /** The setting of CLIENT CACHING for the next command. */
  caching: 'yes' | 'no' | undefined;
}

/** The parts of the endpoint that a client's state needs. */
interface ClientSurroundings {
  readonly parts: { readonly clock: Clock; readonly events: Pick<KvEvents, 'edge'> };
  readonly clients: { moved(from: DatabaseId | undefined, to: DatabaseId | undefined): void };
  readonly tracking: { leave(client: ClientState, grant: KvGrant): void };
}

/** Named lists of fields for HIMPORT SET. */
class FieldSets {
  #fieldsByName: Map<ByteString, readonly ByteString[]> | undefined;
  #heldBytes = 0;

  get heldBytes(): number {
    return this.#heldBytes;
  }

  of(name: ByteString): readonly ByteString[] | undefined {
    return this.#fieldsByName?.get(name);
  }

  put(name: ByteString, fields: readonly ByteString[]): void {
    this.remove(name);
    this.#fieldsByName ??= new Map();
    this.#fieldsByName.set(name, fields);
    this.#heldBytes += namesBytes([name]) + namesBytes(fields);
  }

  /** @returns whether there was such a list */
  remove(name: ByteString): boolean {
    const fields = this.of(name);
    if (fields === undefined) return false;
    this.#heldBytes -= namesBytes([name]) + namesBytes(fields);
    return this.#fieldsByName?.delete(name) === true;
  }

  /** @returns the number of lists */
  clear(): number {
    const count = this.#fieldsByName?.size ?? 0;
    this.#fieldsByName = undefined;
    this.#heldBytes = 0;
    return count;
  }

  copy(): FieldSets {
    const copy = new FieldSets();
    if (this.#fieldsByName !== undefined) copy.#fieldsByName = new Map(this.#fieldsByName);
    copy.#heldBytes = this.#heldBytes;
    return copy;
  }
}

export class ClientState {
  readonly createdAtMs: number;
  name: ByteString = '';
  libraryName: ByteString = '';
  libraryVersion: ByteString = '';
  protocol: RespVersion = 2;
  replies: 'on' | 'off' | 'skip-next' = 'on';
  isMonitor = false;
  isNoEvict = false;
  isNoTouch = false;
  fieldSets = new FieldSets();
  transaction: QueuedTransaction | undefined;
  /** Bytes of the running transaction. */
  executingBytes = 0;
  #watches: ClientWatch[] = [];
  #watchedBytes = 0;
  #subscribedBytes = 0;
  tracking: Tracking | undefined;
  /** The command that waits at its owner, with its name there. */
  blocked: BlockedCommand | undefined;
  /** Resumes a command held by a pause. */
  letGo: (() => void) | undefined;
  lastCommand = 'NULL';
  lastAtMs: number;
  /** Ends MONITOR. */
  monitoring: KvSubscription | undefined;
  isClosed = false;
  /** The error after the database was suspended or restricted to other addresses, after sign-in. */
  closure: ErrorReply | undefined;
  /** INFO was refused because the database or the process was loading, and no command was answered since. */
  isRefusedWhileLoading = false;
  /** The error after SELECT of a missing database, until SELECT 0. */
  astray: ErrorReply | undefined;
  #grant: KvGrant | undefined;
  #identity: KvClient | undefined;
  #author: string | undefined;
  #subscriptions: Subscriptions | undefined;

  constructor(
    readonly endpoint: ClientSurroundings,
    readonly link: ClientLink,
    readonly id: number,
    readonly address: string,
    readonly localAddress: string,
  ) {
    this.createdAtMs = endpoint.parts.clock.monotonicMs();
    this.lastAtMs = this.createdAtMs;
  }

  get grant(): KvGrant | undefined {
    return this.#grant;
  }

  set grant(grant: KvGrant | undefined) {
    if (this.#grant !== undefined && this.#grant.database !== grant?.database) this.#leaveDatabase();
    if (!this.isClosed) this.endpoint.clients.moved(this.#grant?.database, grant?.database);
    this.#grant = grant;
    this.closure = undefined;
    this.#identity = undefined;
    this.#author = undefined;
  }

  /** Its name and rights for owners. */
  get identity(): KvClient {
    if (this.#identity?.protocol !== this.protocol || (this.#identity.name ?? '') !== this.name) {
      const { id, address, protocol, name } = this;
      const rules = this.#grant?.rules;
      this.#identity = {
        face: 'resp',
        protocol,
        id: `${this.endpoint.parts.events.edge}:${id}`,
        address,
        user: this.user,
        ...(name === '' ? {} : { name }),
        ...(rules === undefined ? {} : { rules }),
      };
    }
    return this.#identity as KvClient;
  }

  /** The author of its writes. */
  get author(): string {
    this.#author ??= `${this.user}@${this.address.slice(0, this.address.lastIndexOf(':'))}`;
    return this.#author;
  }

  get user(): string {
    return this.#grant?.user ?? 'default';
  }

  /** Bytes of its open transactions, watches, subscriptions, names and lists of fields. */
  get lastingBytes(): number {
    const queuedBytes = this.transaction === undefined ? 0 : this.transaction.heldBytes;
    const trackingBytes = this.tracking === undefined ? 0 : this.tracking.heldBytes;
    const ownBytes = this.name.length + this.libraryName.length + this.libraryVersion.length + this.fieldSets.heldBytes;
    return queuedBytes + this.executingBytes + this.#watchedBytes + this.#subscribedBytes + trackingBytes + ownBytes;
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

  /** Gets messages that are not answers. */
  get isTold(): boolean {
    return this.isMonitor || this.isSubscriber || this.tracking !== undefined;
  }

  /** Ends all subscriptions without confirmation. */
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

  /** Restores the state after connecting, except for its id. */
  reset(): void {
    this.#leaveDatabase();
    this.grant = undefined;
    this.astray = undefined;
    this.name = '';
    this.protocol = 2;
    this.replies = 'on';
    this.isNoEvict = false;
    this.isNoTouch = false;
    this.fieldSets.clear();
  }

  close(): void {
    if (!this.isClosed) this.endpoint.clients.moved(this.#grant?.database, undefined);
    this.isClosed = true;
    this.letGo?.();
    this.fieldSets.clear();
    this.#leaveDatabase();
  }

  /** Open transactions, watches and subscriptions belong to the database that the client leaves. */
  #leaveDatabase(): void {
    this.transaction = undefined;
    this.unwatch();
    this.unsubscribeAll();
    this.stopMonitoring();
    if (this.tracking !== undefined && this.#grant !== undefined) this.endpoint.tracking.leave(this, this.#grant);
    this.tracking = undefined;
  }
}
