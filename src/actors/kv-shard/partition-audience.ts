/**
 * The listeners to one partition, grouped by their process, and the messages for them.
 *
 *  AUD1 a message is sent only after the entries that were open when it was made are stored
 *  AUD2 messages are sent in the order in which they were made, one package for each process
 *  AUD3 a process that has been silent for long is forgotten
 */
import { type Audience, type CommandSpec, compileGlob, type Glob, keysOf } from '../../domain/kv/index.js';
import { type ByteString, OldestFirst, type SessionId } from '../../kernel/index.js';
import type { KvEvent, KvListen, KvListenKind, ScriptDenial } from '../../protocol/index.js';

/** Keys remembered because a client may have cached them; above this number the oldest are invalidated. */
const MAX_TRACKED_KEYS = 1_000_000;
/** Refusals of one command noted in ACL LOG; a script may meet any number. */
const MAX_SCRIPT_DENIALS = 16;
/** A process renews its subscriptions about every second. */
export const EDGE_SILENCE_MS = 15_000;
/** A listener to `invalidation` gives this name to be told of every change, not only of keys that it read. */
const EVERY_CHANGE = '*';
/** A process gives this name under `pause` while it holds back the command of a client. */
const HELD = 'held';

interface Edge {
  heardAtMs: number;
  readonly names: Map<KvListenKind, Set<ByteString>>;
}

interface Message {
  readonly edge: SessionId;
  readonly event: KvEvent;
}

const NO_MESSAGES: readonly Message[] = [];

type Counts = Map<SessionId, number>;

