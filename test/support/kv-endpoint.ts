/** A key-value endpoint on a free port with in-memory engines, and functions to send raw bytes to it. */
import http from 'node:http';
import { SubscriptionRegistry } from '../../src/actors/kv-shard/index.js';
import { createKvServer, type KvServer, type KvServerParts } from '../../src/edge/index.js';
import type { DatabaseId, PartitionName, SessionId } from '../../src/kernel/index.js';
import { MillraceError } from '../../src/kernel/index.js';
import type { KvGrant, KvUsage, Log } from '../../src/ports/index.js';
import { MemoryKvGateway } from './memory-kv-gateway.js';
import { rawExchange } from './raw-exchange.js';
import { realTime } from './real-time.js';

export const TOKEN = 'standard-token';
export const READ_ONLY_TOKEN = 'read-only-token';
/** The token of a database with three partitions. */
export const WIDE_TOKEN = 'wide-token';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** Undefined for the standard token, null for none. */
  readonly token?: string | null;
}

/** A log that keeps its lines. */
export class MemoryLog implements Log {
  readonly lines: { level: string; event: string; fields: unknown }[] = [];
  debug = (event: string, fields?: unknown) => this.#note('debug', event, fields);
  info = (event: string, fields?: unknown) => this.#note('info', event, fields);
  warn = (event: string, fields?: unknown) => this.#note('warn', event, fields);
  error = (event: string, fields?: unknown) => this.#note('error', event, fields);
  with = () => this;
  #note(level: string, event: string, fields: unknown): void {
    this.lines.push({ level, event, fields });
  }
}

export class KvEndpointHarness {
  readonly gateway = new MemoryKvGateway();
  readonly events = new SubscriptionRegistry(this.gateway, realTime, new MemoryLog(), 'edge-test' as SessionId);
  readonly log = new MemoryLog();
  readonly usages: KvUsage[] = [];
  /** The remaining daily quota of commands. */
  quotaLeft = Number.POSITIVE_INFINITY;
  /** If true, the quota answers asynchronously, as if a slice had to be requested. */
  isQuotaRemote = false;
  isControlStale = false;
  maxCommandBytes = 10 * 1024 * 1024;
  readonly server: KvServer;
  port = 0;
  readonly #agent = new http.Agent({ keepAlive: true });

  constructor(parts: Partial<KvServerParts> = {}) {
    this.gateway.onDelivery = (delivery) => this.events.receive(delivery);
    this.server = createKvServer({
      gateway: this.gateway,
      events: this.events,
      timers: realTime,
      access: { grantFor: (token) => this.#grantFor(token) },
      quota: {
        take: (_grant, commands) => {
          const fits = commands <= this.quotaLeft;
          if (fits) this.quotaLeft -= commands;
          return this.isQuotaRemote ? Promise.resolve(fits) : fits;
        },
      },
      meter: { recordKv: (_database, usage) => this.usages.push(usage), connected: () => {} },
      clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
      log: this.log,
      ...parts,
    });
  }

  async start(): Promise<this> {
    this.port = (await this.server.listen(0, '127.0.0.1')).port;
    return this;
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.server.close(AbortSignal.timeout(500));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  #grantFor(token: string): KvGrant | undefined {
    if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
    const limits = { maxCommandBytes: this.maxCommandBytes, maxRequestsPerDay: 0 };
    const narrow = { database: 'db-test' as DatabaseId, partitions: ['kv:db-test:0' as PartitionName], limits };
    if (token === TOKEN) return { ...narrow, role: 'standard', user: 'default' };
    if (token === READ_ONLY_TOKEN) return { ...narrow, role: 'read-only', user: 'default_ro' };
    if (token !== WIDE_TOKEN) return undefined;
    const partitions = [0, 1, 2].map((index) => `kv:db-wide:${index}` as PartitionName);
    return { database: 'db-wide' as DatabaseId, partitions, limits, role: 'standard', user: 'default' };
  }

  /** Sends a request with the path unchanged. */
  request(path: string, { method = 'GET', headers = {}, body, token = TOKEN }: RequestOptions = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const all = { ...authorization, ...length, ...headers };
      const request = http.request(
        { host: '127.0.0.1', port: this.port, path, method, agent: this.#agent, headers: all },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const whole = Buffer.concat(chunks);
            const { statusCode = 0, headers: received } = response;
            resolve({ status: statusCode, headers: received, body: whole, text: whole.toString() });
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.request(path, options);
  }

  post(path: string, body: string | Buffer | unknown[], options: RequestOptions = {}): Promise<Answer> {
    const bytes = Array.isArray(body) ? JSON.stringify(body) : (body as string | Buffer);
    return this.request(path, { method: 'POST', ...options, body: bytes });
  }

  /** Sends raw bytes and reads until the server closes, or until `until` has arrived. */
  raw(bytes: string | Buffer, until?: string): Promise<string> {
    return rawExchange(this.port, typeof bytes === 'string' ? Buffer.from(bytes) : bytes, until);
  }
}
