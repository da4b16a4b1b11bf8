/** A queue endpoint on a free port, with an owner and a read model that the test plays. */
import http from 'node:http';
import { ProcessTrials } from '../../src/actors/queue/index.js';
import { StandardWebhooks } from '../../src/adapters/http-delivery/index.js';
import { NodeRandom } from '../../src/adapters/node/index.js';
import {
  type AccountLimits,
  type AccountState,
  DeliveredHeaders,
  type Published,
  type PublishItem,
  type QueueCommand,
  type QueueCommandOf,
  type QueueReply,
} from '../../src/domain/queue/index.js';
import { createQueueServer, type QueueServer, type QueueServerParts } from '../../src/edge/index.js';
import { type AccountId, FORMAT_LEVEL, MillraceError, type SessionId } from '../../src/kernel/index.js';
import type {
  Backlog,
  Counts,
  DlqPage,
  HttpOut,
  LogPage,
  LogQuery,
  MessageLog,
  QueueGateway,
  QueueGrant,
  RunEntries,
  RunEntriesQuery,
  RunEventPage,
  RunEventQuery,
  RunLog,
  RunPage,
  RunQuery,
  Sealing,
} from '../../src/ports/index.js';
import { MemoryLog } from './kv-endpoint.js';
import { MemoryNetwork } from './memory/memory-bus.js';
import { LIMITS } from './queue-settings.js';
import { realTime } from './real-time.js';

export const QUEUE_TOKEN = 'queue-token';
export const QUEUE_READ_ONLY_TOKEN = 'queue-read-only-token';
/** The user of the standard token; URLs of webhooks contain this name. */
export const QUEUE_USER = 'user-1';
export const QUEUE_ACCOUNT = 'ac-aaaaaaaaaaaaaaaa' as AccountId;
const QUEUE_ALIAS = { headerWord: 'Acme', queueWord: 'acmeq', kvWord: 'store' };

/** A sealing that leaves texts readable. */
const PLAIN_SEALING: Sealing = { seal: (text) => text, open: (sealed) => sealed };

/** An owner with prepared answers; a publish without one is accepted. */
export class ScriptedGateway implements QueueGateway {
  readonly asked: QueueCommand[] = [];
  readonly published: PublishItem[] = [];
  readonly #replies = new Map<string, QueueReply | Error>();
  /** The answer to a publish; accepted if undefined. */
  publishReply: QueueReply | Error | undefined;

  /** Sets the answer to commands of a type. */
  answer(type: QueueCommand['type'], reply: QueueReply | Error): void {
    this.#replies.set(type, reply);
  }

  async ask(_account: AccountId, command: QueueCommand): Promise<QueueReply> {
    this.asked.push(command);
    const reply = this.#replies.get(command.type);
    if (reply instanceof Error) throw reply;
    return reply ?? (command.type === 'GetPosition' ? { type: 'Position', position: 7 } : { type: 'Done' });
  }

  async publish(_account: AccountId, items: readonly PublishItem[]): Promise<QueueReply> {
    this.published.push(...items);
    if (this.publishReply instanceof Error) throw this.publishReply;
    return this.publishReply ?? { type: 'Published', results: items.map(accepted), daily: undefined };
  }

  /** The last command of a type. */
  last<Type extends QueueCommand['type']>(type: Type): QueueCommandOf<Type> {
    const found = this.asked.findLast((command) => command.type === type);
    if (found === undefined) throw new Error(`${type} was not asked; but ${this.asked.map((each) => each.type)}`);
    return found as QueueCommandOf<Type>;
  }

  get lastPublished(): PublishItem {
    const item = this.published.at(-1);
    if (item === undefined) throw new Error('nothing was published');
    return item;
  }
}

function accepted(item: PublishItem): Published | readonly Published[] {
  const { id: messageId, destination } = item;
  if (destination.kind === 'url') return { messageId, url: destination.url, isDuplicate: false };
  return [
    { messageId, url: 'https://one.example/', isDuplicate: false },
    { messageId: `${messageId}2` as typeof messageId, url: 'https://two.example/', isDuplicate: false },
  ];
}

