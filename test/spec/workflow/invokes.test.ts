import { expect } from 'chai';
import { NOW_MS, SETTINGS } from '../../support/queue-spec.js';
import {
  answered,
  CHILD,
  entryItem,
  invokeItem,
  OVER,
  only,
  planItem,
  published,
  triggerItem,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const failureCallback = { url: CHILD, settings: SETTINGS };

function begun(): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { failureCallback: { url: 'https://app.example/flow', settings: SETTINGS } });
  return flow.work().skipEvents();
}

function invoked(options = {}): WorkflowSpec {
  const flow = begun();
  flow.submit(invokeItem('r', 1, 'child', options));
  return flow.deliver('r#0').deliver('child#0').skipEvents();
}

function outOf(flow: WorkflowSpec, name: string): unknown {
  const { out, ...step } = flow.recordOf(name) as { out: string };
  expect(step).to.deep.equal({ stepId: 1, stepName: 'step 1', stepType: 'Invoke', concurrent: 1 });
  return JSON.parse(out);
}

describe('workflow: invoked runs', () => {
  it('start like others, and are recorded in their parent in the same turn', () => {
    const flow = begun();
    expect(only(flow.submit(invokeItem('r', 1, 'child', { body: 'for the child' })))).to.deep.equal({
      messageId: 'child#0',
      url: CHILD,
      isDuplicate: false,
      run: { runId: 'child', createdAtMs: NOW_MS },
    });
    expect(flow.news()).to.deep.equal(['run child started', 'accepted child#0 at 0', 'r step 1 invoked child']);
    expect(flow.entries('r')).to.have.length(1);
    expect(flow.bodyOf('child#0')).to.equal('for the child');
    const [, started] = flow.all('RunStarted');
    expect(started?.invoker).to.deep.include({ runId: 'r', runCreatedAtMs: NOW_MS, url: 'https://app.example/flow' });
  });

  it('deliver their result to the step that waits for them', () => {
    const flow = invoked();
    flow.finish('child', '{"sum":3}');
    expect(flow.news()).to.deep.equal(['run child RUN_SUCCESS', 'accepted r#1 at 1']);
    expect(outOf(flow, 'r#1')).to.deep.equal({ body: '{"sum":3}', isCanceled: false, isFailed: false });
    expect(flow.listOf('r#1')).to.deep.equal(['r#0', 'r#1']);
  });

  it('without a result deliver none', () => {
    for (const response of [undefined, '']) {
      const flow = invoked();
      flow.finish('child', response);
      expect(outOf(flow, 'r#1')).to.deep.equal({ isCanceled: false, isFailed: false });
    }
  });

  it('that are cancelled report it, and the parent continues', () => {
    const flow = invoked();
    flow.cancel('child');
    expect(outOf(flow, 'r#1')).to.deep.equal({ isCanceled: true, isFailed: false });
    expect(flow.isActive('r')).to.equal(true);
  });

  it('that fail report it, and the parent continues', () => {
    const flow = invoked({ failureCallback });
    flow.submit(entryItem('child', 1, { url: CHILD }));
    flow.answer('child#1', answered(489, [['Svc-NonRetryable-Error', 'true']]));
    expect(flow.news()).to.have.members([
      'accepted child#1 at 1',
      'started child#1',
      'failed child#1, for good',
      'dead-lettered child#1',
      'run child RUN_FAILED',
      'accepted child failure',
      'accepted r#1 at 1',
    ]);
    expect(outOf(flow, 'r#1')).to.deep.equal({ isCanceled: false, isFailed: true });
    expect(flow.isActive('r')).to.equal(true);
  });

  it('do not report to a parent that has ended; a failed parent has it on record', () => {
    const flow = invoked();
    flow.submit(entryItem('r', 9));
    flow.answer('r#9', answered(489, [['Svc-NonRetryable-Error', 'true']]));
    expect(flow.isActive('child'), 'children run on').to.equal(true);
    flow.skipEvents().finish('child', '1');
    expect(flow.news()).to.deep.equal(['run child RUN_SUCCESS', 'late for r step 1']);
    const [late] = flow.all('InvokeEndedLate');
    expect(JSON.parse(Buffer.from(late?.record ?? []).toString())).to.include({ stepId: 1, stepType: 'Invoke' });
    expect(late).to.include({ runId: 'r', runCreatedAtMs: NOW_MS });
  });

  it("do not report to a later run with their parent's id", () => {
    const flow = invoked();
    flow.cancel('r');
    flow.pass(60_000);
    flow.trigger('r', { id: 'second', body: 'new' });
    flow.skipEvents().finish('child');
    expect(flow.news()).to.deep.equal(['run child RUN_SUCCESS', 'late for r step 1']);
  });

  it('continue when their parent is cancelled', () => {
    const flow = invoked();
    flow.cancel('r');
    expect(flow.isActive('child')).to.equal(true);
  });

  it('start once for a step, for any number of submissions and names', () => {
    const flow = begun();
    flow.submit(invokeItem('r', 1, 'child'));
    const repeat = () => published(flow.submit(invokeItem('r', 1, 'other')))[0];
    expect(repeat()).to.include({ messageId: 'child#0', isDuplicate: true });
    const same = published(flow.submit(invokeItem('r', 1, 'child', { id: 'again' })))[0];
    expect(same).to.include({ messageId: 'child#0', isDuplicate: true });
    flow.finish('child');
    expect(repeat()).to.include({ messageId: 'child#0', isDuplicate: true });
    const copy = flow.rebuilt();
    expect(published(copy.submit(invokeItem('r', 1, 'other')))[0]).to.include({ isDuplicate: true });
    expect(flow.isActive('other')).to.equal(false);
    expect(flow.entries('r')).to.have.length(2);
  });

  it('may not be runs that are already active', () => {
    const flow = begun();
    flow.trigger('taken');
    flow.skipEvents();
    expect(flow.submit(invokeItem('r', 1, 'taken', { id: 'x' }))).to.include({ reason: 'TOO_MANY' });
    expect(flow.submit(invokeItem('r', 1, 'r', { id: 'y' }))).to.include({ reason: 'TOO_MANY' });
    expect(flow.news()).to.deep.equal([]);
  });

  it('are never matched with a run that ended recently or a deduplicated one, because the parent would wait for ever', () => {
    const flow = begun();
    flow.trigger('child', { body: 'same', deduplication: { id: 'x' }, url: CHILD });
    flow.finish('child');
    const again = flow.submit(invokeItem('r', 1, 'child', { id: 'new', body: 'same', deduplication: { id: 'x' } }));
    expect(only(again)).to.include({ messageId: 'new', isDuplicate: false });
    flow.finish('child', '1');
    expect(flow.entries('r')).to.have.length(2);
  });

  it('of a parent that has ended are refused as over', () => {
    const flow = begun();
    flow.cancel('r');
    expect(flow.submit(invokeItem('r', 1, 'child'))).to.deep.equal(OVER);
  });

  it('nest a hundred levels deep and no deeper', () => {
    const flow = begun();
    expect(flow.submit(invokeItem('r', 1, 'at the limit', { depth: 100 })).type).to.equal('Published');
    expect(flow.submit(invokeItem('r', 2, 'too deep', { depth: 101 }))).to.include({ reason: 'TOO_MANY' });
  });

  it('work as members of a parallel group', () => {
    const flow = begun();
    flow.submit(planItem('r', 1, { type: 'Invoke', concurrent: 2 }), planItem('r', 2, { concurrent: 2 }));
    flow.submit(invokeItem('r', 1, 'child', { concurrent: 2 }));
    flow.submit(entryItem('r', 2, { concurrent: 2 }));
    flow.finish('child');
    expect(flow.listOf('r#1')).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#2', 'r#1']);
  });

  it('report to their parent after both were rebuilt from a snapshot', () => {
    for (const copy of [invoked().rebuilt(), invoked().replayed()]) {
      copy.finish('child', '"x"');
      copy.pass(60_000);
      expect(outOf(copy, 'r#1')).to.deep.equal({ body: '"x"', isCanceled: false, isFailed: false });
    }
  });

  it('that fail and are rebuilt release all that they held', () => {
    const flow = invoked();
    flow.submit(entryItem('child', 1, { url: CHILD }));
    flow.answer('child#1', answered(489, [['Svc-NonRetryable-Error', 'true']]));
    const copy = flow.rebuilt();
    copy.queue.ask({ type: 'EndRun', runId: 'r' as never, how: 'finish', response: undefined });
    copy.queue.limit({ maxDlqEntries: 0 });
    copy.pass(60_000);
    copy.queue.publish(triggerItem('last', { body: '' }));
    copy.deliver('last#0').finish('last');
    copy.pass(60_000);
    for (let at = 0; at < 4; at += 1) copy.trigger(`t${at}`, { body: '' });
    expect([...copy.queue.shelf.contents.keys()]).to.deep.equal([]);
  });
});
