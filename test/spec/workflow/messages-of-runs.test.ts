/** Proves WR2. */
import { expect } from 'chai';
import { item, NOW_MS, QueueSpec, SETTINGS } from '../../support/queue-spec.js';
import { answered, callItem, entryItem, message, run, triggerItem, WorkflowSpec } from '../../support/workflow-spec.js';

const flowControl = { key: 'k', parallelism: 1, rate: undefined, periodSeconds: 1 };
const all = { kind: 'filter', filter: {}, count: undefined } as const;

describe('workflow: the messages of runs', () => {
  it('are not cancelled individually: a run without one of them would never end', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { delaySeconds: 60 });
    flow.submit(entryItem('r', 1));
    flow.queue.publish(item('plain', { delaySeconds: 60 }));
    flow.work().skipEvents();
    for (const id of ['r#0', 'r#1']) {
      expect(flow.queue.ask({ type: 'CancelMessage', id: message(id) })).to.include({ reason: 'NOT_FOUND' });
    }
    const ids = { kind: 'ids', messageIds: [message('r#0'), message('r#1')] } as const;
    expect(flow.queue.ask({ type: 'CancelMessages', selector: ids })).to.include({ count: 0 });
    expect(flow.queue.ask({ type: 'CancelMessages', selector: all })).to.include({ count: 1 });
    expect(flow.news()).to.deep.equal(['cancel requested plain', 'cancelled plain']);
  });

  it('are shown by GetMessage like others', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    const reply = flow.queue.ask({ type: 'GetMessage', id: message('r#0') });
    expect(reply.type === 'Message' && reply.message).to.include({ id: 'r#0', status: 'waiting' });
  });

  it('wait in a suspended account, and none is lost', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { delaySeconds: 5 });
    flow.queue.suspend();
    flow.skipEvents().pass(60_000);
    expect(flow.news()).to.deep.equal([]);
    expect(flow.queue.engine.nextDueAtMs(flow.queue.context)).to.equal(undefined);
    expect(flow.submit(triggerItem('s'))).to.include({ reason: 'SUSPENDED' });
    expect(flow.wait('r', 1, 'e')).to.include({ reason: 'SUSPENDED' });
    expect(flow.notify('e', 'n')).to.include({ reason: 'SUSPENDED' });
    expect(flow.notify('e', 'n', 'r')).to.include({ reason: 'SUSPENDED' });
    expect(flow.finish('nobody')).to.deep.equal({ type: 'Done' });
    flow.queue.suspend(false);
    flow.work();
    expect(flow.news()).to.deep.equal(['started r#0']);
  });

  it('share the flow control of their run', () => {
    const flow = new WorkflowSpec();
    flow.trigger('a', { flowControl });
    flow.trigger('b', { flowControl });
    flow.work().skipEvents();
    flow.submit(entryItem('a', 1));
    flow.work();
    expect(flow.news()).to.deep.equal(['accepted a#1 at 1']);
    flow.deliver('a#0').work();
    expect(flow.news().filter((one) => one.startsWith('started'))).to.deep.equal(['started b#0']);
    flow.deliver('b#0').work();
    expect(flow.news()).to.deep.equal(['delivered b#0', 'started a#1']);
  });

  it("do not include calls to third parties in the run's flow control", () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { flowControl });
    flow.work();
    flow.submit(callItem('r', 1));
    flow.skipEvents().work();
    expect(flow.news()).to.deep.equal(['started r#c1']);
  });

  it('free their places when the run ends, those in flight at their own end', () => {
    const flow = new WorkflowSpec();
    flow.trigger('a', { flowControl });
    flow.work();
    flow.submit(entryItem('a', 1), entryItem('a', 2, { delaySeconds: 30 }));
    flow.trigger('b', { flowControl });
    flow.work().cancel('a');
    const view = () => {
      const reply = flow.queue.ask({ type: 'GetFlow', key: 'k' });
      return reply.type === 'Flows' ? reply.flows[0] : undefined;
    };
    expect(view()).to.include({ active: 1, waiting: 1 });
    flow.skipEvents().deliver('a#0').work();
    expect(flow.news()).to.deep.equal(['delivered a#0', 'started b#0']);
    expect(view()).to.include({ active: 1, waiting: 0 });
    flow.deliver('b#0').finish('b');
    expect(view()).to.include({ active: 0, waiting: 0 });
  });

  it('are repeated after a crash that interrupted them', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.submit(entryItem('r', 1));
    flow.work();
    for (const copy of [flow.replayed(), flow.rebuilt()]) {
      copy.skipEvents().pass(60_000);
      expect(copy.news()).to.have.members(['started r#0, restart 1', 'started r#1, restart 1']);
      expect(copy.listOf('r#1')).to.deep.equal(['r#0', 'r#1']);
      expect(copy.bodyOf('r#1')).to.equal('record r#1');
    }
  });

  it('are cancelled instead if their run has ended, and free their places', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { flowControl });
    flow.work();
    flow.submit(callItem('r', 1));
    flow.work();
    flow.finish('r');
    for (const copy of [flow.replayed(), flow.rebuilt()]) {
      copy.skipEvents().pass(60_000);
      expect(copy.news()).to.have.members(['cancelled r#0', 'cancelled r#c1']);
      const reply = copy.queue.ask({ type: 'GetFlow', key: 'k' });
      expect(reply.type === 'Flows' && reply.flows[0]).to.include({ active: 0, waiting: 0 });
    }
  });

  it('that were interrupted too often fail like others', () => {
    let flow = new WorkflowSpec();
    flow.trigger('r', { maxRetries: 0 });
    flow.work();
    for (let crash = 1; crash <= 4; crash += 1) {
      flow = crash % 2 === 0 ? flow.rebuilt() : new WorkflowSpec(flow.queue.rebuilt());
      flow.pass(60_000);
    }
    expect(flow.isActive('r')).to.equal(false);
    expect(flow.all('MessageDeadLettered')[0]).to.include({ error: 'interrupted', status: 0 });
  });

  it('leave no work when all runs have ended', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { delaySeconds: 600 });
    flow.submit(entryItem('r', 1, { notBeforeMs: NOW_MS + 60_000 }));
    flow.wait('r', 2, 'e');
    expect(flow.queue.engine.nextDueAtMs(flow.queue.context)).to.equal(NOW_MS + 60_000);
    flow.cancel('r');
    expect(flow.queue.engine.nextDueAtMs(flow.queue.context)).to.equal(undefined);
  });
});

