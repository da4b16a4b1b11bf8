/** Proves SLR1, SLR2. */
import { expect } from 'chai';
import { hashKey } from '../../../src/domain/collections/index.js';
import type { Message } from '../../../src/domain/queue/model/messages/message.js';
import type { Run } from '../../../src/domain/queue/model/runs/run.js';
import { QueueState } from '../../../src/domain/queue/model/state/queue-state.js';
import { answered, callItem, entryItem, invokeItem, message, run, WorkflowSpec } from '../../support/workflow-spec.js';

const HOUR = { delaySeconds: 3600 };
const HOUR_MS = 3_600_000;
const STEP = { stepId: 9, targetStep: 0, concurrent: 1, stepName: 'call', stepType: 'Call' };

/** The state after a replay of the journal. */
function stateOf(flow: WorkflowSpec): QueueState {
  const state = new QueueState({ put: () => undefined, drop: () => undefined });
  for (const event of flow.queue.journal) state.evolve(event);
  return state;
}

/** A sleeping run is another copy at every look. */
function sleeps(flow: WorkflowSpec, runId = 'r'): boolean {
  const state = stateOf(flow);
  const first = state.runs.look(run(runId));
  expect(first, `the run ${runId}`).to.not.equal(undefined);
  return first !== state.runs.look(run(runId));
}

/** The run has slept at its second step since its endpoint answered. */
function asleep(flow = new WorkflowSpec(), runId = 'r'): WorkflowSpec {
  flow.trigger(runId, { labels: ['red'] });
  flow.work();
  flow.submit(entryItem(runId, 1));
  flow.deliver(`${runId}#0`).work();
  flow.submit(entryItem(runId, 2, HOUR));
  return flow.deliver(`${runId}#1`);
}

/** Adds a message, which keeps the run awake, and then ends it. */
function call(state: QueueState, runId: string): (() => void)[] {
  const { createdAtMs } = state.runs.look(run(runId)) as Run;
  const part = { role: 'call', runId: run(runId), runCreatedAtMs: createdAtMs, step: STEP } as const;
  const asked = { id: message(`${runId}#call`) } as Message;
  return [() => state.runs.messageAccepted(asked, part, createdAtMs), () => state.runs.messageLeft(asked)];
}

function idsOfOneHash(): [string, string] {
  const known = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const id = `run ${number}`;
    const other = known.get(hashKey(id));
    if (other !== undefined) return [other, id];
    known.set(hashKey(id), id);
  }
}