class ScriptedMessageLog implements MessageLog {
  readonly queries: LogQuery[] = [];
  readonly selectors: Parameters<MessageLog['dlq']>[1][] = [];
  readonly seen: number[] = [];
  page: LogPage = { events: [], cursor: undefined };
  /** Answers in place of `page`, for tests with several pages. */
  pageOf: ((query: LogQuery) => LogPage) | undefined;
  dlqPage: DlqPage = { entries: [], after: undefined };

  async events(_account: AccountId, query: LogQuery, seen: number): Promise<LogPage> {
    this.queries.push(query);
    this.seen.push(seen);
    return this.pageOf?.(query) ?? this.page;
  }

  async dlq(_account: AccountId, selector: Parameters<MessageLog['dlq']>[1], seen: number): Promise<DlqPage> {
    this.selectors.push(selector);
    this.seen.push(seen);
    return this.dlqPage;
  }

  readonly counted: object[] = [];
  counts: Counts = { counts: {}, isWhole: true };

  async eventCounts(_account: AccountId, filter: object, states: readonly string[], seen: number): Promise<Counts> {
    this.counted.push({ filter, states });
    this.seen.push(seen);
    return this.counts;
  }

  backlogs: unknown[] = [];

  async backlog(...question: unknown[]): Promise<Backlog> {
    this.backlogs.push(question);
    return { points: [[60_000, 1500]] };
  }

  async dlqCounts(_account: AccountId, filter: object, seen: number): Promise<Counts> {
    this.counted.push(filter);
    this.seen.push(seen);
    return this.counts;
  }
}

class ScriptedRunLog implements RunLog {
  readonly queries: RunQuery[] = [];
  readonly eventQueries: RunEventQuery[] = [];
  readonly seen: number[] = [];
  page: RunPage = { runs: [], cursor: undefined };
  eventPage: RunEventPage = { events: [], cursor: undefined };

  async runs(_account: AccountId, query: RunQuery, seen: number): Promise<RunPage> {
    this.queries.push(query);
    this.seen.push(seen);
    return this.page;
  }

  async runEvents(_account: AccountId, query: RunEventQuery, seen: number): Promise<RunEventPage> {
    this.eventQueries.push(query);
    this.seen.push(seen);
    return this.eventPage;
  }

  readonly entriesAsked: RunEntriesQuery[] = [];
  /** The runs, by id. */
  readonly stored = new Map<string, RunEntries['run']>();

  async runEntries(_account: AccountId, query: RunEntriesQuery, seen: number): Promise<RunEntries> {
    this.entriesAsked.push(query);
    this.seen.push(seen);
    return { run: this.stored.get(query.runId) };
  }

  readonly counted: object[] = [];
  counts: Counts = { counts: {}, isWhole: true };

  async runCounts(_account: AccountId, filter: object, seen: number): Promise<Counts> {
    this.counted.push(filter);
    this.seen.push(seen);
    return this.counts;
  }
}

export interface QueueAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
}

export interface QueueRequestOptions {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body; an object is sent as JSON. */
  readonly body?: string | Buffer | object;
  /** Undefined for the standard token, null for none. */
  readonly token?: string | null;
}

export class QueueEndpointHarness {
  readonly gateway = new ScriptedGateway();
  readonly messageLog = new ScriptedMessageLog();
  readonly runLog = new ScriptedRunLog();
  readonly log = new MemoryLog();
  /** The destination of endpoint checks. */
  destination: HttpOut['send'] = async () => ({ kind: 'no-response', error: 'connection refused', durationMs: 0 });
  readonly trials = new ProcessTrials(
    { bus: new MemoryNetwork(realTime).connect(), random: new NodeRandom() },
    'node-1' as SessionId,
  );
  limits: AccountLimits = LIMITS;
  state: AccountState = 'active';
  isControlStale = false;
  formatLevel = FORMAT_LEVEL;
  keys: { current: string; next: string } | undefined = { current: 'sig_1', next: 'sig_2' };
  /** URLs with this text are refused. */
  forbidden = 'forbidden.example';
  readonly server: QueueServer;
  port = 0;
  readonly #agent = new http.Agent({ keepAlive: true });

