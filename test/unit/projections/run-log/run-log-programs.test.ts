/** The file of the run log under random programs of all commands to an owner, valid or not. */
import { expect } from 'chai';
import fc from 'fast-check';
import { encodeQueueEvent } from '../../../../src/codec/queue/index.js';
import type { QueueEvent } from '../../../../src/domain/queue/index.js';
import type { LoggedRun } from '../../../../src/ports/index.js';
import { type Checkpoint, MessageLogStore } from '../../../../src/projections/index.js';
import { queuePartition } from '../../../../src/protocol/index.js';
import { CLUSTER } from '../../../spec/journal/shard-history.js';
import { repetitions } from '../../../support/depth.js';
import { ACCOUNT, MessageLogStand, QUEUE_SHARD } from '../../../support/message-log-stand.js';
import { response } from '../../../support/queue-spec.js';
import { conclude, playRun, type RunAction, runPrograms } from '../../../support/random-runs.js';
import { ALL_RUNS } from '../../../support/run-log-stand.js';
import { silentLog } from '../../../support/silent-log.js';
import { WorkflowSpec } from '../../../support/workflow-spec.js';

const DAY_MS = 24 * 3600 * 1000;
const FOREVER = {
  maxAgeMs: Number.MAX_SAFE_INTEGER,
  maxAnswerAgeMs: Number.MAX_SAFE_INTEGER,
  maxEvents: Number.MAX_SAFE_INTEGER,
};
const TABLES = ['runs', 'run_ends', 'run_messages', 'run_steps', 'run_functions', 'run_events', 'bodies', 'envelopes'];

describe('the file of the run log', () => {
  let stand: MessageLogStand;
  beforeEach(() => {
    stand = new MessageLogStand();
  });
  afterEach(() => stand.end());

  const open = (name: string) => {
    stand.files(name).remove();
    return new MessageLogStore(stand.files(name), silentLog, { clusterId: CLUSTER, retention: FOREVER });
  };

  it('distinguishes active runs from ended ones, also after a snapshot was applied in the middle', () => {
    fc.assert(
      fc.property(runPrograms, fc.nat(119), (program, at) => {
        const flow = new WorkflowSpec();
        let snapshot: Snapshot | undefined;
        program.forEach((action, index) => {
          playRun(flow, action, index);
          if (index === at) snapshot = snapshotOf(flow);
        });
        const { journal } = flow.queue;
        const whole = open('whole.db');
        fold(whole, journal, 0);
        const runs = runsIn(whole);
        whole.close();
        expect(namesOf(runs)).to.deep.equal(activeRuns(flow));
        for (const run of runs) expect(failuresOf(run), run.runId).to.equal(run.state === 'RUN_FAILED' ? 1 : 0);
        if (snapshot === undefined) return;
        for (const folded of [0, Math.floor(snapshot.from / 2)]) {
          const restored = open('restored.db');
          fold(restored, journal.slice(0, folded), 0);
          takeOver(restored, snapshot);
          fold(restored, journal.slice(snapshot.from), 1000);
          expect(namesOf(runsIn(restored))).to.deep.equal(activeRuns(flow));
          restored.close();
        }
      }),
      { numRuns: repetitions(40) },
    );
  });

  it('is empty when all runs have ended and none are kept', () => {
    fc.assert(
      fc.property(runPrograms, fc.boolean(), (program, isRestored) => {
        const flow = played(program);
        const store = open('all.db');
        const snapshot = snapshotOf(flow);
        fold(store, flow.queue.journal.slice(0, Math.floor(snapshot.from / (isRestored ? 2 : 1))), 0);
        if (isRestored) takeOver(store, snapshot);
        drain(flow);
        fold(store, flow.queue.journal.slice(snapshot.from), 1000);
        store.limitEvents([[ACCOUNT, 0]]);
        while (store.isPruneDue) store.prune(0);
        store.close();
        const file = stand.files('all.db').open();
        const left = TABLES.filter((table) => file.prepare(`SELECT 1 AS found FROM ${table}`).get([]) !== undefined);
        file.close();
        expect(left).to.deep.equal([]);
      }),
      { numRuns: repetitions(40) },
    );
  });
});

