/** `POST /v2/workflows/check` against a small endpoint, and requests of endpoints for trial runs. */
import { expect } from 'chai';
import { ProcessTrials } from '../../../src/actors/queue/index.js';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import { headerValue } from '../../../src/domain/queue/index.js';
import type { AccountId, RunId, SessionId } from '../../../src/kernel/index.js';
import type { LoggedRun, OutgoingCall } from '../../../src/ports/index.js';
import { envelope } from '../../support/failed-run-views.js';
import { MemoryNetwork } from '../../support/memory/memory-bus.js';
import { QUEUE_ACCOUNT, QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { realTime } from '../../support/real-time.js';
import { standOfEachTest } from '../../support/stand-hooks.js';
import { mark, run } from '../../support/workflow-items.js';

const STAGING = 'https://staging.example/flow';
const steps = ['one', 'two', 'three'];

/** A finished run with these steps. */
function logged(id: string): LoggedRun {
  const groups = steps.map((stepName, at) => ({
    type: 'sequential' as const,
    steps: [{ ...mark(at + 1), stepName, call: undefined, invoke: undefined } as never],
  }));
  return { runId: run(id), url: 'https://app.example/flow', createdAtMs: 100, state: 'RUN_SUCCESS', groups } as never;
}

interface Program {
  readonly steps: readonly string[];
  /** Answers 500 for a record of another step. */
  readonly compares: boolean;
}

describe('edge/queue: POST /v2/workflows/check', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());
  /** Names of the steps that the endpoint has executed. */
  let executed: string[];
  let calls: OutgoingCall[];

  beforeEach(() => {
    executed = [];
    calls = [];
    store('r');
  });

  const store = (...ids: readonly string[]) => {
    face.runLog.page = { runs: ids.map(logged), cursor: undefined };
    const record = (stepName: string, at: number) => ({ ...mark(at + 1), stepName, out: '1' });
    const entries = [
      { step: undefined, body: Buffer.from('{}'), createdAtMs: 5 },
      ...steps.map((stepName, at) => ({
        step: { ...mark(at + 1), stepName },
        body: Buffer.from(JSON.stringify(record(stepName, at))),
        createdAtMs: 5,
      })),
    ];
    for (const id of ids) {
      const stored = { runId: run(id), createdAtMs: 100, state: 'RUN_SUCCESS', envelope: envelope(), entries } as const;
      face.runLog.stored.set(id, stored);
    }
  };

  /** An endpoint that submits its next step, or ends its run, through the queue. */
  const serve = (program: Program) => {
    const answer = (status: number, text = '{}') =>
      ({ kind: 'response', status, header: [], body: Buffer.from(text), isCut: false, durationMs: 1 }) as const;
    face.destination = async (call) => {
      calls.push(call);
      const id = call.headers.find(([name]) => name === 'Acme-Workflow-RunId')?.[1] as string;
      const list = JSON.parse(Buffer.from(call.body).toString()) as { body: string }[];
      const [, ...records] = list.map(({ body }) => JSON.parse(Buffer.from(body, 'base64').toString()));
      for (const [at, stepName] of program.steps.entries()) {
        const known = records.find(({ stepId }) => stepId === at + 1);
        if (known === undefined) {
          executed.push(stepName);
          const headers = { 'Svc-Workflow-RunId': id, 'Svc-Workflow-Init': 'false' };
          const record = JSON.stringify({ stepId: at + 1, stepName, stepType: 'Run', concurrent: 1 });
          const batch = [{ destination: STAGING, headers, body: record }];
          return answer((await face.request('POST', '/v2/batch', { body: batch })).status);
        }
        if (program.compares && (known.stepName !== stepName || known.stepType !== 'Run')) {
          return answer(
            500,
            JSON.stringify({ message: `it is ${known.stepName} (${known.stepType}), not ${stepName}` }),
          );
        }
      }
      return answer((await face.request('DELETE', `/v2/workflows/runs/${id}?cancel=false`)).status);
    };
  };

  const check = async (body: object = {}, options: object = {}) => {
    const whole = { url: STAGING, workflowRunId: 'r', ...body };
    return face.request('POST', '/v2/workflows/check', { body: whole, ...options });
  };
  const verdict = async (body: object = {}) => {
    const { status, json } = await check(body);
    expect(status, JSON.stringify(json)).to.equal(200);
    const [one] = (json as { runs: { outcome: string; differences: { stepName: string; text: string }[] }[] }).runs;
    return [one?.outcome, one?.differences.map(({ stepName, text }) => `${stepName}: ${text}`)];
  };

  it('executes no code of an endpoint that compares records, and stores none of its requests (RCH1, TRI1)', async () => {
    serve({ steps, compares: true });
    expect(await verdict()).to.deep.equal(['compatible', []]);
    serve({ steps: ['one', '2', 'three'], compares: true });
    expect(await verdict()).to.deep.equal(['breaks', ['two: it is two (Run), not 2']]);
    serve({ steps: ['one'], compares: true });
    expect(await verdict()).to.deep.equal(['breaks', ['two: the endpoint ends the run before step 2 "two" (Run)']]);
    expect(executed).to.deep.equal([]);
    expect(face.gateway.published).to.deep.equal([]);
    expect(face.gateway.asked.map(({ type }) => type)).to.not.include('EndRun');
  });

  it('is compatible only with an answer that shows it (RCH2)', async () => {
    serve({ steps: ['1', '2', '3'], compares: false });
    const { json } = await check();
    expect((json as { runs: { outcome: string; reason: string }[] }).runs[0]).to.include({
      outcome: 'unknown',
      reason: 'the endpoint does not compare the names of records with its steps; execute the steps to check it',
    });
    face.destination = async () => ({ kind: 'no-response', error: 'connection refused', durationMs: 1 });
    const [run] = ((await check()).json as { runs: { outcome: string; reason: string }[] }).runs;
    expect(run).to.include({ outcome: 'unknown', reason: 'the endpoint did not answer: connection refused' });
  });

  it('executeSteps compares the next request after each step, also of an endpoint that does not compare', async () => {
    serve({ steps, compares: false });
    expect(await verdict({ executeSteps: true })).to.deep.equal(['compatible', []]);
    expect(executed).to.deep.equal(steps);
    serve({ steps: ['one', 'three', 'two'], compares: false });
    expect(await verdict({ executeSteps: true })).to.deep.equal([
      'breaks',
      ['two: the endpoint has step 2 "three" (Run) instead of step 2 "two" (Run)'],
    ]);
  });

  it('calls a URL without a path at the path of each run, signed, with the header Svc-Check', async () => {
    serve({ steps, compares: true });
    await check({ url: 'https://staging.example' });
    const [call] = calls;
    expect(call?.url).to.equal('https://staging.example/flow');
    expect(headerValue(call?.headers ?? [], 'Svc-Check')).to.equal('true');
    expect(headerValue(call?.headers ?? [], 'Acme-Signature')).to.equal('signed');
  });

  it('refuses a missing filter, a forbidden URL, a read-only token and a second check of the account', async () => {
    serve({ steps, compares: true });
    const errorOf = async (body: object, options: object = {}) => {
      const { status, json } = await face.request('POST', '/v2/workflows/check', { body, ...options });
      return [status, (json as { error: string }).error];
    };
    expect(await errorOf({ url: STAGING })).to.deep.equal([
      400,
      'a filter is missing: name runs, or give a workflowUrl, a state or another filter',
    ]);
    expect((await errorOf({ url: 'https://forbidden.example/', workflowRunId: 'r' }))[0]).to.equal(400);
    expect((await errorOf({ workflowRunId: 'r' }))[1]).to.contain('url must be a string');
    expect((await check({}, { token: QUEUE_READ_ONLY_TOKEN })).status).to.equal(403);
    const [one, other] = await Promise.all([check(), check()]);
    expect([one.status, other.status].sort()).to.deep.equal([200, 429]);
  });
});

