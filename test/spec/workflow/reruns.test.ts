/** Proves RER1, RER2, RER3. */
import { expect } from 'chai';
import type { QueueCommandOf, QueueReply } from '../../../src/domain/queue/index.js';
import { AGAIN, expectConserved, started } from '../../support/failed-runs.js';
import { entryItem, mark, message, run, WorkflowSpec } from '../../support/workflow-spec.js';

type Entry = QueueCommandOf<'RerunRun'>['entries'][number];

/** A run of two steps that has ended. */
function ended(): WorkflowSpec {
  const spec = new WorkflowSpec();
  spec.trigger('r');
  spec.deliver('r#0');
  spec.submit(entryItem('r', 1));
  spec.deliver('r#1');
  spec.submit(entryItem('r', 2));
  spec.deliver('r#2');
  spec.finish('r', '"done"');
  return spec.skipEvents();
}

const entry = (body: string, step?: Entry['step']): Entry => ({ step, body: Buffer.from(body), createdAtMs: 5 });
const PAYLOAD = entry('payload');
const ONE = entry('{"out":"1"}', mark(1));

function rerun(spec: WorkflowSpec, entries: readonly Entry[], overrides: readonly [string, string][] = []): QueueReply {
  const [first] = spec.all('RunStarted');
  if (first === undefined) throw new Error('no run was started');
  return spec.queue.ask({
    type: 'RerunRun',
    from: { runId: first.runId, createdAtMs: first.atMs },
    firstRunId: run('again'),
    firstId: message(AGAIN),
    envelope: first.envelope,
    overrides: { headers: overrides, query: [] },
    entries,
    payloadHash: 'hash',
  });
}

describe('workflow: RerunRun', () => {
  it('starts a run with the given entries and delivers the last one', () => {
    const spec = ended();
    const { nowMs } = spec.queue;
    expect(started(rerun(spec, [PAYLOAD, ONE]))).to.deep.equal([{ runId: 'again', createdAtMs: nowMs }]);
    expect(spec.news()).to.deep.equal(['run again started', `accepted ${AGAIN} at 1`]);
    expect(spec.bodyOf(AGAIN)).to.equal('{"out":"1"}');
    expect(spec.listOf(AGAIN)).to.have.length(2);
    const [event] = spec.all('RunStarted').slice(-1);
    expect(event?.rerunOf).to.deep.include({ runId: 'r' });
    expectConserved(spec);
    spec.deliver(AGAIN);
    spec.submit(entryItem('again', 2));
    spec.finish('again', '"other"');
    expect(spec.all('RunEnded').at(-1)).to.include({ runId: 'again', state: 'RUN_SUCCESS' });
    expectConserved(spec);
  });

  it('delivers an edited payload with the settings of the trigger', () => {
    const spec = ended();
    started(rerun(spec, [entry('other')]));
    expect([spec.listOf(AGAIN), spec.bodyOf(AGAIN)]).to.deep.equal([[AGAIN], 'other']);
    expect(spec.headersOf(AGAIN)).to.deep.equal({ 'Content-Type': 'text/plain', 'Svc-Workflow-Sdk-Version': '1' });
    expectConserved(spec);
  });

  it('delivers the announced steps of a parallel group that have no result', () => {
    const spec = ended();
    const concurrent = 2;
    const plans = [1, 2].map((targetStep) => entry('{}', { ...mark(targetStep), stepId: 0, targetStep, concurrent }));
    started(rerun(spec, [PAYLOAD, ...plans, entry('{"out":"2"}', { ...mark(2), concurrent })]));
    spec.work();
    const delivered = spec.all('MessageAccepted').filter(({ workflow }) => workflow?.runId === 'again');
    expect(delivered.map(({ workflow }) => workflow?.role === 'step' && workflow.step?.targetStep)).to.deep.equal([1]);
    expectConserved(spec);
  });

  it('starts no second run when the call is repeated', () => {
    const spec = ended();
    const first = rerun(spec, [PAYLOAD]);
    spec.queue.nowMs += 10;
    expect(rerun(spec, [PAYLOAD])).to.deep.equal(first);
    expect(spec.all('RunStarted')).to.have.length(2);
  });

  it('applies settings of the call to the new run', () => {
    const spec = ended();
    started(rerun(spec, [PAYLOAD], [['svc-retries', '7']]));
    expect(spec.all('RunStarted').at(-1)?.envelope.settings.maxRetries).to.equal(7);
  });

  it('is refused without a payload, and accepts the envelope of a run that an earlier release logged', () => {
    const spec = ended();
    expect(rerun(spec, [])).to.include({ type: 'Rejected', reason: 'INVALID' });
    expect(rerun(spec, [ONE])).to.include({ type: 'Rejected', reason: 'INVALID' });
    const [first] = spec.all('RunStarted');
    if (first !== undefined) Object.assign(first, { envelope: { ...first.envelope, workflow: undefined } });
    started(rerun(spec, [PAYLOAD, ONE]));
    expect(spec.listOf(AGAIN)).to.have.length(2);
  });

  it('is refused while a run with the chosen id is active, and in a suspended account', () => {
    const spec = ended();
    spec.trigger('again');
    expect(rerun(spec, [PAYLOAD])).to.include({ type: 'Rejected', reason: 'INVALID' });
    spec.queue.suspend(true);
    expect(rerun(spec, [PAYLOAD])).to.include({ type: 'Rejected', reason: 'SUSPENDED' });
  });
});
