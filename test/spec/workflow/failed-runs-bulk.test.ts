/** Proves FR2. */
import { expect } from 'chai';
import { MAX_RUN_ENTRIES, runIdAt } from '../../../src/domain/queue/runs/index.js';
import {
  byFilter,
  byIds,
  expectConserved,
  failedAtFirst,
  failedIds,
  started,
  takeUp,
} from '../../support/failed-runs.js';
import { entryItem, run, WorkflowSpec } from '../../support/workflow-spec.js';

describe('workflow: ResumeRuns for many runs', () => {
  it('resumes a page in the order of failure, and returns the start of the next one', () => {
    const spec = failedAtFirst(['a', 'b', 'c']);
    const first = takeUp(spec, 'resume', byFilter({}, 2));
    const name = (at: number) => runIdAt(run('again'), at);
    expect(started(first).map(({ runId }) => runId)).to.deep.equal([name(0), name(1)]);
    expect(first).to.include({ after: spec.all('RunEnded')[1]?.dlqId });
    expect(spec.all('RunStarted').map(({ resumedFrom }) => resumedFrom?.runId)).to.include.members(['a', 'b']);
    const rest = takeUp(spec, 'resume', byFilter({}, 2), { firstRunId: 'rest', firstId: 'rest#first' });
    expect(started(rest).map(({ runId }) => runId)).to.deep.equal(['rest']);
    expect(rest).to.include({ after: undefined });
    const none = takeUp(spec, 'resume', byFilter(), { firstRunId: 'none', firstId: 'none#first' });
    expect(none).to.deep.equal({ type: 'RunsStarted', runs: [], after: undefined });
    expectConserved(spec);
  });

  it('answers a repeated page with the runs that it started, and the start of the rest', () => {
    const spec = failedAtFirst(['a', 'b', 'c']);
    const page = byFilter({}, 2);
    const first = started(takeUp(spec, 'resume', page));
    spec.skipEvents();
    const again = takeUp(spec, 'resume', page);
    expect(started(again)).to.deep.equal(first);
    expect(spec.news()).to.deep.equal([]);
    const after = again.type === 'RunsStarted' ? again.after : undefined;
    const rest = takeUp(spec, 'resume', byFilter({}, 2, after), { firstRunId: 'rest', firstId: 'rest#first' });
    expect(started(rest).length).to.equal(1);
    expect(failedIds(spec)).to.deep.equal([]);
  });

  it('finishes an interrupted call with ids, and starts no run twice', () => {
    const spec = failedAtFirst(['a', 'b', 'c']);
    const ids = ['a', 'b', 'c'].map((each) => spec.dlqIdOf(each));
    const firstOnly = started(takeUp(spec, 'resume', byIds(...ids.slice(0, 1))));
    const all = started(takeUp(spec, 'resume', byIds(...ids)));
    expect(all.map(({ runId }) => runId)).to.deep.equal([0, 1, 2].map((at) => runIdAt(run('again'), at)));
    expect(all[0]).to.deep.equal(firstOnly[0]);
    expect(spec.all('RunStarted').length).to.equal(6);
    spec.skipEvents();
    expect(started(takeUp(spec, 'resume', byIds(...ids)))).to.deep.equal(all);
    expect(spec.news()).to.deep.equal([]);
  });

  it('ends a page early for runs with many entries, and resumes runs by id in steps', () => {
    const entries = 1200;
    const spec = new WorkflowSpec();
    for (const runId of ['a', 'b', 'c']) {
      spec.trigger(runId, { maxRetries: 0 });
      spec.deliver(`${runId}#0`);
      const notBeforeMs = spec.queue.nowMs + 1e6;
      for (let step = 1; step < entries - 1; step += 1) spec.submit(entryItem(runId, step, { notBeforeMs }));
      spec.submit(entryItem(runId, entries - 1));
      spec.answer(`${runId}#${entries - 1}`, 500);
    }
    const page = takeUp(spec, 'resume', byFilter());
    expect(started(page).length).to.equal(1);
    expect(page).to.include({ after: spec.dlqIdOf('a') });
    const named = byIds(spec.dlqIdOf('b'), spec.dlqIdOf('c'));
    expect(started(takeUp(spec, 'resume', named, { firstRunId: 'n', firstId: 'n#first' })).length).to.equal(2);
    expect(entries).to.be.lessThan(MAX_RUN_ENTRIES);
    expect(spec.entries('again')?.length).to.equal(entries);
    expect(spec.entries('n')?.length).to.equal(entries);
    expectConserved(spec);
  });
});
