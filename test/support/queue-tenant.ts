/** One account of a shared queue: requests with its token, its limits, and a steady load of messages. */
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from './eventually.js';
import { QUEUE_TOKEN, type QueueProcess, type RawAnswer, type RawOptions } from './queue-process.js';

/** The number of messages in one batch request. */
const BATCH = 1000;

export interface PaceOptions {
  readonly count: number;
  readonly everyMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly queueName?: string;
}

export class QueueTenant {
  private constructor(
    private readonly served: QueueProcess,
    readonly name: string | undefined,
    public token: string,
  ) {}

  /** The first account of the process. */
  static first(served: QueueProcess): QueueTenant {
    return new QueueTenant(served, undefined, QUEUE_TOKEN);
  }

  /** Creates an account; resolves when its token works. */
  static async create(served: QueueProcess, name: string): Promise<QueueTenant> {
    const { stdout } = await served.account('create', '--name', name, '--email', `${name}@tests.example`);
    const tenant = new QueueTenant(served, name, tokenIn(stdout.toString()));
    await eventually(async () => {
      const { status } = await tenant.request('GET', '/v2/keys');
      if (status !== 200) throw new Error(`keys of ${name} answer ${status}`);
    });
    return tenant;
  }

  request(method: string, target: string, options: RawOptions = {}): Promise<RawAnswer> {
    return this.served.request(method, target, { token: this.token, ...options });
  }

  async json(target: string): Promise<unknown> {
    return (await this.request('GET', target)).json;
  }

  /** Publishes a message. @throws if it is refused */
  async publish(destination: string, options: RawOptions = {}): Promise<string> {
    const { status, text, json } = await this.request('POST', `/v2/publish/${destination}`, options);
    if (status !== 200) throw new Error(`publish answers ${status} ${text}`);
    return (json as { messageId: string }).messageId;
  }

  /** Publishes this number of messages in batches. @param itemAt returns the message with a number */
  async flood(count: number, itemAt: (number: number) => object): Promise<void> {
    for (let from = 0; from < count; from += BATCH) {
      const items = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => itemAt(from + at));
      const { status, text } = await this.request('POST', '/v2/batch', { body: items });
      if (status !== 200) throw new Error(`batch answers ${status} ${text}`);
    }
  }

  /**
   * Publishes to a path of the process's sink at a steady pace, and waits for all deliveries.
   * @returns the milliseconds from each publish to its delivery, in ascending order
   */
  async keepPace({ count, everyMs, headers = {}, queueName }: PaceOptions): Promise<number[]> {
    const { sink } = this.served;
    const path = sink.path('steady');
    const route = queueName === undefined ? 'publish' : `enqueue/${queueName}`;
    const begunAtMs: number[] = [];
    const calls: Promise<RawAnswer>[] = [];
    for (let number = 0; number < count; number += 1) {
      begunAtMs.push(Date.now());
      calls.push(this.#repeatUntilAnswered(`/v2/${route}/${sink.url(path)}`, { headers, body: String(number) }));
      await pause(everyMs);
    }
    for (const { status, text } of await Promise.all(calls)) if (status !== 200) throw new Error(`${status} ${text}`);
    const arrived = await sink.arrived(path, count);
    return arrived.map(({ body, atMs }) => atMs - (begunAtMs[Number(body)] as number)).sort((a, b) => a - b);
  }

  /**
   * Repeats a request that is answered 503. On a busy machine the process may be without news of the control journal
   * for a moment; such a request had no effect.
   */
  #repeatUntilAnswered(target: string, options: RawOptions): Promise<RawAnswer> {
    return eventually(async () => {
      const answer = await this.request('POST', target, options);
      if (answer.status === 503) throw new Error(answer.text);
      return answer;
    });
  }

  /** Runs `millrace account` with this account. */
  administer(verb: string, ...words: readonly string[]) {
    return this.served.account(verb, ...(this.name === undefined ? [] : [this.name]), ...words);
  }

  /** Replaces the tokens. @returns the previous token */
  async resetTokens(): Promise<string> {
    const { token: old } = this;
    const { stdout } = await this.administer('reset-tokens');
    this.token = tokenIn(stdout.toString());
    return old;
  }
}

function tokenIn(printed: string): string {
  const token = /^queue-token=(\S+)$/m.exec(printed)?.[1];
  if (token === undefined) throw new Error('no token was printed');
  return token;
}
