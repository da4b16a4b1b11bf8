/** Proves HR2. */
import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import { callItem, entryItem, invokeItem, published, triggerItem, WorkflowSpec } from '../../support/workflow-spec.js';

const refused = (reply: QueueReply) => reply.type === 'Rejected' && reply.reason === 'FULL';

/** One run is being delivered, and the account holds as much as it may; runs in progress may have `ofRuns` more. */
function full(ofRuns: number): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r');
  flow.work();
  flow.queue.bound({ messages: 1 }, { messages: 1 + ofRuns });
  return flow.forgetNews();
}

describe('workflow: what an account may hold', () => {
  it('refuses to start a run that is one too many, and starts it when there is room', () => {
    const flow = full(0);
    expect(refused(flow.submit(triggerItem('other')))).to.equal(true);
    expect(flow.news()).to.deep.equal([]);
    flow.deliver('r#0');
    flow.finish('r');
    expect(flow.trigger('other').isDuplicate).to.equal(false);
  });

  it('lets a run that has begun go on to its end', () => {
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

  it('counts a child run as one that starts', () => {
    const flow = full(5);
    expect(refused(flow.submit(invokeItem('r', 1, 'child')))).to.equal(true);
    expect(flow.isActive('child')).to.equal(false);
  });

  it('refuses steps, calls, waits and events in the end; the run is there still, and goes on when there is room', () => {
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

  it('refuses an event for all who wait by what all of them would have of it', () => {
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

  it('answers a step that is known already as ever', () => {
    const flow = full(1);
    published(flow.submit(entryItem('r', 1)));
    flow.queue.bound({ messages: 0, bytes: 0, memoryBytes: 0 });
    const [again] = published(flow.submit(entryItem('r', 1, { id: 'again' })));
    expect(again).to.include({ isDuplicate: true });
  });

  it('counts steps that wait for an event, and lets go of all that a run held when it ends', () => {
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
