/** A browser on a process, messages from the published client, and a destination that answers as the test sets. */
import { Client } from '@upstash/qstash';
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { WIRE_ALIAS } from '../millrace-clients.js';
import { QUEUE_TOKEN } from '../queue-process.js';
import { QueueSink } from '../queue-sink.js';
import { ConsoleBrowser } from './console-browser.js';

const ENVIRONMENT = {
  ...WIRE_ALIAS,
  MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
  MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
};

export class QueueStand extends ConsoleBrowser {
  #sink: QueueSink | undefined;
  readonly #failing: string[] = [];

  /** On a busy machine the process may report for a moment that its state is unknown; pages then repeat their requests. */
  constructor() {
    super([/^503 /]);
  }

  override async start(env: Readonly<Record<string, string>> = {}): Promise<this> {
    await super.start({ ...ENVIRONMENT, ...env });
    this.#sink = await QueueSink.listening();
    return this;
  }

  get sink(): QueueSink {
    return this.#sink as QueueSink;
  }

  get queueUrl(): string {
    return this.process.addresses.queue as string;
  }

  /** The unmodified published client. */
  get client(): Client {
    return new Client({ baseUrl: this.queueUrl, token: QUEUE_TOKEN, retry: false });
  }

  /** Sends a request. @throws if it does not succeed */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(this.queueUrl + path, {
      method,
      headers: { authorization: `Bearer ${QUEUE_TOKEN}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect(answer.status, text).to.be.below(300);
    return JSON.parse(text || 'null');
  }

  /** Publishes messages without retries that fail, and waits until they are in the DLQ. @returns their ids */
  async fail(count: number, label: string, status = 500): Promise<string[]> {
    const path = this.sink.path('fails');
    this.#failing.push(path);
    const url = this.sink.answer(path, { status, body: '{"error":"<b>not today</b>"}' });
    const items = Array.from({ length: count }, (_, at) => ({ url, body: `letter ${at}`, retries: 0, label }));
    const answers = (await this.client.batch(items)) as { messageId: string }[];
    await eventually(async () => {
      const { total } = (await this.call('GET', `/v2/dlq/counts?label=${label}`)) as { total: number };
      expect(total).to.equal(count);
    });
    return answers.map(({ messageId }) => messageId);
  }

  /** From now on the destination answers with success. */
  stopFailing(): void {
    for (const path of this.#failing) this.sink.answer(path, { status: 200 });
  }

  override async end(): Promise<void> {
    await super.end();
    await this.#sink?.close();
  }
}
