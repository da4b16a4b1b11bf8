/** A RESP endpoint on a free port with an in-memory owner, and raw connections to it. */
import net from 'node:net';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { createRespServer, type RespServer, type RespServerParts } from '../../src/edge/index.js';
import type { DatabaseId, PartitionName } from '../../src/kernel/index.js';
import { MillraceError } from '../../src/kernel/index.js';
import type { KvGrant, KvUsage } from '../../src/ports/index.js';
import { eventually } from './eventually.js';
import { MemoryLog } from './kv-endpoint.js';
import { MemoryOwner } from './memory-owner.js';
import { realTime } from './real-time.js';

export const PASSWORD = 'first-password';
export const OTHER_PASSWORD = 'other-password';
/** The password of a database with three partitions. */
export const WIDE_PASSWORD = 'wide-password';
/** The password of a database with three partitions in cluster mode. */
export const CLUSTER_PASSWORD = 'cluster-password';

export class RespEndpointHarness {
  readonly owner = new MemoryOwner();
  readonly log = new MemoryLog();
  readonly usages: KvUsage[] = [];
  /** Revoked passwords. */
  readonly revoked = new Set<string>();
  isControlStale = false;
  quotaLeft = Number.POSITIVE_INFINITY;
  maxCommandBytes = 10 * 1024 * 1024;
  readonly server: RespServer;
  port = 0;
  readonly #sockets: RawClient[] = [];
  readonly #grants = new Map<KvGrant, string>();

  constructor(parts: Partial<RespServerParts> = {}) {
    this.server = createRespServer({
      gateway: this.owner,
      events: this.owner,
      access: {
        grantForLogin: (user, password) => this.#login(user, password),
        isCurrent: (grant) => {
          if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
          return !this.revoked.has(this.#grants.get(grant) ?? '');
        },
      },
      quota: {
        take: (_grant, commands) => {
          const fits = commands <= this.quotaLeft;
          if (fits) this.quotaLeft -= commands;
          return fits;
        },
      },
      meter: { recordKv: (_database, usage) => this.usages.push(usage), connected: () => {} },
      clock: realTime,
      timers: realTime,
      log: this.log,
      redisVersion: '8.2.0',
      ...parts,
    });
  }

  async start(): Promise<this> {
    this.port = (await this.server.listen(0, '127.0.0.1')).port;
    return this;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    await this.server.close(AbortSignal.timeout(500));
  }

  #login(user: string | undefined, password: string): KvGrant | undefined {
    if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
    if (this.revoked.has(password)) return undefined;
    if (user !== undefined && user !== 'default') return undefined;
    const id = {
      [PASSWORD]: 'db-first',
      [OTHER_PASSWORD]: 'db-other',
      [WIDE_PASSWORD]: 'db-wide',
      [CLUSTER_PASSWORD]: 'db-cluster',
    }[password];
    if (id === undefined) return undefined;
    const isCluster = id === 'db-cluster';
    const count = id === 'db-wide' || isCluster ? 3 : 1;
    const grant: KvGrant = {
      database: id as DatabaseId,
      partitions: Array.from({ length: count }, (_, index) => `kv:${id}:${index}` as PartitionName),
      isCluster,
      role: 'standard',
      user: 'default',
      limits: { maxCommandBytes: this.maxCommandBytes, maxRequestsPerDay: 0 },
    };
    this.#grants.set(grant, password);
    return grant;
  }

  /** A connection that is not signed in. */
  async connect(): Promise<RawClient> {
    const client = await RawClient.connect(this.port);
    this.#sockets.push(client);
    return client;
  }

  /** A connection that is signed in, with RESP3 if `protocol` is 3. */
  async client(protocol: 2 | 3 = 2, password: string = PASSWORD): Promise<RawClient> {
    const client = await this.connect();
    await client.call('AUTH', password);
    if (protocol === 3) await client.call('HELLO', '3');
    return client;
  }
}

/** A raw connection that splits received bytes into complete messages. */
export class RawClient {
  isClosed = false;
  #received = '';
  readonly #waiting: { readonly resolve: (message: string) => void; readonly reject: (error: Error) => void }[] = [];
  readonly #messages: string[] = [];

  private constructor(readonly socket: net.Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#receive(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the connection was closed'));
    });
  }

  static connect(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(new RawClient(socket)));
      socket.once('error', reject);
    });
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  /** Sends a command and returns the next message of any kind. */
  call(...words: string[]): Promise<string> {
    this.send(encodeCommand(words));
    return this.next();
  }

  next(): Promise<string> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Received messages that have not been read. */
  get unread(): readonly string[] {
    return this.#messages;
  }

  closed(): Promise<void> {
    return eventually(() => {
      if (!this.isClosed) throw new Error('still open');
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    for (let end = messageEnd(this.#received, 0); end > 0; end = messageEnd(this.#received, 0)) {
      const message = this.#received.slice(0, end);
      this.#received = this.#received.slice(end);
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#messages.push(message);
      else waiting.resolve(message);
    }
  }
}

/** The end of the RESP2 or RESP3 message that starts at `at`; -1 if it is incomplete. */
function messageEnd(text: string, at: number): number {
  const line = text.indexOf('\r\n', at);
  if (line < 0) return -1;
  const count = Number(text.slice(at + 1, line));
  const kind = text[at] as string;
  let end = line + 2;
  if ('$='.includes(kind) && count >= 0) end += count + 2;
  else if ('*~>%'.includes(kind)) {
    const items = kind === '%' ? count * 2 : count;
    for (let i = 0; i < items && end >= 0; i += 1) end = messageEnd(text, end);
  }
  return end < 0 || end > text.length ? -1 : end;
}
