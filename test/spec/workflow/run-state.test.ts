import { expect } from 'chai';
import fc from 'fast-check';
import type { QueueEvent, QueueEventOf } from '../../../src/domain/queue/index.js';
import { QueueState } from '../../../src/domain/queue/model/state/queue-state.js';
import type { RunPart } from '../../../src/domain/queue/runs/index.js';
import { repetitions } from '../../support/depth.js';
import { conclude, playRun, type RunAction, runPrograms } from '../../support/random-runs.js';
import { answered, entryItem, run, WorkflowSpec } from '../../support/workflow-spec.js';

type Restored<Type extends QueueEvent['type']> = QueueEventOf<Type>;

function of<Type extends QueueEvent['type']>(events: readonly QueueEvent[], type: Type): Restored<Type>[] {
  return events.filter((event): event is Restored<Type> => event.type === type);
}

const nameOf = ({ runId, runCreatedAtMs }: RunPart) => `${runId}@${runCreatedAtMs}`;

/** The invariants after every turn. */
function check(flow: WorkflowSpec): void {
  const events = [...flow.queue.engine.rebuildingEvents()];
  const runs = of(events, 'RunRestored');
  const pending = of(events, 'MessageRestored').filter(({ status }) => status !== 'delivered');
  const active = new Map(
    runs.filter(({ dlqId }) => dlqId === undefined).map((one) => [`${one.runId}@${one.createdAtMs}`, one]),
  );
  checkBodies(flow, events);
  for (const { id, workflow, status } of pending) {
    if (workflow === undefined || workflow.role === 'failure' || status === 'active') continue;
    expect(active.has(nameOf(workflow)), `${id} waits for a run that goes on`).to.equal(true);
  }
  const withMessages = new Set(pending.flatMap(({ workflow }) => (workflow === undefined ? [] : [nameOf(workflow)])));
  const withChildren = new Set(
    [...active.values()].flatMap(({ invoker }) => (invoker ? [`${invoker.runId}@${invoker.runCreatedAtMs}`] : [])),
  );
  for (const [name, { waiters, entries }] of active) {
    const steps = entries.flatMap(({ step }) => (step === undefined ? [] : [`${step.stepId} ${step.targetStep}`]));
    expect(new Set(steps).size, `steps of ${name}: ${steps}`).to.equal(steps.length);
    if (waiters.length > 0 || withMessages.has(name) || withChildren.has(name)) continue;
    expect(lastOf(flow, name), `the last of ${name}, which goes on with nothing`).to.equal('MessageDelivered');
  }
}

function checkBodies(flow: WorkflowSpec, events: readonly QueueEvent[]): void {
  const needed = new Set<number>();
  for (const { body, workflow } of of(events, 'MessageRestored')) {
    needed.add(body.number);
    if (workflow?.role === 'failure') needed.add(workflow.payload.number);
  }
  for (const { entry } of of(events, 'DlqRestored')) needed.add(entry.body.number).add(entry.response.body.number);
  for (const { entries, failureFunction } of of(events, 'RunRestored')) {
    for (const { body } of entries) needed.add(body.number);
    if (failureFunction === undefined) continue;
    needed.add(failureFunction.body.number).add(failureFunction.request.number);
  }
  needed.delete(0);
  const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);
  expect(sorted(flow.queue.shelf.contents.keys())).to.deep.equal(sorted(needed));
}

/** The type of the last event about the message of a run with this name. */
function lastOf(flow: WorkflowSpec, name: string): string | undefined {
  const names = new Map<string, string>();
  let last: string | undefined;
  for (const event of flow.queue.journal) {
    if (event.type === 'MessageAccepted' && event.workflow !== undefined) names.set(event.id, nameOf(event.workflow));
    if ('id' in event && names.get(event.id) === name) last = event.type;
  }
  return last;
}

/** The number of envelopes in a state with these events. */
function envelopesOf(events: readonly QueueEvent[]): number {
  const state = new QueueState({ put: () => undefined, drop: () => undefined });
  for (const event of events) state.evolve(event);
  return state.envelopes.size;
}

function playAll(program: readonly RunAction[], each: (flow: WorkflowSpec, index: number) => void): WorkflowSpec {
  const flow = new WorkflowSpec();
  program.forEach((action, index) => {
    playRun(flow, action, index);
    each(flow, index);
  });
  return flow;
}

const DAY_MS = 24 * 3600 * 1000;

/** Lets everything continue until all of it has ended. */
function drain(flow: WorkflowSpec): void {
  const { queue } = flow;
  queue.suspend(false);
  for (let round = 0; round < 400; round += 1) {
    const events = [...queue.engine.rebuildingEvents()];
    for (const one of of(events, 'RunRestored')) if (one.dlqId === undefined) flow.cancel(one.runId);
    const pending = of(events, 'MessageRestored').filter(({ status }) => status !== 'delivered');
    if (pending.length === 0) break;
    flow.pass(DAY_MS / 24);
    for (let at = 0; at < 20; at += 1) conclude(flow, 0, answered(200));
  }
}

