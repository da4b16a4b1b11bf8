/** Proves FR3, WR1. */
import { expect } from 'chai';
import type { DlqId } from '../../../src/kernel/index.js';
import {
  AGAIN,
  byFilter,
  byIds,
  expectConserved,
  failedAfter,
  failedAtFirst,
  failedIds,
  failedInParallel,
  resume,
  started,
  takeUp,
} from '../../support/failed-runs.js';
import { CHILD, callItem, entryItem, invokeItem, WorkflowSpec } from '../../support/workflow-spec.js';

/** The entry lists that the deliveries of the run send. */
function lists(spec: WorkflowSpec, runId: string): string[][] {
  spec.work();
  const accepted = spec.all('MessageAccepted').filter(({ workflow }) => workflow?.runId === runId);
  return accepted.map(({ id }) => spec.listOf(id));
}

describe('workflow: ResumeRuns with how resume', () => {
  it('continues in a new run after the last result, with all completed steps', () => {
    const spec = failedAfter(2);
    spec.queue.nowMs += 5000;
    const { nowMs } = spec.queue;
    expect(started(resume(spec))).to.deep.equal([{ runId: 'again', createdAtMs: nowMs }]);
    expect(spec.news()).to.deep.equal(['run again started', `accepted ${AGAIN} at 2`, 'DlqDeleted 1']);
    expect(spec.listOf(AGAIN)).to.deep.equal(['r#0', 'r#1', AGAIN]);
    expect(spec.bodyOf(AGAIN)).to.equal('record r#2');
    const [event] = spec.all('RunStarted').slice(-1);
    expect(event?.resumedFrom).to.deep.include({ how: 'resume', runId: 'r', runCreatedAtMs: nowMs - 5000 });
    expect(failedIds(spec)).to.deep.equal([]);
    expect(spec.isActive('r')).to.equal(false);
    expectConserved(spec);
    spec.deliver(AGAIN);
    spec.submit(entryItem('again', 3));
    expect(spec.listOf('again#3')).to.deep.equal(['r#0', 'r#1', AGAIN, 'again#3']);
    spec.finish('again', '"done"');
    expect(spec.all('RunEnded').at(-1)).to.include({ runId: 'again', state: 'RUN_SUCCESS' });
  });

  it("delivers the payload again with the trigger's settings if no step was completed", () => {
    const spec = failedAfter(0);
    started(resume(spec));
    expect(spec.listOf(AGAIN)).to.deep.equal([AGAIN]);
    expect(spec.headersOf(AGAIN)).to.deep.equal({ 'Content-Type': 'text/plain', 'Svc-Workflow-Sdk-Version': '1' });
    expectConserved(spec);
  });

  it('delivers exactly the announced steps without a result, each with the entries before it', () => {
    const spec = failedInParallel();
    started(resume(spec));
    expect(lists(spec, 'again')).to.deep.equal([
      ['r#0', AGAIN],
      ['r#0', AGAIN, 'r#p2', 'again#0'],
    ]);
    expectConserved(spec);
  });

  it('repeats a call with an outcome that the endpoint did not accept', () => {
    const spec = new WorkflowSpec();
    spec.trigger('r', { maxRetries: 0 });
    spec.deliver('r#0');
    spec.submit(callItem('r', 1));
    spec.deliver('r#c1');
    spec.answer('r#c1 result', 500);
    started(resume(spec));
    expect(spec.listOf(AGAIN)).to.deep.equal([AGAIN]);
    spec.submit(callItem('again', 1));
    expect(spec.attempt('again#c1').run?.part).to.include({ role: 'call', runId: 'again' });
  });

  it('is refused for an unknown run before any event', () => {
    const spec = failedAfter(1);
    const selector = byIds(spec.dlqIdOf('r'), '1-999' as DlqId);
    const reply = takeUp(spec, 'resume', selector);
    expect(reply).to.include({ reason: 'NOT_FOUND', message: 'some messages were not found' });
    expect(spec.news()).to.deep.equal([]);
  });

  it('is refused for the id of an active run', () => {
    const spec = failedAfter(0);
    spec.trigger('busy');
    spec.skipEvents();
    expect(resume(spec, { firstRunId: 'busy' })).to.include({ reason: 'INVALID' });
    expect(spec.news()).to.deep.equal([]);
  });

  it('is refused for a suspended account, and above its hard daily limit', () => {
    const spec = failedInParallel();
    spec.queue.suspend();
    expect(resume(spec)).to.include({ reason: 'SUSPENDED' });
    spec.queue.suspend(false).limit({ maxMessagesPerDayHard: 6 });
    expect(resume(spec)).to.include({ reason: 'DAILY_LIMIT' });
    expect(spec.news()).to.deep.equal([]);
    spec.queue.limit({ maxMessagesPerDayHard: 7 });
    expect(started(resume(spec)).length).to.equal(1);
  });

  it('does not report to the invoker of a child a second time', () => {
    const spec = new WorkflowSpec();
    spec.trigger('parent');
    spec.deliver('parent#0');
    spec.submit(invokeItem('parent', 1, 'child', { maxRetries: 0 }));
    spec.answer('child#0', 500);
    const before = spec.entries('parent');
    started(takeUp(spec, 'resume', byIds(spec.dlqIdOf('child'))));
    expect(spec.attempt(AGAIN).envelope.url).to.equal(CHILD);
    spec.deliver(AGAIN);
    spec.finish('again', '1');
    expect(spec.entries('parent')).to.deep.equal(before);
    expectConserved(spec);
  });

  it('can fail again and be resumed again', () => {
    const spec = failedAfter(2);
    started(resume(spec));
    spec.answer(AGAIN, 500);
    expect(failedIds(spec)).to.deep.equal(['again']);
    const selector = byIds(spec.dlqIdOf('again'));
    started(takeUp(spec, 'resume', selector, { firstRunId: 'third', firstId: 'third#first' }));
    expect(spec.listOf('third#first')).to.deep.equal(['r#0', 'r#1', 'third#first']);
    expectConserved(spec);
  });

  it('releases each body when it is no longer needed', () => {
    const spec = failedAfter(2);
    started(resume(spec));
    spec.deliver(AGAIN);
    spec.finish('again');
    spec.pass(600_000);
    // Delivered messages are forgotten with later events.
    failedAtFirst(['x', 'y'], {}, spec);
    spec.queue.ask({ type: 'DeleteFailedRuns', selector: byFilter() });
    expect(spec.queue.shelf.contents.size).to.equal(0);
  });
});
