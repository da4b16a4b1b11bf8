import { expect } from 'chai';
import { ENDED_RUN_WINDOW_MS } from '../../../src/domain/queue/runs/index.js';
import { item, NOW_MS, SETTINGS } from '../../support/queue-spec.js';
import { entryItem, MARK, OVER, run, triggerItem, WorkflowSpec } from '../../support/workflow-spec.js';

const NOT_FOUND = (id: string) => ({
  type: 'Rejected',
  reason: 'NOT_FOUND',
  message: `workflowRun ${id} not found`,
});

describe('workflow: runs', () => {
  it('start with their payload and its delivery in one turn', () => {
    const flow = new WorkflowSpec();
    expect(flow.trigger('r')).to.deep.equal({
      messageId: 'r#0',
      url: 'https://app.example/flow',
      isDuplicate: false,
      run: { runId: 'r', createdAtMs: NOW_MS },
    });
    expect(flow.news()).to.deep.equal(['run r started', 'accepted r#0 at 0']);
    flow.work();
    expect(flow.news()).to.deep.equal(['started r#0']);
    expect(flow.listOf('r#0')).to.deep.equal(['r#0']);
    expect(flow.bodyOf('r#0')).to.equal('payload of r');
  });

  it('are started together by one call, each with its own answer', () => {
    const flow = new WorkflowSpec();
    const reply = flow.submit(triggerItem('a'), triggerItem('b'), triggerItem('a', { id: 'again' }));
    expect(reply).to.deep.include({
      results: [
        {
          messageId: 'a#0',
          url: 'https://app.example/flow',
          isDuplicate: false,
          run: { runId: 'a', createdAtMs: NOW_MS },
        },
        {
          messageId: 'b#0',
          url: 'https://app.example/flow',
          isDuplicate: false,
          run: { runId: 'b', createdAtMs: NOW_MS },
        },
        {
          messageId: 'a#0',
          url: 'https://app.example/flow',
          isDuplicate: true,
          run: { runId: 'a', createdAtMs: NOW_MS },
        },
      ],
    });
    expect(flow.news()).to.deep.equal(['run a started', 'accepted a#0 at 0', 'run b started', 'accepted b#0 at 0']);
  });

  it('wait for a delay or an instant, and exist in that time', () => {
    const flow = new WorkflowSpec();
    flow.trigger('delayed', { delaySeconds: 60 });
    flow.trigger('dated', { notBeforeMs: NOW_MS + 90_000 });
    flow.skipEvents().work();
    expect(flow.news()).to.deep.equal([]);
    expect(flow.isActive('delayed')).to.equal(true);
    flow.pass(60_000);
    expect(flow.news()).to.deep.equal(['started delayed#0']);
    flow.pass(30_000);
    expect(flow.news()).to.deep.equal(['started dated#0']);
  });

  it('delay only their first delivery', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { delaySeconds: 60 });
    flow.pass(60_000);
    flow.deliver('r#0').skipEvents();
    flow.submit(entryItem('r', 1));
    flow.work();
    expect(flow.news()).to.deep.equal(['accepted r#1 at 1', 'started r#1']);
  });

  it('continue when a delivery is answered, with any submissions', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.deliver('r#0');
    expect(flow.isActive('r')).to.equal(true);
    expect(flow.submit(entryItem('r', 1)).type).to.equal('Published');
    expect(flow.listOf('r#1')).to.deep.equal(['r#0', 'r#1']);
  });

  it('have one active run per id: a trigger for an active one changes no state', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.skipEvents();
    expect(flow.trigger('r', { id: 'again', body: 'else' })).to.include({ messageId: 'r#0', isDuplicate: true });
    expect(flow.news()).to.deep.equal([]);
  });

  it('give the same answer to a repeated trigger', () => {
    const flow = new WorkflowSpec();
    const first = flow.trigger('r');
    flow.skipEvents();
    expect(flow.trigger('r')).to.deep.equal(first);
    expect(flow.news()).to.deep.equal([]);
    flow.finish('r');
    expect(flow.skipEvents().trigger('r')).to.deep.equal(first);
    expect(flow.news()).to.deep.equal([]);
  });

  it('finish with the result of their function, and waiting messages are cancelled in the same turn', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.submit(entryItem('r', 1), entryItem('r', 2, { delaySeconds: 9 }));
    flow.work().skipEvents();
    expect(flow.finish('r', '{"done":1}')).to.deep.equal({ type: 'Done' });
    expect(flow.news()).to.deep.equal(['run r RUN_SUCCESS', 'cancelled r#2']);
    const [ended] = flow.all('RunEnded');
    expect(Buffer.from(ended?.response as Uint8Array).toString()).to.equal('{"done":1}');
    flow.deliver('r#1');
    flow.answer('r#0', 500);
    expect(flow.news()).to.deep.equal(['delivered r#1', 'failed r#0, for good', 'cancelled r#0']);
  });

  it('finish once; EndRun of an ended or unknown run succeeds', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.finish('r');
    flow.skipEvents();
    expect(flow.finish('r')).to.deep.equal({ type: 'Done' });
    expect(flow.finish('nobody')).to.deep.equal({ type: 'Done' });
    expect(flow.news()).to.deep.equal([]);
  });

  it('are cancelled without a DLQ entry and without a call of the failure function', () => {
    const flow = new WorkflowSpec();
    const failureCallback = { url: 'https://app.example/failed', settings: SETTINGS };
    flow.trigger('r', { failureCallback });
    flow.skipEvents();
    expect(flow.cancel('r')).to.deep.equal({ type: 'Done' });
    expect(flow.news()).to.deep.equal(['run r RUN_CANCELED', 'cancelled r#0']);
    expect(flow.cancel('r')).to.deep.equal(NOT_FOUND('r'));
    flow.pass(1000);
    expect(flow.news()).to.deep.equal([]);
  });

  for (const [how, end] of [
    ['finished', (flow: WorkflowSpec) => flow.finish('r')],
    ['cancelled', (flow: WorkflowSpec) => flow.cancel('r')],
    ['failed', (flow: WorkflowSpec) => flow.answer('r#0', 489, undefined).queue],
  ] as const) {
    it(`accept no more when they are ${how}, are no longer shown, and stay ended`, () => {
      const flow = new WorkflowSpec();
      flow.trigger('r', { maxRetries: 0 });
      end(flow);
      flow.skipEvents();
      expect(flow.submit(entryItem('r', 1))).to.deep.equal(OVER);
      expect(flow.wait('r', 1, 'e')).to.deep.equal(OVER);
      expect(flow.queue.ask({ type: 'GetRun', runId: run('r'), from: 0, maxBytes: 9 })).to.deep.equal(NOT_FOUND('r'));
      expect(flow.finish('r')).to.deep.equal({ type: 'Done' });
      expect(flow.cancel('r')).to.deep.equal(NOT_FOUND('r'));
      expect(flow.news()).to.deep.equal([]);
    });
  }

  it('with a used id may start again when the first has ended', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.finish('r');
    flow.pass(1);
    const again = flow.trigger('r', { id: 'second', body: 'another payload' });
    expect(again).to.deep.include({ isDuplicate: false, run: { runId: 'r', createdAtMs: NOW_MS + 1 } });
  });

  it('are not started twice by a trigger with a lost answer, even if they ended recently', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.finish('r');
    flow.pass(ENDED_RUN_WINDOW_MS - 1);
    const repeated = flow.trigger('r', { id: 'retry' });
    expect(repeated).to.deep.include({ messageId: 'r#0', isDuplicate: true, run: { runId: 'r', createdAtMs: NOW_MS } });
    const copy = flow.rebuilt();
    expect(copy.trigger('r', { id: 'retry 2' })).to.include({ messageId: 'r#0', isDuplicate: true });
    flow.pass(1);
    expect(flow.trigger('r', { id: 'new' })).to.include({ messageId: 'new', isDuplicate: false });
  });

  it('that start in the millisecond in which one with their id ended differ by their creation time', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.work();
    flow.cancel('r');
    const { run: second } = flow.trigger('r', { id: 'second', body: 'another payload' });
    expect(second?.createdAtMs).to.be.greaterThan(NOW_MS);
    const copy = flow.rebuilt();
    copy.finish('r');
    expect(copy.queue.digest()).to.not.equal(flow.queue.digest());
    flow.finish('r');
    expect(copy.queue.digest()).to.equal(flow.queue.digest());
  });

  it('respect a deduplication id of their trigger', () => {
    const flow = new WorkflowSpec();
    flow.trigger('a', { deduplication: { id: 'once' } });
    const repeated = flow.trigger('b', { deduplication: { id: 'once' } });
    expect(repeated).to.deep.include({ messageId: 'a#0', isDuplicate: true, run: { runId: 'a', createdAtMs: NOW_MS } });
    expect(flow.isActive('b')).to.equal(false);
  });

  it('count for the daily limits with their first message only', () => {
    const flow = new WorkflowSpec();
    flow.queue.limit({ maxMessagesPerDayHard: 2 });
    flow.trigger('r');
    expect(flow.submit(entryItem('r', 1)).type).to.equal('Published');
    expect(flow.submit(entryItem('r', 2), entryItem('r', 3)).type).to.equal('Published');
    expect(flow.submit(triggerItem('another'))).to.include({ reason: 'DAILY_LIMIT' });
    expect(flow.submit(triggerItem('r')).type).to.equal('Published');
    flow.finish('r');
    expect(flow.submit(triggerItem('r')).type, 'asked again').to.equal('Published');
  });

  it('release all that they held when they have ended', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { mark: MARK });
    flow.submit(entryItem('r', 1));
    flow.deliver('r#0').deliver('r#1').finish('r');
    flow.pass(60_000);
    flow.trigger('other');
    flow.pass(60_000);
    flow.deliver('other#0').finish('other');
    flow.pass(60_000);
    // Old messages are only forgotten together with later events.
    for (const id of ['a', 'b', 'c']) {
      flow.queue.publish(item(id, { body: '' }));
      flow.deliver(id);
      flow.pass(60_000);
    }
    expect(flow.queue.shelf.contents.size).to.equal(0);
  });
});
