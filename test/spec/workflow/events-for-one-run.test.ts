/** Proves WA2. */
import { expect } from 'chai';
import { notifiedBy, run, WorkflowSpec } from '../../support/workflow-spec.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('workflow: Notify with a run id', () => {
  it('reaches that run only', () => {
    const flow = WorkflowSpec.begun('a', 'b');
    flow.wait('a', 1, 'e');
    flow.wait('b', 1, 'e');
    expect(notifiedBy(flow.notify('e', 'n', 'b')).map(({ waiter }) => waiter.runId)).to.deep.equal(['b']);
    expect(flow.waiters('e').map(({ runId }) => runId)).to.deep.equal(['a']);
  });

  it('stores events until the run waits, which then takes them in order', () => {
    const flow = WorkflowSpec.begun();
    for (const id of ['n1', 'n2']) expect(notifiedBy(flow.notify('e', id, 'r'))).to.deep.equal([]);
    flow.notify('other', 'n3', 'r');
    expect(flow.news()).to.deep.equal(['e kept for r', 'e kept for r', 'other kept for r']);
    const copy = flow.rebuilt();
    for (const one of [flow, copy]) {
      one.wait('r', 1, 'e');
      expect(one.news()).to.deep.equal(['r waits for e', 'r step 1 notified', 'e taken by r', 'accepted n1 at 1']);
      expect(one.recordOf('n1')).to.include({ out: base64('event n1'), waitEventId: 'e', waitTimeout: false });
      one.skipEvents().wait('r', 2, 'e');
      expect(one.recordOf('n2')).to.include({ out: base64('event n2') });
      one.skipEvents().wait('r', 3, 'e');
      expect(one.news()).to.deep.equal(['r waits for e']);
    }
  });

  it('reaches the waiters of "order/7" when no run has the id "order"', () => {
    const flow = WorkflowSpec.begun('a');
    flow.wait('a', 1, 'order/7');
    expect(notifiedBy(flow.notify('7', 'n', 'order')).map(({ waiter }) => waiter.runId)).to.deep.equal(['a']);
  });

  it('reaches the waiters of "order/7" before it stores an event for the run "order"', () => {
    const flow = WorkflowSpec.begun('order', 'b');
    flow.wait('b', 1, 'order/7');
    expect(notifiedBy(flow.notify('7', 'n', 'order')).map(({ waiter }) => waiter.runId)).to.deep.equal(['b']);
    flow.skipEvents();
    expect(notifiedBy(flow.notify('7', 'm', 'order'))).to.deep.equal([]);
    expect(flow.news()).to.deep.equal(['7 kept for order']);
  });

  it('reaches the step of the run "order" that waits for "7" before the waiters of "order/7"', () => {
    const flow = WorkflowSpec.begun('order', 'b');
    flow.wait('b', 1, 'order/7');
    flow.wait('order', 1, '7');
    expect(notifiedBy(flow.notify('7', 'n', 'order')).map(({ waiter }) => waiter.runId)).to.deep.equal(['order']);
  });

  it('without a run id and without waiters stores no event', () => {
    const flow = WorkflowSpec.begun();
    expect(notifiedBy(flow.notify('e', 'n'))).to.deep.equal([]);
    expect(flow.news()).to.deep.equal([]);
  });

  it('with the same id is applied once', () => {
    const flow = WorkflowSpec.begun();
    flow.notify('e', 'n', 'r');
    flow.notify('e', 'n', 'r');
    expect(flow.news()).to.deep.equal(['e kept for r']);
    flow.wait('r', 1, 'e');
    flow.skipEvents().notify('e', 'n', 'r');
    expect(flow.news()).to.deep.equal([]);
  });

  it('is ignored for an ended or unknown run, and a third party gets 404', () => {
    const flow = WorkflowSpec.begun();
    flow.notify('e', 'n', 'r');
    flow.finish('r');
    flow.skipEvents();
    for (const id of ['r', 'nobody']) {
      expect(notifiedBy(flow.notify('e', 'm', id))).to.deep.equal([]);
      expect(flow.notify('e', 'm', id, '{}', true)).to.include({ reason: 'NOT_FOUND' });
    }
    flow.trigger('r', { id: 'again', body: 'other' });
    flow.skipEvents().wait('r', 1, 'e');
    expect(flow.news()).to.deep.equal(['r waits for e']);
  });

  it('from a third party is stored and delivered like others', () => {
    const flow = WorkflowSpec.begun();
    flow.notify('hook', 'n', 'r', '{"method":"GET"}', true);
    flow.wait('r', 1, 'hook', { type: 'WaitForWebhook' });
    expect(flow.recordOf('n')).to.include({ stepType: 'WaitForWebhook', out: base64('{"method":"GET"}') });
  });

  it('stores a bounded number and size of events', () => {
    const flow = WorkflowSpec.begun();
    for (let at = 0; at < 1000; at += 1) notifiedBy(flow.notify('e', `n${at}`, 'r'));
    expect(flow.notify('e', 'more', 'r')).to.include({ reason: 'TOO_MANY' });
    flow.wait('r', 1, 'e');
    expect(notifiedBy(flow.notify('e', 'more', 'r'))).to.deep.equal([]);
  });

  it('stores up to 8 MiB of events', () => {
    const flow = WorkflowSpec.begun();
    const half = 'x'.repeat(4 * 1024 * 1024);
    notifiedBy(flow.notify('e', 'a', 'r', half));
    notifiedBy(flow.notify('e', 'b', 'r', half));
    expect(flow.notify('e', 'c', 'r', 'y')).to.include({ reason: 'TOO_MANY' });
    expect(notifiedBy(flow.notify('e', 'd', 'r', ''))).to.deep.equal([]);
  });

  it('stores an event as a copy, so that its journal entry leaves memory', () => {
    const flow = WorkflowSpec.begun();
    const whole = Buffer.alloc(1024);
    const part = whole.subarray(0, 4);
    flow.queue.ask({
      type: 'Notify',
      eventId: 'e',
      runId: run('r'),
      firstId: 'n' as never,
      content: part,
      isHook: false,
    });
    const restored = [...flow.queue.engine.rebuildingEvents()].find((event) => event.type === 'RunRestored');
    expect(restored?.type === 'RunRestored' && restored.storedEvents[0]?.content.buffer.byteLength).to.equal(4);
  });
});
