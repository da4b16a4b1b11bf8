/**
 * A small client of the kv face for tests that must know what an answer means: done, surely not done, or
 * unknown. It repeats nothing by itself.
 *
 *  KC1 a request is refused only when the server says in words that nothing happened, or was never reached
 *  KC2 whatever else goes wrong is unknown: a reset, a timeout, a status nobody documented
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
  /** Requests at the same time; more wait inside the client. */
  readonly connections?: number;
  /** Above what a server holds a request for. */
  readonly timeoutMs?: number;
}

export interface RequestParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export type Words = readonly (string | number)[];

const DEFAULT_TIMEOUT_MS = 15_000;

/** What the faces say when they have done nothing. */
export const NOTHING_HAPPENED =
  /nothing was executed|was not executed|nothing was done|was not carried out|outcome=not-applied/;

/** A server ends idle connections after 75 s. The client is earlier, so that no request is sent at that moment. */
const IDLE_MS = 20_000;

export class KvClient {
  readonly #agent: Agent;

  constructor(private readonly options: KvClientOptions) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.connections ?? 8, timeout: IDLE_MS });
  }

  get url(): string {
    return this.options.url;
  }

  /** One command, as a JSON body. */
  command(...words: Words): Promise<Outcome> {
    return this.#outcome('/', words);
  }

  /** `result` is the array of items as they were sent: `{result}` or `{error}` each. */
  pipeline(commands: readonly Words[]): Promise<Outcome> {
    return this.#outcome('/pipeline', commands);
  }

  transaction(commands: readonly Words[]): Promise<Outcome> {
    return this.#outcome('/multi-exec', commands);
  }

  /** The result of a command that has to succeed. @throws otherwise, saying how it went */
  async ask(...words: Words): Promise<unknown> {
    const outcome = await this.command(...words);
    if (outcome.kind === 'done') return outcome.result;
    throw new Error(`${words.slice(0, 2).join(' ')}: ${describeOutcome(outcome)}`);
  }

  /** Values of many keys, in their order; null for those that are not there. */
  async values(keys: readonly string[], keysPerCommand = 500): Promise<(string | null)[]> {
    const values: (string | null)[] = [];
    for (let at = 0; at < keys.length; at += keysPerCommand) {
      values.push(...((await this.ask('MGET', ...keys.slice(at, at + keysPerCommand))) as (string | null)[]));
    }
    return values;
  }

  /** Any request at all. @throws what the socket throws */
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
      // Of the whole exchange, not of its silences.
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
      // Nobody listened, so nobody read it.
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
