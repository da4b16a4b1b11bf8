/** Proves HR2. */
import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import { callItem, entryItem, invokeItem, published, triggerItem, WorkflowSpec } from '../../support/workflow-spec.js';

const refused = (reply: QueueReply) => reply.type === 'Rejected' && reply.reason === 'FULL';

/** An account at its bound with one run in delivery; runs in progress may have `ofRuns` messages more. */
function full(ofRuns: number): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r');
  flow.work();
  flow.queue.bound({ messages: 1 }, { messages: 1 + ofRuns });
  return flow.skipEvents();
}

describe("workflow: the bounds of an account's holdings", () => {
  it('refuse a further run, and allow it when there is room', () => {
    const flow = full(0);
    expect(refused(flow.submit(triggerItem('other')))).to.equal(true);
    expect(flow.news()).to.deep.equal([]);
    flow.deliver('r#0');
    flow.finish('r');
    expect(flow.trigger('other').isDuplicate).to.equal(false);
  });

  it('let a run in progress continue to its end', () => {
    const flow = full(1);
    expect(refused(flow.submit(triggerItem('other')))).to.equal(true);
    for (const step of [1, 2, 3]) {
      published(flow.submit(entryItem('r', step)));
      flow.deliver(`r#${step - 1}`);
    }
    expect(flow.entries('r')).to.have.length(4);
    published(flow.submit(callItem('r', 4)));
    flow.deliver('r#3').work();
    flow.deliver('r#c4');
    expect(flow.wait('r', 5, 'e')).to.deep.equal({ type: 'Done' });
  });

  it('count a child run as a new one', () => {
    const flow = full(5);
    expect(refused(flow.submit(invokeItem('r', 1, 'child')))).to.equal(true);
    expect(flow.isActive('child')).to.equal(false);
  });

  it('finally refuse steps, calls, waits and events; the run stays, and continues when there is room', () => {
    const flow = full(0);
    expect(refused(flow.submit(entryItem('r', 1)))).to.equal(true);
    expect(refused(flow.submit(callItem('r', 1)))).to.equal(true);
    expect(refused(flow.wait('r', 1, 'e'))).to.equal(true);
    flow.queue.bound({ bytes: flow.queue.held.bytes });
    expect(refused(flow.notify('e', 'n', 'r'))).to.equal(true);
    expect(flow.isActive('r')).to.equal(true);
    flow.queue.bound({});
    published(flow.submit(entryItem('r', 1)));
    expect(flow.entries('r')).to.have.length(2);
  });

  it('refuse a notify by the growth of all its waiters together', () => {
    const flow = new WorkflowSpec();
    for (const id of ['r', 's']) {
      flow.trigger(id);
      flow.deliver(`${id}#0`);
      flow.wait(id, 1, 'e');
    }
    flow.queue.bound({ bytes: flow.queue.held.bytes + 1000 });
    expect(refused(flow.notify('e', 'n', undefined, 'x'.repeat(501)))).to.equal(true);
    expect(flow.notify('e', 'n', undefined, 'x'.repeat(500)).type).to.equal('Notified');
  });

  it('do not refuse a known step', () => {
    const flow = full(1);
    published(flow.submit(entryItem('r', 1)));
    flow.queue.bound({ messages: 0, bytes: 0, memoryBytes: 0 });
    const [again] = published(flow.submit(entryItem('r', 1, { id: 'again' })));
    expect(again).to.include({ isDuplicate: true });
  });

  it('count steps that wait for an event, and release all that a run held at its end', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    published(flow.submit(entryItem('r', 1), callItem('r', 2)));
    flow.wait('r', 3, 'e', { timeoutBody: 'x'.repeat(1000) });
    flow.notify('another', 'n', 'r', 'x'.repeat(1000));
    expect(flow.queue.held.messages).to.equal(4);
    expect(flow.queue.held.bytes).to.be.greaterThan(2000);
    expect(flow.replayed().queue.held).to.deep.equal(flow.queue.held);
    expect(flow.rebuilt().queue.held).to.deep.equal(flow.queue.held);
    flow.cancel('r');
    flow.work();
    expect(flow.queue.held).to.include({ messages: 0, bytes: 0 });
  });
});
