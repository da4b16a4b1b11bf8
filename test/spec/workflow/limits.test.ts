import { expect } from 'chai';
import { MAX_RUN_BYTES, MAX_RUN_ENTRIES, MAX_WAITER_BYTES } from '../../../src/domain/queue/runs/index.js';
import { SETTINGS } from '../../support/queue-spec.js';
import {
  callItem,
  entryItem,
  invokeItem,
  OVER,
  planItem,
  published,
  triggerItem,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const failureCallback = { url: 'https://app.example/failed', settings: SETTINGS };
const later = { body: '', delaySeconds: 600 };

/** A run with this number of entries, of which none is delivered. */
function grown(entries: number): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { failureCallback, maxRetries: 0, ...later });
  for (let from = 1; from < entries; from += 1000) {
    const count = Math.min(1000, entries - from);
    published(flow.submit(...Array.from({ length: count }, (_, at) => entryItem('r', from + at, later))));
  }
  expect(flow.entries('r')).to.have.length(entries);
  return flow.skipEvents();
}

describe('workflow: the limits of a run', () => {
  it('a run above MAX_RUN_ENTRIES fails', () => {
    const flow = grown(MAX_RUN_ENTRIES);
    expect(published(flow.submit(entryItem('r', 1, { id: 'again' })))[0]).to.include({ isDuplicate: true });
    expect(flow.isActive('r')).to.equal(true);
    const [answer] = published(flow.submit(entryItem('r', MAX_RUN_ENTRIES, { id: 'last' })));
    expect(answer).to.include({ messageId: 'last' });
    const news = flow.news();
    expect(news.slice(0, 4)).to.deep.equal([
      'accepted last at 5000',
      'failed last, for good',
      'dead-lettered last',
      'run r RUN_FAILED',
    ]);
    expect(news.at(-1)).to.equal('accepted r failure');
    expect(flow.recordOf('r failure')).to.include({ error: 'the run has more than 5000 entries', status: 0 });
    expect(flow.submit(entryItem('r', 9999))).to.deep.equal(OVER);
    expect(flow.rebuilt().queue.digest()).to.equal(flow.queue.digest());
  });

  it('a run that fails in the middle of a call accepts no more of it', () => {
    const flow = grown(MAX_RUN_ENTRIES - 1);
    const items = [7001, 7002, 7003].map((step) => planItem('r', step));
    const more = [callItem('r', 7004), invokeItem('r', 7005, 'child'), triggerItem('other')];
    expect(published(flow.submit(...items, ...more)).map(({ isDuplicate }) => isDuplicate)).to.deep.equal([
      false,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(flow.isActive('r')).to.equal(false);
    expect(flow.isActive('child')).to.equal(false);
    expect(flow.isActive('other')).to.equal(true);
    flow.pass(600_000);
    expect(flow.news().filter((one) => one.startsWith('started'))).to.have.members([
      'started r failure',
      'started other#0',
    ]);
  });

  it('a run fails with an event, a timeout or a child above the limit', () => {
    const flow = grown(MAX_RUN_ENTRIES - 1);
    flow.wait('r', 8001, 'e');
    flow.wait('r', 8002, 'e');
    flow.wait('r', 8003, 'e');
    flow.submit(invokeItem('r', 8004, 'child'));
    flow.skipEvents();
    const reply = flow.notify('e', 'n');
    expect(reply.type === 'Notified' && reply.notified).to.have.length(2);
    expect(flow.isActive('r')).to.equal(false);
    flow.finish('child');
    expect(flow.news().at(-1)).to.equal('late for r step 8004');
  });

  it('a run above MAX_RUN_BYTES fails', () => {
    const large = Buffer.alloc(MAX_RUN_BYTES / 8);
    const flow = new WorkflowSpec();
    flow.trigger('r', { failureCallback, delaySeconds: 600, body: '' });
    const append = (step: number, body: Buffer) => flow.submit({ ...entryItem('r', step, later), body });
    for (let step = 1; step <= 8; step += 1) append(step, large);
    expect(flow.isActive('r')).to.equal(true);
    append(9, Buffer.alloc(0));
    expect(flow.isActive('r')).to.equal(true);
    append(10, Buffer.alloc(1));
    expect(flow.isActive('r')).to.equal(false);
    expect(flow.all('RunEnded')[0]).to.include({ state: 'RUN_FAILED', error: 'the run has more than 268435456 bytes' });
  });

  it('waits above MAX_WAITER_BYTES are refused', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.deliver('r#0');
    const timeoutBody = 'x'.repeat(MAX_WAITER_BYTES / 4);
    for (const step of [1, 2, 3, 4]) expect(flow.wait('r', step, 'e', { timeoutBody })).to.deep.equal({ type: 'Done' });
    expect(flow.wait('r', 5, 'e')).to.include({ reason: 'TOO_MANY' });
    expect(flow.wait('r', 4, 'e'), 'one that waits already').to.deep.equal({ type: 'Done' });
    flow.notify('e', 'n');
    expect(flow.wait('r', 5, 'e'), 'there is room again').to.deep.equal({ type: 'Done' });
  });

  it('open waits, calls and child runs are bounded by MAX_RUN_ENTRIES', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.deliver('r#0');
    for (let step = 1; step <= MAX_RUN_ENTRIES; step += 1) flow.wait('r', step, 'e', { seconds: 600 });
    expect(flow.wait('r', 5001, 'e')).to.include({ reason: 'TOO_MANY' });
    expect(flow.wait('r', 5000, 'e'), 'one that waits already').to.deep.equal({ type: 'Done' });
    expect(flow.submit(callItem('r', 5001))).to.include({ reason: 'TOO_MANY' });
    expect(flow.submit(callItem('r', 5001), triggerItem('x'))).to.include({ reason: 'TOO_MANY' });
    expect(flow.submit(invokeItem('r', 5001, 'child'))).to.include({ reason: 'TOO_MANY' });
    expect(flow.submit(entryItem('r', 5001)).type).to.equal('Published');
  });
});
