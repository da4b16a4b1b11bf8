/** Proves WA1. */
import { expect } from 'chai';
import type { QueueReplyOf } from '../../../src/domain/queue/index.js';
import { NOW_MS } from '../../support/queue-spec.js';
import { entryItem, notifiedBy, OVER, planItem, WorkflowSpec } from '../../support/workflow-spec.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('workflow: Wait for an event', () => {
  it('is listed by ListAllWaiters, earliest deadline first, each on one page', () => {
    const flow = WorkflowSpec.begun('r', 's');
    flow.wait('r', 1, 'late', { seconds: 90 });
    flow.wait('s', 1, 'e');
    flow.wait('r', 2, 'e');
    const command = { type: 'ListAllWaiters', count: 2, after: undefined } as const;
    const first = flow.queue.ask(command) as QueueReplyOf<'AllWaiters'>;
    expect(first).to.include({ total: 3 });
    const shown = ({ waiters }: QueueReplyOf<'AllWaiters'>) =>
      waiters.map(({ runId, stepId, eventId }) => `${runId} ${stepId} ${eventId}`);
    expect(shown(first)).to.deep.equal(['r 2 e', 's 1 e']);
    expect(first.waiters[0]).to.include({ stepName: 'step 2', addedAtMs: NOW_MS, deadlineMs: NOW_MS + 60_000 });
    notifiedBy(flow.notify('e', 'n', undefined, '1'));
    const second = flow.queue.ask({ ...command, after: first.after }) as QueueReplyOf<'AllWaiters'>;
    expect([shown(second), second.after]).to.deep.equal([['r 1 late'], undefined]);
  });

  it('continues with the event: the waiter is removed and the result appended in one turn', () => {
    const flow = WorkflowSpec.begun();
    expect(flow.wait('r', 1, 'e')).to.deep.equal({ type: 'Done' });
    expect(flow.news()).to.deep.equal(['r waits for e']);
    expect(flow.entries('r')).to.have.length(1);
    const [one] = notifiedBy(flow.notify('e', 'n', undefined, '{"a":1}'));
    expect(one).to.deep.include({ messageId: 'n' });
    expect(one?.waiter).to.include({ runId: 'r', runCreatedAtMs: NOW_MS });
    expect(flow.news()).to.deep.equal(['r step 1 notified', 'accepted n at 1']);
    expect(flow.recordOf('n')).to.deep.equal({
      stepId: 1,
      stepName: 'step 1',
      stepType: 'Wait',
      concurrent: 1,
      waitEventId: 'e',
      timeout: '60s',
      waitTimeout: false,
      out: base64('{"a":1}'),
    });
    expect(flow.listOf('n')).to.deep.equal(['r#0', 'n']);
  });

  it('accepts an empty event', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e');
    flow.notify('e', 'n', undefined, '');
    expect(flow.recordOf('n')).to.include({ out: '', waitTimeout: false });
  });

  it('continues without the event after its timeout', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e', { seconds: 60 });
    flow.skipEvents().pass(59_999);
    expect(flow.news()).to.deep.equal([]);
    flow.pass(1);
    expect(flow.news()).to.deep.equal(['r step 1 timeout', 'accepted r#1 at 1', 'started r#1']);
    expect(flow.recordOf('r#1')).to.deep.equal({
      stepId: 1,
      stepName: 'step 1',
      stepType: 'Wait',
      concurrent: 1,
      waitEventId: 'e',
      timeout: '60s',
      waitTimeout: true,
    });
  });

  it('ends once: by a notify before the deadline was handled, or by the deadline', () => {
    const first = WorkflowSpec.begun();
    first.wait('r', 1, 'e', { seconds: 5 });
    first.queue.nowMs += 5000;
    expect(notifiedBy(first.notify('e', 'n'))).to.have.length(1);
    first.pass(1000);
    expect(first.entries('r')?.map(({ messageId }) => messageId)).to.deep.equal(['r#0', 'n']);
    const second = WorkflowSpec.begun();
    second.wait('r', 1, 'e', { seconds: 5 });
    second.pass(5000);
    expect(notifiedBy(second.notify('e', 'n'))).to.deep.equal([]);
    expect(second.entries('r')?.map(({ messageId }) => messageId)).to.deep.equal(['r#0', 'r#1']);
  });

  it('ends with the first of two events; the second finds no waiter and is not stored', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e');
    expect(notifiedBy(flow.notify('e', 'n'))).to.have.length(1);
    expect(notifiedBy(flow.notify('e', 'm'))).to.deep.equal([]);
    flow.skipEvents().wait('r', 2, 'e');
    expect(flow.news()).to.deep.equal(['r waits for e']);
  });

  it('that is repeated keeps its first waiter, and adds none if the result exists', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e', { seconds: 10 });
    flow.pass(5000).skipEvents();
    expect(flow.wait('r', 1, 'e', { seconds: 10, resultId: 'other' })).to.deep.equal({ type: 'Done' });
    expect(flow.news()).to.deep.equal([]);
    flow.pass(5000);
    expect(flow.skipEvents().wait('r', 1, 'e')).to.deep.equal({ type: 'Done' });
    expect(flow.news()).to.deep.equal([]);
    expect(flow.waiters('e')).to.deep.equal([]);
  });

  it('is notified in all waiting runs, once each', () => {
    const flow = WorkflowSpec.begun('a', 'b', 'c');
    for (const id of ['a', 'b', 'c']) flow.wait(id, 1, id === 'c' ? 'other' : 'e');
    flow.wait('a', 2, 'e');
    const all = notifiedBy(flow.notify('e', 'n'));
    expect(all.map(({ waiter }) => waiter.runId)).to.deep.equal(['a', 'b', 'a']);
    expect(new Set(all.map(({ messageId }) => messageId)).size).to.equal(3);
    expect(all[0]?.messageId).to.equal('n');
    expect(flow.waiters('e')).to.deep.equal([]);
    expect(flow.waiters('other')).to.have.length(1);
  });

  it('is notified in hundreds of runs in steps, once each', () => {
    const flow = WorkflowSpec.begun();
    for (let step = 1; step <= 450; step += 1) flow.wait('r', step, 'e');
    expect(notifiedBy(flow.notify('e', 'n'))).to.have.length(450);
    expect(flow.entries('r')).to.have.length(451);
  });

  it('with a large event is notified for few waiters per step, because each has a copy', () => {
    const flow = WorkflowSpec.begun();
    for (let step = 1; step <= 5; step += 1) flow.wait('r', step, 'e');
    const content = Buffer.alloc(600_000);
    const ask = {
      type: 'Notify',
      eventId: 'e',
      runId: undefined,
      firstId: 'n' as never,
      content,
      isHook: false,
    } as const;
    const { engine, context, journal } = flow.queue;
    const steps = engine.execute(ask, context, (event) => journal.push(event));
    if (!('next' in steps)) throw new Error('too much for one step');
    const left = [flow.waiters('e').length];
    while (steps.next().done !== true) left.push(flow.waiters('e').length);
    // The waiters are taken off the list in steps, while their messages are made.
    expect(left.filter((count) => count < 5)).to.deep.equal([3, 1]);
    expect(flow.waiters('e')).to.deep.equal([]);
  });

  it('is notified once by a repeated command', () => {
    const flow = WorkflowSpec.begun('a', 'b');
    flow.wait('a', 1, 'e');
    flow.wait('b', 1, 'e');
    flow.notify('e', 'n');
    flow.wait('a', 2, 'e');
    flow.skipEvents();
    expect(notifiedBy(flow.notify('e', 'n'))).to.deep.equal([]);
    expect(flow.news()).to.deep.equal([]);
    expect(flow.waiters('e')).to.have.length(1);
  });

  it('is notified by a repetition after a crash between steps, for the remaining waiters', () => {
    const flow = WorkflowSpec.begun();
    for (let step = 1; step <= 250; step += 1) flow.wait('r', step, 'e');
    flow.pass(1);
    const ask = { type: 'Notify', eventId: 'e', runId: undefined, firstId: 'n' as never, isHook: false } as const;
    const { engine, context, journal } = flow.queue;
    const steps = engine.execute({ ...ask, content: Buffer.from('x') }, context, (event) => journal.push(event));
    expect(steps, 'not done yet').to.have.property('next');
    expect(flow.waiters('e')).to.have.length(50);
    const copy = flow.replayed();
    expect(notifiedBy(copy.notify('e', 'n'))).to.have.length(50);
    expect(copy.entries('r')).to.have.length(251);
  });

  it('is shown by ListWaiters', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e', { seconds: 60, timeoutBody: 'too late' });
    expect(flow.waiters('e')).to.deep.equal([
      {
        runId: 'r',
        runCreatedAtMs: NOW_MS,
        url: 'https://app.example/flow',
        headers: [['svc-workflow-init', 'false']],
        deadlineMs: NOW_MS + 60_000,
        timeoutUrl: 'https://app.example/flow',
        timeoutBody: 'too late',
        timeoutHeaders: [['svc-workflow-init', 'false']],
        isAlias: false,
      },
    ]);
    expect(flow.waiters('nothing')).to.deep.equal([]);
  });

  it('is refused as over for an ended run, and as TOO_MANY for a timeout that is too long', () => {
    const flow = WorkflowSpec.begun();
    flow.queue.limit({ maxDelaySeconds: 3600 });
    expect(flow.wait('nobody', 1, 'e')).to.deep.equal(OVER);
    expect(flow.wait('r', 1, 'e', { seconds: 3601 })).to.deep.include({ reason: 'TOO_MANY' });
    expect(flow.wait('r', 1, 'e', { seconds: 3600 })).to.deep.equal({ type: 'Done' });
  });

  it('ends with its run, without an event or a timeout', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e');
    flow.finish('r');
    expect(flow.news()).to.deep.equal(['r waits for e', 'run r RUN_SUCCESS']);
    expect(flow.waiters('e')).to.deep.equal([]);
    expect(notifiedBy(flow.notify('e', 'n'))).to.deep.equal([]);
    flow.pass(120_000);
    expect(flow.news()).to.deep.equal([]);
    expect(flow.queue.engine.nextDueAtMs(flow.queue.context)).to.equal(undefined);
  });

  it('continues after a crash, and from a snapshot', () => {
    const flow = WorkflowSpec.begun('a', 'b');
    flow.wait('a', 1, 'e', { seconds: 60 });
    flow.wait('b', 1, 'e', { seconds: 30 });
    for (const copy of [flow.replayed(), flow.rebuilt()]) {
      copy.pass(30_000);
      expect(copy.news().filter((one) => one.includes('step'))).to.deep.equal(['b step 1 timeout']);
      expect(notifiedBy(copy.notify('e', 'n')).map(({ waiter }) => waiter.runId)).to.deep.equal(['a']);
    }
  });

  it('times out while the account is suspended; the result is delivered afterwards', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e', { seconds: 30 });
    flow.queue.suspend();
    flow.skipEvents().pass(60_000);
    expect(flow.news()).to.deep.equal(['r step 1 timeout', 'accepted r#1 at 1']);
    flow.queue.suspend(false);
    flow.work();
    expect(flow.news()).to.deep.equal(['started r#1']);
  });

  it('adds no result to a step that already has one', () => {
    const flow = WorkflowSpec.begun();
    flow.wait('r', 1, 'e', { seconds: 5, resultId: 'late' });
    flow.wait('r', 2, 'f', { seconds: 500 });
    flow.submit(entryItem('r', 1), entryItem('r', 2));
    flow.pass(5000);
    flow.notify('f', 'n');
    expect(flow.entries('r')?.map(({ messageId }) => messageId)).to.deep.equal(['r#0', 'r#1', 'r#2']);
  });

  it('is an ordinary member of a parallel group', () => {
    const flow = WorkflowSpec.begun();
    flow.submit(planItem('r', 1, { type: 'Wait', concurrent: 2 }), planItem('r', 2, { concurrent: 2 }));
    flow.work();
    flow.wait('r', 1, 'e');
    flow.deliver('r#p1').deliver('r#p2');
    flow.submit(entryItem('r', 2, { concurrent: 2 }));
    flow.notify('e', 'n');
    expect(flow.listOf('n')).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#2', 'n']);
  });
});