describe('workflow: a sleeping run', () => {
  it('sleeps while its only open message is a step with a long delay', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.work();
    flow.submit(entryItem('r', 1, HOUR));
    expect(sleeps(flow)).to.equal(false);
    flow.deliver('r#0');
    expect(sleeps(flow)).to.equal(true);
  });

  it('may sleep before its first delivery', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', HOUR);
    expect(sleeps(flow)).to.equal(true);
    flow.pass(HOUR_MS);
    expect(flow.listOf('r#0')).to.deep.equal(['r#0']);
  });

  it('is awake when it continues within a minute', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { delaySeconds: 59 });
    expect(sleeps(flow)).to.equal(false);
  });

  it('is awake while it also waits for other work', () => {
    const others: Record<string, (flow: WorkflowSpec) => void> = {
      event: (flow) => flow.wait('r', 2, 'e', { seconds: 7200 }),
      'another step': (flow) => flow.submit(entryItem('r', 2, HOUR)),
      call: (flow) => flow.submit(callItem('r', 2, HOUR)),
      'stored event': (flow) => flow.notify('later', 'n', 'r'),
    };
    for (const [name, wait] of Object.entries(others)) {
      const flow = new WorkflowSpec();
      flow.trigger('r');
      flow.work();
      flow.submit(entryItem('r', 1, HOUR));
      wait(flow);
      flow.deliver('r#0');
      expect(sleeps(flow), name).to.equal(false);
    }
  });

  it('is awake when another run waits for it', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.submit(invokeItem('r', 1, 'child', HOUR));
    expect(sleeps(flow, 'child')).to.equal(false);
  });

  it('keeps its calls and the runs that it started', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    flow.work();
    flow.submit(callItem('r', 1), invokeItem('r', 2, 'child'), entryItem('r', 3, HOUR));
    flow.deliver('r#0').answer('r#c1', answered(200)).work();
    const { id } = flow.all('MessageAccepted').find(({ workflow }) => workflow?.role === 'result') as { id: string };
    flow.queue.outcome(id, answered(200));
    expect(sleeps(flow)).to.equal(true);
    for (const again of [callItem('r', 1, { id: 'again' }), invokeItem('r', 2, 'other', { id: 'again' })]) {
      expect(flow.submit(again)).to.have.nested.property('results[0].isDuplicate', true);
    }
  });

  it('continues where it was when its time has come', () => {
    const flow = asleep();
    flow.pass(HOUR_MS);
    expect(flow.listOf('r#2')).to.deep.equal(['r#0', 'r#1', 'r#2']);
    flow.submit(entryItem('r', 3));
    flow.deliver('r#2');
    expect(flow.listOf('r#3')).to.deep.equal(['r#0', 'r#1', 'r#2', 'r#3']);
  });

  it('is found, shown and recorded like any other, without waking', () => {
    const flow = asleep();
    const before = flow.queue.digest();
    expect(flow.entries('r')).to.have.lengthOf(3);
    expect([...flow.queue.engine.rebuildingEvents()].find(({ type }) => type === 'RunRestored')).to.include({
      runId: 'r',
    });
    expect(flow.queue.digest()).to.equal(before);
    expect(flow.replayed().queue.digest()).to.equal(before);
    expect(flow.rebuilt().queue.digest()).to.equal(before);
  });

  it('is ended by CancelRuns like others', () => {
    const flow = asleep(asleep(), 's');
    const selector = { kind: 'filter', filter: { label: ['red'] }, count: 2 } as const;
    expect(flow.queue.ask({ type: 'CancelRuns', selector })).to.deep.equal({ type: 'Cancelled', count: 2 });
    expect([flow.isActive('r'), flow.isActive('s')]).to.deep.equal([false, false]);
    expect(flow.queue.held).to.include({ messages: 0, bytes: 0 });
  });

  it('is seen by an iteration over all runs, even if it falls asleep or wakes during it', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const state = stateOf(ids.reduce((before, id) => asleep(before, id), new WorkflowSpec()));
    const walked = (atThird: () => void) => {
      const seen: string[] = [];
      for (const { id } of state.runs.actives()) if (seen.push(id) === 3) atThird();
      return [...new Set(seen)].sort();
    };
    for (const id of ids) {
      const [wake, fallAsleep] = call(state, id) as [() => void, () => void];
      expect(walked(wake), `${id} wakes`).to.deep.equal(ids);
      expect(walked(fallAsleep), `${id} falls asleep`).to.deep.equal(ids);
      for (const step of call(state, id)) step();
    }
  });

  it("does not sleep if another sleeping run's id has the same hash", () => {
    const [one, other] = idsOfOneHash();
    const flow = asleep(asleep(new WorkflowSpec(), one), other);
    expect([sleeps(flow, one), sleeps(flow, other)]).to.deep.equal([true, false]);
    for (const copy of [flow.rebuilt(), flow.replayed()]) expect(copy.queue.digest()).to.equal(flow.queue.digest());
    flow.pass(HOUR_MS);
    for (const id of [one, other]) expect(flow.listOf(`${id}#2`)).to.deep.equal([`${id}#0`, `${id}#1`, `${id}#2`]);
  });

  it('stores an event for it, and takes it when it waits', () => {
    const flow = asleep();
    flow.notify('e', 'n', 'r');
    flow.pass(HOUR_MS).work();
    flow.wait('r', 3, 'e');
    flow.deliver('r#2');
    expect(flow.recordOf('n')).to.include({ stepId: 3, waitEventId: 'e' });
  });

  it('has no open work left when its message is cancelled', () => {
    const flow = asleep();
    flow.queue.ask({ type: 'CancelMessage', id: message('r#2') });
    expect(flow.isActive('r')).to.equal(true);
    flow.finish('r');
    expect(flow.queue.held).to.include({ messages: 0, bytes: 0 });
  });

  it('releases its bodies from memory when it sleeps ten minutes or longer', () => {
    const flow = new WorkflowSpec();
    flow.trigger('short', { delaySeconds: 599 });
    flow.trigger('long', { delaySeconds: 600 });
    expect(new Set(flow.queue.shelf.rested)).to.deep.equal(new Set([2]));
    expect(new Set(asleep().queue.shelf.rested)).to.deep.equal(new Set([1, 2, 3]));
  });
});
