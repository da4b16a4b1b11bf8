/** The baseline: Koa with a constant answer. Prints `ready <url>`. */
import type { AddressInfo } from 'node:net';
import Koa from 'koa';

const app = new Koa();
app.use((context) => {
  context.body = { result: 'OK' };
});
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`ready http://127.0.0.1:${port}\n`);
});
