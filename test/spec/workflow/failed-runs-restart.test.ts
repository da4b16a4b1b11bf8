import { expect } from 'chai';
import type { RunId } from '../../../src/kernel/index.js';
import {
  AGAIN,
  byFilter,
  expectConserved,
  failedAfter,
  failedAtFirst,
  failedIds,
  failedInParallel,
  restart,
  started,
} from '../../support/failed-runs.js';
import { SETTINGS } from '../../support/queue-spec.js';
import { answered, ENDPOINT, entryItem } from '../../support/workflow-spec.js';

describe('workflow: ResumeRuns with how restart', () => {
  it('starts again with the same payload and settings', () => {
    const spec = failedAfter(2, { labels: ['l'], maxRetries: 0 });
    expect(started(restart(spec)).map(({ runId }) => runId)).to.deep.equal(['again']);
    expect(spec.news()).to.deep.equal(['run again started', `accepted ${AGAIN} at 0`, 'DlqDeleted 1']);
    expect(spec.listOf(AGAIN)).to.deep.equal([AGAIN]);
    expect(spec.bodyOf(AGAIN)).to.equal('payload of r');
    expect(spec.headersOf(AGAIN)).to.deep.equal({ 'Content-Type': 'text/plain', 'Svc-Workflow-Sdk-Version': '1' });
    const [event] = spec.all('RunStarted').slice(-1);
    expect(event?.resumedFrom).to.include({ how: 'restart', runId: 'r' });
    expect(event?.kept).to.deep.equal([]);
    expect(event?.envelope.settings.labels).to.deep.equal(['l']);
    expectConserved(spec);
    spec.deliver(AGAIN);
    spec.submit(entryItem('again', 1));
    expect(spec.listOf('again#1')).to.deep.equal([AGAIN, 'again#1']);
  });

  it('releases the entries of the failed run', () => {
    const spec = failedAfter(2);
    spec.pass(600_000);
    started(restart(spec));
    expect([...spec.queue.shelf.contents.values()].map((each) => Buffer.from(each).toString())).to.include(
      'payload of r',
    );
    spec.deliver(AGAIN);
    spec.finish('again');
    spec.pass(600_000);
    failedAtFirst(['x', 'y'], {}, spec);
    spec.queue.ask({ type: 'DeleteFailedRuns', selector: byFilter() });
    expect(spec.queue.shelf.contents.size).to.equal(0);
  });

  it('counts one message for a run, with any number of open steps', () => {
    const spec = failedInParallel();
    spec.queue.limit({ maxMessagesPerDayHard: 6 });
    expect(started(restart(spec)).length).to.equal(1);
  });

  it('uses the given run id', () => {
    const spec = failedAfter(0);
    const [name] = started(restart(spec, { firstRunId: 'chosen', firstId: 'm' }));
    expect(name?.runId).to.equal('chosen' as RunId);
    expect(spec.attempt('m').run?.part).to.include({ runId: 'chosen' });
  });

  it('starts a different run than the failed one, even with its id and in the same millisecond', () => {
    const spec = failedAfter(0, { failureCallback: { url: ENDPOINT, settings: { ...SETTINGS, maxRetries: 0 } } });
    const [before] = spec.all('RunStarted');
    const [name] = started(restart(spec, { firstRunId: 'r', firstId: 'm' }));
    expect(name?.createdAtMs).to.be.above(before?.atMs as number);
    expect(name?.createdAtMs).to.equal(spec.all('RunStarted').at(-1)?.atMs);
    expect(spec.attempt('m').run?.part).to.include({ runId: 'r', runCreatedAtMs: name?.createdAtMs });
    spec.answer('r failure', 500);
    expect(spec.isActive('r')).to.equal(true);
    expect(spec.rebuilt().queue.digest()).to.equal(spec.queue.digest());
  });

  it('fails again if the endpoint has not changed, with a separate call of the failure function', () => {
    const settings = { ...SETTINGS, maxRetries: 0 };
    const spec = failedAfter(0, { failureCallback: { url: ENDPOINT, settings } });
    started(restart(spec));
    spec.answer(AGAIN, answered(500, [], 'again no'));
    expect(failedIds(spec)).to.deep.equal(['again']);
    expect(JSON.parse(spec.bodyOf('again failure'))).to.include({ workflowRunId: 'again', status: 500 });
  });
});