describe('trial runs', () => {
  const request = { kind: 'end', steps: [], url: undefined } as const;

  it('get the requests that another process has received, and of another account only that there were some (TRI2)', async () => {
    const network = new MemoryNetwork(realTime);
    const [checking, receiving] = ['node-a', 'node-b'].map((id) => {
      const bus = network.connect();
      const trials = new ProcessTrials({ bus, random: new NodeRandom() }, id as SessionId);
      bus.serve({ kind: 'session', session: id as SessionId }, async (payload) => trials.receive(payload));
      return trials;
    }) as [ProcessTrials, ProcessTrials];
    const trial = checking.begin(QUEUE_ACCOUNT);
    await receiving.take(QUEUE_ACCOUNT, trial.runId, request);
    expect([trial.requests.map(({ kind }) => kind), trial.isOfOtherAccount]).to.deep.equal([['end'], false]);
    await receiving.take('ac-bbbbbbbbbbbbbbbb' as AccountId, trial.runId, request);
    expect([trial.requests.length, trial.isOfOtherAccount]).to.deep.equal([1, true]);
    trial.end();
    await receiving.take(QUEUE_ACCOUNT, trial.runId, request);
    await receiving.take(QUEUE_ACCOUNT, 'wft.node-gone.aaaaaaaaaaaaaaaaaaaaa' as RunId, request);
    expect(trial.requests.length).to.equal(1);
  });
});
