/** The baseline of latency: Koa that makes the call before it answers. Argument: URL. Prints `ready <url>`. */
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import Koa from 'koa';
import { request } from 'undici';

const url = process.argv[2] as string;
const app = new Koa();
app.use(async (context) => {
  const { body } = await request(url, { method: 'POST', body: await buffer(context.req) });
  await body.dump();
  context.body = { result: 'OK' };
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
