/**
 * The management endpoint on a free port, with the real decider and in-memory state. Every answer is checked against
 * the OpenAPI document that the endpoint serves.
 */

import { ManagementGrants } from '../../src/actors/control/index.js';
import { NodeRandom } from '../../src/adapters/node/index.js';
import type { AlertRule } from '../../src/domain/control/index.js';
import type { UsageDocument } from '../../src/domain/statistics/index.js';
import { createManagementServer, type ManagementServerParts } from '../../src/edge/index.js';
import { EXAMPLE_ID } from '../../src/edge/management/example-id.js';
import { AREAS } from '../../src/edge/openapi/index.js';
import { type AccountId, type BackupId, type DatabaseId, FORMAT_LEVEL, MillraceError } from '../../src/kernel/index.js';
import type {
  AlertTests,
  Backups,
  Branches,
  BranchOrigin,
  ComparedBranch,
  MergeOrder,
  TestedChannel,
  UndoOrder,
  UsageDocuments,
} from '../../src/ports/index.js';
import { hashSecret, newAccountId, newQueueToken, newSecretText, uuidOf } from '../../src/protocol/index.js';
import { misfits } from './json-schema.js';
import { MemoryLog } from './kv-endpoint.js';
import { SaidStatistics } from './management-statistics.js';
import { MemoryControl, namedSealing } from './memory-control.js';
import { realTime } from './real-time.js';

export const MANAGEMENT_ALIAS = { headerWord: 'Acme', queueWord: 'acmeq', kvWord: 'store', partnerWord: 'host' };

/** A caller with its credentials. */
export interface Caller {
  readonly email: string;
  readonly key: string;
}

export interface ManagementAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if the body is empty. */
  readonly json: unknown;
  /** The parts of the answer that violate the document. */
  readonly misfits: readonly string[];
}

export interface CallOptions {
  /** Undefined for the first account, null for no credentials. */
  readonly as?: Caller | null;
  /** Text is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Branches with one changed key each. */
class SaidBranches implements Branches {
  readonly forgotten: DatabaseId[] = [];
  failure: Error | undefined;

  async refer(_branch: DatabaseId, _origin: BranchOrigin, atMs = 0): Promise<number> {
    if (this.failure !== undefined) throw this.failure;
    return atMs;
  }

  async forget(branch: DatabaseId): Promise<void> {
    this.forgotten.push(branch);
  }

  async size() {
    return { referredBytes: 1000, copiedBytes: 10 };
  }

  async *differences() {
    yield { key: 'a', type: 'string', branch: 'changed', origin: 'same', isConflict: false } as const;
    yield { key: { base64: '/w==' }, type: 'hash', branch: 'created', origin: 'same', isConflict: false } as const;
  }

  async merge(_branch: ComparedBranch, { isDryRun }: MergeOrder) {
    return { isDone: !isDryRun, written: 1, removed: 0, conflicts: [] };
  }

  async held() {
    return { count: 1, messages: [{ url: 'https://example.com' }] };
  }

  async undo({ isDryRun }: UndoOrder) {
    const keys = [{ key: 'a', change: 'restored', type: 'string', writes: 2 }] as const;
    const conflicts = [{ key: 'b', author: 'default@10.0.0.1', time: '2026-05-01T12:00:00.000Z' }];
    return { isDone: !isDryRun, keys, conflicts, unknownWrites: 0 };
  }
}

/** Backups with prepared results. */
class SaidBackups implements Backups {
  readonly started: { database: DatabaseId; backup: BackupId }[] = [];
  readonly restored: { database: DatabaseId; manifests: readonly string[] }[] = [];
  readonly deleted: string[] = [];
  failure: Error | undefined;
  /** The pieces of a backup; a promise is awaited. */
  pieces: readonly (string | Promise<string>)[] = [];

  async *commandsOf(_manifests: readonly string[]): AsyncGenerator<Uint8Array> {
    if (this.failure !== undefined) throw this.failure;
    for (const piece of this.pieces) yield Buffer.from(await piece, 'latin1');
  }

  start(database: DatabaseId, backup: BackupId): void {
    this.started.push({ database, backup });
  }

  async restore(database: DatabaseId, manifests: readonly string[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.restored.push({ database, manifests });
  }

  async delete(manifests: readonly string[]): Promise<void> {
    this.deleted.push(...manifests);
  }
}

/** Alert tests with prepared answers; they record the tested rules. */
class SaidAlerts implements AlertTests {
  hasMail = true;
  readonly tested: AlertRule[] = [];

  refusalOf(url: string): string | undefined {
    return url.includes('10.0.0.1') ? 'the address is private' : undefined;
  }

