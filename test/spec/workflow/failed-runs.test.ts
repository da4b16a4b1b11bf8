import { expect } from 'chai';
import type { DlqId } from '../../../src/kernel/index.js';
import { byFilter, byIds, expectConserved, failedAtFirst, failedIds, listed } from '../../support/failed-runs.js';
import { item, NOW_MS, response } from '../../support/queue-spec.js';
import { answered, ENDPOINT, entryItem, WorkflowSpec } from '../../support/workflow-spec.js';

const UNKNOWN = '1-999' as DlqId;

describe('workflow: failed runs', () => {
  it('GetFailedRun shows the payload, the last answer and the settings', () => {
    const spec = failedAtFirst(['r'], { labels: ['a', 'b'] });
    const dlqId = spec.dlqIdOf('r');
    const reply = spec.queue.ask({ type: 'GetFailedRun', dlqId });
    const [view] = reply.type === 'FailedRuns' ? reply.runs : [];
    expect(view).to.deep.include({ runId: 'r', runCreatedAtMs: NOW_MS, failureFunction: undefined });
    expect(view?.entry).to.deep.include({ dlqId, messageId: 'r#0', failedAtMs: NOW_MS, retried: 0 });
    expect(view?.entry.response).to.deep.include({ status: 500, error: 'HTTP status 500' });
    expect(view?.envelope.settings.labels).to.deep.equal(['a', 'b']);
    expect(spec.textOf(view?.payload.number ?? 0)).to.equal('payload of r');
    expect(spec.textOf(view?.entry.response.body.number ?? 0)).to.equal('answer to r');
  });

  it('plain DLQ entries and failed runs are listed separately', () => {
    const spec = failedAtFirst(['r']);
    spec.queue.publish(item('plain', { maxRetries: 0 }));
    spec.queue.work();
    spec.queue.outcome('plain', response(500));
    const dead = spec.all('MessageDeadLettered').find(({ id }) => id === 'plain');
    const plain = dead?.dlqId as DlqId;
    expect(spec.queue.ask({ type: 'GetFailedRun', dlqId: plain })).to.include({ reason: 'NOT_FOUND' });
    expect(spec.queue.ask({ type: 'GetDlq', dlqId: spec.dlqIdOf('r') })).to.include({ reason: 'NOT_FOUND' });
    expect(failedIds(spec)).to.deep.equal(['r']);
    expect(spec.queue.ask({ type: 'DeleteFailedRuns', selector: byIds(plain) })).to.include({ reason: 'NOT_FOUND' });
  });

  it('ListFailedRuns filters by properties of the run and of the failure', () => {
    const spec = failedAtFirst(['one'], { labels: ['red'] });
    spec.queue.nowMs += 1000;
    const flowControl = { key: 'slow', parallelism: 1, rate: undefined, periodSeconds: 1 };
    failedAtFirst(['two'], { labels: ['blue', 'green'], url: 'https://other.example/x', flowControl }, spec);
    const at = NOW_MS + 1000;
    expect(failedIds(spec, { workflowUrl: [ENDPOINT] })).to.deep.equal(['one']);
    expect(failedIds(spec, { runId: ['two', 'three'] })).to.deep.equal(['two']);
    expect(failedIds(spec, { createdAtMs: [at] })).to.deep.equal(['two']);
    expect(failedIds(spec, { label: ['red', 'green'] })).to.deep.equal(['one', 'two']);
    expect(failedIds(spec, { label: ['blue'], workflowUrl: [ENDPOINT] })).to.deep.equal([]);
    expect(failedIds(spec, { flowControlKey: ['slow'] })).to.deep.equal(['two']);
    expect(failedIds(spec, { callerIp: ['192.0.2.1'] })).to.deep.equal(['one', 'two']);
    expect(failedIds(spec, { callerIp: ['192.0.2.9'] })).to.deep.equal([]);
    expect(failedIds(spec, { url: ['https://other.example/x'] })).to.deep.equal(['two']);
    expect(failedIds(spec, { responseStatus: [500] })).to.deep.equal(['one', 'two']);
    expect(failedIds(spec, { responseStatus: [404] })).to.deep.equal([]);
    expect(failedIds(spec, { fromMs: at })).to.deep.equal(['two']);
    expect(failedIds(spec, { toMs: at - 1 })).to.deep.equal(['one']);
    expect(failedIds(spec, { fromMs: NOW_MS, toMs: at })).to.deep.equal(['one', 'two']);
  });

  it('ListFailedRuns pages by number and by bytes of the bodies', () => {
    const spec = failedAtFirst(['a', 'b', 'c']);
    const ask = (count: number, maxBytes: number, after?: DlqId) =>
      spec.queue.ask({ type: 'ListFailedRuns', selector: byFilter({}, count, after), maxBytes });
    const first = ask(2, 1e9);
    expect(first).to.include({ type: 'FailedRuns', after: spec.dlqIdOf('b') });
    expect(ask(2, 1e9, spec.dlqIdOf('b'))).to.include({ after: undefined });
    const light = ask(100, 30);
    expect(light.type === 'FailedRuns' && light.runs.map(({ runId }) => runId)).to.deep.equal(['a']);
    expect(light).to.include({ after: spec.dlqIdOf('a') });
    expect(listed(spec, byIds(spec.dlqIdOf('c'), UNKNOWN)).map(({ runId }) => runId)).to.deep.equal(['c']);
    const latest = { ...byFilter({}, 1), order: 'latestFirst' } as const;
    expect(listed(spec, latest).map(({ runId }) => runId)).to.deep.equal(['c']);
  });

  it('CountFailedRuns counts matching runs by the status of their last answer', () => {
    const spec = failedAtFirst(['a', 'b'], { labels: ['red'] });
    failedAtFirst(['c'], {}, spec);
    const counts = (filter = {}) => spec.queue.ask({ type: 'CountFailedRuns', filter });
    expect(counts()).to.deep.equal({ type: 'FailedRunCounts', counts: [[500, 3]] });
    expect(counts({ label: ['red'] })).to.deep.equal({ type: 'FailedRunCounts', counts: [[500, 2]] });
    expect(counts({ responseStatus: [404] })).to.deep.equal({ type: 'FailedRunCounts', counts: [] });
    expect(spec.news()).to.deep.equal([]);
  });

  it('DeleteFailedRuns by id releases all data of the runs', () => {
    const spec = new WorkflowSpec();
    spec.trigger('r', { maxRetries: 0 });
    spec.deliver('r#0');
    spec.submit(entryItem('r', 1));
    spec.answer('r#1', answered(500, [], 'no'));
    spec.pass(600_000);
    const selector = byIds(spec.dlqIdOf('r'));
    expect(spec.queue.ask({ type: 'DeleteFailedRuns', selector })).to.deep.equal({
      type: 'DlqDeleted',
      count: 1,
      after: undefined,
    });
    // Delivered messages are forgotten with later events.
    failedAtFirst(['later'], {}, spec);
    const bodies = [...spec.queue.shelf.contents.values()].map((content) => Buffer.from(content).toString());
    expect(bodies.sort()).to.deep.equal(['answer to later', 'payload of later']);
    expectConserved(spec);
  });

  it('DeleteFailedRuns with an unknown id is refused and deletes no run', () => {
    const spec = failedAtFirst(['r']);
    const selector = byIds(spec.dlqIdOf('r'), UNKNOWN);
    const reply = spec.queue.ask({ type: 'DeleteFailedRuns', selector });
    expect(reply).to.include({ reason: 'NOT_FOUND', message: 'some messages were not found' });
    expect(spec.news()).to.deep.equal([]);
  });

  it('DeleteFailedRuns by filter deletes one page, and returns the start of the next one', () => {
    const spec = failedAtFirst(['a', 'b', 'c']);
    const second = spec.dlqIdOf('b');
    const reply = spec.queue.ask({ type: 'DeleteFailedRuns', selector: byFilter({}, 2) });
    expect(reply).to.deep.equal({ type: 'DlqDeleted', count: 2, after: second });
    expect(failedIds(spec)).to.deep.equal(['c']);
    const rest = spec.queue.ask({ type: 'DeleteFailedRuns', selector: byFilter({}, 2, second) });
    expect(rest).to.deep.equal({ type: 'DlqDeleted', count: 1, after: undefined });
    expect(spec.queue.ask({ type: 'DeleteFailedRuns', selector: byFilter() })).to.include({ count: 0 });
  });

  it('failed runs expire by age and by number, with all their data', () => {
    const spec = failedAtFirst(['a', 'b']);
    spec.queue.limit({ maxDlqEntries: 1 });
    spec.work();
    expect(failedIds(spec)).to.deep.equal(['b']);
    spec.pass(7 * 24 * 3600 * 1000);
    expect(failedIds(spec)).to.deep.equal([]);
    expect(spec.queue.shelf.contents.size).to.equal(0);
  });
});
