import { connect } from 'node:net';
import { expect } from 'chai';
import { type HealthServer, startHealthServer } from '../../../src/adapters/http-health/index.js';
import { JsonLog, NodeTimers, PromMetrics, SystemClock } from '../../../src/adapters/node/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import { timersOf } from '../../support/timers-of.js';

describe('the monitoring server', () => {
  type Checks = Parameters<typeof startHealthServer>[0]['checks'];
  let server: HealthServer;
  let checks: Checks;
  let lines: string[];
  /** The bound on the wait for the checks. */
  let waitMs: number;
  const real = new NodeTimers();

  function start(port = 0, metricsToken?: string): Promise<HealthServer> {
    const log = new JsonLog({ level: 'info', clock: new SystemClock(), write: (line) => lines.push(line) > 0 });
    const metrics = new PromMetrics({ withProcess: false });
    metrics.counter('millrace_entries_appended_total').add(7);
    const timers = timersOf({ after: (_, action) => real.after(waitMs, action), soon: (action) => real.soon(action) });
    return startHealthServer({
      host: '127.0.0.1',
      port,
      checks: () => checks(),
      edgeChecks: ['control'],
      metrics: () => metrics.page(),
      metricsToken,
      timers,
      log,
    });
  }

  beforeEach(async () => {
    lines = [];
    waitMs = 60_000;
    checks = () => ({ journal: { ok: true } });
    server = await start();
  });
  afterEach(() => server.close());

  const get = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${server.port}${path}`, { method });

  it('GET /livez answers 200', async () => {
    const response = await get('/livez');
    expect(response.status).to.equal(200);
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(await response.json()).to.deep.equal({ status: 'ok' });
  });

  it('GET /metrics requires the token where one is set, and the health paths do not', async () => {
    await server.close();
    server = await start(0, 'for-the-scraper');
    const ask = (path: string, authorization?: string) =>
      fetch(
        `http://127.0.0.1:${server.port}${path}`,
        authorization === undefined ? {} : { headers: { authorization } },
      );
    for (const wrong of [undefined, 'Bearer', 'Bearer for-the-scraper2', 'Bearer for-the-scrape', 'for-the-scraper']) {
      const refused = await ask('/metrics', wrong);
      expect(refused.status, wrong).to.equal(401);
      expect(refused.headers.get('www-authenticate')).to.equal('Bearer realm="metrics"');
      expect(await refused.text()).not.to.include('millrace_');
    }
    expect(await (await ask('/metrics', 'Bearer for-the-scraper')).text()).to.include(
      'millrace_entries_appended_total 7',
    );
    expect((await ask('/livez')).status).to.equal(200);
    expect((await ask('/readyz')).status).to.equal(200);
  });

  it('GET /readyz answers 200 when every check is ok', async () => {
    const response = await get('/readyz');
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({ status: 'ready', checks: { journal: { ok: true } } });
  });

  it('GET /readyz/edge answers 200 while a check that only other roles need is not ok', async () => {
    checks = () => ({ control: { ok: true }, shards: { ok: false, detail: 'KV_2 is loading' } });
    expect((await get('/readyz')).status).to.equal(503);
    const response = await get('/readyz/edge');
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({ status: 'ready', checks: { control: { ok: true } } });
  });

  it('GET /readyz/edge answers 503 while one of its checks is not ok or missing', async () => {
    checks = () => ({ control: { ok: false, detail: 'nothing heard' }, shards: { ok: true } });
    expect((await get('/readyz/edge')).status).to.equal(503);
    checks = () => ({ shards: { ok: true } });
    expect((await get('/readyz/edge')).status).to.equal(503);
  });

  it('GET /readyz answers 503 and names the check that is not ok', async () => {
    checks = async () => ({ journal: { ok: true }, shards: { ok: false, detail: 'KV_2 is loading' } });
    const response = await get('/readyz');
    expect(response.status).to.equal(503);
    expect(await response.json()).to.deep.equal({
      status: 'not ready',
      checks: { journal: { ok: true }, shards: { ok: false, detail: 'KV_2 is loading' } },
    });
  });

  it('GET /readyz answers 503 when the checks throw, and only the log has the reason', async () => {
    checks = () => {
      throw new Error('the reason');
    };
    const response = await get('/readyz');
    expect(response.status).to.equal(503);
    expect(await response.text()).to.not.include('the reason');
    expect(lines.join('')).to.include('"event":"health.checks_failed","error":"the reason"');
  });

  it('GET /readyz answers 503 when the checks do not answer in time', async () => {
    waitMs = 5;
    checks = () => new Promise(() => undefined);
    const response = await get('/readyz');
    expect(response.status).to.equal(503);
    expect(await response.json()).to.deep.include({ status: 'not ready' });
  });

  it('GET /metrics answers in the text format', async () => {
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    expect(await response.text()).to.include('\nmillrace_entries_appended_total 7\n');
  });

  it('answers other paths with 404 and other methods with 405', async () => {
    expect((await get('/')).status).to.equal(404);
    expect((await get('/livez', 'POST')).status).to.equal(405);
    expect((await get('/livez', 'HEAD')).status).to.equal(200);
  });

  it('names the variable when its port is taken', async () => {
    let failure: unknown;
    await start(server.port).catch((error: unknown) => {
      failure = error;
    });
    expect(isMillraceError(failure, 'BAD_CONFIG')).to.equal(true);
    expect((failure as Error).message).to.equal(
      `MILLRACE_METRICS_PORT: cannot listen on 127.0.0.1:${server.port}: another program listens there`,
    );
  });

  it('closes with a client still connected', async () => {
    const second = await start();
    const socket = connect(second.port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    await second.close();
    await closed;
    expect(socket.destroyed).to.equal(true);
  });
});
