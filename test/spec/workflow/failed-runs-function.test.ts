import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import type { DlqId } from '../../../src/kernel/index.js';
import { byFilter, byIds, expectConserved, failedIds, listed, started, takeUp } from '../../support/failed-runs.js';
import { SETTINGS } from '../../support/queue-spec.js';
import { answered, ENDPOINT, message, type TriggerOptions, WorkflowSpec } from '../../support/workflow-spec.js';

const FAILURE = 'r failure';
const LARGE = 'x'.repeat(200_000);
const HEADER: [string, string][] = [['Svc-Workflow-Is-Failure', 'true']];

/** A failed run; its failure function was called and has not answered yet. */
function failing(options: TriggerOptions = {}): WorkflowSpec {
  const settings = { ...SETTINGS, header: HEADER, maxRetries: 0 };
  const spec = new WorkflowSpec();
  spec.trigger('r', { maxRetries: 0, failureCallback: { url: ENDPOINT, settings }, ...options });
  spec.answer('r#0', answered(500, [], LARGE)).work();
  return spec.skipEvents();
}

const callAgain = (spec: WorkflowSpec, id = 'again', dlqId = spec.dlqIdOf('r')): QueueReply =>
  spec.queue.ask({ type: 'RunFailureFunction', dlqId, messageId: message(id) });
const takeBack = (spec: WorkflowSpec, dlqId = spec.dlqIdOf('r')): QueueReply =>
  spec.queue.ask({ type: 'CancelFailureFunction', dlqId });
const functionOf = (spec: WorkflowSpec) => listed(spec)[0]?.failureFunction;