export class PartitionAudience implements Audience {
  /** The client of the running command; some clients do not want to be told of their own changes. */
  currentClient: string | undefined;
  /** The commands that scripts of the running command executed; only while a monitor is connected. */
  readonly scriptCalls: (readonly ByteString[])[] = [];
  /** The keys that scripts of the running command read; only while its client tracks its reads. */
  scriptReads: Set<ByteString> | undefined;
  /** The refusals that scripts of the running command met. */
  readonly scriptDenials: ScriptDenial[] = [];
  #maxTrackedKeys = MAX_TRACKED_KEYS;
  readonly #edges = new Map<SessionId, Edge>();
  readonly #counts: Readonly<Record<KvListenKind, Map<ByteString, Counts>>> = {
    channel: new Map(),
    pattern: new Map(),
    'shard-channel': new Map(),
    monitor: new Map(),
    invalidation: new Map(),
    pause: new Map(),
  };
  readonly #globs = new Map<ByteString, Glob>();
  readonly #tracked = new Map<ByteString, Set<SessionId>>();
  readonly #oldestTracked = new OldestFirst(this.#tracked);
  #open: Message[] = [];
  /** The number of open messages that may be sent; later ones are held back. */
  #free = Number.POSITIVE_INFINITY;
  #inFlight: Message[] = [];

  constructor(private readonly deliver: (edge: SessionId, events: readonly KvEvent[]) => void) {}

  get isEmpty(): boolean {
    return this.#edges.size === 0;
  }

  get isMonitored(): boolean {
    return this.#counts.monitor.size > 0;
  }

  get isPaused(): boolean {
    return this.#counts.pause.has('');
  }

  get heldClients(): number {
    return sum(this.#counts.pause.get(HELD));
  }

  get maxTrackedKeys(): number {
    return this.#maxTrackedKeys;
  }

  /** The number is the database's parameter; 0 stands for the maximum. Keys above it are invalidated. */
  set maxTrackedKeys(given: number) {
    this.#maxTrackedKeys = given === 0 ? MAX_TRACKED_KEYS : Math.min(given, MAX_TRACKED_KEYS);
    while (this.#tracked.size > this.#maxTrackedKeys) this.#forgetFirst();
  }

  /** True when a listener wants to be told of changed keys. */
  get isTracking(): boolean {
    return this.#tracked.size > 0 || this.#counts.invalidation.has(EVERY_CHANGE);
  }

  get patternCount(): number {
    return this.#counts.pattern.size;
  }

  channels(isSharded: boolean): Iterable<ByteString> {
    return this.#counts[isSharded ? 'shard-channel' : 'channel'].keys();
  }

  subscribersOf(channel: ByteString, isSharded: boolean): number {
    return sum(this.#counts[isSharded ? 'shard-channel' : 'channel'].get(channel));
  }

  publish(channel: ByteString, payload: ByteString, isSharded: boolean): number {
    const type = isSharded ? 'smessage' : 'message';
    let receivers = this.#tell(isSharded ? 'shard-channel' : 'channel', channel, { type, channel, payload });
    if (isSharded) return receivers;
    for (const [pattern, glob] of this.#globs) {
      if (glob(channel)) receivers += this.#tell('pattern', pattern, { type: 'pmessage', pattern, channel, payload });
    }
    return receivers;
  }

  /** @returns false for an unknown process, which must then send all its subscriptions */
  listen({ edge: id, isWhole, counts }: KvListen, nowMs: number): boolean {
    const isKnown = this.#edges.has(id);
    if (isWhole) this.forget(id);
    if (!isKnown && !isWhole) return false;
    const edge = this.#edges.get(id) ?? { heardAtMs: nowMs, names: new Map() };
    this.#edges.set(id, edge);
    edge.heardAtMs = nowMs;
    for (const [kind, name, count] of counts) this.#setCount(id, edge, kind, name, count);
    return true;
  }

  forget(id: SessionId): void {
    const edge = this.#edges.get(id);
    if (edge === undefined) return;
    this.#edges.delete(id);
    for (const [kind, names] of edge.names) for (const name of names) this.#setCount(id, edge, kind, name, 0);
    for (const [key, edges] of this.#tracked) {
      edges.delete(id);
      if (edges.size === 0) this.#tracked.delete(key);
    }
  }

  forgetSilent(nowMs: number): void {
    for (const [id, { heardAtMs }] of this.#edges) if (nowMs - heardAtMs > EDGE_SILENCE_MS) this.forget(id);
  }

  /** The number of messages made in the open turn. */
  get said(): number {
    return this.#open.length;
  }

  hold(): void {
    this.#free = this.#open.length;
  }

  letGo(): void {
    this.#free = Number.POSITIVE_INFINITY;
  }

  /**
   * Drops the held messages of an undone command. Invalidations stay: one too many is harmless, and a client that
   * received one is not sent it again.
   */
  unsay(): void {
    const held = this.#open.splice(this.#free);
    for (const message of held) if (message.event.type === 'invalidate') this.#open.push(message);
    this.letGo();
  }

  noteScriptDenial({ user, reason, object }: ScriptDenial): void {
    if (this.scriptDenials.length < MAX_SCRIPT_DENIALS) this.scriptDenials.push({ user, reason, object });
  }

  noteScriptCall(spec: CommandSpec, words: readonly ByteString[]): void {
    if (this.isMonitored) this.scriptCalls.push([...words]);
    if (this.scriptReads === undefined || !spec.flags.includes('readonly')) return;
    for (const key of keysOf(spec, words)) this.scriptReads.add(key);
  }

  monitor(line: ByteString): void {
    this.#tell('monitor', '', { type: 'monitor', line });
  }

  /** Registers the process for the next change of the key. */
  track(key: ByteString, id: SessionId): void {
    const edges = this.#tracked.get(key);
    if (edges !== undefined) {
      edges.add(id);
      return;
    }
    if (this.#tracked.size >= this.#maxTrackedKeys) this.#forgetFirst();
    this.#tracked.set(key, new Set([id]));
  }

  /** @param key  undefined: all keys */
  keyChanged(key: ByteString | undefined): void {
    const keys = key === undefined ? null : [key];
    const everyone = this.#counts.invalidation.get(EVERY_CHANGE);
    const event: KvEvent = { type: 'invalidate', keys, by: this.currentClient };
    for (const edge of everyone?.keys() ?? []) this.#open.push({ edge, event });
    if (key !== undefined) {
      this.#invalidate(key, this.currentClient, everyone);
      return;
    }
    const told = new Set<SessionId>(everyone?.keys());
    for (const edges of this.#tracked.values()) {
      for (const edge of edges) {
        if (told.has(edge)) continue;
        told.add(edge);
        this.#open.push({ edge, event });
      }
    }
    this.#tracked.clear();
  }

  /** Tells clients with cached values that the partition was rebuilt. */
  everythingChanged(): void {
    this.currentClient = undefined;
    this.keyChanged(undefined);
  }

  /** The open turn is sealed; its messages wait for its entry. */
  seal(): void {
    for (const message of this.#takeFree()) this.#inFlight.push(message);
  }

  /** The entry in flight is stored: its messages are sent. */
  commit(): void {
    if (this.#inFlight.length === 0) return;
    this.#send(this.#inFlight);
    this.#inFlight = [];
  }

  /** Sends all messages, because no change is open or in flight. */
  flush(): void {
    this.#send(this.#takeFree());
  }

  #takeFree(): readonly Message[] {
    if (this.#open.length === 0) return NO_MESSAGES;
    if (this.#free !== Number.POSITIVE_INFINITY) {
      const free = this.#open.splice(0, this.#free);
      this.#free = 0;
      return free;
    }
    const free = this.#open;
    this.#open = [];
    return free;
  }

  #tell(kind: KvListenKind, name: ByteString, event: KvEvent): number {
    const counts = this.#counts[kind].get(name);
    if (counts === undefined) return 0;
    for (const edge of counts.keys()) this.#open.push({ edge, event });
    return sum(counts);
  }

  /** The key did not change, so every client is told, including the one that runs a command. */
  #forgetFirst(): void {
    const oldest = this.#oldestTracked.next();
    if (oldest !== undefined) this.#invalidate(oldest, undefined);
  }

  #invalidate(key: ByteString, by: string | undefined, except?: Counts): void {
    const edges = this.#tracked.get(key);
    if (edges === undefined) return;
    this.#tracked.delete(key);
    const event: KvEvent = { type: 'invalidate', keys: [key], by };
    for (const edge of edges) if (except?.has(edge) !== true) this.#open.push({ edge, event });
  }

  #setCount(id: SessionId, edge: Edge, kind: KvListenKind, name: ByteString, count: number): void {
    const byName = this.#counts[kind];
    const counts = byName.get(name);
    if (count > 0) {
      if (counts === undefined) byName.set(name, new Map([[id, count]]));
      else counts.set(id, count);
      const names = edge.names.get(kind);
      if (names === undefined) edge.names.set(kind, new Set([name]));
      else names.add(name);
      if (kind === 'pattern' && !this.#globs.has(name)) this.#globs.set(name, compileGlob(name));
      return;
    }
    counts?.delete(id);
    edge.names.get(kind)?.delete(name);
    if (counts?.size !== 0) return;
    byName.delete(name);
    if (kind === 'pattern') this.#globs.delete(name);
  }

  #send(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const eventsByEdge = new Map<SessionId, KvEvent[]>();
    for (const { edge, event } of messages) {
      const events = eventsByEdge.get(edge);
      if (events === undefined) eventsByEdge.set(edge, [event]);
      else events.push(event);
    }
    for (const [edge, events] of eventsByEdge) this.deliver(edge, events);
  }
}

function sum(counts: Counts | undefined): number {
  let total = 0;
  for (const count of counts?.values() ?? []) total += count;
  return total;
}
