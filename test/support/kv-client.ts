/**
 * A small client of the key-value REST API for tests that need the exact outcome of each call: done, certainly not
 * done, or unknown. It does not repeat calls.
 *
 *  KC1 a request counts as refused only if the server says that it had no effect, or if it did not reach the server
 *  KC2 any other failure is unknown: a reset connection, a timeout, an undocumented status
 */
import { Agent, request } from 'node:http';

export type Outcome =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface KvClientOptions {
  readonly url: string;
  readonly token: string;
  /** The maximum of concurrent requests; further ones wait in the client. */
  readonly connections?: number;
  /** The time limit, longer than a server holds a request. */
  readonly timeoutMs?: number;
}

export interface RequestParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export type Words = readonly (string | number)[];

const DEFAULT_TIMEOUT_MS = 15_000;

/** The error texts of requests that had no effect. */
export const NOTHING_HAPPENED =
  /nothing was executed|was not executed|nothing was done|was not carried out|outcome=not-applied/;

/**
 * The server closes idle connections after 75 s. The client closes them earlier, so that no request is sent while the
 * server closes.
 */
const IDLE_MS = 20_000;

export class KvClient {
  readonly #agent: Agent;

  constructor(private readonly options: KvClientOptions) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.connections ?? 8, timeout: IDLE_MS });
  }

  get url(): string {
    return this.options.url;
  }

  /** Sends one command as a JSON body. */
  command(...words: Words): Promise<Outcome> {
    return this.#outcome('/', words);
  }

  /** Sends a pipeline; `result` is the array of items, `{result}` or `{error}` each. */
  pipeline(commands: readonly Words[]): Promise<Outcome> {
    return this.#outcome('/pipeline', commands);
  }

  transaction(commands: readonly Words[]): Promise<Outcome> {
    return this.#outcome('/multi-exec', commands);
  }

  /** Returns the result of a command that must succeed. @throws with the outcome otherwise */
  async ask(...words: Words): Promise<unknown> {
    const outcome = await this.command(...words);
    if (outcome.kind === 'done') return outcome.result;
    throw new Error(`${words.slice(0, 2).join(' ')}: ${describeOutcome(outcome)}`);
  }

  /** The values of many keys in their order; null for missing keys. */
  async values(keys: readonly string[], keysPerCommand = 500): Promise<(string | null)[]> {
    const values: (string | null)[] = [];
    for (let at = 0; at < keys.length; at += keysPerCommand) {
      values.push(...((await this.ask('MGET', ...keys.slice(at, at + keysPerCommand))) as (string | null)[]));
    }
    return values;
  }

  /** Sends any request. @throws the error of the socket */
  raw(path: string, { method = 'GET', headers = {}, body }: RequestParts = {}): Promise<RawAnswer> {
    const { url, token, timeoutMs = DEFAULT_TIMEOUT_MS } = this.options;
    return new Promise((resolve, reject) => {
      const sent = request(
        `${url}${path}`,
        { method, agent: this.#agent, headers: { authorization: `Bearer ${token}`, ...headers } },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', reject);
          response.on('aborted', () => reject(new Error('the answer was cut off')));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
          );
        },
      );
      // The time limit applies to the whole exchange and not to idle times.
      const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      sent.on('close', () => clearTimeout(timer));
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  async #outcome(path: string, body: unknown): Promise<Outcome> {
    try {
      const answer = await this.raw(path, { method: 'POST', body: JSON.stringify(body) });
      return outcomeOf(answer.status, answer.body.toString('utf8'));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // A refused connection means that the request was not received.
      if (code === 'ECONNREFUSED') return { kind: 'refused', status: 0, why: message };
      return { kind: 'unknown', why: message };
    }
  }
}

/** KC1, KC2. */
export function outcomeOf(status: number, body: string): Outcome {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { kind: 'unknown', why: `status ${status} with a body that is not JSON` };
  }
  if (status === 200) {
    if (Array.isArray(parsed)) return { kind: 'done', result: parsed };
    if (typeof parsed === 'object' && parsed !== null && 'result' in parsed) {
      return { kind: 'done', result: parsed.result };
    }
    return { kind: 'unknown', why: `status 200 without a result: ${body.slice(0, 200)}` };
  }
  const why = String((parsed as { error?: unknown } | null)?.error ?? body.slice(0, 200));
  const isRefusal = (status >= 400 && status < 500) || (status === 503 && NOTHING_HAPPENED.test(why));
  return isRefusal ? { kind: 'refused', status, why } : { kind: 'unknown', why: `status ${status}: ${why}` };
}

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'done':
      return `done: ${JSON.stringify(outcome.result).slice(0, 200)}`;
    case 'refused':
      return `refused with ${outcome.status}: ${outcome.why}`;
    case 'unknown':
      return `unknown: ${outcome.why}`;
  }
}
