/** The steps in the record of a run, from the first delivery to the end. Proves RGR1–RGR3. */
import { expect } from 'chai';
import type { LoggedStep } from '../../../../src/ports/index.js';
import { brief, RunLogStand } from '../../../support/run-log-stand.js';
import {
  answered,
  CHILD,
  callItem,
  ENDPOINT,
  entryItem,
  invokeItem,
  PARTY,
  planItem,
  type StepOptions,
} from '../../../support/workflow-spec.js';

/** The record of a step in the form that the endpoint sends. */
function record(stepId: number, type: string, members: object = {}, concurrent = 1): string {
  return JSON.stringify({ stepId, stepName: `step ${stepId}`, stepType: type, concurrent, ...members });
}

function result(stepId: number, out: unknown, options: StepOptions = {}) {
  const { type = 'Run', concurrent = 1 } = options;
  return entryItem('r', stepId, { body: record(stepId, type, { out: JSON.stringify(out) }, concurrent), ...options });
}

describe("a run's record", () => {
  let log: RunLogStand;
  beforeEach(() => {
    log = new RunLogStand();
  });
  afterEach(() => log.end());

  const groups = async (runId = 'r') => brief((await log.run(runId)).groups);
  const steps = async (runId = 'r') =>
    (await log.run(runId)).groups.flatMap((group): readonly LoggedStep[] => (group.type === 'next' ? [] : group.steps));
  const step = async (at: number) => (await steps())[at] as LoggedStep;

  it('has the payload and the first delivery from the start', async () => {
    log.spec.trigger('r', { maxRetries: 3, retryDelay: '1000', labels: ['one', 'two'] });
    const run = await log.run();
    expect(brief(run.groups)).to.equal('init SUCCESS | next r#0 STEP_PROGRESS');
    const { spec } = log;
    expect([run.runId, run.url, run.state, run.createdAtMs]).to.deep.equal([
      'r',
      ENDPOINT,
      'RUN_STARTED',
      spec.queue.nowMs,
    ]);
    expect([run.endedAtMs, run.response, run.dlqId, run.invoker, run.failureFunction]).to.deep.equal(
      Array(5).fill(undefined),
    );
    expect([run.labels, run.callerIp, run.isAlias]).to.deep.equal([['one', 'two'], '192.0.2.1', false]);
    const [init] = await steps();
    expect(init).to.deep.include({
      stepId: undefined,
      stepName: 'init',
      stepType: 'Initial',
      callType: 'step',
      messageId: 'r#0',
      out: 'payload of r',
      concurrent: 1,
      createdAtMs: spec.queue.nowMs,
      maxRetries: 3,
      retryDelay: '1000',
      timeoutMs: undefined,
      failures: [],
    });
    expect(init?.header).to.deep.equal([
      ['Content-Type', 'text/plain'],
      ['Svc-Workflow-Sdk-Version', '1'],
    ]);
  });

  it('shows a first delivery between attempts in two groups, with its failures', async () => {
    const { spec } = log;
    spec.trigger('r', { maxRetries: 3, retryDelay: '5000', timeoutSeconds: 30 });
    spec.answer(
      'r#0',
      answered(
        400,
        [
          ['X-Why', 'because'],
          ['Svc-Error-Step-Name', 'pay'],
        ],
        'no',
      ),
    );
    const run = await log.run();
    expect(brief(run.groups)).to.equal('init SUCCESS | next r#0 STEP_RETRY after 400 Bad Request');
    const [, next] = run.groups;
    expect(next).to.deep.equal({
      type: 'next',
      deliveries: [
        {
          messageId: 'r#0',
          stepName: 'pay',
          state: 'STEP_RETRY',
          maxRetries: 3,
          retryDelay: '5000',
          timeoutMs: 30_000,
          failures: [
            {
              atMs: spec.queue.nowMs,
              error: '400 Bad Request',
              status: 400,
              header: [
                ['Svc-Workflow-Sdk-Version', '1'],
                ['Svc-Workflow-Sdk', 'v1.3.3'],
                ['X-Why', 'because'],
                ['Svc-Error-Step-Name', 'pay'],
              ],
              body: 'no',
            },
          ],
          nextDeliveryAtMs: spec.queue.nowMs + 5000,
        },
      ],
    });
    // There is no next delivery time while the next attempt runs.
    spec.pass(5000);
    const [, trying] = (await log.run()).groups;
    expect(trying?.type === 'next' && trying.deliveries[0]).to.deep.include({
      state: 'STEP_RETRY',
      nextDeliveryAtMs: undefined,
    });
  });

  it('has a step for each result, and no open step after a success', async () => {
    const { spec } = log;
    spec.trigger('r').messageId;
    spec.attempt('r#0');
    spec.submit(result(1, { a: 1 }));
    spec.deliver('r#0');
    expect(await groups()).to.equal('init SUCCESS | 1 Run SUCCESS | next r#1 STEP_PROGRESS');
    spec.attempt('r#1');
    spec.finish('r', '"done"');
    const beforeAnswer = await log.run();
    spec.deliver('r#1');
    const run = await log.run();
    expect(brief(run.groups)).to.equal('init SUCCESS | 1 Run SUCCESS');
    expect(run).to.deep.equal(beforeAnswer);
    expect([run.state, run.response, run.endedAtMs]).to.deep.equal(['RUN_SUCCESS', '"done"', spec.queue.nowMs]);
    expect((await step(1)).out).to.equal('{"a":1}');
  });

  it('shows a sleeping step as in progress until its time has come', async () => {
    const { spec } = log;
    spec.trigger('r');
    spec.attempt('r#0');
    const body = record(1, 'SleepFor', { sleepFor: '1m30s' });
    spec.submit(entryItem('r', 1, { type: 'SleepFor', body, notBeforeMs: spec.queue.nowMs + 90_000 }));
    spec.deliver('r#0');
    expect(await groups()).to.equal('init SUCCESS | 1 SleepFor PROGRESS');
    expect((await step(1)).sleepForMs).to.equal(90_000);
    spec.pass(90_000);
    expect(await groups()).to.equal('init SUCCESS | 1 SleepFor SUCCESS | next r#1 STEP_PROGRESS');
  });

  it('shows the end of a sleep in milliseconds', async () => {
    const { spec } = log;
    spec.trigger('r');
    spec.attempt('r#0');
    const body = record(1, 'SleepUntil', { sleepUntil: spec.queue.nowMs / 1000 + 60.5 });
    spec.submit(entryItem('r', 1, { type: 'SleepUntil', body, notBeforeMs: spec.queue.nowMs + 60_500 }));
    expect(await step(1)).to.deep.include({
      sleepUntilMs: spec.queue.nowMs + 60_500,
      sleepForMs: undefined,
      state: 'STEP_PROGRESS',
    });
    spec.cancel('r');
    expect((await step(1)).state).to.equal('STEP_CANCELED');
  });

  it('shows a delay before the first delivery', async () => {
    const { spec } = log;
    spec.trigger('r', { delaySeconds: 60 });
    const [, next] = (await log.run()).groups;
    expect(next?.type === 'next' && next.deliveries).to.deep.include.members([
      {
        messageId: 'r#0',
        stepName: undefined,
        state: 'STEP_PROGRESS',
        maxRetries: 3,
        retryDelay: undefined,
        timeoutMs: undefined,
        failures: [],
        nextDeliveryAtMs: spec.queue.nowMs + 60_000,
      },
    ]);
  });

  describe('of a call to a third party', () => {
    const out = JSON.stringify({ status: 201, body: 'made', header: { 'X-A': ['1', '2'] } });

    beforeEach(() => {
      const { spec } = log;
      spec.trigger('r', { maxRetries: 0 });
      spec.attempt('r#0');
      spec.submit(
        callItem('r', 1, { method: 'PUT', header: [['X-Ask', 'please']], maxRetries: 1, retryDelay: '1000' }),
      );
      spec.deliver('r#0');
    });

    it('shows the request while the call is open', async () => {
      expect(await groups()).to.equal('init SUCCESS | 1 Call toCallback PROGRESS');
      const { call, messageId, out: none } = await step(1);
      expect([messageId, none]).to.deep.equal(['r#c1', undefined]);
      expect(call).to.deep.equal({
        url: PARTY,
        method: 'PUT',
        header: [['X-Ask', 'please']],
        body: 'asked',
        response: undefined,
      });
    });

    it('shows the retries set by the step, from the beginning to the end', async () => {
      const { spec } = log;
      const shown = async () => {
        const { callType, maxRetries, retryDelay } = await step(1);
        return [callType, maxRetries, retryDelay];
      };
      expect(await shown()).to.deep.equal(['toCallback', 1, '1000']);
      spec.answer('r#c1', answered(201, [], 'made'), 'asked');
      expect(await shown()).to.deep.equal(['fromCallback', 1, '1000']);
      spec.attempt('r#c1 result');
      spec.submit(entryItem('r', 1, { type: 'Call', body: record(1, 'Call', { out }) }));
      expect(await shown()).to.deep.equal(['step', 1, '1000']);
    });

    it('shows its retries', async () => {
      log.spec.answer('r#c1', answered(503, [], 'busy'));
      expect(await groups()).to.equal('init SUCCESS | 1 Call toCallback RETRY after 503 Service Unavailable');
      expect((await step(1)).nextDeliveryAtMs).to.equal(log.spec.queue.nowMs + 1000);
    });

    it('shows the answer as soon as it came, and continues as an ordinary step', async () => {
      const { spec } = log;
      spec.answer('r#c1', answered(201, [['X-A', '1']], 'made'), 'asked');
      expect(await groups()).to.equal('init SUCCESS | 1 Call fromCallback PROGRESS');
      const early = (await step(1)).call?.response;
      expect([early?.status, early?.body]).to.deep.equal([201, 'made']);
      spec.attempt('r#c1 result');
      spec.submit(entryItem('r', 1, { type: 'Call', body: record(1, 'Call', { out }) }));
      spec.deliver('r#c1 result');
      expect(await groups()).to.equal('init SUCCESS | 1 Call SUCCESS | next r#1 STEP_PROGRESS');
      const done = await step(1);
      expect([done.messageId, done.out]).to.deep.equal(['r#1', out]);
      expect(done.call).to.deep.equal({
        url: PARTY,
        method: 'PUT',
        header: [['X-Ask', 'please']],
        body: 'asked',
        response: {
          status: 201,
          header: [
            ['X-A', '1'],
            ['X-A', '2'],
          ],
          body: 'made',
        },
      });
    });

    it('fails with the delivery of its outcome', async () => {
      const { spec } = log;
      spec.answer('r#c1', answered(200, [], 'made'));
      spec.answer('r#c1 result', answered(500, [], 'broken'));
      expect(await groups()).to.equal('init SUCCESS | 1 Call fromCallback FAILED after 500 Internal Server Error');
      expect((await log.run()).state).to.equal('RUN_FAILED');
    });
  });

  describe('of a step that waits for an event', () => {
    beforeEach(() => {
      const { spec } = log;
      spec.trigger('r');
      spec.attempt('r#0');
      spec.wait('r', 1, 'evt', { seconds: 120 });
      spec.deliver('r#0');
    });

    const wait = { eventId: 'evt', timeoutText: '120s', deadlineMs: 0 };

    it('shows the event id and the timeout', async () => {
      expect(await groups()).to.equal('init SUCCESS | 1 Wait PROGRESS');
      const { wait: shown, messageId, createdAtMs } = await step(1);
      const { nowMs } = log.spec.queue;
      expect(shown).to.deep.equal({ ...wait, deadlineMs: nowMs + 120_000, hasTimedOut: false });
      expect([messageId, createdAtMs]).to.deep.equal(['r#1', nowMs]);
    });

    it('shows the event when it came', async () => {
      log.spec.notify('evt', 'evt#1', undefined, 'hello');
      expect(await groups()).to.equal('init SUCCESS | 1 Wait SUCCESS | next evt#1 STEP_PROGRESS');
      const { out, wait: shown } = await step(1);
      expect([out, shown?.hasTimedOut]).to.deep.equal([Buffer.from('hello').toString('base64'), false]);
    });

    it('shows that it timed out', async () => {
      log.spec.pass(120_000);
      const { out, wait: shown, state } = await step(1);
      expect([state, out, shown?.hasTimedOut]).to.deep.equal(['STEP_SUCCESS', undefined, true]);
    });

    it('is cancelled with the run', async () => {
      log.spec.cancel('r');
      expect(await groups()).to.equal('init SUCCESS | 1 Wait CANCELED');
    });
  });

  describe('of a step that invokes a child', () => {
    beforeEach(() => {
      const { spec } = log;
      spec.trigger('r');
      spec.attempt('r#0');
      spec.submit(invokeItem('r', 1, 'child', { header: [['X-Child', 'yes']], body: 'for the child' }));
      spec.deliver('r#0');
    });

    it('shows the child, and the child shows its invoker', async () => {
      expect(await groups()).to.equal('init SUCCESS | 1 Invoke PROGRESS');
      const { nowMs } = log.spec.queue;
      expect((await step(1)).invoke).to.deep.equal({
        runId: 'child',
        url: CHILD,
        createdAtMs: nowMs,
        body: 'for the child',
        header: [['X-Child', 'yes']],
      });
      expect((await log.run('child')).invoker).to.deep.equal({ runId: 'r', url: ENDPOINT, createdAtMs: nowMs });
    });

    it('has the result of the child', async () => {
      const { spec } = log;
      spec.attempt('child#0');
      spec.finish('child', '"ok"');
      expect(await groups()).to.equal(`init SUCCESS | 1 Invoke SUCCESS | next ${spec.idOf('r#1')} STEP_PROGRESS`);
      expect(JSON.parse((await step(1)).out ?? '')).to.deep.equal({ body: '"ok"', isCanceled: false, isFailed: false });
      expect((await step(1)).invoke?.runId).to.equal('child');
    });

    it('is cancelled with the run, with any outcome of the child', async () => {
      log.spec.cancel('r');
      expect(await groups()).to.equal('init SUCCESS | 1 Invoke CANCELED');
      log.spec.attempt('child#0');
      log.spec.finish('child', '"late"');
      expect(await groups()).to.equal('init SUCCESS | 1 Invoke CANCELED');
    });
  });

  describe('of a parallel group', () => {
    const concurrent = 3;
    const member = (id: number) => result(id, id * 10, { concurrent });

    beforeEach(() => {
      const { spec } = log;
      spec.trigger('r', { maxRetries: 0 });
      spec.attempt('r#0');
      const body = (target: number) =>
        JSON.stringify({ stepId: 0, stepName: `step ${target}`, stepType: 'Run', concurrent, targetStep: target });
      spec.submit(...[1, 2, 3].map((id) => planItem('r', id, { concurrent, body: body(id) })));
      spec.deliver('r#0');
    });

    it('shows all members as soon as they are planned, each separately', async () => {
      const { spec } = log;
      expect(await groups()).to.equal('init SUCCESS | (1 Run PROGRESS + 2 Run PROGRESS + 3 Run PROGRESS)');
      spec.attempt('r#p2');
      spec.submit(member(2));
      spec.deliver('r#p2');
      expect(await groups()).to.equal('init SUCCESS | (1 Run PROGRESS + 2 Run SUCCESS + 3 Run PROGRESS)');
      const second = await step(2);
      expect([second.messageId, second.out, second.concurrent, second.stepName]).to.deep.equal([
        'r#2',
        '20',
        3,
        'step 2',
      ]);
      const first = await step(1);
      expect([first.messageId, first.out, first.concurrent]).to.deep.equal(['r#p1', undefined, 3]);
    });

    it('continues with the last of its results', async () => {
      const { spec } = log;
      for (const id of [3, 1, 2]) {
        spec.attempt(`r#p${id}`);
        spec.submit(member(id));
        spec.deliver(`r#p${id}`);
        if (id !== 2) spec.deliver(`r#${id}`);
      }
      expect(await groups()).to.equal(
        'init SUCCESS | (1 Run SUCCESS + 2 Run SUCCESS + 3 Run SUCCESS) | next r#2 STEP_PROGRESS',
      );
    });

    it('shows the failure on the member, and its siblings as cancelled', async () => {
      const { spec } = log;
      spec.attempt('r#p2');
      spec.submit(member(2));
      spec.deliver('r#p2');
      spec.answer('r#p1', answered(500, [], 'broken'));
      expect(await groups()).to.equal(
        'init SUCCESS | (1 Run FAILED after 500 Internal Server Error + 2 Run SUCCESS + 3 Run CANCELED)',
      );
      const { failures } = await step(1);
      expect(failures.map(({ status, body }) => [status, body])).to.deep.equal([[500, 'broken']]);
    });

    it('shows a child that ended after the run had failed as a completed step', async () => {
      const { spec } = log;
      spec.attempt('r#p3');
      spec.submit(invokeItem('r', 3, 'child', { concurrent }));
      spec.deliver('r#p3');
      spec.answer('r#p1', 500);
      expect(await groups()).to.contain('3 Invoke CANCELED');
      spec.attempt('child#0');
      spec.finish('child', '"late"');
      expect(await groups()).to.contain('3 Invoke SUCCESS');
      expect(JSON.parse((await step(3)).out ?? '').body).to.equal('"late"');
    });

    it('shows calls of members, and an announced sleep', async () => {
      const { spec } = log;
      spec.attempt('r#p1');
      spec.submit(callItem('r', 1, { concurrent }));
      spec.deliver('r#p1');
      expect(await groups()).to.equal('init SUCCESS | (1 Call toCallback PROGRESS + 2 Run PROGRESS + 3 Run PROGRESS)');
    });
  });

  describe('of a run that failed', () => {
    const failureCallback = { url: 'https://app.example/failure', settings: { maxRetries: 1, retryDelay: '1000' } };

    async function failedRun(): Promise<void> {
      const { SETTINGS } = await import('../../../support/queue-spec.js');
      const { spec } = log;
      const callback = { url: failureCallback.url, settings: { ...SETTINGS, ...failureCallback.settings } };
      spec.trigger('r', { maxRetries: 0, failureCallback: callback });
      spec.answer('r#0', answered(400, [['X-Why', 'because']], 'no'));
    }

    it('shows the failed delivery under next, and the request of its failure function', async () => {
      await failedRun();
      const run = await log.run();
      expect([run.state, run.dlqId, run.endedAtMs]).to.deep.equal([
        'RUN_FAILED',
        log.spec.dlqIdOf('r'),
        log.spec.queue.nowMs,
      ]);
      expect(brief(run.groups)).to.equal('init SUCCESS | next r#0 STEP_FAILED after 400 Bad Request');
      expect(run.failureFunction).to.deep.include({
        messageId: log.spec.idOf('r failure'),
        url: failureCallback.url,
        state: 'CALLBACK_INPROGRESS',
        maxRetries: 1,
        response: undefined,
        failures: [],
      });
      expect(run.failureFunction?.failed).to.deep.include({ status: 400, body: 'no' });
    });

    it("shows the failure function's failure, retries and answer", async () => {
      await failedRun();
      const { spec } = log;
      spec.answer('r failure', answered(500, [], 'oh'));
      const trying = (await log.run()).failureFunction;
      expect([trying?.state, trying?.failures.map(({ error }) => error)]).to.deep.equal([
        'CALLBACK_INPROGRESS',
        ['500 Internal Server Error'],
      ]);
      expect(trying?.nextDeliveryAtMs).to.equal(spec.queue.nowMs + 1000);
      spec.pass(1000);
      spec.answer('r failure', answered(200, [], 'sorry'));
      const told = (await log.run()).failureFunction;
      expect([told?.state, told?.response?.status, told?.response?.body]).to.deep.equal([
        'CALLBACK_SUCCESS',
        200,
        'sorry',
      ]);
    });

    it('shows that the failure function has failed', async () => {
      await failedRun();
      log.spec
        .answer('r failure', 500)
        .pass(1000)
        .answer('r failure', answered(503, [], 'busy'));
      const told = (await log.run()).failureFunction;
      expect([told?.state, told?.response?.status, told?.failures.length]).to.deep.equal(['CALLBACK_FAIL', 503, 2]);
    });

    it('shows a failure function that is called again or cancelled', async () => {
      await failedRun();
      const { spec } = log;
      spec
        .answer('r failure', 500)
        .pass(1000)
        .answer('r failure', answered(503, [], 'busy'));
      const dlqId = spec.dlqIdOf('r');
      spec.queue.ask({ type: 'RunFailureFunction', dlqId, messageId: 'again' as never });
      const again = (await log.run()).failureFunction;
      expect([again?.messageId, again?.state, again?.response, again?.failures]).to.deep.equal([
        'again',
        'CALLBACK_INPROGRESS',
        undefined,
        [],
      ]);
      spec.queue.ask({ type: 'CancelFailureFunction', dlqId });
      expect((await log.run()).failureFunction?.state).to.equal('CALLBACK_CANCELED');
      expect((await log.events({ filter: { messageId: ['again' as never] } })).at(-1)?.state).to.match(/^CANCEL/);
    });

    it('shows no failure function if the endpoint has none', async () => {
      await failedRun();
      log.spec.deliver('r failure', [['Svc-Workflow-Failure-Callback-Notfound', 'true']]);
      expect((await log.run()).failureFunction).to.equal(undefined);
    });

    it('shows the reason if it is not the status', async () => {
      log.spec.trigger('r');
      log.spec.queue.work();
      log.spec.queue.outcome('r#0', {
        kind: 'response',
        status: 200,
        header: [],
        body: Buffer.from('ok'),
        isCut: false,
        durationMs: 1,
      });
      expect(await groups()).to.match(
        /^init SUCCESS \| next r#0 STEP_FAILED after detected a non-workflow destination/,
      );
    });
  });

  it('shows the open steps of a cancelled run', async () => {
    const { spec } = log;
    spec.trigger('r', { maxRetries: 3, retryDelay: '5000', timeoutSeconds: 30 });
    spec.answer('r#0', 500);
    spec.cancel('r');
    const run = await log.run();
    expect([run.state, brief(run.groups)]).to.deep.equal([
      'RUN_CANCELED',
      'init SUCCESS | next r#0 STEP_CANCELED after 500 Internal Server Error',
    ]);
  });
});
