/**
 * A real process with an open queue endpoint, for raw requests and the published client, and a destination. A test
 * file has one process; its tests use different names for queues, groups and paths.
 */
import http from 'node:http';
import https from 'node:https';
import { connect } from 'node:net';
import { Client } from '@upstash/qstash';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { WIRE_ALIAS } from './millrace-clients.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from './millrace-cluster.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  type RunResult,
  runMillrace,
  startMillrace,
} from './millrace-process.js';
import { QueueSink } from './queue-sink.js';

/** A token from which the published workflow clients read a user name. */
export const QUEUE_TOKEN = Buffer.from('{"UserID":"tests","Password":"0123456789abcdef"}').toString('base64');
export const QUEUE_READONLY_TOKEN = 'queue-readonly-of-the-tests-0123456789abcdef';
export const SIGNING_KEYS = { current: 'sig_4xvkVwQ8NpTmAzGyBhRuLcEfDsJo', next: 'sig_7WbYtHnKiMqXrPaZeVgCdUjFoSLs' };

const ENVIRONMENT: Environment = {
  ...WIRE_ALIAS,
  MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
  MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
  MILLRACE_QUEUE_READONLY_TOKEN: QUEUE_READONLY_TOKEN,
  MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
  MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
};

export interface RawAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** Undefined if the answer is not JSON. */
  readonly json: unknown;
}

export interface RawOptions {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body; an object is sent as JSON. */
  readonly body?: string | Buffer | object;
  /** Undefined for the standard token, null for none. */
  readonly token?: string | null;
}

export type EventRecord = Readonly<Record<string, unknown>> & { readonly state: string; readonly time: number };
export type DlqRecord = Readonly<Record<string, unknown>> & { readonly dlqId: string; readonly messageId: string };

/** The limit of the time from the ready line until another process owns the queue. */
const READY_TIMEOUT_MS = 60_000;
/** The limit of the wait for listed records. */
const LISTED_TIMEOUT_MS = 30_000;

