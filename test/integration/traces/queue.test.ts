/** Traces of messages and runs, from the publishing call to the destination, as a collector receives them. */
import { expect } from 'chai';
import { QUEUE_TOKEN, QueueProcess, SIGNING_KEYS } from '../../support/queue-process.js';
import { type CollectedSpan, TraceCollector, treeOf } from '../../support/trace-collector.js';
import { TwoStepRuns } from '../../support/two-step-runs.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const PATTERN = /^00-([0-9a-f]{32})-([0-9a-f]{16})-0([01])$/;

function partsOf(traceparent: string | string[] | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = PATTERN.exec(String(traceparent)) ?? [];
  return { traceId, spanId, flags };
}

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`no ${name} in ${treeOf(spans)}`);
  return found;
}

describe('traces of the queue', function () {
  this.timeout(120_000);
  let collector: TraceCollector;
  let queue: QueueProcess;

  before(async () => {
    collector = await TraceCollector.listening();
    queue = await QueueProcess.start({
      MILLRACE_OTLP_ENDPOINT: collector.url,
      MILLRACE_OTLP_HEADERS: 'authorization=Bearer of the collector',
      MILLRACE_TRACE_RATIO: '1',
    });
  });
  after(async () => {
    await queue?.stop();
    await collector?.close();
  });

  it('contain the publish, its entries and the delivery in one trace', async () => {
    const path = queue.sink.path('traced');
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' };
    await queue.publish(queue.sink.url(path), { headers, body: 'hello' });
    const call = await queue.sink.call(path);
    const spans = await collector.trace(TRACE, (all) => all.filter(({ name }) => name === 'append entry').length === 2);
    expect(treeOf(spans)).to.deep.equal([
      'POST /v2/publish/ > Publish',
      'POST /v2/publish/ > deliver',
      'Publish > append entry',
      'RecordAttempt > append entry',
      'deliver > POST',
      'deliver > RecordAttempt',
      '… > POST /v2/publish/',
    ]);
    const request = named(spans, 'POST /v2/publish/');
    expect(request.parentSpanId).to.equal(PARENT);
    expect(request.attributes).to.deep.include({ 'http.request.method': 'POST', 'http.response.status_code': 200 });
    const told = partsOf(call.headers.traceparent);
    expect(told).to.deep.equal({ traceId: TRACE, spanId: named(spans, 'POST').spanId, flags: '1' });
    expect(call.headers.tracestate).to.equal('vendor=1');
    expect(named(spans, 'POST').attributes).to.deep.include({
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(queue.sink.origin).port),
    });
  });

  it('follow the sampling decision of the caller', async () => {
    const path = queue.sink.path('unsampled');
    const traceparent = `00-${TRACE.replace('4', '5')}-${PARENT}-00`;
    await queue.publish(queue.sink.url(path), { headers: { traceparent } });
    expect((await queue.sink.call(path)).headers.traceparent).to.equal(traceparent);
    const later = queue.sink.path('sampled');
    await queue.publish(queue.sink.url(later));
    const { traceId } = partsOf((await queue.sink.call(later)).headers.traceparent);
    await collector.trace(traceId, (spans) => spans.some(({ name }) => name === 'deliver'));
    expect(collector.of(partsOf(traceparent).traceId)).to.deep.equal([]);
  });

  it("start with a new id when the caller's traceparent is invalid", async () => {
    const path = queue.sink.path('malformed');
    await queue.publish(queue.sink.url(path), { headers: { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` } });
    const { traceId } = partsOf((await queue.sink.call(path)).headers.traceparent);
    expect(traceId)
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(TRACE);
  });

  it('show each attempt with its result', async () => {
    const path = queue.sink.path('retried');
    queue.sink.answer(path, { status: 503 }, { status: 200 });
    await queue.publish(queue.sink.url(path), { headers: { 'svc-retry-delay': '10', 'svc-retries': '1' } });
    const calls = await queue.sink.arrived(path, 2);
    const [first, second] = calls.map(({ headers }) => partsOf(headers.traceparent));
    expect(first?.traceId).to.equal(second?.traceId);
    const spans = await collector.trace(first?.traceId ?? '', (all) => all.filter(isAttempt).length === 2);
    const attempts = spans.filter(({ name }) => name === 'POST').map(({ spanId, attributes }) => [spanId, attributes]);
    expect(Object.fromEntries(attempts)[first?.spanId ?? '']).to.include({ 'error.type': '503' });
    expect(Object.fromEntries(attempts)[second?.spanId ?? '']).to.include({ 'http.request.resend_count': 1 });
  });

  it('continue in callbacks and in endpoints of a group', async () => {
    const [path, callback] = [queue.sink.path('called'), queue.sink.path('callback')];
    await queue.post('/v2/topics/traced/endpoints', { body: { endpoints: [{ url: queue.sink.url(path) }] } });
    const headers = { 'svc-callback': queue.sink.url(callback) };
    await queue.post('/v2/publish/traced', { headers, body: 'hello' });
    const [first, then] = [await queue.sink.call(path), await queue.sink.call(callback)];
    expect(partsOf(first.headers.traceparent).traceId).to.match(/^[0-9a-f]{32}$/);
    expect(partsOf(then.headers.traceparent).traceId).to.equal(partsOf(first.headers.traceparent).traceId);
  });

  it('do not affect content-based deduplication', async () => {
    const path = queue.sink.path('deduplicated');
    const options = { headers: { 'svc-content-based-deduplication': 'true' }, body: 'the same' };
    const first = await queue.post(`/v2/publish/${queue.sink.url(path)}`, options);
    const second = await queue.post(`/v2/publish/${queue.sink.url(path)}`, options);
    expect(first.json).to.not.have.property('deduplicated');
    expect(second.json).to.deep.include({ deduplicated: true });
  });

  it('contain all steps of a run', async () => {
    const options = { baseUrl: queue.url, token: QUEUE_TOKEN, signingKeys: SIGNING_KEYS, retries: 0 };
    const runs = await TwoStepRuns.listening(options);
    try {
      await runs.trigger();
      const isEnd = ({ attributes }: CollectedSpan) => attributes['millrace.run.id'] === runs.acked[0];
      const [first] = await collector.found((span) => span.name === 'deliver' && isEnd(span), 3);
      const spans = await collector.trace(first?.traceId ?? '', (all) => all.filter(isAttempt).length === 3);
      expect(spans.filter(isAttempt).every(isEnd)).to.equal(true);
    } finally {
      await runs.close();
    }
  });

  it('of the call that creates a schedule are stored in the schedule', async () => {
    const path = queue.sink.path('scheduled');
    const setIn = '6bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { 'svc-cron': '* * * * *', 'svc-schedule-id': 'traced', traceparent: `00-${setIn}-${PARENT}-01` };
    await queue.post(`/v2/schedules/${queue.sink.url(path)}`, { headers });
    const isCall = ({ name }: CollectedSpan) => name.startsWith('POST');
    const set = (await collector.trace(setIn, (spans) => spans.some(isCall))).find(isCall);
    const { json } = await queue.get('/v2/schedules/traced');
    const { header } = json as { header: Record<string, string[]> };
    expect(partsOf(header.Traceparent?.[0])).to.deep.include({ traceId: setIn, spanId: set?.spanId });
    await queue.delete('/v2/schedules/traced');
  });

  it('contain no bodies, paths, tokens or forwarded headers', async () => {
    const path = queue.sink.path('a-secret-path');
    const headers = { 'svc-forward-x-key': 'a-forwarded-secret' };
    await queue.publish(`${queue.sink.url(path)}?token=a-secret-query`, { headers, body: 'a-secret-body' });
    const { traceId } = partsOf((await queue.sink.call(path)).headers.traceparent);
    await collector.trace(traceId, (spans) => spans.some(({ name }) => name === 'deliver'));
    for (const secret of ['a-secret-path', 'a-secret-query', 'a-forwarded-secret', 'a-secret-body', QUEUE_TOKEN]) {
      expect(collector.text, secret).to.not.contain(secret);
    }
    expect(queue.millrace.stderr()).to.not.contain('of the collector');
    expect(collector.headers.at(-1)?.authorization).to.equal('Bearer of the collector');
  });
});

function isAttempt({ name }: CollectedSpan): boolean {
  return name === 'deliver';
}