describe('workflow: the state', () => {
  it('is equal live, replayed, and rebuilt from a snapshot at any time', () => {
    fc.assert(
      fc.property(runPrograms, fc.nat(119), (program, at) => {
        let middle: { copy: WorkflowSpec; from: number } | undefined;
        const flow = playAll(program, (live, index) => {
          if (index === at) middle = { copy: live.rebuilt(), from: live.queue.journal.length };
          if (index % 4 === 0) expect(live.rebuilt().queue.digest()).to.equal(live.queue.digest());
        });
        const digest = flow.queue.digest();
        expect(flow.replayed().queue.digest(), 'replayed').to.equal(digest);
        expect(flow.rebuilt().queue.digest(), 'rebuilt').to.equal(digest);
        const rebuilding = [...flow.queue.engine.rebuildingEvents()];
        expect(envelopesOf(flow.queue.journal), 'envelopes').to.equal(envelopesOf(rebuilding));
        if (middle === undefined) return;
        const { copy, from } = middle;
        for (const event of flow.queue.journal.slice(from)) copy.queue.engine.evolve(event);
        expect(copy.queue.digest(), 'snapshot and tail').to.equal(digest);
      }),
      { numRuns: repetitions(80) },
    );
  });

  it('holds the needed bodies, no work of ended runs, and open work of each active run', () => {
    fc.assert(
      fc.property(runPrograms, (program) => {
        playAll(program, (flow) => check(flow));
      }),
      { numRuns: repetitions(80) },
    );
  });

  it('evolves equally when owners take over repeatedly', () => {
    fc.assert(
      fc.property(runPrograms, fc.integer({ min: 1, max: 20 }), (program, every) => {
        let flow = new WorkflowSpec();
        program.forEach((action, index) => {
          if (index % every === 0) flow = index % 2 === 0 ? flow.rebuilt() : takenOver(flow);
          playRun(flow, action, index);
        });
        checkBodies(flow, [...flow.queue.engine.rebuildingEvents()]);
        expect(flow.rebuilt().queue.digest()).to.equal(flow.queue.digest());
        drain(flow);
        checkEmpty(flow);
      }),
      { numRuns: repetitions(60) },
    );
  });

  it('is whole in a snapshot of many entries', () => {
    const flow = new WorkflowSpec();
    for (let at = 0; at < 1201; at += 1) {
      flow.trigger(`r${at}`, { body: '' });
      flow.finish(`r${at}`);
    }
    flow.trigger('long', { delaySeconds: 60 });
    flow.submit(...Array.from({ length: 1700 }, (_, at) => entryItem('long', at + 1, { delaySeconds: 60 })));
    const copy = flow.rebuilt();
    expect(copy.queue.digest()).to.equal(flow.queue.digest());
    expect(copy.entries('long')?.map(({ messageId }) => messageId)).to.deep.equal(
      flow.entries('long')?.map(({ messageId }) => messageId),
    );
    for (const id of ['r0', 'r600', 'r1200']) {
      expect(copy.trigger(id, { id: `${id} again`, body: '' })).to.include({ isDuplicate: true });
    }
  });

  it('is empty when all runs have ended and old state was forgotten', () => {
    fc.assert(
      fc.property(runPrograms, (program) => {
        const flow = playAll(program, () => undefined);
        drain(flow);
        checkEmpty(flow);
      }),
      { numRuns: repetitions(60) },
    );
  });
});

/** The spec of a successor, after a minute without an owner. */
function takenOver(flow: WorkflowSpec): WorkflowSpec {
  const copy = flow.rebuilt();
  copy.pass(60_000);
  return copy;
}

function checkEmpty(flow: WorkflowSpec): void {
  const { queue } = flow;
  const pendingOf = (events: readonly QueueEvent[]) =>
    of(events, 'MessageRestored').filter(({ status }) => status !== 'delivered');
  expect(pendingOf([...queue.engine.rebuildingEvents()])).to.deep.equal([]);
  flow.pass(8 * DAY_MS);
  // With each event something old is forgotten.
  for (let at = 0; at < 200; at += 1) {
    queue.ask({ type: 'PauseFlow', key: 'clock', isPaused: at % 2 === 0 });
    flow.pass(60_000);
  }
  expect(queue.ask({ type: 'CancelRuns', selector: { kind: 'ids', runIds: [run('a')] } })).to.include({ count: 0 });
  const events = [...queue.engine.rebuildingEvents()];
  expect(of(events, 'RunRestored')).to.deep.equal([]);
  expect(of(events, 'EndedRunsRestored')).to.deep.equal([]);
  expect(of(events, 'FlowRestored').filter(({ active }) => active > 0)).to.deep.equal([]);
  expect([...queue.shelf.contents.keys()]).to.deep.equal([]);
}
