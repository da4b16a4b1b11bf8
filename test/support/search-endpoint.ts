/** The data endpoint of search indexes on a free port with real in-memory engines, and functions to call it. */
import type { IncomingHttpHeaders } from 'node:http';
import http from 'node:http';
import type { SearchIndex, SearchLimits } from '../../src/domain/control/index.js';
import type { VectorShape } from '../../src/domain/search/index.js';
import { queueProtocolRefusal, SHARED_REFUSALS } from '../../src/edge/error-map.js';
import { createApplication } from '../../src/edge/http/application.js';
import { createEndpointServer, type EndpointServer } from '../../src/edge/http/index.js';
import { createSearchHandler, type SearchHandlerParts } from '../../src/edge/index.js';
import { DEFAULT_QUEUE_ENDPOINT_LIMITS } from '../../src/edge/queue/queue-limits.js';
import type { AccountId, DatabaseId } from '../../src/kernel/index.js';
import { MillraceError } from '../../src/kernel/index.js';
import {
  type KvGrant,
  type SearchHit,
  type SearchIndexInfo,
  type SearchQueries,
  type SearchQuery,
  type SearchUsage,
  UNWATCHED,
  type VectorHits,
  type VectorQueries,
} from '../../src/ports/index.js';
import { type KvRequest, type KvResponse, uuidOf } from '../../src/protocol/index.js';
import { seededRandom } from './kv-bench.js';
import { MemoryLog } from './kv-endpoint.js';
import { MemoryKvGateway } from './memory-kv-gateway.js';
import { realTime } from './real-time.js';

export const SEARCH_TOKEN = 'full-token';
export const SEARCH_READ_TOKEN = 'read-token';
export const SEARCH_INDEX = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;

export const SEARCH_INDEX_NAME = 'my papers';

export const WIDE_LIMITS: SearchLimits = {
  maxVectorCount: 2_000_000,
  maxMonthlyReranks: -1,
  maxDailyUpdates: -1,
  maxDailyQueries: -1,
  maxMonthlyBandwidth: -1,
  maxWritesPerSecond: 1_000_000,
  maxQueryPerSecond: 1_000_000,
  maxReadsPerRequest: 100,
  maxWritesPerRequest: 100,
};

const INDEX: SearchIndex = {
  id: SEARCH_INDEX,
  name: SEARCH_INDEX_NAME,
  account: 'ac-aaaaaaaaaaaaaaaa' as AccountId,
  region: 'eu-west-1',
  type: 'payg',
  limits: WIDE_LIMITS,
  tokens: undefined,
  createdAtMs: 0,
  deletedAtMs: undefined,
};

export interface SearchAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  readonly body: any;
  readonly text: string;
}

export interface SearchRequestOptions {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  /** Undefined for the full token, null for none. */
  readonly token?: string | null;
  readonly id?: string;
}

/** Queries with prepared answers, which records the requests. */
class ScriptedQueries implements SearchQueries, VectorQueries {
  readonly asked: { index: DatabaseId; name: string; query: SearchQuery }[] = [];
  hits: readonly SearchHit[] = [];
  indexed = new Map<string, number>();
  failure: unknown;

  async search(index: DatabaseId, name: string, query: SearchQuery): Promise<readonly SearchHit[]> {
    if (this.failure !== undefined) throw this.failure;
    this.asked.push({ index, name, query });
    return this.hits;
  }

  async queryVectors(): Promise<VectorHits> {
    if (this.failure !== undefined) throw this.failure;
    return { hits: [] };
  }

  async info(): Promise<SearchIndexInfo> {
    if (this.failure !== undefined) throw this.failure;
    const namespaces = new Map([...this.indexed].map(([name, documents]) => [name, { documents, bytes: documents }]));
    return { namespaces, dimensions: 512 };
  }
}

/** In-memory engines, with a hook between two commands. */
class InterruptibleGateway extends MemoryKvGateway {
  #interruption: { readonly name: string; readonly run: () => void } | undefined;
  #onWait: () => void = () => {};

  /** Runs an action before the next command of a name. @returns the action's result */
  onceBefore<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#interruption = { name, run: () => void action().then(resolve, reject) };
    });
  }

  /** Resolves when a request waits at the gate. */
  waits(): Promise<void> {
    return new Promise((resolve) => {
      this.#onWait = resolve;
    });
  }

  override async execute(request: KvRequest): Promise<KvResponse> {
    const interruption = this.#interruption;
    if (interruption !== undefined && request.commands[0]?.[0] === interruption.name) {
      this.#interruption = undefined;
      await new Promise<void>((resolve) => {
        const { run } = interruption;
        this.#afterNext = resolve;
        run();
      });
    }
    if (this.gate !== undefined) this.#onWait();
    const response = await super.execute(request);
    const afterNext = this.#afterNext;
    this.#afterNext = undefined;
    afterNext?.();
    return response;
  }

  #afterNext: (() => void) | undefined;
}