export class QueueProcess {
  readonly url: string;
  readonly client: Client;
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true }),
    // Certificates of tests are self-signed.
    'https:': new https.Agent({ keepAlive: true, rejectUnauthorized: false }),
  };

  private constructor(
    public millrace: MillraceProcess,
    readonly sink: QueueSink,
    private readonly run: (args: readonly string[]) => Promise<RunResult>,
    private readonly again: (env?: Environment) => Promise<MillraceProcess>,
    private readonly nats?: NatsFacts,
  ) {
    this.url = millrace.addresses.queue as string;
    this.client = new Client({ baseUrl: this.url, token: QUEUE_TOKEN });
  }

  /** Starts one process with all roles. */
  static async start(env: Environment = {}): Promise<QueueProcess> {
    const environment = { ...ENVIRONMENT, MILLRACE_QUEUE_PORT: String(await freePort()), ...env };
    const millrace = await startMillrace({ env: environment });
    const { dataDir } = millrace;
    const run = async (args: readonly string[]) => runMillrace(args, await embeddedEnvironment(dataDir));
    const again = (more: Environment = {}) => startMillrace({ env: { ...environment, ...more }, dataDir });
    return new QueueProcess(millrace, await QueueSink.listening(), run, again).#ready();
  }

  /**
   * Starts a process with the queue endpoint only, which sends every call over the bus to an owner in a second
   * process.
   */
  static async startWithRemoteOwner(env: Environment = {}): Promise<QueueProcess> {
    const nats = await startPlainNats();
    const cluster = await MillraceCluster.prepare(nats, { ...ENVIRONMENT, ...env });
    await cluster.start({ MILLRACE_ROLES: 'kv,queue,projection' });
    const port = { MILLRACE_QUEUE_PORT: String(await freePort()) };
    const edge = await cluster.start({ MILLRACE_ROLES: 'edge', ...port });
    const run = (args: readonly string[]) => cluster.run(args);
    const again = (more: Environment = {}) => cluster.start({ MILLRACE_ROLES: 'edge', ...port, ...more });
    return new QueueProcess(edge, await QueueSink.listening(), run, again, nats).#ready();
  }

  /** Waits for the permissions and settings of the account, which the control actor sends shortly after the start. */
  async #ready(): Promise<this> {
    await eventually(
      async () => {
        for (const path of ['keys', 'queues', 'events']) {
          const { status } = await this.get(`/v2/${path}`);
          if (status !== 200) throw new Error(`${path} answers ${status}`);
        }
      },
      { timeoutMs: READY_TIMEOUT_MS },
    );
    return this;
  }

  /** Restarts the process with the same data and port, and possibly other settings. */
  async restart(signal: NodeJS.Signals, env?: Environment): Promise<void> {
    await this.millrace.kill(signal);
    this.millrace = await this.again(env);
    await this.#ready();
  }

  async stop(): Promise<void> {
    for (const agent of Object.values(this.#agents)) agent.destroy();
    await this.sink.close();
    await endEverything();
    await this.nats?.stop();
  }

  /** Runs `millrace account …` while the process runs. @throws if it fails */
  async account(...args: string[]): Promise<RunResult> {
    const result = await this.run(['account', ...args]);
    if (result.code !== 0) throw new Error(`account ${args.join(' ')}: ${result.stderr}`);
    return result;
  }

  get(target: string, options?: RawOptions): Promise<RawAnswer> {
    return this.request('GET', target, options);
  }

  post(target: string, options?: RawOptions): Promise<RawAnswer> {
    return this.request('POST', target, options);
  }

  patch(target: string, options?: RawOptions): Promise<RawAnswer> {
    return this.request('PATCH', target, options);
  }

  delete(target: string, options?: RawOptions): Promise<RawAnswer> {
    return this.request('DELETE', target, options);
  }

  /** @param target is sent unchanged */
  request(method: string, target: string, { headers = {}, body, token }: RawOptions = {}): Promise<RawAnswer> {
    const isText = body === undefined || typeof body === 'string' || body instanceof Buffer;
    const bytes = isText ? body : JSON.stringify(body);
    const { hostname: host, port, protocol } = new URL(this.url);
    const [open, agent] =
      protocol === 'https:' ? [https.request, this.#agents['https:']] : [http.request, this.#agents['http:']];
    return new Promise((resolve, reject) => {
      const request = open({ host, port, path: target, method, agent }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString();
          const isJson = response.headers['content-type'] === 'application/json' && text !== '';
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, text, json: isJson ? JSON.parse(text) : undefined });
        });
      });
      request.on('error', reject);
      if (token !== null) request.setHeader('authorization', `Bearer ${token ?? QUEUE_TOKEN}`);
      for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
      if (bytes !== undefined) request.setHeader('content-length', Buffer.byteLength(bytes));
      request.end(bytes);
    });
  }

  /** Sends raw bytes. @returns all data until the server closes */
  raw(request: string): Promise<string> {
    const { hostname: host, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), host, () => socket.write(request, 'latin1'));
      let answer = '';
      socket.setEncoding('latin1').on('data', (piece: string) => {
        answer += piece;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', (error) => answer === '' && reject(error));
    });
  }

  /** The events of a message, earliest first, when they contain the state. */
  eventsOf(messageId: string, until: string): Promise<readonly EventRecord[]> {
    return eventually(
      async () => {
        const { json } = await this.get(`/v2/events?messageId=${messageId}&order=earliestFirst`);
        const { events } = json as { events: EventRecord[] };
        if (!events.some(({ state }) => state === until)) throw new Error(`only ${events.map(({ state }) => state)}`);
        return events;
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
  }

  /** The DLQ record of a message, when it is listed. */
  deadLetterOf(messageId: string): Promise<DlqRecord> {
    return eventually(
      async () => {
        const { json } = await this.get(`/v2/dlq?messageId=${messageId}`);
        const [entry] = (json as { messages: DlqRecord[] }).messages;
        if (entry === undefined) throw new Error(`${messageId} is not in the DLQ`);
        return entry;
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
  }

  /** Publishes with raw headers and returns the message id. @throws if it is refused */
  async publish(destination: string, options: RawOptions = {}): Promise<string> {
    const answer = await this.post(`/v2/publish/${destination}`, options);
    if (answer.status !== 200) throw new Error(`publish answers ${answer.status} ${answer.text}`);
    return (answer.json as { messageId: string }).messageId;
  }
}

/** The error of a call of the published client. @throws if it succeeds */
export async function refusalOf(action: () => Promise<unknown>): Promise<Error & { readonly status?: number }> {
  const failure = await quietly(() =>
    action().then(
      () => undefined,
      (problem: Error) => problem,
    ),
  );
  if (failure === undefined) throw new Error('the call did not fail');
  return failure;
}

/** Runs an action without the published client's console output about failed tries. */
export async function quietly<T>(action: () => Promise<T>): Promise<T> {
  const { error, warn } = console;
  Object.assign(console, { error: () => {}, warn: () => {} });
  try {
    return await action();
  } finally {
    Object.assign(console, { error, warn });
  }
}
