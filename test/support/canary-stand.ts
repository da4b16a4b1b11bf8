/** A real process with known secrets only, and its complete output. */
import { expect } from 'chai';
import { Canary } from './canary.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { basic } from './management-endpoint.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  PASSWORD,
  READONLY_TOKEN,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from './millrace-process.js';
import { QUEUE_READONLY_TOKEN, QUEUE_TOKEN, SIGNING_KEYS } from './queue-process.js';
import { QueueSink } from './queue-sink.js';
import { ReadSide } from './read-side.js';
import { MGMT_EMAIL, MGMT_KEY, SEARCH_ENVIRONMENT } from './search-process.js';

/** A tenant's value, which is stored unchanged. Finding it shows that the files are searched. */
export const STORED = 'stored-by-a-tenant-0123456789';
/** Secrets that are entered in a wrong place, or are sent to another service. */
export const TYPED = {
  token: 'wrong-token-that-was-typed-0123456789',
  password: 'wrong-password-that-was-typed-0123456789',
  key: 'wrong-key-that-was-typed-0123456789',
};
export const USER_PASSWORD = 'password-of-a-user-0123456789abcdef';

const LONG = { timeoutMs: 20_000, everyMs: 100 };
/** The number of output lines that are kept for the search. */
const ALL_LINES = 4999;

export class CanaryStand {
  readonly canary = new Canary();
  millrace!: MillraceProcess;
  readSide!: ReadSide;
  /** The output of all ended processes. */
  printed = '';
  logged = '';

  private constructor(
    readonly dataDir: string,
    readonly environment: Environment,
    readonly sink: QueueSink,
  ) {
    const given = { TOKEN, READONLY_TOKEN, PASSWORD, MGMT_KEY, QUEUE_TOKEN, QUEUE_READONLY_TOKEN, USER_PASSWORD };
    for (const [name, text] of Object.entries(given)) this.canary.add(name, text);
    for (const [name, text] of Object.entries(SIGNING_KEYS)) this.canary.add(`${name} signing key`, text);
    for (const [name, text] of Object.entries(TYPED)) this.canary.add(`a wrong ${name}`, text);
  }

  static async start(): Promise<CanaryStand> {
    const dataDir = await temporaryDirectory();
    const environment = {
      ...(await embeddedEnvironment(dataDir)),
      ...SEARCH_ENVIRONMENT,
      MILLRACE_LOG_LEVEL: 'debug',
      MILLRACE_RESP_PORT: String(await freePort()),
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_QUEUE_READONLY_TOKEN: QUEUE_READONLY_TOKEN,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
      // A small number, so that all data is also in snapshots and so in the object store.
      MILLRACE_SNAPSHOT_ENTRIES: '10',
    };
    const stand = new CanaryStand(dataDir, environment, await QueueSink.listening());
    await stand.begin();
    return stand;
  }

  async begin(): Promise<void> {
    this.millrace = await startMillrace({ dataDir: this.dataDir, env: this.environment });
    const { queue, mgmt } = this.millrace.addresses as Record<'queue' | 'mgmt', string>;
    const faces = { queueUrl: queue, queueToken: QUEUE_TOKEN, mgmtUrl: mgmt, email: MGMT_EMAIL, key: MGMT_KEY };
    this.readSide = new ReadSide(faces);
    await eventually(() => this.millrace.kv.ask('SET', 'stored', STORED), LONG);
  }

  /** Stops the process gracefully, so that all data is written. */
  async end(): Promise<void> {
    await this.millrace.kill('SIGTERM');
    const [printed, logged] = [this.millrace.stdout(), this.millrace.stderr()];
    for (const text of [printed, logged]) expect(text.split('\n').length, 'lines').to.be.at.most(ALL_LINES);
    this.printed += `${printed}\n`;
    this.logged += `${logged}\n`;
  }

  async stop(): Promise<void> {
    await this.sink.close();
    await endEverything();
  }

  /** Adds the secrets in an answer. */
  addAll(of: string, record: unknown, names: readonly string[]): void {
    for (const name of names) this.canary.add(`${name} of ${of}`, (record as Record<string, unknown>)[name]);
  }
}

export function bearer(token: unknown): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}

export function signedIn(key: string): RequestInit {
  return { headers: { authorization: basic(MGMT_EMAIL, key) } };
}

/** Repeats a request until it has this status. */
export async function answered(status: number, url: string, init: RequestInit = {}): Promise<Response> {
  return eventually(async () => {
    const answer = await fetch(url, init);
    expect(answer.status, url).to.equal(status);
    return answer;
  }, LONG);
}