describe('workflow: CancelRuns', () => {
  const labelled = (label: string, more = {}) => ({ labels: [label], ...more });
  const cancel = (flow: WorkflowSpec, filter: object, count = 100) =>
    flow.queue.ask({ type: 'CancelRuns', selector: { kind: 'filter', filter, count } });

  function some(): WorkflowSpec {
    const flow = new WorkflowSpec();
    flow.trigger('a', labelled('red', { url: 'https://x.example/one' }));
    flow.pass(10);
    flow.trigger('b', labelled('red', { url: 'https://x.example/one/more', flowControl }));
    flow.pass(10);
    flow.trigger('c', labelled('blue', { url: 'https://y.example/' }));
    return flow.skipEvents();
  }
  const active = (flow: WorkflowSpec) => ['a', 'b', 'c'].filter((id) => flow.isActive(id));

  it('by the host and the path of their URL', () => {
    const found = (filter: object) => {
      const flow = some();
      const { count } = cancel(flow, filter) as { count: number };
      return [count, active(flow)];
    };
    expect(found({ host: ['X.example'] })).to.deep.equal([2, ['c']]);
    expect(found({ host: ['y.example:443', 'z.example'] })).to.deep.equal([1, ['a', 'b']]);
    expect(found({ path: ['/one', '/'] })).to.deep.equal([2, ['b']]);
    expect(found({ host: ['x.example'], path: ['/'] })).to.deep.equal([0, ['a', 'b', 'c']]);
  });

  it('by id: unknown and ended runs do not count, and a repeated id counts once', () => {
    const flow = some();
    const ask = (...ids: string[]) =>
      flow.queue.ask({ type: 'CancelRuns', selector: { kind: 'ids', runIds: ids.map(run) } });
    expect(ask('a', 'b', 'unknown', 'a')).to.deep.equal({ type: 'Cancelled', count: 2 });
    expect(ask('a')).to.deep.equal({ type: 'Cancelled', count: 0 });
    expect(active(flow)).to.deep.equal(['c']);
  });

  for (const [name, filter, left] of [
    ['the beginning of the url', { url: ['https://x.example/one'] }, ['c']],
    ['the whole url', { url: ['https://x.example/one'], isUrlExact: true }, ['b', 'c']],
    ['one of several urls', { url: ['https://y', 'https://z'] }, ['a', 'b']],
    ['a label', { label: ['red'] }, ['c']],
    ['a label and a url', { label: ['red'], url: ['https://x.example/one/'] }, ['a', 'c']],
    ['the flow-control key', { flowControlKey: ['k'] }, ['a', 'c']],
    ['the caller', { callerIp: ['192.0.2.1'] }, []],
    ['another caller', { callerIp: ['192.0.2.9'] }, ['a', 'b', 'c']],
    ['an earliest creation', { fromMs: NOW_MS + 10 }, ['a']],
    ['a latest creation', { toMs: NOW_MS + 10 }, ['c']],
    ['nothing: all', {}, []],
  ] as const) {
    it(`by ${name}`, () => {
      const flow = some();
      expect(cancel(flow, filter)).to.deep.equal({ type: 'Cancelled', count: 3 - left.length });
      expect(active(flow)).to.deep.equal(left);
    });
  }

  it('limits the number by count', () => {
    const flow = some();
    expect(cancel(flow, {}, 2)).to.deep.equal({ type: 'Cancelled', count: 2 });
    expect(cancel(flow, {}, 2)).to.deep.equal({ type: 'Cancelled', count: 1 });
    expect(cancel(flow, {}, 2)).to.deep.equal({ type: 'Cancelled', count: 0 });
  });

  it('cancels many ids in steps', () => {
    const flow = new WorkflowSpec();
    const runIds = Array.from({ length: 60 }, (_, at) => run(`r${at}`));
    for (const id of runIds) flow.trigger(id);
    const { engine, context, journal } = flow.queue;
    const selector = { kind: 'ids', runIds } as const;
    const steps = engine.execute({ type: 'CancelRuns', selector }, context, (event) => journal.push(event));
    expect(steps).to.have.property('next');
    expect(flow.all('RunEnded')).to.have.length(50);
    expect('next' in steps && steps.next()).to.deep.equal({ done: true, value: { type: 'Cancelled', count: 60 } });
  });

  it('cancels hundreds in steps, and none that starts after it', () => {
    const flow = new WorkflowSpec();
    for (let at = 0; at < 120; at += 1) flow.trigger(`r${at}`);
    const { engine, context, journal } = flow.queue;
    const selector = { kind: 'filter', filter: {}, count: 1000 } as const;
    const steps = engine.execute({ type: 'CancelRuns', selector }, context, (event) => journal.push(event));
    if (!('next' in steps)) throw new Error('one step is not enough for so many');
    let made = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      flow.pass(1);
      flow.trigger(`new${made}`);
      made += 1;
    }
    expect(step.value).to.deep.equal({ type: 'Cancelled', count: 120 });
    expect(made).to.be.greaterThan(0);
    for (let at = 0; at < made; at += 1) expect(flow.isActive(`new${at}`)).to.equal(true);
  });
});

describe('workflow: runs and plain messages', () => {
  it('can be published in one call; its plain message is ordinary', () => {
    const flow = new WorkflowSpec(new QueueSpec());
    const callback = { url: 'https://cb.example/', settings: SETTINGS };
    flow.submit(triggerItem('r'), item('plain', { callback, maxRetries: 0 }));
    flow.answer('plain', answered(500));
    expect(flow.news()).to.include('dead-lettered plain');
    expect(flow.isActive('r')).to.equal(true);
  });
});