interface Snapshot {
  readonly events: readonly QueueEvent[];
  readonly bodies: ReadonlyMap<number, Uint8Array>;
  /** The first event of the journal after the snapshot. */
  readonly from: number;
}

function snapshotOf({ queue }: WorkflowSpec): Snapshot {
  return {
    events: [...queue.engine.rebuildingEvents()],
    bodies: new Map(queue.shelf.contents),
    from: queue.journal.length,
  };
}

function takeOver(store: MessageLogStore, { events, bodies }: Snapshot): void {
  store.clear(ACCOUNT);
  store.restore(ACCOUNT, events, bodies);
  for (const drop of ['dropGone', 'dropGoneRuns', 'dropUnusedBodies'] as const) {
    let after: number | undefined = 0;
    while (after !== undefined) after = store[drop](ACCOUNT, after);
  }
}

/** Folds entries of seven events each, after the entry with this number. */
function fold(store: MessageLogStore, events: readonly QueueEvent[], behind: number): void {
  const hash = new Uint8Array(32);
  let at: Checkpoint = { createdAt: '', position: behind, entry: behind, hash, clockMs: 0, hasGap: false };
  for (let first = 0; first < events.length; first += 7) {
    const number = at.entry + 1;
    const effects = new Uint8Array(
      Buffer.concat(events.slice(first, first + 7).map((event) => encodeQueueEvent(event))),
    );
    const section = { partition: queuePartition(ACCOUNT), index: number, effects };
    const body = { kind: 'batch', commandIds: [], sections: [section] };
    const entry = { number, clockMs: 0, previousHash: hash, body };
    const read = { entry, hash, totalBytes: effects.length, position: number, firstPosition: number };
    at = store.apply(QUEUE_SHARD, [read as never], at).after;
  }
}

function runsIn(store: MessageLogStore): LoggedRun[] {
  const search = store.runReader.runs(ACCOUNT, { ...ALL_RUNS, count: 1_000_000 }, () => false);
  for (;;) {
    const step = search.next();
    if (step.done === true) return [...step.value.runs];
  }
}

function namesOf(runs: readonly LoggedRun[]): string[] {
  return runs
    .filter(({ state }) => state === 'RUN_STARTED')
    .map(({ runId, createdAtMs }) => `${runId} ${createdAtMs}`)
    .sort();
}

function activeRuns({ queue }: WorkflowSpec): string[] {
  return [...queue.engine.rebuildingEvents()]
    .flatMap((event) => (event.type === 'RunRestored' && event.dlqId === undefined ? [event] : []))
    .map(({ runId, createdAtMs }) => `${runId} ${createdAtMs}`)
    .sort();
}

function failuresOf({ groups }: LoggedRun): number {
  const states = groups
    .flatMap((group) => (group.type === 'next' ? group.deliveries : group.steps))
    .map(({ state }) => state);
  return states.filter((state) => state === 'STEP_FAILED').length;
}

function played(program: readonly RunAction[]): WorkflowSpec {
  const flow = new WorkflowSpec();
  program.forEach((action, index) => {
    playRun(flow, action, index);
  });
  return flow;
}

/** Ends all runs, and lets the entries in the DLQ expire. */
function drain(flow: WorkflowSpec): void {
  flow.queue.suspend(false);
  for (let round = 0; round < 400; round += 1) {
    const events = [...flow.queue.engine.rebuildingEvents()];
    for (const event of events) if (event.type === 'RunRestored' && event.dlqId === undefined) flow.cancel(event.runId);
    const isOpen = events.some((event) => event.type === 'MessageRestored' && event.status !== 'delivered');
    if (!isOpen) break;
    flow.pass(DAY_MS / 24);
    for (let at = 0; at < 20; at += 1) conclude(flow, 0, response(200));
  }
  flow.pass(8 * DAY_MS);
}