  async test(rule: AlertRule): Promise<readonly TestedChannel[]> {
    this.tested.push(rule);
    return rule.channels.map((channel) => ({ channel, isSent: channel.type !== 'email', answer: 'msg_1' }));
  }
}

class SaidUsage implements UsageDocuments {
  async documentOf(_account: AccountId, month: number): Promise<UsageDocument> {
    const row = { requests: 7, messages: undefined, storedBytes: 5, transferredBytes: 9, busiestDay: 4 };
    const labels = { costCentre: '=4711', team: 'shop, "one"' };
    const database = { kind: 'database', id: EXAMPLE_ID, name: 'main', labels, dailyQuota: 8, ...row } as const;
    return { month, rows: [database] };
  }

  refusalOf(url: string): string | undefined {
    return url.includes('10.0.0.1') ? 'the address is private' : undefined;
  }
}

interface DescribedAnswer {
  readonly content: Record<string, { schema: object }>;
}

interface DescribedOperation {
  readonly tags?: readonly string[];
  readonly requestBody?: { content: Record<string, { example?: object }> };
  readonly responses: Record<string, DescribedAnswer & { readonly $ref?: string }>;
}

interface OpenApi {
  readonly paths: Record<string, Record<string, DescribedOperation>>;
  readonly components: {
    readonly schemas: Record<string, Record<string, unknown>>;
    readonly responses: Record<string, DescribedAnswer>;
  };
}

export class ManagementHarness {
  readonly control = new MemoryControl();
  readonly statistics = new SaidStatistics();
  readonly backups = new SaidBackups();
  readonly branches = new SaidBranches();
  readonly alerts = new SaidAlerts();
  /** The id and partitions of each deleted database. */
  readonly removed: (readonly [DatabaseId, number])[] = [];
  readonly log = new MemoryLog();
  readonly sealing = namedSealing();
  readonly random = new NodeRandom();
  isControlStale = false;
  owner!: Caller;
  ownerAccount!: AccountId;
  document!: OpenApi;
  /** The requests with an answer 200, such as `GET /v2/kv/databases`. */
  readonly answered = new Set<string>();
  readonly #server;
  #url = '';

  constructor(parts: Partial<ManagementServerParts> = {}) {
    const grants = new ManagementGrants({
      state: this.control.state,
      requireFresh: () => {
        if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
      },
    });
    this.#server = createManagementServer({
      control: this.control,
      access: grants,
      sealing: () => this.sealing,
      statistics: this.statistics,
      backups: this.backups,
      branches: this.branches,
      alerts: this.alerts,
      usage: new SaidUsage(),
      auditExports: {
        refusalOf: (_account, url) => new SaidUsage().refusalOf(url),
        endPosition: async () => 7,
        lagOf: async () => ({ lagMs: 1_500, position: 9, undeliveredMs: 0, problem: 'HTTP status 500' }),
      },
      removal: { remove: (database, partitions) => void this.removed.push([database, partitions]) },
      clock: { nowMs: () => this.control.nowMs, monotonicMs: () => realTime.monotonicMs() },
      timers: realTime,
      random: this.random,
      log: this.log,
      publicUrls: {
        kv: 'https://kv.example',
        queue: 'https://queue.example',
        search: 'https://search.example/at',
      },
      respPort: 6379,
      readOnlyKeysSeeSecrets: false,
      areas: AREAS,
      version: '0.0.0-test',
      deliveryAddresses: ['192.0.2.1/32'],
      limits: { maxCallsPerSecond: 0 },
      ...parts,
    });
  }

  async start(): Promise<this> {
    const { port } = await this.#server.listen(0, '127.0.0.1');
    this.#url = `http://127.0.0.1:${port}`;
    const { caller, account } = await this.newPerson('owner@example.com');
    await this.control.send({ type: 'RaiseFormat', level: FORMAT_LEVEL, by: 'test' });
    this.owner = caller;
    this.ownerAccount = account;
    this.document = (await this.call('GET', '/openapi.json', { as: null })).json as OpenApi;
    return this;
  }

  async stop(): Promise<void> {
    // The clock does not advance, so idle connections of `fetch` would never time out.
    await this.#server.close(AbortSignal.abort());
  }

  get url(): string {
    return this.#url;
  }

  /** A user with an account and its key. */
  async newPerson(email: string): Promise<{ caller: Caller; account: AccountId }> {
    const key = newSecretText(this.random, 'mrk_');
    const seal = (text: string) => ({ sha256: hashSecret(text), sealed: this.sealing.seal(text) });
    const id = newAccountId(this.random);
    const reply = await this.control.send({
      type: 'CreateAccount',
      account: {
        id,
        name: email,
        email,
        secrets: {
          mgmtKey: seal(key),
          queueToken: seal(newQueueToken(this.random)),
          signingKeyCurrent: seal(newSecretText(this.random, 'sig_')),
          signingKeyNext: seal(newSecretText(this.random, 'sig_')),
        },
        readOnlyToken: seal(newSecretText(this.random, 'mrq_')),
      },
    });
    if (reply.type === 'Rejected') throw new Error(reply.message);
    return { caller: { email, key }, account: id };
  }

