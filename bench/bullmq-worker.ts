/**
 * The alternative for a drain: a worker of BullMQ that makes one HTTP call for each job.
 * Arguments: port of the redis-server, queue, concurrency. Prints `ready` and begins when its parent sends the order.
 */
import { Worker } from 'bullmq';
import { request } from 'undici';
import type { Call } from './bullmq-queue.js';

const [port = '', queue = '', concurrency = '1'] = process.argv.slice(2);
const worker = new Worker<Call>(
  queue,
  async ({ data }) => {
    const { statusCode, body } = await request(data.url, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: data.body,
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`the sink answered ${statusCode}`);
  },
  { connection: { host: '127.0.0.1', port: Number(port) }, concurrency: Number(concurrency), autorun: false },
);
await worker.waitUntilReady();
process.once('message', () => void worker.run());
process.stdout.write('ready\n');
