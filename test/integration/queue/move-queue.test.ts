/** docs/guide/move-queue.mjs between two real processes: the data of the new one equals that of the old one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { endEverything, type MillraceProcess, startMillrace } from '../../support/millrace-process.js';

const TOKEN = 'a-token-of-the-queue-0123456789';
const OF_EACH_SERVER = new Set(['createdAt', 'updatedAt', 'nextScheduleTime', 'callerIP', 'callerIp']);

describe('docs/guide/move-queue.mjs', function () {
  this.timeout(120_000);
  let from: MillraceProcess;
  let to: MillraceProcess;
  before(async () => {
    const env = { MILLRACE_QUEUE_TOKEN: TOKEN, MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true' };
    from = await startMillrace({ env });
    to = await startMillrace({ env });
  });
  after(endEverything);

  const ask = async ({ addresses }: MillraceProcess, path: string, init: RequestInit = {}) => {
    const headers = { ...init.headers, Authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${addresses.queue}${path}`, { ...init, headers });
    expect(response.status, path).to.be.within(200, 201);
    return response.json() as Promise<unknown>;
  };
  const post = (path: string, headers: Record<string, string>, body: string | Buffer) =>
    ask(from, path, { method: 'POST', headers, body: body as string });
  const comparable = (rows: unknown) =>
    JSON.parse(JSON.stringify(rows, (name, value) => (OF_EACH_SERVER.has(name) ? undefined : value)));

  async function move(): Promise<{ code: number; out: string }> {
    const child = spawn(process.execPath, ['docs/guide/move-queue.mjs'], {
      env: {
        ...process.env,
        FROM_URL: from.addresses.queue,
        FROM_TOKEN: TOKEN,
        TO_URL: to.addresses.queue,
        TO_TOKEN: TOKEN,
      },
    });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (out += String(data)));
    const [code] = await once(child, 'close');
    return { code: code as number, out };
  }

  it('copies queues, groups and schedules with all their options, and can be repeated', async () => {
    await post('/v2/queues', {}, '{"queueName":"letters","parallelism":3,"paused":true}');
    await post(
      '/v2/topics/orders/endpoints',
      {},
      '{"endpoints":[{"name":"a","url":"http://127.0.0.1:1/a"},{"url":"http://127.0.0.1:1/b"}]}',
    );
    const options = {
      'Svc-Cron': 'CRON_TZ=Europe/Berlin 0 8 * * 1',
      'Svc-Schedule-Id': 'all-options',
      'Svc-Method': 'PUT',
      'Svc-Retries': '2',
      'Svc-Delay': '90s',
      'Svc-Timeout': '30s',
      'Svc-Callback': 'http://127.0.0.1:1/callback',
      'Svc-Failure-Callback': 'http://127.0.0.1:1/failed',
      'Svc-Retry-Delay': '1000 * retried',
      'Svc-Queue-Name': 'letters',
      'Svc-Label': 'night,day',
      'Svc-Flow-Control-Key': 'shop',
      'Svc-Flow-Control-Value': 'parallelism=2, rate=10, period=60s',
      'Svc-Forward-Own': 'v',
      'Svc-Callback-Forward-Own': 'w',
      'Svc-Failure-Callback-Forward-Own': 'x',
      'Content-Type': 'text/plain',
    };
    await post('/v2/schedules/http://127.0.0.1:1/tick?a=b', options, 'tock');
    await post(
      '/v2/schedules/orders',
      { 'Svc-Cron': '0 0 1 1 *', 'Svc-Schedule-Id': 'bytes' },
      Buffer.from([0, 255, 254]),
    );
    await ask(from, '/v2/schedules/bytes/pause', { method: 'POST' });
    for (const attempt of ['once', 'again']) {
      expect(await move(), attempt).to.deep.equal({
        code: 0,
        out: 'queue letters\ngroup orders\nschedule all-options\nschedule bytes\n',
      });
      for (const path of ['/v2/queues', '/v2/topics', '/v2/schedules']) {
        expect(comparable(await ask(to, path)), path).to.deep.equal(comparable(await ask(from, path)));
      }
    }
  });

  it('stops with exit code 1 at the first refused call', async () => {
    await post('/v2/topics/elsewhere/endpoints', {}, '{"endpoints":[{"url":"http://127.0.0.1:1/a"}]}');
    to.kill();
    await to.exited;
    const { code, out } = await move();
    expect(out).to.match(/ECONNREFUSED/);
    expect(code).to.equal(1);
  });
});
