/** `millrace demo`: what is put into a fresh installation over its public API, so that there is something to look at. */
import type { FirstStartCredentials } from '../../messages/index.js';
import { Api } from './api.js';
import type { Addresses } from './client-lines.js';
import { fillKeys } from './demo-keys.js';
import { fillQueue } from './demo-queue.js';
import { DemoReceiver } from './demo-receiver.js';

export class Demo {
  #receiver: DemoReceiver | undefined;

  /** @throws when the API refuses something */
  async begin(addresses: Addresses, credentials: FirstStartCredentials, write: (text: string) => void): Promise<void> {
    const { kv = '', queue = '' } = addresses;
    const messages = new Api(queue, credentials.queueToken);
    const receiver = await DemoReceiver.listen(messages);
    this.#receiver = receiver;
    const keys = await fillKeys(new Api(kv, credentials.kvToken));
    const { sent, runs, schedules } = await fillQueue(messages, receiver.url);
    write(`# ${keys} keys of every type; ${sent} messages, ${schedules} schedules and ${runs} runs of a workflow,\n`);
    write(`# called at ${receiver.url}; the DLQ gets those that were sent to /broken\n`);
  }

  end(): void {
    this.#receiver?.close();
  }
}
