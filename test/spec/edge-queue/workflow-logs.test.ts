/** `/v2/workflows/logs` and `/v2/workflows/events`: the queries to the run log, and the form of the answers. */
import { expect } from 'chai';
import type { DlqId, MessageId, RunId } from '../../../src/kernel/index.js';
import type { LoggedRun, LoggedStep, RunEvent } from '../../../src/ports/index.js';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const BY_RUN = '/v2/workflows/events?groupBy=workflowRunId';
const AT_MS = 1_790_000_000_000;
const URL = 'https://app.example/flow';
const VERSION: [string, string] = ['Svc-Workflow-Sdk-Version', '1'];

const init: LoggedStep = {
  stepId: undefined,
  stepName: 'init',
  stepType: 'Initial',
  callType: 'step',
  messageId: 'msg_0' as MessageId,
  out: 'payload',
  concurrent: 1,
  state: 'STEP_SUCCESS',
  createdAtMs: AT_MS,
  maxRetries: 3,
  retryDelay: undefined,
  timeoutMs: undefined,
  header: [['Content-Type', 'text/plain'], VERSION, ['X-User', 'a'], ['X-User', 'b']],
  nextDeliveryAtMs: undefined,
  failures: [],
  sleepForMs: undefined,
  sleepUntilMs: undefined,
  call: undefined,
  wait: undefined,
  invoke: undefined,
};

const failure = {
  atMs: AT_MS + 5,
  error: '400 Bad Request',
  status: 400,
  header: [['X-Why', 'because'] as const],
  body: 'no',
};

const started: LoggedRun = {
  runId: 'wfr_1' as RunId,
  url: URL,
  createdAtMs: AT_MS,
  labels: [],
  callerIp: '',
  isAlias: false,
  state: 'RUN_STARTED',
  endedAtMs: undefined,
  response: undefined,
  flowControlKey: undefined,
  dlqId: undefined,
  invoker: undefined,
  failureFunction: undefined,
  groups: [{ type: 'sequential', steps: [init] }],
};

const shownInit = {
  stepName: 'init',
  stepType: 'Initial',
  callType: 'step',
  messageId: 'msg_0',
  out: 'payload',
  retries: 3,
  concurrent: 1,
  state: 'STEP_SUCCESS',
  createdAt: AT_MS,
  headers: { 'Content-Type': ['text/plain'], 'Svc-Workflow-Sdk-Version': ['1'], 'X-User': ['a', 'b'] },
};

