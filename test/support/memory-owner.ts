/**
 * The in-memory owner of all partitions, with real engines and without a journal, for one edge. It supports blocking
 * commands, watches, tracking and subscribers.
 */
import {
  type Audience,
  admit,
  answerTooLarge,
  Blocked,
  type CommandSpec,
  compileGlob,
  ErrorReply,
  findCommand,
  KvEngine,
  keysOf,
  type Reply,
  replyBytes,
} from '../../src/domain/kv/index.js';
import type { ByteString, SessionId } from '../../src/kernel/index.js';
import type { KvEvents, KvGateway, KvSubscription } from '../../src/ports/index.js';
import type { KvEvent, KvListenKind, KvRequest, KvResponse } from '../../src/protocol/index.js';
import { processorMicros } from './processor-time.js';

const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: Math.random };

interface Waiter {
  readonly name: string;
  readonly words: readonly ByteString[];
  readonly keys: readonly ByteString[];
  readonly request: KvRequest;
  readonly onTimeout: Reply;
  readonly timer: NodeJS.Timeout | undefined;
  readonly answer: (reply: Reply) => void;
}

interface Listener {
  readonly kind: KvListenKind;
  readonly name: ByteString;
  readonly onEvent: (event: KvEvent) => void;
}

class Owner {
  readonly engine: KvEngine;
  readonly waiters: Waiter[] = [];
  readonly listeners = new Set<Listener>();
  readonly tracked = new Set<ByteString>();
  currentClient: string | undefined;
  /** The number of messages so far. */
  told = 0;

  constructor() {
    const audience: Audience = {
      publish: (channel, payload, isSharded) => this.#publish(channel, payload, isSharded),
      channels: (isSharded) => this.#named(isSharded ? 'shard-channel' : 'channel'),
      subscribersOf: (channel, isSharded) =>
        [...this.listeners].filter((l) => l.kind === (isSharded ? 'shard-channel' : 'channel') && l.name === channel)
          .length,
      patternCount: 0,
    };
    const held = () => [...this.listeners].filter(({ kind, name }) => kind === 'pause' && name === 'held').length;
    Object.defineProperty(audience, 'heldClients', { get: held });
    this.engine = new KvEngine(
      RANDOM,
      { nowMicros: () => Date.now() * 1000, workedMicros: processorMicros, info: () => new Map() },
      audience,
    );
    this.engine.keyspace.changes.onTracked = (key) => this.#changed(key);
  }

  tell(matches: (listener: Listener) => boolean, event: KvEvent): number {
    const told = [...this.listeners].filter(matches);
    this.told += told.length;
    // An event is sent only after the answer of its command.
    for (const { onEvent } of told) setImmediate(() => onEvent(event));
    return told.length;
  }

  #named(kind: KvListenKind): Set<ByteString> {
    return new Set([...this.listeners].filter((listener) => listener.kind === kind).map(({ name }) => name));
  }

  #publish(channel: ByteString, payload: ByteString, isSharded: boolean): number {
    const kind = isSharded ? 'shard-channel' : 'channel';
    const type = isSharded ? 'smessage' : 'message';
    let count = this.tell((l) => l.kind === kind && l.name === channel, { type, channel, payload });
    if (isSharded) return count;
    for (const pattern of this.#named('pattern')) {
      if (!compileGlob(pattern)(channel)) continue;
      count += this.tell((l) => l.kind === 'pattern' && l.name === pattern, {
        type: 'pmessage',
        pattern,
        channel,
        payload,
      });
    }
    return count;
  }

  #changed(key: ByteString | undefined): void {
    const isForAll = [...this.listeners].some((l) => l.kind === 'invalidation' && l.name === '*');
    if (key !== undefined && !this.tracked.delete(key) && !isForAll) return;
    const keys = key === undefined ? null : [key];
    this.tell((l) => l.kind === 'invalidation', { type: 'invalidate', keys, by: this.currentClient });
  }
}

export class MemoryOwner implements KvGateway, KvEvents {
  readonly edge = 'node-test' as SessionId;
  /** All requests, in order. */
  readonly requests: KvRequest[] = [];
  keepsRequests = true;
  /** Errors to be thrown instead of answers, each once. */
  readonly failures: unknown[] = [];
  /** Reported with every answer. */
  isFull = false;
  scriptReads: readonly ByteString[] | undefined;
  /** If set, subscriptions are confirmed after this promise. */
  subscribing: Promise<void> | undefined;
  /** If set, answers wait for this promise. */
  gate: Promise<void> | undefined;
  readonly #owners = new Map<string, Owner>();

