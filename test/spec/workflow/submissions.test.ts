/** Proves SUB1–SUB3. */
import { expect } from 'chai';
import { NOW_MS } from '../../support/queue-spec.js';
import {
  answered,
  callItem,
  entryItem,
  invokeItem,
  OVER,
  planItem,
  published,
  triggerItem,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

/** A run with a started first delivery. */
function begun(id = 'r'): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger(id);
  return flow.work().skipEvents();
}

describe('workflow: submitted steps', () => {
  it('are appended and delivered by one event', () => {
    const flow = begun();
    expect(published(flow.submit(entryItem('r', 1)))).to.deep.equal([
      {
        messageId: 'r#1',
        url: 'https://app.example/flow',
        isDuplicate: false,
        run: { runId: 'r', createdAtMs: NOW_MS },
      },
    ]);
    expect(flow.news()).to.deep.equal(['accepted r#1 at 1']);
    const [, appended] = flow.all('MessageAccepted');
    expect(appended?.workflow).to.deep.equal({
      role: 'step',
      runId: 'r',
      runCreatedAtMs: NOW_MS,
      index: 1,
      step: { stepId: 1, targetStep: 0, concurrent: 1, stepName: 'step 1', stepType: 'Run' },
    });
  });

  it('are delivered with all entries before them, and none after', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1));
    flow.submit(entryItem('r', 2, { maxRetries: 0 }));
    flow.submit(entryItem('r', 3));
    expect(flow.listOf('r#2')).to.deep.equal(['r#0', 'r#1', 'r#2']);
    expect(flow.listOf('r#1')).to.deep.equal(['r#0', 'r#1']);
    flow.answer('r#1', 500).pass(13_000);
    expect(flow.listOf('r#1'), 'a retry').to.deep.equal(['r#0', 'r#1']);
    expect(flow.attempt('r#1').retried).to.equal(1);
    const copy = flow.rebuilt();
    expect(copy.listOf('r#1'), 'after a crash').to.deep.equal(['r#0', 'r#1']);
    expect(copy.attempt('r#1')).to.include({ id: 'r#1', restarts: 1 });
  });

  it('keep their bytes and the ids of their messages', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1, { body: '{"stepId":1,"out":"\\u00e9"}' }));
    const entries = flow.entries('r') ?? [];
    expect(entries.map(({ messageId }) => messageId)).to.deep.equal(['r#0', 'r#1']);
    expect(entries.map(({ body }) => flow.textOf(body.number))).to.deep.equal([
      'payload of r',
      '{"stepId":1,"out":"\\u00e9"}',
    ]);
  });

  it('may be empty', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { body: '' });
    flow.submit(entryItem('r', 1, { body: '' }));
    expect(flow.entries('r')?.map(({ body }) => body)).to.deep.equal([
      { number: 0, bytes: 0 },
      { number: 0, bytes: 0 },
    ]);
    expect(flow.rebuilt().pass(60_000).listOf('r#1')).to.deep.equal(['r#0', 'r#1']);
  });

  it('are accepted once: the first result wins over a different second one', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1));
    flow.skipEvents();
    const [again] = published(flow.submit(entryItem('r', 1, { id: 'twice', body: 'else' })));
    expect(again).to.include({ messageId: 'r#1', isDuplicate: true });
    flow.deliver('r#1');
    expect(published(flow.submit(entryItem('r', 1, { id: 'thrice' })))[0]).to.include({ isDuplicate: true });
    expect(flow.news().filter((one) => one.startsWith('accepted'))).to.deep.equal([]);
  });

  it('get the same answer for a repeated submission', () => {
    const flow = begun();
    const first = flow.submit(entryItem('r', 1));
    expect(flow.submit(entryItem('r', 1))).to.deep.equal(first);
    expect(flow.entries('r')).to.have.length(2);
  });

  it('get the same answer when their run has ended, also if some of them existed before', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1));
    const two = () => flow.submit(entryItem('r', 1, { id: 'again' }), entryItem('r', 2));
    expect(published(two()).map(({ isDuplicate }) => isDuplicate)).to.deep.equal([true, false]);
    flow.finish('r');
    flow.skipEvents();
    expect(published(two()).map(({ isDuplicate }) => isDuplicate)).to.deep.equal([true, false]);
    expect(flow.news()).to.deep.equal([]);
  });

  it('are identified by step and announced step', () => {
    const flow = begun();
    const reply = flow.submit(planItem('r', 1), planItem('r', 2), entryItem('r', 1), planItem('r', 1, { id: 'again' }));
    expect(published(reply).map(({ isDuplicate }) => isDuplicate)).to.deep.equal([false, false, false, true]);
  });

  it('of one call are accepted all or none', () => {
    const flow = begun();
    flow.trigger('other');
    flow.cancel('other');
    flow.skipEvents();
    expect(flow.submit(entryItem('r', 1), entryItem('other', 1))).to.deep.equal(OVER);
    expect(flow.submit(planItem('other', 1), planItem('other', 2))).to.deep.equal(OVER);
    expect(flow.submit(triggerItem('new'), callItem('other', 1))).to.deep.equal(OVER);
    expect(flow.news()).to.deep.equal([]);
  });

  it('are refused as over only for ended or unknown runs', () => {
    const flow = begun();
    expect(flow.submit(entryItem('nobody', 1))).to.deep.equal(OVER);
    expect(flow.submit(callItem('nobody', 1))).to.deep.equal(OVER);
    expect(flow.submit(invokeItem('nobody', 1, 'child'))).to.deep.equal(OVER);
    const many = Array.from({ length: 2001 }, (_, at) => planItem('r', at + 1));
    expect(flow.submit(...many)).to.include({ reason: 'TOO_MANY' });
    const group = { ...entryItem('r', 1), destination: { kind: 'group', name: 'g', raw: { headers: [], query: [] } } };
    expect(flow.submit(group as never)).to.include({ reason: 'TOO_MANY' });
    flow.queue.suspend();
    expect(flow.submit(entryItem('r', 1))).to.include({ reason: 'SUSPENDED' });
  });

  it('with a delay or an instant exist immediately, and their delivery waits', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1, { type: 'SleepFor', delaySeconds: 30 }));
    flow.submit(entryItem('r', 2, { type: 'SleepUntil', notBeforeMs: NOW_MS + 40_000 }));
    flow.submit(entryItem('r', 3, { type: 'SleepUntil', notBeforeMs: NOW_MS - 1 }));
    expect(flow.entries('r')).to.have.length(4);
    flow.skipEvents().work();
    expect(flow.news()).to.deep.equal(['started r#3']);
    flow.pass(30_000);
    expect(flow.news()).to.deep.equal(['started r#1']);
    const copy = flow.replayed();
    copy.pass(10_000);
    flow.pass(10_000);
    expect(flow.news()).to.deep.equal(['started r#2']);
    expect(copy.listOf('r#2')).to.deep.equal(['r#0', 'r#1', 'r#2']);
  });
});