describe('edge/queue: logs of workflows', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const shown = async (run: Partial<LoggedRun>, path = BY_RUN, headers: Record<string, string> = {}) => {
    face.runLog.page = { runs: [{ ...started, ...run }], cursor: undefined };
    const { json } = await face.get(path, { headers });
    return (json as { runs: Record<string, unknown>[] }).runs[0] as Record<string, unknown>;
  };
  const shownStep = async (step: Partial<LoggedStep>) => {
    const { steps } = await shown({ groups: [{ type: 'sequential', steps: [{ ...init, ...step }] }] });
    const { headers, ...others } = (steps as { steps: Record<string, unknown>[] }[])[0]?.steps[0] ?? {};
    return others;
  };

  describe('runs', () => {
    it('have the fields that are always there, and no unset one', async () => {
      expect(await shown({})).to.deep.equal({
        workflowRunId: 'wfr_1',
        workflowUrl: URL,
        workflowState: 'RUN_STARTED',
        workflowRunCreatedAt: AT_MS,
        steps: [{ type: 'sequential', steps: [shownInit] }],
      });
    });

    it('are the same under both paths', async () => {
      expect(await shown({}, '/v2/workflows/logs')).to.deep.equal(await shown({}));
    });

    it('have all fields of a finished run', async () => {
      const run = await shown({
        state: 'RUN_FAILED',
        endedAtMs: AT_MS + 9,
        response: '"x"',
        callerIp: '192.0.2.1',
        labels: ['one', 'two'],
        flowControlKey: 'k',
        dlqId: '1-1' as DlqId,
        invoker: { runId: 'wfr_0' as RunId, url: 'https://app.example/parent', createdAtMs: 7 },
        groups: [],
      });
      expect(run).to.deep.equal({
        workflowRunId: 'wfr_1',
        workflowUrl: URL,
        workflowState: 'RUN_FAILED',
        workflowRunCreatedAt: AT_MS,
        workflowRunCompletedAt: AT_MS + 9,
        workflowRunResponse: '"x"',
        workflowRunCallerIp: '192.0.2.1',
        label: 'one',
        labels: ['one', 'two'],
        flowControlKey: 'k',
        dlqId: '1-1',
        invoker: { workflowRunId: 'wfr_0', workflowUrl: 'https://app.example/parent', workflowRunCreatedAt: 7 },
        steps: [],
      });
    });

    it('have open deliveries, with their failures', async () => {
      const delivery = {
        messageId: 'msg_0' as MessageId,
        stepName: 'pay',
        state: 'STEP_RETRY' as const,
        maxRetries: 3,
        retryDelay: '1000',
        timeoutMs: 30_000,
        failures: [failure],
        nextDeliveryAtMs: AT_MS + 1000,
      };
      const { steps } = await shown({ groups: [{ type: 'next', deliveries: [delivery] }] });
      expect(steps).to.deep.equal([
        {
          type: 'next',
          steps: [
            {
              messageId: 'msg_0',
              stepName: 'pay',
              state: 'STEP_RETRY',
              retries: 3,
              retryDelay: '1000',
              timeout: 30_000,
              errors: [
                {
                  error: '400 Bad Request',
                  status: 400,
                  body: 'no',
                  headers: { 'X-Why': ['because'] },
                  time: AT_MS + 5,
                },
              ],
              nextDeliveryTime: AT_MS + 1000,
            },
          ],
        },
      ]);
    });

    it('show the request to their failure function, and its answer', async () => {
      const { failureFunction } = await shown({
        dlqId: '1-1' as DlqId,
        failureFunction: {
          messageId: 'msg_f' as MessageId,
          url: 'https://app.example/failure',
          state: 'CALLBACK_SUCCESS',
          maxRetries: 2,
          failed: { status: 400, header: [['X-Why', 'because']], body: '400 Bad Request' },
          response: { status: 200, header: [['X-A', 'b']], body: 'told' },
          failures: [],
          nextDeliveryAtMs: undefined,
        },
      });
      expect(failureFunction).to.deep.equal({
        messageId: 'msg_f',
        url: 'https://app.example/failure',
        state: 'CALLBACK_SUCCESS',
        failStatus: 400,
        failResponse: '400 Bad Request',
        failHeaders: { 'X-Why': ['because'] },
        dlqId: '1-1',
        responseStatus: 200,
        responseBody: 'told',
        responseHeaders: { 'X-A': ['b'] },
        maxRetries: 2,
      });
    });

    it('have the spelling of the request, or else of their trigger', async () => {
      const headersOf = async (isAlias: boolean, headers: Record<string, string> = {}) => {
        const { steps } = await shown({ isAlias }, BY_RUN, headers);
        return Object.keys((steps as { steps: (typeof shownInit)[] }[])[0]?.steps[0]?.headers ?? {})[1];
      };
      expect(await headersOf(false)).to.equal('Svc-Workflow-Sdk-Version');
      expect(await headersOf(true)).to.equal('Acme-Workflow-Sdk-Version');
      expect(await headersOf(false, { 'acme-telemetry-sdk': 'x' })).to.equal('Acme-Workflow-Sdk-Version');
    });

    it('have a cursor only when there are more', async () => {
      expect((await face.get(BY_RUN)).text).to.equal('{"runs":[]}');
      face.runLog.page = { runs: [], cursor: '5-6' };
      expect((await face.get(BY_RUN)).json).to.deep.equal({ runs: [], cursor: '5-6' });
    });
  });

  describe('steps', () => {
    const { headers, ...base } = shownInit;
    const step = { ...base, stepId: 1, stepName: 'one' };
    const of = (stepType: string) => ({ stepId: 1, stepName: 'one', stepType });

    it('that sleep', async () => {
      expect(await shownStep({ ...of('SleepFor'), out: undefined, sleepForMs: 5000 })).to.deep.equal(
        without({ ...step, stepType: 'SleepFor', sleepFor: 5000 }, 'out'),
      );
      expect(await shownStep({ ...of('SleepUntil'), sleepUntilMs: AT_MS })).to.include({ sleepUntil: AT_MS });
    });

    it('that call a third party', async () => {
      const call = {
        url: 'https://party.example/',
        method: 'PUT' as const,
        header: [['X-Ask', 'please'] as const],
        body: 'asked',
        response: { status: 201, header: [['X-A', 'b'] as const], body: 'made' },
      };
      const members = { callUrl: call.url, callMethod: 'PUT', callHeaders: { 'X-Ask': ['please'] }, callBody: 'asked' };
      const answer = { callResponseStatus: 201, callResponseHeaders: { 'X-A': ['b'] }, callResponseBody: 'made' };
      expect(await shownStep({ ...of('Call'), call })).to.deep.equal({
        ...step,
        stepType: 'Call',
        ...members,
        ...answer,
      });
      const open = { ...of('Call'), callType: 'toCallback' as const, call: { ...call, response: undefined } };
      expect(await shownStep(open)).to.deep.equal({ ...step, stepType: 'Call', callType: 'toCallback', ...members });
    });

    it('that wait for an event', async () => {
      const wait = { eventId: 'evt', timeoutText: '7d', deadlineMs: AT_MS + 7, hasTimedOut: false };
      expect(await shownStep({ ...of('Wait'), wait })).to.deep.equal({
        ...step,
        stepType: 'Wait',
        waitEventId: 'evt',
        waitTimeoutDuration: '7d',
        waitTimeoutDeadline: AT_MS + 7,
        waitTimeout: false,
      });
    });

    it('that invoke another workflow', async () => {
      const invoke = {
        runId: 'wfr_2' as RunId,
        url: 'https://app.example/child',
        createdAtMs: AT_MS + 1,
        body: 'for it',
        header: [VERSION],
      };
      expect(await shownStep({ ...of('Invoke'), invoke })).to.deep.equal({
        ...step,
        stepType: 'Invoke',
        invokedWorkflowRunId: 'wfr_2',
        invokedWorkflowUrl: 'https://app.example/child',
        invokedWorkflowCreatedAt: AT_MS + 1,
        invokedWorkflowRunBody: 'for it',
        invokedWorkflowRunHeaders: { 'Svc-Workflow-Sdk-Version': ['1'] },
      });
    });

    it('that failed in a parallel group, with the errors on the step itself', async () => {
      const { errors, state } = await shownStep({ ...of('Run'), state: 'STEP_FAILED', failures: [failure] });
      expect([state, (errors as unknown[]).length]).to.deep.equal(['STEP_FAILED', 1]);
    });
  });

  describe('the query of /v2/workflows/logs', () => {
    const asked = async (query: string) => {
      const { status, text } = await face.get(`/v2/workflows/logs?${query}`);
      expect(status, text).to.equal(200);
      return face.runLog.queries.at(-1);
    };

    it('defaults to everything, ten at a time, up to now', async () => {
      face.gateway.answer('GetPosition', { type: 'Position', position: 77 });
      expect(await asked('')).to.deep.equal({
        filter: {},
        states: [],
        stepStates: [],
        count: 10,
        cursor: undefined,
        trimBytes: undefined,
      });
      expect(face.runLog.seen).to.deep.equal([77]);
    });

    it('accepts every filter', async () => {
      const query = new URLSearchParams({
        workflowRunId: 'wfr_1',
        workflowCreatedAt: '5',
        workflowUrl: 'https://a.example/x,y,https://b.example/',
        host: 'a.example',
        path: '/x',
        label: 'one,two',
        flowControlKey: 'k',
        callerIp: '192.0.2.1',
        messageId: 'msg_1',
        fromDate: '1',
        toDate: '2',
        state: 'RUN_FAILED,step_retry',
        cursor: '1-2',
        count: '3',
        trimBody: '100',
      });
      expect(await asked(String(query))).to.deep.equal({
        filter: {
          runs: [{ runId: 'wfr_1', createdAtMs: 5 }],
          createdAtMs: 5,
          url: ['https://a.example/x,y', 'https://b.example/'],
          host: ['a.example'],
          path: ['/x'],
          label: ['one', 'two'],
          flowControlKey: ['k'],
          callerIp: ['192.0.2.1'],
          messageId: ['msg_1'],
          fromMs: 1,
          toMs: 2,
        },
        states: ['RUN_FAILED'],
        stepStates: ['STEP_RETRY'],
        count: 3,
        cursor: '1-2',
        trimBytes: 100,
      });
    });

    it('accepts runs by name, and ignores all other filters then', async () => {
      const query = await asked('workflowRuns=wfr_a@1,me@home@2&label=x&state=RUN_FAILED&trimBody=-1');
      expect([query?.filter, query?.states, query?.trimBytes]).to.deep.equal([
        {
          runs: [
            { runId: 'wfr_a', createdAtMs: 1 },
            { runId: 'me@home', createdAtMs: 2 },
          ],
        },
        [],
        -1,
      ]);
    });

    it('limits the count to the page size', async () => {
      expect((await asked('count=500'))?.count).to.equal(50);
      await face.get('/v2/workflows/events?count=5000');
      expect(face.runLog.eventQueries.at(-1)?.count).to.equal(1000);
    });

    for (const query of [
      'labels=x',
      'state=RUN_LOST',
      'count=0',
      'cursor=x',
      'trimBody=-2',
      'workflowCreatedAt=soon',
      'workflowRuns=wfr_a',
      'workflowRunId=',
      'groupBy=label',
      'order=earliestFirst',
    ]) {
      it(`refuses ${query}`, async () => {
        const { status, json } = await face.get(`/v2/workflows/logs?${query}`);
        expect([status, Object.keys(json as object)]).to.deep.equal([400, ['error']]);
        expect(face.runLog.queries).to.deep.equal([]);
      });
    }

    it('accepts a read-only token, and answers 401 without a token', async () => {
      expect((await face.get(BY_RUN, { token: 'queue-read-only-token' })).status).to.equal(200);
      expect((await face.get(BY_RUN, { token: null })).status).to.equal(401);
    });
  });

  describe('events', () => {
    const event: RunEvent = {
      atMs: AT_MS,
      state: 'RUN_STARTED',
      runId: 'wfr_1' as RunId,
      url: URL,
      createdAtMs: AT_MS,
      labels: ['one'],
      callerIp: '192.0.2.1',
      isAlias: false,
      step: undefined,
      header: [],
      nextDeliveryAtMs: undefined,
      error: undefined,
      response: undefined,
      invoker: undefined,
      runResponse: undefined,
      dlqId: undefined,
    };
    const record = async (changes: Partial<RunEvent>) => {
      face.runLog.eventPage = { events: [{ ...event, ...changes }], cursor: undefined };
      const { json } = await face.get('/v2/workflows/events');
      expect(Object.keys(json as object)).to.deep.equal(['events']);
      return (json as { events: unknown[] }).events[0];
    };
    const base = {
      time: AT_MS,
      state: 'RUN_STARTED',
      workflowRunId: 'wfr_1',
      workflowUrl: URL,
      workflowCreatedAt: AT_MS,
      label: 'one',
      labels: ['one'],
      callerIp: '192.0.2.1',
    };

    it('of a run', async () => {
      const invoker = { runId: 'wfr_0' as RunId, url: 'https://app.example/parent', createdAtMs: 3 };
      expect(await record({ invoker })).to.deep.equal({
        ...base,
        invokerWorkflowRunId: 'wfr_0',
        invokerWorkflowUrl: 'https://app.example/parent',
        invokerWorkflowCreatedAt: 3,
      });
      expect(await record({ state: 'RUN_SUCCESS', runResponse: '1' })).to.deep.equal({
        ...base,
        state: 'RUN_SUCCESS',
        workflowRunResponse: '1',
      });
      expect(await record({ state: 'RUN_FAILED', dlqId: '1-1' as DlqId, error: 'why' })).to.deep.equal({
        ...base,
        state: 'RUN_FAILED',
        dlqId: '1-1',
        error: 'why',
      });
    });

    it('of a message', async () => {
      const step = {
        messageId: 'msg_1' as MessageId,
        stepId: 1,
        stepName: 'one',
        stepType: 'Run',
        callType: 'step' as const,
        concurrent: 1,
        out: undefined,
      };
      const response = { status: 400, header: failure.header, body: 'no' };
      const shownEvent = await record({ state: 'ERROR', step, header: [VERSION], error: '400 Bad Request', response });
      expect(shownEvent).to.deep.equal({
        ...base,
        state: 'ERROR',
        messageId: 'msg_1',
        stepInfo: without(step, 'out'),
        error: '400 Bad Request',
        responseStatus: 400,
        responseBody: 'no',
        responseHeaders: { 'X-Why': ['because'] },
        headers: { 'Svc-Workflow-Sdk-Version': ['1'] },
      });
    });

    it('are selected by state, and by names for several states', async () => {
      await face.get(
        '/v2/workflows/events?state=IN_PROGRESS,WAITER_ADDED,RUN_STARTED&order=earliestFirst&messageId=msg_1',
      );
      expect(face.runLog.eventQueries.at(-1)).to.deep.equal({
        filter: { messageId: ['msg_1'] },
        states: ['ACTIVE', 'RETRY', 'ERROR', 'WAITER_ADDED', 'RUN_STARTED'],
        order: 'earliestFirst',
        count: 1000,
        cursor: undefined,
        trimBytes: undefined,
      });
      expect((await face.get('/v2/workflows/events?state=STEP_RETRY')).status).to.equal(400);
    });
  });
});

function without<T extends object>(value: T, ...names: (keyof T)[]): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name as keyof T))) as Partial<T>;
}