  async execute(request: KvRequest): Promise<KvResponse> {
    if (this.keepsRequests) this.requests.push(request);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    if (this.gate !== undefined) await this.gate;
    const owner = this.ownerOf(request.partition);
    const { mode, commands } = request;
    if (mode === 'unblock') return response([this.#unblock(owner, commands[0] as readonly ByteString[])]);
    owner.engine.keyspace.nowMs = Date.now();
    if (mode === 'reads-only') {
      const reads = (words: readonly ByteString[]) => owner.engine.readsOnly(findCommand(words) as CommandSpec, words);
      return response(commands.map((words) => (reads(words) ? 1 : 0)));
    }
    if (mode === 'watch') {
      const { changes } = owner.engine.keyspace;
      const marks = (commands[0] as readonly ByteString[]).slice(1).map((key) => changes.watch(key));
      return response([String(Math.max(...marks))]);
    }
    if (mode === 'transaction' && this.#hasChanged(owner, request)) return { ...response([]), isAborted: true };
    const { told } = owner;
    const replies: Reply[] = [];
    let answerBytes = 0;
    for (const words of commands) {
      const isFull = answerBytes > (request.maxAnswerBytes ?? Number.POSITIVE_INFINITY);
      if (isFull && mode !== 'transaction') break;
      const isRefused = isFull && findCommand(words)?.flags.includes('readonly') === true;
      const reply = isRefused
        ? answerTooLarge(request.maxAnswerBytes as number)
        : await this.#run(owner, words, request);
      replies.push(reply);
      if (request.maxAnswerBytes !== undefined) answerBytes += replyBytes(reply);
    }
    const { isFull, scriptReads } = this;
    return { ...response(replies), isFull, scriptReads, hasSaid: owner.told > told };
  }

  async subscribe(
    grant: { readonly partitions: readonly string[] },
    kind: KvListenKind,
    name: ByteString,
    onEvent: (event: KvEvent) => void,
  ): Promise<KvSubscription> {
    await new Promise((resolve) => setImmediate(resolve));
    const owner = this.ownerOf(grant.partitions[0] as string);
    let isStopped = false;
    const listener: Listener = { kind, name, onEvent: (event) => isStopped || onEvent(event) };
    owner.listeners.add(listener);
    await this.subscribing;
    return {
      stop: () => {
        isStopped = true;
        owner.listeners.delete(listener);
      },
    };
  }

  ownerOf(partition: string): Owner {
    let owner = this.#owners.get(partition);
    if (owner === undefined) {
      owner = new Owner();
      this.#owners.set(partition, owner);
    }
    return owner;
  }

  #hasChanged({ engine }: Owner, { watches = [] }: KvRequest): boolean {
    const { changes } = engine.keyspace;
    return watches.some(({ keys, mark }) => keys.some((key) => changes.hasChangedSince(key, Number(mark))));
  }

  #run(owner: Owner, words: readonly ByteString[], request: KvRequest): Reply | Promise<Reply> {
    const spec = findCommand(words) ?? admit(words);
    if (spec instanceof ErrorReply) return spec;
    const { engine } = owner;
    const { client, waiter, mode, trackFor } = request;
    if (trackFor !== undefined) for (const key of keysOf(spec, words)) owner.tracked.add(key);
    owner.currentClient = client?.id;
    const reply = engine.execute(spec, words, Date.now(), {
      endpoint: client?.face,
      protocol: client?.protocol,
      mayBlock: waiter !== undefined,
      isNested: mode === 'transaction',
    });
    engine.effects.take();
    owner.tell((l) => l.kind === 'monitor', { type: 'monitor', line: `0.0 [0 x] ${words.join(' ')}` });
    if (!(reply instanceof Blocked)) {
      this.#serve(owner);
      return reply;
    }
    return new Promise((resolve) => {
      const name = waiter as string;
      const { timeoutMs, onTimeout, keys } = reply;
      const timer =
        timeoutMs === 0 ? undefined : setTimeout(() => this.#dismiss(owner, name)?.answer(onTimeout), timeoutMs);
      for (const key of keys) engine.keyspace.changes.await(key);
      owner.waiters.push({ name, words: reply.words ?? words, keys, request, onTimeout, timer, answer: resolve });
    });
  }

  #serve(owner: Owner): void {
    const { ready } = owner.engine.keyspace.changes;
    for (const key of [...ready]) {
      ready.delete(key);
      for (const waiter of owner.waiters.filter(({ keys }) => keys.includes(key))) {
        const spec = admit(waiter.words);
        if (spec instanceof ErrorReply) continue;
        const reply = owner.engine.execute(spec, waiter.words, Date.now(), { endpoint: 'resp', mayBlock: true });
        if (reply instanceof Blocked) continue;
        this.#dismiss(owner, waiter.name)?.answer(reply);
      }
    }
  }

  #dismiss(owner: Owner, name: string): Waiter | undefined {
    const at = owner.waiters.findIndex((waiter) => waiter.name === name);
    if (at < 0) return undefined;
    const [waiter] = owner.waiters.splice(at, 1);
    clearTimeout(waiter?.timer);
    return waiter;
  }

  #unblock(owner: Owner, [name = '', how]: readonly ByteString[]): Reply {
    const waiter = this.#dismiss(owner, name);
    if (waiter === undefined) return 0;
    const error = new ErrorReply('UNBLOCKED client unblocked via CLIENT UNBLOCK');
    waiter.answer(how === 'ERROR' ? error : waiter.onTimeout);
    return 1;
  }
}

function response(replies: readonly Reply[]): KvResponse {
  return { replies, syncToken: '0-0' };
}