describe('workflow: failure functions of failed runs', () => {
  it('are shown while they are called, and with their last answer', () => {
    const spec = failing();
    expect(functionOf(spec)).to.include({ state: 'CALLBACK_INPROGRESS', url: ENDPOINT, status: 0 });
    spec.answer(FAILURE, answered(503, [['X-B', '2']], 'not now'));
    expect(functionOf(spec)).to.deep.include({ state: 'CALLBACK_FAIL', status: 503 });
    expect(functionOf(spec)?.header).to.deep.include(['X-B', '2']);
    expect(spec.textOf(functionOf(spec)?.body.number ?? 0)).to.equal('not now');
    expect(failedIds(spec, { failureFunctionState: ['CALLBACK_FAIL'] })).to.deep.equal(['r']);
    expect(failedIds(spec, { failureFunctionState: ['CALLBACK_SUCCESS', 'CALLBACK_CANCELED'] })).to.deep.equal([]);
    expectConserved(spec);
  });

  it('are called again by RunFailureFunction with the same request', () => {
    const spec = failing();
    const told = spec.bodyOf(FAILURE);
    expect(Buffer.from(JSON.parse(told).body, 'base64').toString()).to.equal(LARGE);
    spec.answer(FAILURE, 500).skipEvents();
    expect(started(callAgain(spec))).to.deep.equal([{ runId: 'r', createdAtMs: spec.queue.nowMs }]);
    expect(spec.news()).to.deep.equal(['accepted again']);
    expect(functionOf(spec)).to.include({ state: 'CALLBACK_INPROGRESS', messageId: 'again' });
    expect(spec.bodyOf('again')).to.equal(told);
    expect(spec.headersOf('again')).to.include({ 'Svc-Workflow-Is-Failure': 'true' });
    const part = spec.attempt('again').run?.part;
    expect(part?.role === 'failure' && spec.textOf(part.payload.number)).to.equal('payload of r');
    expectConserved(spec);
    spec.deliver('again');
    expect(functionOf(spec)).to.include({ state: 'CALLBACK_SUCCESS', status: 200 });
    expectConserved(spec);
  });

  it('can fail and be called again any number of times', () => {
    const spec = failing();
    const told = spec.bodyOf(FAILURE);
    spec.answer(FAILURE, 500);
    started(callAgain(spec, 'second'));
    spec.answer('second', 501);
    expect(functionOf(spec)).to.include({ state: 'CALLBACK_FAIL', status: 501 });
    started(callAgain(spec, 'third'));
    expect(spec.bodyOf('third')).to.equal(told);
    expectConserved(spec);
  });

  it('are called once by a repeated RunFailureFunction', () => {
    const spec = failing();
    spec.answer(FAILURE, 500);
    const first = callAgain(spec);
    spec.skipEvents();
    expect(callAgain(spec)).to.deep.equal(first);
    expect(spec.news()).to.deep.equal([]);
  });

  it('are called again only after they have failed', () => {
    const spec = failing();
    expect(callAgain(spec), 'in progress').to.include({ reason: 'INVALID' });
    spec.deliver(FAILURE);
    expect(callAgain(spec), 'done').to.include({ reason: 'INVALID' });
    const without = failing({ failureCallback: undefined });
    expect(callAgain(without), 'none').to.include({ reason: 'INVALID' });
    expect(callAgain(without, 'x', '1-999' as DlqId), 'no run').to.include({ reason: 'NOT_FOUND' });
  });

  it('are not called again if the endpoint has none', () => {
    const spec = failing();
    spec.deliver(FAILURE, [['Svc-Workflow-Failure-Callback-Notfound', 'true']]);
    expect(functionOf(spec)).to.equal(undefined);
    expect(callAgain(spec)).to.include({ reason: 'INVALID' });
    expectConserved(spec);
  });

  it('are not called again for a suspended account, or above its hard daily limit', () => {
    const spec = failing();
    spec.answer(FAILURE, 500);
    spec.queue.suspend();
    expect(callAgain(spec)).to.include({ reason: 'SUSPENDED' });
    spec.queue.suspend(false).limit({ maxMessagesPerDayHard: 2 });
    expect(callAgain(spec)).to.include({ reason: 'DAILY_LIMIT' });
    expect(functionOf(spec)).to.include({ state: 'CALLBACK_FAIL' });
  });

  it('are cancelled before their first attempt by CancelFailureFunction', () => {
    const spec = failing({ failureCallback: { url: ENDPOINT, settings: { ...SETTINGS, delaySeconds: 60 } } });
    expect(takeBack(spec)).to.deep.equal({ type: 'Done' });
    expect(spec.news()).to.deep.equal([
      'failure function of r: CALLBACK_CANCELED',
      'cancel requested r failure',
      'cancelled r failure',
    ]);
    expect(functionOf(spec)).to.include({ state: 'CALLBACK_CANCELED', status: 0 });
    expectConserved(spec);
    expect(takeBack(spec)).to.include({ reason: 'INVALID' });
    expect(callAgain(spec)).to.include({ reason: 'INVALID' });
  });

  it('are cancelled in the middle of an attempt, with any outcome', () => {
    for (const outcome of [200, 500]) {
      const spec = failing({ failureCallback: { url: ENDPOINT, settings: { ...SETTINGS, maxRetries: 3 } } });
      expect(spec.attempt(FAILURE).retried).to.equal(0);
      expect(takeBack(spec)).to.deep.equal({ type: 'Done' });
      spec.answer(FAILURE, outcome);
      expect(functionOf(spec)).to.include({ state: 'CALLBACK_CANCELED', status: 0 });
      spec.pass(24 * 3600 * 1000);
      expect(spec.all('AttemptStarted').length).to.equal(2);
      expectConserved(spec);
    }
  });

  it('are still called after their run has left the DLQ', () => {
    const spec = failing();
    spec.queue.ask({ type: 'DeleteFailedRuns', selector: byFilter() });
    expectConserved(spec);
    const part = spec.attempt(FAILURE).run?.part;
    expect(part?.role === 'failure' && spec.textOf(part.payload.number)).to.equal('payload of r');
    spec.deliver(FAILURE);
    expectConserved(spec);
    expect(takeBack(spec)).to.include({ reason: 'NOT_FOUND' });
  });

  it('keep their request only while they may be called', () => {
    const spec = failing();
    spec.answer(FAILURE, 500);
    const size = () => [...spec.queue.shelf.contents.values()].filter((each) => each.byteLength > 100_000).length;
    expect(size()).to.equal(1);
    started(callAgain(spec));
    spec.deliver('again');
    spec.pass(600_000);
    spec.trigger('later');
    expect(size()).to.equal(0);
    const other = failing();
    other.answer(FAILURE, 500);
    started(takeUp(other, 'restart', byIds(other.dlqIdOf('r'))));
    expect([...other.queue.shelf.contents.values()].filter((each) => each.byteLength > 100_000).length).to.equal(0);
    expectConserved(other);
  });
});