  /** Another key of a user. @param more `readonly`, `team_id` */
  async newKey(of: Caller, name: string, more: object = {}): Promise<Caller> {
    const { json } = await this.ok('POST', '/apikey', { as: of, body: { name, ...more } });
    return { email: of.email, key: (json as { api_key: string }).api_key };
  }

  async readOnlyKey(of = this.owner): Promise<Caller> {
    return this.newKey(of, `looks only ${this.control.state.apiKeys.byId.size}`, { readonly: true });
  }

  /** Adds a member to a team of the owner. @returns a key of the team with that role */
  async memberOf(team: string, role: 'admin' | 'dev' | 'finance', email = `${role}@example.com`): Promise<Caller> {
    const { caller } = await this.newPerson(email);
    const body = { team_id: team, member_email: email, member_role: role };
    await this.ok('POST', '/v2/teams/member', { body });
    return this.newKey(caller, `of ${team.slice(0, 8)}`, { team_id: team });
  }

  async newTeam(name = 'crew', as = this.owner): Promise<string> {
    const { json } = await this.ok('POST', '/v2/team', { as, body: { team_name: name, copy_cc: true } });
    return (json as { team_id: string }).team_id;
  }

  async newDatabase(more: object = {}, as = this.owner): Promise<string> {
    const body = { database_name: 'first', region: 'global', primary_region: 'us-east-1', ...more };
    return ((await this.ok('POST', '/v2/kv/database', { as, body })).json as { database_id: string }).database_id;
  }

  async newSearchIndex(more: object = {}, as = this.owner): Promise<string> {
    const body = { name: 'papers', region: 'eu-west-1', type: 'payg', ...more };
    return ((await this.ok('POST', '/v2/search', { as, body })).json as { id: string }).id;
  }

  /** The id of the owner's first queue. */
  get queue(): string {
    return uuidOf(this.ownerAccount);
  }

  /** As `call`; throws unless the answer is 200 and matches the document. */
  async ok(method: string, path: string, options: CallOptions = {}): Promise<ManagementAnswer> {
    const answer = await this.call(method, path, options);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    if (answer.misfits.length > 0) throw new Error(`${method} ${path}: ${answer.misfits.join('; ')}`);
    return answer;
  }

  async call(
    method: string,
    path: string,
    { as = this.owner, body, headers }: CallOptions = {},
  ): Promise<ManagementAnswer> {
    const authorization = as === null ? {} : { authorization: basic(as.email, as.key) };
    const response = await fetch(this.#url + path, {
      method,
      headers: { 'content-type': 'application/json', ...authorization, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const json: unknown = text === '' || !isJson ? undefined : JSON.parse(text);
    const found = this.document === undefined ? undefined : this.#operationOf(method, path);
    if (found !== undefined && response.status === 200) this.answered.add(found.name);
    return {
      status: response.status,
      headers: response.headers,
      text,
      json,
      misfits: found === undefined || method === 'HEAD' ? [] : this.#misfits(found.responses, response.status, json),
    };
  }

  /** Every documented method and path of the management API. */
  get documented(): string[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { tags }]) =>
        tags?.includes('management') ? [`${method.toUpperCase()} ${path}`] : [],
      ),
    );
  }

  /** The example body in the document for a request such as `POST /v2/team`. */
  exampleOf(name: string): object | undefined {
    const [method = '', path = ''] = name.split(' ');
    const { requestBody } = this.document.paths[path]?.[method.toLowerCase()] ?? {};
    return requestBody?.content['application/json']?.example;
  }

  #operationOf(method: string, target: string) {
    const parts = (target.split('?')[0] as string).split('/');
    const fitting = Object.entries(this.document.paths).filter(([path]) => {
      const pattern = path.split('/');
      return pattern.length === parts.length && pattern.every((part, at) => part.startsWith('{') || part === parts[at]);
    });
    const [best] = fitting.sort(([a], [b]) => (a.match(/\{/g)?.length ?? 0) - (b.match(/\{/g)?.length ?? 0));
    const operation = best?.[1][method.toLowerCase()];
    return best === undefined || operation === undefined
      ? undefined
      : { name: `${method} ${best[0]}`, responses: operation.responses };
  }

  #misfits(responses: DescribedOperation['responses'], status: number, json: unknown): string[] {
    const found = responses[status] ?? responses.default;
    const { schemas, responses: shared } = this.document.components;
    const answer = found?.$ref === undefined ? found : shared[found.$ref.split('/').at(-1) as string];
    const schema = answer?.content['application/json']?.schema;
    if (schema === undefined) return [`an answer of ${status} is not described`];
    return misfits(json, schema as Record<string, unknown>, schemas);
  }
}

export function basic(email: string, key: string): string {
  return `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;
}
