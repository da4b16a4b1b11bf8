/**
 * A tenant with a steady load per second: 200 SETs, half of them over RESP, 50 publishes, 5 index queries and 5 reads
 * of the management API. Each request starts at its time even if earlier ones are late. Failed requests are not
 * repeated, so every failure is reported.
 *
 * The same process also writes to a file that Millrace does not use, and waits for the disk. These times are the
 * latency of the machine without Millrace.
 */
import { type FileHandle, open } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { RespClient } from '../resp-client.js';
import type { Tenant } from './attack-stand.js';

const TICK_MS = 20;
/** SETs of one tick over each of REST and RESP. */
const SETS_EACH_WAY = 2;
const PUBLISHES = 1;
/** The number of ticks between two reads of the management API. */
const MANAGEMENT_EVERY = 10;
/** The number of ticks from a read of the management API to a query. */
const QUERY_AFTER = 5;
/** On a busy machine ticks run late and are made up for; late ticks above this number are dropped. */
const MAX_TICKS_AT_ONCE = 25;
/** A time after which a client would have given up. */
const TIMEOUT_MS = 60_000;
const KEPT_FAILURES = 5;
const KEYS = 500;
const MACHINE_WRITE = Buffer.alloc(4096, 'x');

export interface SteadyReport {
  readonly failed: number;
  /** The messages of the first failures. */
  readonly failures: readonly string[];
  /** The time of each request from its start to its answer. */
  readonly latenciesMs: readonly number[];
  /** The time of each write of 4 KiB with `fdatasync` to a file that Millrace does not use. */
  readonly machineMs: readonly number[];
}

export class SteadyTenant {
  /** The bodies of accepted messages. */
  readonly published = new Set<string>();
  readonly #agent = new http.Agent({ keepAlive: true });
  #resp: RespClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;
  #answered = 0;
  #failed = 0;
  #failures: string[] = [];
  #latencies: number[] = [];
  #machine: number[] = [];
  #machineFile: FileHandle | undefined;
  #writing: Promise<void> | undefined;

  /** @param directory on the disk of Millrace's data */
  constructor(
    private readonly tenant: Tenant,
    private readonly addresses: Readonly<Record<string, string>>,
    private readonly destination: string,
    private readonly directory: string,
  ) {}

  get databaseId(): string {
    return this.tenant.databaseId;
  }