describe('workflow: parallel steps', () => {
  it('are announced in the order of the call and delivered separately, each after its own delay', () => {
    const flow = begun();
    flow.submit(
      planItem('r', 1, { concurrent: 3 }),
      planItem('r', 2, { concurrent: 3, type: 'SleepFor', delaySeconds: 5 }),
      planItem('r', 3, { concurrent: 3 }),
    );
    expect(flow.news()).to.deep.equal(['accepted r#p1 at 1', 'accepted r#p2 at 2', 'accepted r#p3 at 3']);
    flow.work();
    expect(flow.news()).to.have.members(['started r#p1', 'started r#p3']);
    expect(flow.listOf('r#p1')).to.deep.equal(['r#0', 'r#p1']);
    expect(flow.listOf('r#p3')).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#p3']);
    flow.pass(5000);
    expect(flow.listOf('r#p2')).to.deep.equal(['r#0', 'r#p1', 'r#p2']);
  });

  it('of which two end together give exactly one delivery with the whole group', () => {
    const flow = begun();
    flow.submit(planItem('r', 1, { concurrent: 2 }), planItem('r', 2, { concurrent: 2 }));
    flow.submit(entryItem('r', 2, { concurrent: 2 }));
    flow.submit(entryItem('r', 1, { concurrent: 2 }));
    expect(flow.listOf('r#2')).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#2']);
    expect(flow.listOf('r#1')).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#2', 'r#1']);
  });

  it('mix announcements and results in any order, and each delivery ends with its own entry', () => {
    const flow = begun();
    flow.submit(planItem('r', 1, { concurrent: 2 }), planItem('r', 2, { concurrent: 2 }));
    flow.deliver('r#p1');
    flow.submit(entryItem('r', 1, { concurrent: 2 }));
    flow.deliver('r#1');
    flow.submit(entryItem('r', 2, { concurrent: 2 }));
    for (const id of ['r#p2', 'r#2']) expect(flow.listOf(id).at(-1)).to.equal(id);
    expect(flow.entries('r')?.map(({ messageId }) => messageId)).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#1', 'r#2']);
  });

  it('that fail cancel the rest of their group', () => {
    const flow = begun();
    flow.submit(
      planItem('r', 1, { concurrent: 3 }),
      planItem('r', 2, { concurrent: 3 }),
      planItem('r', 3, { concurrent: 3, delaySeconds: 60 }),
    );
    flow.work().skipEvents();
    flow.answer('r#p1', answered(489, [['Svc-NonRetryable-Error', 'true']]));
    expect(flow.news()).to.deep.equal([
      'failed r#p1, for good',
      'dead-lettered r#p1',
      'run r RUN_FAILED',
      'cancelled r#p3',
    ]);
    expect(flow.submit(entryItem('r', 2, { concurrent: 3 }))).to.deep.equal(OVER);
    flow.deliver('r#p2');
    expect(flow.news()).to.deep.equal(['delivered r#p2']);
  });
});

describe('workflow: GetRun by page', () => {
  it('returns as many entries as fit, and at least one', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1, { body: '123456' }), entryItem('r', 2, { body: '123' }));
    const page = (from: number, maxBytes: number) => {
      const reply = flow.queue.ask({ type: 'GetRun', runId: 'r' as never, from, maxBytes });
      return reply.type === 'Run' ? [reply.entries.map(({ messageId }) => messageId), reply.nextFrom] : reply;
    };
    expect(page(0, 1)).to.deep.equal([['r#0'], 1]);
    expect(page(1, 9)).to.deep.equal([['r#1', 'r#2'], undefined]);
    expect(page(1, 8)).to.deep.equal([['r#1'], 2]);
    expect(page(0, 21)).to.deep.equal([['r#0', 'r#1', 'r#2'], undefined]);
    expect(page(3, 9)).to.deep.equal([[], undefined]);
  });
});
