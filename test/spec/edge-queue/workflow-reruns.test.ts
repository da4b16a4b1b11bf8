/** `POST /v2/workflows/runs/<id>/rerun`: the entries that a new run begins with, and refusals. */
import { expect } from 'chai';
import type { RunEntries, RunPage } from '../../../src/ports/index.js';
import { envelope, STARTED, startedRuns, WORKFLOW } from '../../support/failed-run-views.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';
import { mark, run } from '../../support/workflow-items.js';

type StoredRun = NonNullable<RunEntries['run']>;
type StoredEntry = StoredRun['entries'][number];

const RERUN = '/v2/workflows/runs/r/rerun';
const entry = (body: string, step?: StoredEntry['step']): StoredEntry => ({
  step,
  body: Buffer.from(body),
  createdAtMs: 5,
});
const result = (stepId: number, stepName: string, more: object = {}, concurrent = 1): StoredEntry => {
  const step = { ...mark(stepId), stepName, concurrent, ...more };
  return entry(JSON.stringify({ stepId, stepName, stepType: step.stepType, out: `"${stepName}"`, concurrent }), step);
};
const plan = (targetStep: number, stepName: string, concurrent: number): StoredEntry =>
  entry(JSON.stringify({ stepId: 0, targetStep }), { ...mark(0), targetStep, stepName, concurrent });

/** `one`, then `a` and `b` in parallel, then `last`. */
const ENTRIES = [
  entry('{"n":1}'),
  result(1, 'one'),
  plan(2, 'a', 2),
  plan(3, 'b', 2),
  result(3, 'b', {}, 2),
  result(2, 'a', {}, 2),
  result(4, 'last'),
];

