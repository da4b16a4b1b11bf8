/** `millrace demo`: fills a new installation with example data over its public API. */
import type { FirstStartCredentials } from '../../protocol/index.js';
import type { Addresses } from '../client-variables.js';
import { Api, bearer } from './api.js';
import { fillKeys } from './demo-keys.js';
import { DemoReceiver } from './demo-receiver.js';

const MESSAGES = 40;

const LETTERS = 5;

const RUNS = 5;

export class Demo {
  #receiver: DemoReceiver | undefined;

  /** @throws if the API refuses a call */
  async begin(addresses: Addresses, credentials: FirstStartCredentials, write: (text: string) => void): Promise<void> {
    const { kv = '', queue = '' } = addresses;
    const messages = new Api(queue, bearer(credentials.queueToken));
    const receiver = await DemoReceiver.listen(messages);
    this.#receiver = receiver;
    const keys = await fillKeys(new Api(kv, bearer(credentials.kvToken)));
    const { sent, runs, schedules } = await fillQueue(messages, receiver.url);
    write(`# ${keys} keys of every type; ${sent} messages, ${schedules} schedules and ${runs} runs of a workflow,\n`);
    write(`# delivered to ${receiver.url}; those sent to /broken end in the DLQ\n`);
  }

  end(): void {
    this.#receiver?.close();
  }
}

/** @param receiver the URL of the demo's receiver. @throws if a call is refused */
async function fillQueue(api: Api, receiver: string) {
  const batch = Array.from({ length: MESSAGES }, (_, at) => ({
    destination: `${receiver}/orders`,
    // Some are delayed, so that the queue has waiting messages.
    headers: at % 4 === 3 ? { 'Svc-Delay': `${at * 15}s` } : {},
    body: JSON.stringify({ order: at + 1 }),
  }));
  await api.ask('POST', '/v2/batch', batch);
  const once = { 'Svc-Retries': '1', 'Svc-Retry-Delay': '1000' };
  await api.ask('POST', `/v2/publish/${receiver}/broken`, 'no receiver accepts this', once);
  await api.ask('POST', '/v2/queues', { queueName: 'letters', parallelism: 1 });
  for (let letter = 1; letter <= LETTERS; letter += 1) {
    await api.ask('POST', `/v2/enqueue/letters/${receiver}/letters/${letter}`, `letter ${letter}`);
  }
  const schedules = [
    ['every-minute', '* * * * *'],
    ['monday', 'CRON_TZ=Europe/Berlin 0 8 * * 1'],
  ] as const;
  for (const [id, cron] of schedules) {
    const headers = { 'Svc-Cron': cron, 'Svc-Schedule-Id': id };
    await api.ask('POST', `/v2/schedules/${receiver}/scheduled/${id}`, 'tick', headers);
  }
  for (let id = 1; id <= RUNS; id += 1) {
    await api.ask('POST', `/v2/trigger/${receiver}/workflow`, { id, items: id });
  }
  return { sent: MESSAGES + 1 + LETTERS, schedules: schedules.length, runs: RUNS };
}