  async start(): Promise<void> {
    const port = Number(new URL(this.addresses.resp as string).port);
    this.#resp = await RespClient.connect({ port, host: '127.0.0.1' });
    const signedIn = await this.#resp.call(['AUTH', this.tenant.password]);
    if (signedIn !== '+OK\r\n') throw new Error(signedIn);
    const index = ['SEARCH.CREATE', 'own', 'EXISTSOK', 'ON', 'HASH', 'PREFIX', '1', 'own:', 'SCHEMA', 'text', 'TEXT'];
    for (const words of [index, ['HSET', 'own:1', 'text', 'a light query']]) {
      const reply = await this.#resp.call(words);
      if (!reply.startsWith(':')) throw new Error(reply);
    }
    this.#machineFile ??= await open(join(this.directory, 'machine-writes'), 'w');
    const startedAtMs = performance.now();
    let ticks = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor((performance.now() - startedAtMs) / TICK_MS);
      for (let at = Math.max(ticks, due - MAX_TICKS_AT_ONCE); at < due; at += 1) this.#tick(at);
      ticks = due;
      this.#writing ??= this.#measureMachine();
    }, TICK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#resp?.close();
    this.#agent.destroy();
    await this.#writing;
    await this.#machineFile?.close();
  }

  /** Waits until this number of further requests have succeeded or failed. */
  async waitForRequests(requests: number): Promise<void> {
    const until = this.#answered + this.#failed + requests;
    await eventually(
      () => {
        const settled = this.#answered + this.#failed;
        if (settled < until) throw new Error(`the second tenant waits: ${until - settled} answers are missing`);
      },
      { timeoutMs: TIMEOUT_MS },
    );
  }

  /** Stops new requests and waits until none is open. */
  async pause(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await eventually(
      () => {
        const open = this.#asked - this.#answered - this.#failed;
        if (open > 0) throw new Error(`${open} requests of the second tenant are not answered`);
      },
      { timeoutMs: TIMEOUT_MS },
    );
    this.#resp?.close();
  }

  /** The results since the previous report. */
  report(): SteadyReport {
    const report = {
      failed: this.#failed,
      failures: this.#failures,
      latenciesMs: this.#latencies,
      machineMs: this.#machine,
    };
    this.#asked -= this.#answered + this.#failed;
    this.#answered = 0;
    this.#failed = 0;
    this.#failures = [];
    this.#latencies = [];
    this.#machine = [];
    return report;
  }

  async #measureMachine(): Promise<void> {
    const file = this.#machineFile as FileHandle;
    const startedAtMs = performance.now();
    await file.write(MACHINE_WRITE, 0, MACHINE_WRITE.length, 0);
    await file.datasync();
    this.#machine.push(performance.now() - startedAtMs);
    this.#writing = undefined;
  }

  #tick(tick: number): void {
    const { tenant, addresses } = this;
    for (let i = 0; i < SETS_EACH_WAY; i += 1) {
      const key = `key:${(tick * SETS_EACH_WAY + i) % KEYS}`;
      this.#ask('SET over RESP', () => this.#set(key, String(tick)));
      this.#ask('SET', () =>
        this.#http(`${addresses.kv}/`, 'POST', `Bearer ${tenant.restToken}`, JSON.stringify(['SET', key, tick])),
      );
    }
    for (let i = 0; i < PUBLISHES; i += 1) {
      const body = `${this.destination}:${performance.now()}:${tick}`;
      const url = `${addresses.queue}/v2/publish/${this.destination}`;
      this.#ask('publish', async () => {
        await this.#http(url, 'POST', `Bearer ${tenant.queueToken}`, body);
        this.published.add(body);
      });
    }
    if (tick % MANAGEMENT_EVERY === QUERY_AFTER) {
      const query = JSON.stringify(['SEARCH.QUERY', 'own', '{"text":"light"}']);
      this.#ask('query', () => this.#http(`${addresses.kv}/`, 'POST', `Bearer ${tenant.restToken}`, query));
    }
    if (tick % MANAGEMENT_EVERY !== 0) return;
    const authorization = `Basic ${Buffer.from(`${tenant.email}:${tenant.mgmtKey}`).toString('base64')}`;
    const paths = ['/v2/kv/databases', `/v2/kv/database/${tenant.databaseId}`];
    const path = paths[(tick / MANAGEMENT_EVERY) % paths.length] as string;
    this.#ask('management read', () => this.#http(`${addresses.mgmt}${path}`, 'GET', authorization));
  }

  #ask(what: string, call: () => Promise<void>): void {
    const askedAtMs = performance.now();
    this.#asked += 1;
    call().then(
      () => {
        this.#answered += 1;
        this.#latencies.push(performance.now() - askedAtMs);
      },
      (error: Error) => {
        this.#failed += 1;
        const afterMs = Math.round(performance.now() - askedAtMs);
        if (this.#failures.length < KEPT_FAILURES) {
          this.#failures.push(`${what} after ${afterMs} ms: ${error.message}`);
        }
      },
    );
  }

  async #set(key: string, value: string): Promise<void> {
    const reply = await this.#resp!.call(['SET', key, value]);
    if (reply !== '+OK\r\n') throw new Error(reply.trim());
  }

  #http(url: string, method: string, authorization: string, body?: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = http.request(url, { method, agent: this.#agent, headers: { authorization } }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`));
        });
      });
      request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error('no answer')));
      request.on('error', reject);
      request.end(body);
    });
  }
}
