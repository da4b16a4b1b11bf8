/**
 * A client of the queue API for tests that need the exact outcome of each call; it does not repeat calls. A call
 * counts as refused only if the server says that it had no effect or if it did not reach the server.
 */
import { KvClient, NOTHING_HAPPENED, type RawAnswer } from './kv-client.js';
import { QUEUE_TOKEN } from './queue-process.js';

export type PublishOutcome =
  | { readonly kind: 'accepted'; readonly id: string; readonly isDuplicate: boolean }
  | { readonly kind: 'refused' | 'unknown'; readonly why: string };

export interface DlqPage {
  readonly messages: readonly { readonly dlqId: string; readonly messageId: string }[];
  readonly cursor?: string;
}

export class ConservationClient {
  readonly #http: KvClient;

  /** @param where the queue URL of a process, or a client with another token */
  constructor(where: string | KvClient) {
    this.#http = typeof where === 'string' ? new KvClient({ url: where, token: QUEUE_TOKEN, connections: 32 }) : where;
  }

  /** @param target `/v2/publish/…` or `/v2/enqueue/…` */
  async publish(target: string, body: string, headers: Readonly<Record<string, string>>): Promise<PublishOutcome> {
    try {
      const answer = await this.#http.raw(target, { method: 'POST', body, headers });
      const text = answer.body.toString('utf8');
      if (answer.status === 200 || answer.status === 202) {
        const { messageId: id } = JSON.parse(text) as { messageId: string };
        return { kind: 'accepted', id, isDuplicate: answer.status === 202 };
      }
      return { kind: refusalOf(answer.status, text), why: `${answer.status} ${text}` };
    } catch (error) {
      return { kind: failureOf(error), why: (error as Error).message };
    }
  }

  /** `acked`: the message existed and was cancelled; `refused`: it did not exist, or the call was not executed. */
  async cancel(id: string): Promise<'acked' | 'refused' | 'unknown'> {
    try {
      const answer = await this.#http.raw(`/v2/messages/${id}`, { method: 'DELETE' });
      return answer.status === 200 ? 'acked' : refusalOf(answer.status, answer.body.toString('utf8'));
    } catch (error) {
      return failureOf(error);
    }
  }

  /** @throws if the status is not one of the expected */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    expected: readonly number[] = [200],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RawAnswer & { json: unknown }> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type: Record<string, string> = text === undefined ? {} : { 'content-type': 'application/json' };
    const parts = { method, headers: { ...type, ...headers } };
    const answer = await this.#http.raw(path, text === undefined ? parts : { ...parts, body: text });
    const said = answer.body.toString('utf8');
    if (!expected.includes(answer.status)) throw new Error(`${method} ${path}: ${answer.status} ${said}`);
    return { ...answer, json: said === '' ? undefined : JSON.parse(said) };
  }

  /** Returns true if the message can be read. Delivered messages stay readable for a while. */
  async isThere(id: string): Promise<boolean> {
    const { status } = await this.ask('GET', `/v2/messages/${id}`, undefined, [200, 404]);
    return status === 200;
  }

  /** Reads the complete DLQ, page by page. */
  async dlq(): Promise<DlqPage['messages']> {
    const found: DlqPage['messages'][number][] = [];
    let cursor: string | undefined;
    do {
      const query: string = cursor === undefined ? '' : `&cursor=${cursor}`;
      const page = (await this.ask('GET', `/v2/dlq?count=100${query}`)).json as DlqPage;
      found.push(...page.messages);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return found;
  }

  async callsInFlight(): Promise<number> {
    const { json } = await this.ask('GET', '/v2/globalParallelism');
    return (json as { parallelismCount: number }).parallelismCount;
  }

  close(): void {
    this.#http.close();
  }
}

function refusalOf(status: number, text: string): 'refused' | 'unknown' {
  if (status >= 400 && status < 500) return 'refused';
  return status === 503 && NOTHING_HAPPENED.test(text) ? 'refused' : 'unknown';
}

/** A refused connection means that the request was not received. */
function failureOf(error: unknown): 'refused' | 'unknown' {
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'unknown';
}