describe('edge/queue: POST /v2/workflows/runs/<id>/rerun', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());
  beforeEach(() => {
    face.runLog.stored.set('r', {
      runId: run('r'),
      createdAtMs: 100,
      state: 'RUN_FAILED',
      envelope: envelope(),
      entries: ENTRIES,
    });
    face.gateway.answer('RerunRun', startedRuns());
  });
  const post = (body: object, path = RERUN) => face.request('POST', path, { body });
  const names = () =>
    face.gateway.last('RerunRun').entries.map(({ step }) => {
      if (step === undefined) return 'payload';
      return step.stepId === 0 ? `plan ${step.stepName}` : step.stepName;
    });
  const bodies = () => face.gateway.last('RerunRun').entries.map(({ body }) => Buffer.from(body).toString());

  it('keeps the payload and the results before the step, by its number or its name', async () => {
    for (const fromStep of [4, 'last']) {
      const { status, json } = await post({ fromStep });
      expect([status, json]).to.deep.equal([200, STARTED]);
      expect(names()).to.deep.equal(['payload', 'one', 'plan a', 'plan b', 'b', 'a']);
    }
    expect(face.gateway.last('RerunRun').from).to.deep.equal({ runId: 'r', createdAtMs: 100 });
    await post({ fromStep: 1 });
    expect(names()).to.deep.equal(['payload']);
    await post({ fromStep: 5 });
    expect(names()).to.have.length(ENTRIES.length);
  });

  it('keeps the results of the other members of a parallel group', async () => {
    await post({ fromStep: 'a' });
    expect(names()).to.deep.equal(['payload', 'one', 'plan a', 'plan b', 'b']);
  });

  it('takes another payload, result and URL', async () => {
    await post({ fromStep: 'one', input: { n: 2 }, stepResult: { total: 9 }, url: 'https://next.example/flow' });
    const [payload, record] = bodies();
    expect(payload).to.equal('{"n":2}');
    expect(JSON.parse(record as string)).to.include({ stepId: 1, stepName: 'one', out: '{"total":9}' });
    expect(face.gateway.last('RerunRun').envelope.url).to.equal('https://next.example/flow');
    await post({ fromStep: 0, input: 'as it is' });
    expect(bodies()).to.deep.equal(['as it is']);
  });

  it('gives a result the form that the type of its step has', async () => {
    const of = (stepType: string) => [entry(''), result(1, 'x', { stepType })];
    const outs: unknown[] = [];
    for (const stepType of ['Wait', 'Invoke', 'Call']) {
      face.runLog.stored.set('r', { ...(face.runLog.stored.get('r') as StoredRun), entries: of(stepType) });
      await post({ fromStep: 1, stepResult: { ok: 1 } });
      outs.push(JSON.parse(bodies()[1] as string).out);
    }
    expect(outs).to.deep.equal([
      Buffer.from('{"ok":1}').toString('base64'),
      '{"body":"{\\"ok\\":1}","isCanceled":false,"isFailed":false}',
      '{"ok":1}',
    ]);
    face.runLog.stored.set('r', { ...(face.runLog.stored.get('r') as StoredRun), entries: of('SleepFor') });
    const { status, json } = await post({ fromStep: 1, stepResult: 1 });
    expect([status, json]).to.deep.equal([
      400,
      { error: 'stepResult is not possible for a sleep, which has no result' },
    ]);
  });

  it('refuses an unknown run and steps that the run does not have', async () => {
    expect((await post({ fromStep: 1 }, '/v2/workflows/runs/unknown/rerun')).status).to.equal(404);
    for (const [body, error] of [
      [{}, 'fromStep must be the number of a step, 0 for the payload, or the name of a step'],
      [{ fromStep: -1 }, 'fromStep must be the number of a step, 0 for the payload, or the name of a step'],
      [{ fromStep: 6 }, 'fromStep is 6, but the run has steps up to 4'],
      [{ fromStep: 'none' }, 'the run has no step named "none"'],
      [{ fromStep: 5, stepResult: 1 }, 'stepResult needs a recorded step, and the run has no record of step 5'],
      [{ fromStep: 1, url: 'https://forbidden.example/' }, 'invalid workflow url'],
    ] as const) {
      const { status, json } = await post(body);
      expect(status, JSON.stringify(body)).to.equal(400);
      expect((json as { error: string }).error, JSON.stringify(body)).to.contain(error);
    }
  });

  it('asks for the number of a step whose name several steps have', async () => {
    const entries = [...ENTRIES, result(5, 'one')];
    face.runLog.stored.set('r', { ...(face.runLog.stored.get('r') as StoredRun), entries });
    const { json } = await post({ fromStep: 'one' });
    expect(json).to.deep.equal({ error: 'the steps 1, 5 are named "one": give the number of one' });
  });

  it('refuses entries that the log no longer has, or that are too large', async () => {
    const entries = [entry('{}'), { ...result(1, 'one'), body: undefined }];
    face.runLog.stored.set('r', { ...(face.runLog.stored.get('r') as StoredRun), entries });
    expect((await post({ fromStep: 2 })).status).to.equal(413);
    expect((await post({ fromStep: 1 })).status).to.equal(200);
  });

  it('is refused before the installation is raised to format level 4, because earlier programs lose the entries', async () => {
    face.formatLevel = 3;
    const { status, json } = await post({ fromStep: 1 });
    expect([status, json]).to.deep.equal([
      400,
      { error: 'a rerun needs format level 4: run millrace cluster upgrade' },
    ]);
  });

  it('is refused with a read-only token', async () => {
    const { status } = await face.request('POST', RERUN, { body: { fromStep: 1 }, token: QUEUE_READ_ONLY_TOKEN });
    expect(status).to.equal(403);
  });

  describe('POST /v2/workflows/runs/rerun', () => {
    const BULK = '/v2/workflows/runs/rerun';
    beforeEach(() => {
      const runs = ['r', 'gone'].map((runId) => ({ runId: run(runId), createdAtMs: 100 }));
      face.runLog.page = { runs, cursor: '5-1' } as unknown as RunPage;
    });

    it('starts a run for each that the filter meets, and names the refused ones', async () => {
      const { status, json } = await post(
        { fromStep: 'one', workflowUrl: WORKFLOW, state: 'RUN_FAILED', count: 2 },
        BULK,
      );
      expect([status, json]).to.deep.equal([
        200,
        {
          workflowRuns: [{ ...STARTED, rerunOf: 'r' }],
          refused: [{ workflowRunId: 'gone', workflowCreatedAt: 100, error: 'workflowRun gone not found' }],
          cursor: '5-1',
        },
      ]);
      const [query] = face.runLog.queries.slice(-1);
      expect(query).to.deep.include({ count: 2, states: ['RUN_FAILED'], trimBytes: -1 });
    });

    it('is refused without a filter, and with an unknown one', async () => {
      expect((await post({ fromStep: 1 }, BULK)).status).to.equal(400);
      expect((await post({ fromStep: 1, workflowURL: WORKFLOW }, BULK)).json).to.deep.equal({
        error: 'unknown parameter workflowURL',
      });
    });
  });
});