  constructor(parts: Partial<QueueServerParts> = {}) {
    this.server = createQueueServer({
      gateway: this.gateway,
      formatLevel: () => this.formatLevel,
      access: {
        grantForQueueToken: (token) => this.#grantFor(token),
        grantForAccount: (account) => (account === QUEUE_ACCOUNT ? this.#grantFor(QUEUE_TOKEN) : undefined),
        grantForQueueUser: (userId) => (userId === QUEUE_USER ? this.#grantFor(QUEUE_TOKEN) : undefined),
      },
      admin: {
        signingKeysOf: () => this.keys,
        rotateSigningKeys: async () => ({ current: this.keys?.next ?? '', next: 'sig_3' }),
      },
      control: {
        send: async () => ({ type: 'Rejected', reason: 'UNKNOWN_ACCOUNT', message: 'no control state here' }),
      },
      triggers: {
        queuesOf: () => [],
        problemOf: () => undefined,
        startsAt: async () => ({ starts: [] }),
        lagOf: async () => ({ entries: 0, lagMs: 0 }),
        removeQueues: async () => undefined,
        openFeed: () => ({ next: async () => ({ records: [], cursor: '' }), close: () => undefined }),
      },
      messageLog: this.messageLog,
      runLog: this.runLog,
      destinations: { refusalOf: (url) => (url.includes(this.forbidden) ? 'endpoint is forbidden' : undefined) },
      deliveries: {
        http: { send: (call) => this.destination(call) },
        signer: { sign: () => 'signed' },
        headers: new DeliveredHeaders({ alias: QUEUE_ALIAS, region: undefined }),
      },
      secrets: new StandardWebhooks({ random: new NodeRandom(), sealing: () => PLAIN_SEALING }),
      sealing: () => PLAIN_SEALING,
      hasMail: true,
      portal: { frameAncestors: [], readFile: async () => undefined, readLook: async () => undefined },
      trials: this.trials,
      clock: realTime,
      timers: realTime,
      random: new NodeRandom(),
      log: this.log,
      aliases: [QUEUE_ALIAS],
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

  /** Sends a request with the path unchanged. */
  request(method: string, path: string, options: QueueRequestOptions = {}): Promise<QueueAnswer> {
    const { headers = {}, body, token = QUEUE_TOKEN } = options;
    const bytes =
      body === undefined || typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port: this.port, path, method, agent: this.#agent },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const isJson = response.headers['content-type']?.startsWith('application/json') === true && text !== '';
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: isJson ? JSON.parse(text) : undefined,
            });
          });
        },
      );
      request.on('error', reject);
      if (token !== null) request.setHeader('authorization', `Bearer ${token}`);
      for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
      if (bytes !== undefined) request.setHeader('content-length', Buffer.byteLength(bytes));
      request.end(bytes);
    });
  }

  get(path: string, options?: QueueRequestOptions): Promise<QueueAnswer> {
    return this.request('GET', path, options);
  }

  post(path: string, options?: QueueRequestOptions): Promise<QueueAnswer> {
    return this.request('POST', path, options);
  }

  patch(path: string, options?: QueueRequestOptions): Promise<QueueAnswer> {
    return this.request('PATCH', path, options);
  }

  delete(path: string, options?: QueueRequestOptions): Promise<QueueAnswer> {
    return this.request('DELETE', path, options);
  }

  #grantFor(token: string): QueueGrant | undefined {
    if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
    const terms = { state: this.state, limits: this.limits, centsPer100kMessages: 0 } as const;
    if (token === QUEUE_TOKEN) return { account: QUEUE_ACCOUNT, role: 'standard', terms };
    if (token === QUEUE_READ_ONLY_TOKEN) return { account: QUEUE_ACCOUNT, role: 'read-only', terms };
    return undefined;
  }
}