export class SearchEndpointHarness {
  readonly gateway = new InterruptibleGateway();
  readonly queries = new ScriptedQueries();
  readonly log = new MemoryLog();
  readonly usages: SearchUsage[] = [];
  readonly gauges: { documents: number; storageBytes: number }[] = [];
  /** The remaining daily quotas, by kind. */
  readonly quotaLeft = new Map<string, number>();
  readonly leased: KvGrant[] = [];
  month = { rerankUnits: 0, bytes: 0 };
  limits: SearchLimits = WIDE_LIMITS;
  isControlStale = false;
  /** If set, the database is a vector index. */
  vectors: VectorShape | undefined;
  isDraining = false;
  readonly #server: EndpointServer;
  readonly #agent = new http.Agent({ keepAlive: true });
  #port = 0;

  constructor(parts: Partial<SearchHandlerParts> = {}) {
    this.gateway.keepsRequests = false;
    const search = createSearchHandler({
      gateway: this.gateway,
      queries: this.queries,
      access: {
        grantForSearch: (index, token) => this.#grantFor(index, token),
        searchIndexes: () => [INDEX],
        whenSearchIndexesChange: () => {},
      },
      quota: {
        take: (grant, count) => {
          this.leased.push(grant);
          const left = this.quotaLeft.get(grant.database) ?? grant.limits.maxRequestsPerDay;
          const fits = count <= left;
          if (fits) this.quotaLeft.set(grant.database, left - count);
          return Promise.resolve(fits);
        },
      },
      usage: { rerankUnits: () => this.month.rerankUnits, bytes: () => this.month.bytes },
      meter: {
        recordSearch: (_index, usage) => this.usages.push(usage),
        gaugeSearch: (_index, documents, storageBytes) => this.gauges.push({ documents, storageBytes }),
      },
      clock: realTime,
      timers: realTime,
      log: this.log,
      random: seededRandom(1),
      isDraining: () => this.isDraining,
      ...parts,
    });
    const limits = DEFAULT_QUEUE_ENDPOINT_LIMITS;
    const server = { name: 'search', metrics: UNWATCHED, limits, clock: realTime, timers: realTime };
    this.#server = createEndpointServer(server, {
      handle: createApplication('search', this.log, [
        search,
        ({ response }) => {
          response.status = 418;
        },
      ]),
      connectRefusal: SHARED_REFUSALS.methodNotAllowed,
      allowedMethods: 'POST',
      protocolRefusal: queueProtocolRefusal,
      acceptFailed: () => {},
      drain: () => {},
    });
  }

  get plane(): 'search' | 'vector' {
    return this.vectors === undefined ? 'search' : 'vector';
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/${this.plane}/${uuidOf(SEARCH_INDEX)}`;
  }

  async start(): Promise<this> {
    this.#port = (await this.#server.listen(0, '127.0.0.1')).port;
    return this;
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#server.close(AbortSignal.timeout(500));
  }

  #grantFor(index: DatabaseId, token: string) {
    if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
    if (index !== SEARCH_INDEX || ![SEARCH_TOKEN, SEARCH_READ_TOKEN].includes(token)) return undefined;
    const role: 'standard' | 'read-only' = token === SEARCH_TOKEN ? 'standard' : 'read-only';
    const { limits, vectors } = this;
    return { index, account: 'ac-aaaaaaaaaaaaaaaa' as AccountId, role, limits, vectors };
  }

  /** @param body text is sent unchanged, any other value as JSON, undefined as no body */
  call(command: string, body?: unknown, options: SearchRequestOptions = {}): Promise<SearchAnswer> {
    const { method = 'POST', headers = {}, token = SEARCH_TOKEN, id = uuidOf(SEARCH_INDEX) } = options;
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port: this.#port,
          path: `/${this.plane}/${id}/${command}`,
          method,
          agent: this.#agent,
          headers: { ...authorization, ...length, ...headers },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const whole = Buffer.concat(chunks).toString();
            const { statusCode = 0, headers: received } = response;
            resolve({
              status: statusCode,
              headers: received,
              body: whole === '' ? undefined : JSON.parse(whole),
              text: whole,
            });
          });
        },
      );
      request.on('error', reject);
      request.end(text);
    });
  }

  /** The result of a successful call. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async result(command: string, body?: unknown, options?: SearchRequestOptions): Promise<any> {
    const { status, body: answer, text } = await this.call(command, body, options);
    if (status !== 200) throw new Error(`${command}: ${status} ${text}`);
    return answer.result;
  }

  /** Writes documents `d0`, `d1` … to an index, in batches. */
  async fill(name: string, count: number, idOf: (at: number) => string = (at) => `d${at}`): Promise<void> {
    for (let from = 0; from < count; from += 100) {
      const batch = Array.from({ length: Math.min(100, count - from) }, (_, at) => ({
        id: idOf(from + at),
        content: { number: from + at },
      }));
      await this.result(`upsert-data/${name}`, batch);
    }
  }
}
