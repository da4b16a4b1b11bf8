/**
 * The alternative for publishing: Koa that adds a job of BullMQ for each request and answers its id.
 * Argument: port of the redis-server. Prints `ready <url>`.
 */
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Queue } from 'bullmq';
import Koa from 'koa';
import { type Call, JOB_OPTIONS, QUEUE } from './bullmq-queue.js';

const PREFIX = '/v2/publish/';
const queue = new Queue<Call>(QUEUE, { connection: { host: '127.0.0.1', port: Number(process.argv[2]) } });
await queue.waitUntilReady();

const app = new Koa();
app.use(async (context) => {
  const body = await text(context.req);
  const { id } = await queue.add('call', { url: context.url.slice(PREFIX.length), body }, JOB_OPTIONS);
  context.body = { messageId: id };
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
