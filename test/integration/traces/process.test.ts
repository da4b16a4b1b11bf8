/** Traces of databases, and the absence of effects of a failing collector on a process. */
import { expect } from 'chai';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything, type MillraceProcess, PASSWORD, startMillrace, TOKEN } from '../../support/millrace-process.js';
import { TraceCollector, treeOf } from '../../support/trace-collector.js';

const TRACE = '7bf92f3577b34da6a3ce929d0e0e4736';
const SAMPLED = `00-${TRACE}-00f067aa0ba902b7-01`;
/** The settings' default. */
const SHUTDOWN_MS = 10_000;

function ask(millrace: MillraceProcess, path: string, headers: Record<string, string> = {}) {
  return fetch(`${millrace.kvUrl}${path}`, { headers: { authorization: `Bearer ${TOKEN}`, ...headers } });
}

/** The sum of a metric's series. */
async function countOf(millrace: MillraceProcess, series: string): Promise<number> {
  const page = await (await fetch(`${millrace.metricsUrl}/metrics`)).text();
  const lines = page.split('\n').filter((line) => line.startsWith(series));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describe('traces of a process', function () {
  this.timeout(120_000);
  let collector: TraceCollector;
  beforeEach(async () => {
    collector = await TraceCollector.listening();
  });
  afterEach(async () => {
    await endEverything();
    await collector.close();
  });

  const start = (env: Record<string, string> = {}) =>
    startMillrace({ env: { MILLRACE_OTLP_ENDPOINT: collector.url, ...env } });

  it('show a command at its owner, and its journal entry', async () => {
    const millrace = await start({ MILLRACE_TRACE_RATIO: '0' });
    expect((await ask(millrace, '/set/a-secret-key/a-secret-value', { traceparent: SAMPLED })).status).to.equal(200);
    const tree = ['SET > append entry', 'GET command > SET', '… > GET command'];
    const spans = await collector.trace(TRACE, (all) => all.length === tree.length);
    expect(treeOf(spans)).to.have.members(tree);
    expect(collector.text).to.not.match(/a-secret|token-of-the-tests/);
    const entry = spans.find(({ name }) => name === 'append entry');
    expect(entry?.attributes['millrace.journal.position']).to.be.a('number');
    expect(entry?.attributes['millrace.shard']).to.match(/^KV_/);
  });

  it('contain only requests of sampled callers with ratio 0', async () => {
    const millrace = await start({ MILLRACE_TRACE_RATIO: '0' });
    await ask(millrace, '/get/key');
    await ask(millrace, '/get/key', { traceparent: SAMPLED.replace('-01', '-00') });
    await ask(millrace, '/get/key', { traceparent: SAMPLED });
    await collector.trace(TRACE, (spans) => spans.length === 2);
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).to.deep.equal(new Set([TRACE]));
  });

  it('show each batch of RESP commands as a request', async () => {
    const respPort = await freePort();
    await start({ MILLRACE_TRACE_RATIO: '1', MILLRACE_RESP_PORT: String(respPort) });
    const redis = await createClient({ url: `redis://127.0.0.1:${respPort}`, password: PASSWORD }).connect();
    await redis.set('key', 'value');
    redis.destroy();
    const [set] = await collector.found(({ name, kind }) => name === 'SET' && kind === 2, 1);
    const spans = await collector.trace(set?.traceId ?? '', (all) => all.length === 3);
    expect(treeOf(spans)).to.deep.equal(['SET > SET', 'SET > append entry', 'none > SET']);
  });

  it('are dropped while the collector fails, counted, and logged once', async () => {
    const millrace = await start({ MILLRACE_TRACE_RATIO: '1' });
    collector.status = 400;
    const dropped = 'millrace_trace_spans_dropped_total{reason="not-taken"}';
    for (let round = 0; round < 3; round += 1) {
      const before = await countOf(millrace, dropped);
      expect((await ask(millrace, '/set/key/value')).status).to.equal(200);
      await eventually(async () => expect(await countOf(millrace, dropped)).to.be.greaterThan(before));
    }
    const told = () =>
      millrace
        .stderr()
        .split('\n')
        .filter((line) => line.includes('"traces.'));
    expect(told()).to.have.length(1);
    expect(told()[0]).to.contain('traces.not-exported');
    collector.status = 200;
    await ask(millrace, '/get/key', { traceparent: SAMPLED });
    await collector.trace(TRACE, (spans) => spans.length === 2);
    await eventually(() => expect(told()).to.have.length(2));
    expect(told()[1]).to.contain('traces.exported-again');
  });

  it('are sent before the process ends, and an unresponsive collector does not delay the end', async () => {
    const flushed = await start({ MILLRACE_TRACE_RATIO: '0' });
    await ask(flushed, '/get/key', { traceparent: SAMPLED });
    expect(await flushed.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    expect(collector.of(TRACE)).to.have.length(2);
    collector.status = 0;
    const held = await start({ MILLRACE_TRACE_RATIO: '1' });
    await ask(held, '/set/key/value');
    const askedAt = performance.now();
    expect(await held.kill('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - askedAt).to.be.below(SHUTDOWN_MS);
  });
});
