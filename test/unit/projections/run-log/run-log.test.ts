/** The log of runs: equal folds, queries, pages and retention. Proves RW1. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { MessageId, RunId } from '../../../../src/kernel/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';
import type { LoggedRun, RunLogFilter, RunQuery } from '../../../../src/ports/index.js';
import type { ReadModels } from '../../../../src/projections/index.js';
import { eventually } from '../../../support/eventually.js';
import { ACCOUNT, ANYTHING } from '../../../support/message-log-stand.js';
import { SETTINGS } from '../../../support/queue-spec.js';
import { ALL_RUN_EVENTS, ALL_RUNS, brief, RunLogStand } from '../../../support/run-log-stand.js';
import { answered, callItem, entryItem, invokeItem, planItem } from '../../../support/workflow-spec.js';

const WHOLE_DLQ = { kind: 'filter', filter: {}, count: 100, after: undefined, order: 'earliestFirst' } as const;
const FAILURE = { url: 'https://app.example/failure', settings: { ...SETTINGS, maxRetries: 0 } };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the run log', () => {
  let log: RunLogStand;
  beforeEach(() => {
    log = new RunLogStand();
  });
  afterEach(() => log.end());

  /** Runs in progress, failed, cancelled and successful ones, with every kind of step. */
  async function busyHistory(): Promise<void> {
    const { spec } = log;
    spec.trigger('done', { labels: ['x'] });
    spec.answer('done#0', 500).pass(20_000);
    spec.attempt('done#0');
    spec.submit(entryItem('done', 1, { body: JSON.stringify({ out: '"one"' }) }));
    spec.deliver('done#0');
    await log.store();
    spec.finish('done', '"result"');
    spec.trigger('failed', { maxRetries: 0, failureCallback: FAILURE, labels: ['x', 'y'] });
    spec.attempt('failed#0');
    spec.submit(...[1, 2].map((step) => planItem('failed', step, { concurrent: 2 })));
    spec.deliver('failed#0');
    spec.attempt('failed#p2');
    spec.submit(invokeItem('failed', 2, 'child', { concurrent: 2 }));
    await log.store();
    spec.deliver('failed#p2');
    spec.answer('failed#p1', answered(500, [], 'broken'));
    spec.answer('failed failure', answered(200, [], 'told'));
    spec.pass(10);
    spec.trigger('cancelled');
    spec.attempt('cancelled#0');
    spec.wait('cancelled', 1, 'evt');
    spec.cancel('cancelled');
    await log.store();
    spec.pass(10);
    spec.trigger('calls', { flowControl: { key: 'k', parallelism: 5, rate: undefined, periodSeconds: 1 } });
    spec.attempt('calls#0');
    spec.submit(callItem('calls', 1, { maxRetries: 2, retryDelay: '60000' }));
    spec.deliver('calls#0').answer('calls#c1', answered(503, [], 'busy'));
    spec.pass(10);
    spec.trigger('waits');
    spec.attempt('waits#0');
    spec.wait('waits', 1, 'evt2', { seconds: 3600 });
    spec.deliver('waits#0');
    await log.store();
  }

  async function contents(models: ReadModels) {
    return { runs: await log.runs({ count: 2 }, models), events: await log.events({ count: 7 }, models) };
  }

  it('is equal live, after a restart and rebuilt, cursors included', async () => {
    await busyHistory();
    const live = await contents(log.models);
    expect(live.runs.map(({ runId, state }) => `${runId} ${state}`)).to.deep.equal([
      'waits RUN_STARTED',
      'calls RUN_STARTED',
      'cancelled RUN_CANCELED',
      ...['child RUN_STARTED', 'failed RUN_FAILED'].sort(
        (a, b) =>
          live.runs.findIndex(({ runId }) => a.startsWith(runId)) -
          live.runs.findIndex(({ runId }) => b.startsWith(runId)),
      ),
      'done RUN_SUCCESS',
    ]);
    const rebuilt = log.stand.open({}, 'rebuilt.db');
    expect(await contents(rebuilt)).to.deep.equal(live);
    const page = await log.models.runs(ACCOUNT, { ...ALL_RUNS, count: 3 }, log.position);
    const next = { ...ALL_RUNS, cursor: page.cursor };
    expect(await rebuilt.runs(ACCOUNT, next, 0)).to.deep.equal(await log.models.runs(ACCOUNT, next, 0));
    await log.stand.close(rebuilt);
    const again = log.stand.open({}, 'rebuilt.db');
    expect(await contents(again)).to.deep.equal(live);
  });

  it('is separate: no event of a run is in the message log or in its DLQ list', async () => {
    await busyHistory();
    expect(await log.stand.all(log.models)).to.deep.equal([]);
    expect((await log.models.dlq(ACCOUNT, WHOLE_DLQ, log.position)).entries).to.deep.equal([]);
  });

  describe('without the front of the journal', () => {
    /** Runs in progress, or that may be resumed, with the fields that a snapshot has. */
    const known = (runs: readonly LoggedRun[]) =>
      runs
        .filter(({ state }) => state === 'RUN_STARTED' || state === 'RUN_FAILED')
        .map(({ runId, state, createdAtMs, endedAtMs, dlqId, failureFunction, groups, labels, invoker }) => ({
          ...{ runId, state, createdAtMs, endedAtMs, dlqId, labels, invoker },
          failureFunction: failureFunction?.state,
          answer: failureFunction?.response?.body,
          groups: brief(groups),
        }));

    it('has active and failed runs from the snapshot', async () => {
      await busyHistory();
      const live = known(await log.runs());
      expect(live.map(({ runId }) => runId)).to.have.members(['waits', 'calls', 'child', 'failed']);
      await log.snapshotAndTruncate();
      const rebuilt = log.stand.open({}, 'rebuilt.db');
      const shown = known(await log.runs({}, rebuilt));
      // A snapshot contains neither earlier retries nor the bare error of the failure.
      const without = (groups: string) => groups.replace(' after 503 Service Unavailable', '');
      expect(shown).to.deep.equal(live.map((run) => ({ ...run, groups: without(run.groups) })));
      const { spec } = log;
      spec.notify('evt2', 'evt2#1');
      spec.pass(60_000).answer('calls#c1', answered(200, [], 'made'));
      spec.finish('child', '"late"');
      const restarted = await log.runs({}, rebuilt);
      const groupsOf = (id: string) => brief(restarted.find(({ runId }) => runId === id)?.groups ?? []);
      expect(groupsOf('waits')).to.equal('init SUCCESS | 1 Wait SUCCESS | next evt2#1 STEP_PROGRESS');
      expect(groupsOf('calls')).to.equal('init SUCCESS | 1 Call fromCallback PROGRESS');
      expect(groupsOf('failed')).to.contain('2 Invoke SUCCESS');
      expect(restarted.find(({ runId }) => runId === 'child')?.state).to.equal('RUN_SUCCESS');
    });

    it('keeps the rows of an earlier file, and forgets runs with an unknown end', async () => {
      const { spec } = log;
      spec.trigger('lost');
      spec.trigger('gone', { maxRetries: 0 });
      spec.answer('gone#0', 500);
      spec.trigger('kept');
      await log.runs();
      await log.stand.close(log.models);
      spec.attempt('lost#0');
      spec.finish('lost');
      spec.deliver('lost#0');
      spec.queue.ask({ type: 'DeleteFailedRuns', selector: { kind: 'ids', dlqIds: [spec.dlqIdOf('gone')] } });
      spec.attempt('kept#0');
      spec.submit(entryItem('kept', 1, { body: '{"out":"1"}' }));
      spec.deliver('kept#0');
      await log.snapshotAndTruncate();
      const again = log.stand.open();
      const runs = await log.runs({}, again);
      expect(runs.map(({ runId, state }) => `${runId} ${state}`)).to.have.members([
        'gone RUN_FAILED',
        'kept RUN_STARTED',
      ]);
      const kept = runs.find(({ runId }) => runId === 'kept');
      expect(brief(kept?.groups ?? [])).to.equal('init SUCCESS | 1 Run SUCCESS | next kept#1 STEP_PROGRESS');
    });
  });

  describe('finds', () => {
    const found = async (filter: RunLogFilter, more: Partial<RunQuery> = {}) =>
      (await log.runs({ filter, ...more })).map(({ runId }) => runId).sort();

    beforeEach(busyHistory);

    it('runs by id, with or without their creation time', async () => {
      const createdAtMs = (await log.run('done')).createdAtMs;
      const runId = 'done' as RunId;
      expect(await found({ runs: [{ runId, createdAtMs: undefined }] })).to.deep.equal(['done']);
      expect(await found({ runs: [{ runId, createdAtMs }] })).to.deep.equal(['done']);
      expect(await found({ runs: [{ runId, createdAtMs: createdAtMs + 1 }] })).to.deep.equal([]);
      expect(await found({ runs: [{ runId: 'nobody' as RunId, createdAtMs: undefined }] })).to.deep.equal([]);
      expect(await found({ createdAtMs })).to.deep.equal(['done']);
    });

    it('the number of matching runs in each state', async () => {
      const states = (await log.runs()).map(({ state }) => state);
      const { counts, isWhole } = await log.models.runCounts(ACCOUNT, {}, log.position);
      expect(isWhole).to.equal(true);
      for (const state of states) {
        expect(counts[state], state).to.equal(states.filter((other) => other === state).length);
      }
      const createdAtMs = (await log.run('done')).createdAtMs;
      expect((await log.models.runCounts(ACCOUNT, { createdAtMs }, log.position)).counts).to.deep.equal({
        RUN_SUCCESS: 1,
      });
    });

    it('runs of one id, newest first', async () => {
      log.spec.pass(60_000);
      log.spec.trigger('done', { id: 'done again', labels: ['x'] });
      const runs = await log.runs({ filter: { runs: [{ runId: 'done' as RunId, createdAtMs: undefined }] }, count: 1 });
      expect(runs.map(({ state }) => state)).to.deep.equal(['RUN_STARTED', 'RUN_SUCCESS']);
    });

    it('runs by their shared properties', async () => {
      expect(await found({ label: ['x'] })).to.deep.equal(['done', 'failed']);
      expect(await found({ label: ['y', 'z'] })).to.deep.equal(['failed']);
      expect(await found({ url: ['https://app.example/child'] })).to.deep.equal(['child']);
      expect(await found({ host: ['app.example'], path: ['/child'] })).to.deep.equal(['child']);
      expect(await found({ flowControlKey: ['k'] })).to.deep.equal(['calls']);
      expect(await found({ callerIp: ['192.0.2.9'] })).to.deep.equal([]);
      expect(await found({ label: ['x'] }, { states: ['RUN_SUCCESS'] })).to.deep.equal(['done']);
      expect(await found({}, { states: ['RUN_FAILED', 'RUN_CANCELED'] })).to.deep.equal(['cancelled', 'failed']);
    });

    it('runs by any of their messages', async () => {
      expect(await found({ messageId: ['calls#c1' as MessageId] })).to.deep.equal(['calls']);
      expect(await found({ messageId: [log.spec.idOf('failed failure')] })).to.deep.equal(['failed']);
      expect(
        await found({ messageId: ['nothing'], runs: [{ runId: 'calls' as RunId, createdAtMs: undefined }] }),
      ).to.deep.equal([]);
    });

    it('runs with a step in a state', async () => {
      expect(await found({}, { stepStates: ['STEP_RETRY'] })).to.deep.equal(['calls']);
      expect(await found({}, { stepStates: ['STEP_CANCELED'] })).to.deep.equal(['cancelled', 'failed']);
    });

    it('runs between two instants, both inclusive', async () => {
      const at = (await log.run('cancelled')).createdAtMs;
      expect(await found({ fromMs: at, toMs: at })).to.deep.equal(['cancelled']);
      expect(await found({ fromMs: at + 1 })).to.deep.equal(['calls', 'waits']);
    });

    it('an error for an invalid cursor', async () => {
      const error = await log.models.runs(ACCOUNT, { ...ALL_RUNS, cursor: 'x' }, 0).catch((thrown: unknown) => thrown);
      expect(isMillraceError(error, 'INVALID')).to.equal(true);
    });

    it('the events of a run in order', async () => {
      const events = await log.events({ filter: { runs: [{ runId: 'done' as RunId, createdAtMs: undefined }] } });
      expect(events.map(({ state, step }) => `${state} ${step?.messageId ?? ''}`.trim())).to.deep.equal([
        'RUN_STARTED',
        'CREATED done#0',
        'ACTIVE done#0',
        'ERROR done#0',
        'RETRY done#0',
        'ACTIVE done#0',
        'CREATED done#1',
        'ACTIVE done#1',
        'DELIVERED done#0',
        'RUN_SUCCESS',
      ]);
      const [start, created, , error, retry, , result] = events;
      expect(start).to.deep.include({ runId: 'done', url: 'https://app.example/flow', labels: ['x'], step: undefined });
      expect(created?.step).to.deep.equal({
        messageId: 'done#0',
        stepId: undefined,
        stepName: 'init',
        stepType: 'Initial',
        callType: 'step',
        concurrent: 1,
        out: 'payload of done',
      });
      expect([error?.error, error?.response?.status]).to.deep.equal(['500 Internal Server Error', 500]);
      expect(retry?.nextDeliveryAtMs).to.be.greaterThan(retry?.atMs ?? 0);
      expect(result?.step).to.deep.include({ stepId: 1, out: '"one"' });
      expect(events.at(-1)?.runResponse).to.equal('"result"');
    });

    it('events by state, by message and by time', async () => {
      const states = async (query: Parameters<RunLogStand['events']>[0]) =>
        (await log.events(query)).map(({ runId, state }) => `${runId} ${state}`);
      expect(await states({ states: ['WAITER_ADDED', 'INVOKED', 'RUN_FAILED'] })).to.deep.equal([
        'failed INVOKED',
        'failed RUN_FAILED',
        'cancelled WAITER_ADDED',
        'waits WAITER_ADDED',
      ]);
      expect(await states({ filter: { messageId: ['calls#c1' as MessageId] } })).to.deep.equal([
        'calls CREATED',
        'calls ACTIVE',
        'calls ERROR',
        'calls RETRY',
      ]);
      const [failed] = await log.events({ states: ['RUN_FAILED'] });
      expect(failed?.dlqId).to.equal(log.spec.dlqIdOf('failed'));
      const at = (await log.run('waits')).createdAtMs;
      expect(new Set(await states({ filter: { fromMs: at }, states: ['RUN_STARTED'] }))).to.deep.equal(
        new Set(['waits RUN_STARTED']),
      );
      expect(await states({ filter: { createdAtMs: at }, states: ['RUN_STARTED'] })).to.deep.equal([
        'waits RUN_STARTED',
      ]);
      const last = (await log.models.runEvents(ACCOUNT, { ...ALL_RUN_EVENTS, order: 'latestFirst', count: 1 }, 0))
        .events;
      expect(last.map(({ runId }) => runId)).to.deep.equal(['waits']);
    });

    it('no runs for an account without any', async () => {
      expect(await log.models.runs('ac-cccccccccccccccc' as never, ALL_RUNS, 0)).to.deep.equal({
        runs: [],
        cursor: undefined,
      });
    });
  });

  it('finds a reconfigured run by its new properties, with its earlier events', async () => {
    const { spec } = log;
    spec.trigger('r', { header: [['Svc-Workflow-Unknown-Sdk', 'true']], labels: ['before'] });
    spec.attempt('r#0');
    spec.trigger('r', { id: 'r#0 again', isByEndpoint: true, labels: ['after'] });
    spec.deliver('r#0');
    expect((await log.runs({ filter: { label: ['after'] } })).map(({ groups }) => brief(groups))).to.deep.equal([
      'init SUCCESS | next r#0 again STEP_PROGRESS',
    ]);
    expect(await log.runs({ filter: { label: ['before'] } })).to.deep.equal([]);
    expect((await log.events({ filter: { label: ['after'] } })).map(({ state }) => state)).to.include('RUN_STARTED');
  });

  it('shows redacted parts by their hash, also if bodies are cut', async () => {
    const { spec } = log;
    const redact = { body: true, allHeaders: false, headers: ['X-Secret'] };
    spec.trigger('r', {
      redact,
      header: [
        ['X-Secret', 'key'],
        ['X-Open', 'yes'],
      ],
      body: 'private',
    });
    spec.attempt('r#0');
    spec.submit(entryItem('r', 1, { body: JSON.stringify({ out: '"mine"' }) }));
    spec.deliver('r#0');
    spec.finish('r', '"own"');
    const [init, first] = (await log.run()).groups.flatMap((group) => (group.type === 'next' ? [] : group.steps));
    expect(init?.out).to.equal(`REDACTED:${sha256('private')}`);
    expect(init?.header).to.deep.equal([
      ['X-Secret', `REDACTED:${sha256('key')}`],
      ['X-Open', 'yes'],
    ]);
    expect(first?.out).to.equal(`REDACTED:${sha256('"mine"')}`);
    expect((await log.run()).response).to.equal(`REDACTED:${sha256('"own"')}`);
    const [cut] = await log.runs({ trimBytes: 10 });
    expect(cut?.response).to.equal(`REDACTED:${sha256('"own"')}`.slice(0, 10));
    expect(cut?.isCut).to.equal(true);
    expect(JSON.stringify(await log.events())).to.not.contain('private');
  });

  it('cuts bodies between characters and marks the step, or leaves them out', async () => {
    log.spec.trigger('r', { body: 'aäöü' });
    const shown = async (trimBytes: number | undefined) => {
      const [run] = await log.runs({ trimBytes });
      const [init] = run?.groups ?? [];
      const step = init?.type === 'sequential' ? init.steps[0] : undefined;
      return [step?.out, step?.isCut];
    };
    expect([await shown(undefined), await shown(4), await shown(0), await shown(-1)]).to.deep.equal([
      ['aäöü', undefined],
      ['aä', true],
      ['', true],
      [undefined, undefined],
    ]);
  });

  it('shows binary data as base64', async () => {
    const { spec } = log;
    spec.trigger('r');
    spec.queue.ask({ type: 'EndRun', runId: 'r' as RunId, how: 'finish', response: Buffer.from([0xff, 0x00]) });
    expect((await log.run()).response).to.equal('/wA=');
  });

  it('bounds the bytes of a page, and cuts a single run that would not fit', async () => {
    const { spec } = log;
    spec.queue.limit({ maxMessageBytes: 8 * 1024 * 1024 });
    const large = 'x'.repeat(5 * 1024 * 1024);
    for (const id of ['a', 'b', 'c']) spec.trigger(id, { body: large });
    await log.store();
    const page = await log.models.runs(ACCOUNT, ALL_RUNS, log.position);
    expect([page.runs.length, typeof page.cursor]).to.deep.equal([2, 'string']);
    expect(await log.runs()).to.have.length(3);
    spec.attempt('a#0');
    for (const step of [1, 2]) {
      spec.submit(entryItem('a', step, { body: JSON.stringify({ out: large }) }));
      spec.deliver(`a#${step - 1}`);
    }
    const [init, ...steps] = (await log.run('a')).groups.flatMap((group) => (group.type === 'next' ? [] : group.steps));
    const lengths = [init, ...steps].map((step) => step?.out?.length);
    expect(lengths).to.deep.equal(Array(3).fill(Math.floor((8 * 1024 * 1024) / 4)));
  });

  it('removes whole runs above the number of events, those that ended first, with all their data', async () => {
    const { spec } = log;
    spec.trigger('goes on');
    spec.trigger('in the DLQ', { maxRetries: 0 });
    spec.answer('in the DLQ#0', 500);
    for (const id of ['a', 'b', 'c']) {
      spec.trigger(id, { labels: [`of ${id}`], body: `for ${id}` });
      spec.attempt(`${id}#0`);
      spec.submit(entryItem(id, 1, { body: '{}' }));
      spec.deliver(`${id}#0`).attempt(`${id}#1`);
      spec.finish(id);
      spec.deliver(`${id}#1`);
      spec.pass(10);
    }
    const ids = async () => (await log.runs()).map(({ runId }) => runId);
    expect(await ids()).to.have.length(5);
    const ofOne = await log.events({ filter: { runs: [{ runId: 'c' as RunId, createdAtMs: undefined }] } });
    log.models.limitEvents([[ACCOUNT, ofOne.length + 2]]);
    await eventually(async () => expect(await ids()).to.have.members(['goes on', 'in the DLQ', 'c']));
    expect(new Set((await log.events()).map(({ runId }) => runId))).to.deep.equal(
      new Set(['goes on', 'in the DLQ', 'c']),
    );
    log.models.limitEvents([[ACCOUNT, 0]]);
    await eventually(async () => expect(await ids()).to.have.members(['goes on', 'in the DLQ']));
    spec.queue.ask({ type: 'DeleteFailedRuns', selector: { kind: 'ids', dlqIds: [spec.dlqIdOf('in the DLQ')] } });
    spec.cancel('goes on');
    await eventually(async () => expect(await ids()).to.deep.equal([]));
    await log.stand.close(log.models);
    const file = log.stand.files().open();
    const tables = [
      'runs',
      'run_ends',
      'run_messages',
      'run_steps',
      'run_functions',
      'run_events',
      'bodies',
      'envelopes',
      'profiles',
      'responses',
    ];
    const rows = tables.map((table) => `${table} ${file.prepare(`SELECT count(*) AS n FROM ${table}`).get([])?.n}`);
    const count = file.prepare('SELECT run_events FROM accounts').get([]);
    file.close();
    expect(rows).to.deep.equal(tables.map((table) => `${table} 0`));
    expect(count).to.deep.equal({ run_events: 0 });
  });

  it('removes runs that ended long ago', async () => {
    await log.end();
    const spec0 = Date.now();
    log = new RunLogStand({ retention: { maxAgeMs: 3_600_000, maxAnswerAgeMs: 3_600_000, maxEvents: 1_000_000 } });
    const { spec } = log;
    spec.queue.nowMs = spec0 - 7_200_000;
    spec.trigger('old');
    spec.cancel('old');
    spec.trigger('still there');
    spec.queue.nowMs = spec0;
    spec.trigger('new');
    spec.cancel('new');
    await eventually(async () => {
      expect((await log.runs()).map(({ runId }) => runId)).to.deep.equal(['new', 'still there']);
    });
  });

  it('ends a page at its time limit, and continues from there', async () => {
    await busyHistory();
    const whole = await contents(log.models);
    const hasty = log.stand.open({ searchMs: 0 }, 'hasty.db');
    const page = await hasty.runs(ACCOUNT, ALL_RUNS, log.position);
    expect([page.runs.length, page.cursor === undefined]).to.deep.equal([1, false]);
    expect(await contents(hasty)).to.deep.equal(whole);
  });

  it('shows a resumed run with its kept entries', async () => {
    const { spec } = log;
    spec.trigger('r', { maxRetries: 0 });
    spec.attempt('r#0');
    spec.submit(entryItem('r', 1, { body: '{"out":"1"}' }));
    spec.deliver('r#0').answer('r#1', 500);
    await log.runs();
    spec.pass(1000);
    const reply = spec.queue.ask({
      type: 'ResumeRuns',
      how: 'resume',
      selector: { kind: 'ids', dlqIds: [spec.dlqIdOf('r')] },
      firstRunId: 'again' as RunId,
      firstId: 'again#first' as MessageId,
      overrides: { headers: [], query: [] },
    });
    const again = reply.type === 'RunsStarted' ? reply.runs[0]?.runId : undefined;
    const run = await log.run(again);
    expect(run.state).to.equal('RUN_STARTED');
    expect(brief(run.groups)).to.match(/^init SUCCESS \| 1 Run SUCCESS \| next \S+ STEP_PROGRESS$/);
    const old = await log.run('r');
    expect([old.state, brief(old.groups)]).to.deep.equal([
      'RUN_FAILED',
      'init SUCCESS | 1 Run SUCCESS | next r#1 STEP_FAILED after 500 Internal Server Error',
    ]);
    const [init, one] = run.groups.flatMap((group) => (group.type === 'next' ? [] : group.steps));
    expect([init?.out, one?.out, one?.createdAtMs]).to.deep.equal(['payload of r', '1', old.createdAtMs]);
  });

  it('is empty before the first event, like the message log', async () => {
    expect(await log.models.runs(ACCOUNT, ALL_RUNS, 0)).to.deep.equal({ runs: [], cursor: undefined });
    expect((await log.models.events(ACCOUNT, ANYTHING, 0)).events).to.deep.equal([]);
  });
});
