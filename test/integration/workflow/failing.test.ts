/** Retries, failure functions, and the errors by which workflows of the published client control them. */
import { WorkflowNonRetryableError, WorkflowRetryAfterError } from '@upstash/workflow';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { entriesOf, kindOf, type Post } from '../../support/workflow-app.js';
import {
  type Flow,
  type FlowOptions,
  RUN_TIMEOUT_MS,
  sharedStand,
  type WorkflowStand,
} from '../../support/workflow-stand.js';

const SOON = { timeoutMs: RUN_TIMEOUT_MS, everyMs: 50 };
const TOO_MANY = 1_000_000;
const fails: Flow = (context) =>
  context.run('fails', () => {
    throw new Error('it failed');
  });
interface Retried {
  readonly errors: readonly { readonly status: number; readonly body: string }[];
  readonly nextDeliveryTime: number;
}
const retriedOf = (posts: readonly Post[]) => posts.map(({ headers }) => headers['upstash-retried']);

describe('failing runs', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  type Payload = Parameters<NonNullable<FlowOptions['failureFunction']>>[0];
  /** Serves a workflow and records the calls of its failure function. */
  const failing = (flow: Flow, failureFunction: (told: Payload) => string | undefined = () => undefined) => {
    const told: Payload[] = [];
    const options: FlowOptions = {
      failureFunction: async (payload) => {
        told.push(payload);
        return failureFunction(payload);
      },
    };
    return { url: stand.serve('failing', flow, options), told };
  };

  together('a step is retried after the delays of retryDelay, with its number in context.retried', async () => {
    const retried: number[] = [];
    const url = stand.serve('retried', async (context) => {
      await context.run('one', () => {});
      return context.run('two', () => {
        retried.push(context.retried);
        if (retried.length < 3) throw new Error('not yet');
        return 'at last';
      });
    });
    const { id, result } = await stand.run(url, { retries: 2, retryDelay: '300 * (1 + retried)' });
    expect({ result, retried }).to.deep.equal({ result: 'at last', retried: [0, 1, 2] });
    const attempts = stand.posts(id).slice(1, 4);
    expect(retriedOf(attempts)).to.deep.equal(['0', '1', '2']);
    expect(new Set(attempts.map(({ headers }) => headers['upstash-message-id'])).size).to.equal(1);
    expect(new Set(attempts.map(({ body }) => body)).size).to.equal(1);
    const [first, second, third] = attempts.map(({ atMs }) => atMs) as [number, number, number];
    expect(second - first).to.be.within(300, 20_000);
    expect(third - second).to.be.within(600, 20_000);
    expect(retriedOf(stand.posts(id).slice(4))).to.deep.equal(['0']);
  });

  together('an endpoint that answers 404 or 502 is retried', async () => {
    const url = stand.serve('away', (context) => context.run('one', () => 'done'));
    stand.app.fault(url, { does: 'refuse', times: 1, status: 404 });
    stand.app.fault(url, { does: 'refuse', times: 1, status: 502 });
    const { id, result } = await stand.run(url, { retries: 2, retryDelay: '10' });
    expect(result).to.equal('done');
    expect(stand.posts(id).map(({ status }) => status)).to.deep.equal([404, 502, 200, 200]);
  });

  together('the failure function gets the payload, the headers and the failed answer', async () => {
    const { url, told } = failing(fails, () => 'told');
    const { id } = await stand.run(url, { body: { ü: 1 }, headers: { 'X-Own': 'own' }, label: 'labelled' });
    await eventually(() => expect(told).to.have.length(1), SOON);
    const [{ context, failStatus, failResponse, failHeaders, failStack } = {} as Payload] = told;
    expect({ failStatus, failResponse }).to.deep.equal({ failStatus: 500, failResponse: 'it failed' });
    expect(failStack).to.match(/^Error: it failed\n +at /);
    expect(failHeaders['Upstash-Workflow-Sdk-Version']).to.deep.equal(['1']);
    expect(context).to.deep.include({ workflowRunId: id, requestPayload: { ü: 1 }, url });
    expect(context.headers.get('x-own')).to.equal('own');
    expect(context.label).to.equal('labelled');
    const run = await stand.log(id, ({ failureFunction }) =>
      expect(failureFunction?.state).to.equal('CALLBACK_SUCCESS'),
    );
    expect(run.failureFunction).to.include({
      url,
      failStatus: 500,
      responseStatus: 200,
      responseBody: '{"result":"told"}',
    });
    expect(run).to.include({ workflowState: 'RUN_FAILED' });
    expect(run.dlqId).to.be.a('string');
    expect(context.workflowRunCreatedAt).to.equal(run.workflowRunCreatedAt);
  });

  together('a failure function that fails is retried as often as the run, and then marked CALLBACK_FAIL', async () => {
    const { url, told } = failing(fails, () => {
      throw new Error('this too');
    });
    const { id } = await stand.run(url, { retries: 1, retryDelay: '10' });
    const run = await stand.log(id, ({ failureFunction }) => expect(failureFunction?.state).to.equal('CALLBACK_FAIL'));
    expect(told).to.have.length(2);
    expect(run.failureFunction?.responseStatus).to.equal(500);
    const posts = stand.posts(id);
    expect(posts.map(kindOf)).to.deep.equal(['step', 'step', 'failure', 'failure']);
    expect(retriedOf(posts)).to.deep.equal(['0', '1', '0', '1']);
  });

  together('a failure function that fails once is retried', async () => {
    const { url, told } = failing(fails);
    stand.app.fault(url, { does: 'refuse', times: 1, of: (post) => kindOf(post) === 'failure' });
    const { id } = await stand.run(url, { retries: 1, retryDelay: '10' });
    await stand.log(id, ({ failureFunction }) => expect(failureFunction?.state).to.equal('CALLBACK_SUCCESS'));
    expect(told).to.have.length(1);
  });

  together('WorkflowNonRetryableError fails the run without a retry', async () => {
    const { url, told } = failing((context) =>
      context.run('fails', () => {
        throw new WorkflowNonRetryableError('for good');
      }),
    );
    const { id } = await stand.run(url, { retries: 3 });
    await eventually(() => expect(told).to.have.length(1), SOON);
    expect(told[0]).to.include({ failStatus: 489, failResponse: 'for good' });
    expect(stand.posts(id).map(({ status }) => status)).to.deep.equal([489, 200]);
  });

  together('WorkflowRetryAfterError retries after its delay, and counts as a retry', async () => {
    let isFirst = true;
    const url = stand.serve('after', async (context) => {
      await context.run('one', () => {
        if (!isFirst) return;
        isFirst = false;
        throw new WorkflowRetryAfterError('later', 2);
      });
      return 'done';
    });
    const { id, result } = await stand.run(url, { retries: 1, retryDelay: '10' });
    expect(result).to.equal('done');
    const [first, second] = stand.posts(id) as [Post, Post];
    expect(first.status).to.equal(429);
    expect(second.atMs - first.atMs).to.be.within(1900, 30_000);
    expect(retriedOf([first, second])).to.deep.equal(['0', '1']);
  });

  together('a function that returns before its first step fails the run with 400', async () => {
    const { url, told } = failing(async (context) => {
      if (context.headers.get('authorization') !== 'Bearer right') return 'refused';
      return context.run('one', () => 'let in');
    });
    const { id } = await stand.run(url, { retries: 0, headers: { Authorization: 'Bearer wrong' } });
    expect(stand.posts(id)[0]).to.include({ status: 400 });
    const run = await stand.logOf(id, 'RUN_FAILED');
    expect(run.failureFunction).to.include({ failStatus: 400 });
    expect(run.failureFunction?.failResponse).to.contain('Failed to authenticate Workflow request');
    // The client runs the workflow's function for the failure call too, which refuses it before the failure function is
    // called.
    expect(told).to.deep.equal([]);
    expect((await stand.run(url, { headers: { Authorization: 'Bearer right' } })).result).to.equal('let in');
  });

  together('a failing member fails its group, and the results of the others are dropped', async () => {
    const other = { runs: 0 };
    const { url, told } = failing(async (context) => {
      await Promise.all([fails(context), context.sleep('sleeps', '1h'), context.run('runs', () => other.runs++)]);
    });
    const { id } = await stand.run(url);
    await eventually(() => expect(told).to.have.length(1), SOON);
    expect(told[0]?.failResponse).to.contain('it failed');
    expect(other.runs).to.be.at.most(1);
    const run = await stand.log(id, ({ failureFunction }) =>
      expect(failureFunction?.state).to.equal('CALLBACK_SUCCESS'),
    );
    const group = run.steps.find(({ type }) => type === 'parallel');
    const states = Object.fromEntries(
      (group?.steps ?? []).map((step) => [(step as { stepName: string }).stepName, step.state]),
    );
    expect(states).to.include({ fails: 'STEP_FAILED', sleeps: 'STEP_CANCELED' });
  });

  for (const [title, flow, type] of [
    ['a step', (context) => context.call('call', { url: stand.sink.url('/'), retries: TOO_MANY }), 'next'],
    [
      'a member of a group',
      (context) =>
        Promise.all(
          [0, TOO_MANY].map((retries) => context.call(`call ${retries}`, { url: stand.sink.url('/'), retries })),
        ),
      'parallel',
    ],
  ] as readonly [string, Flow, string][])
    together(`${title} beyond a limit of the account fails the run without a retry`, async () => {
      const { url, told } = failing(flow);
      const { id } = await stand.run(url, { retries: 3 });
      await eventually(() => expect(told).to.have.length(1), SOON);
      expect(told[0]?.failStatus).to.equal(412);
      // The log is later than the run, and shows the steps of a group one by one.
      await stand.log(id, ({ steps }) => {
        const failed = steps.find((group) => group.type === type)?.steps.find(({ state }) => state === 'STEP_FAILED');
        expect(failed).to.have.property('errors').that.has.length(1);
        expect(failed).to.have.nested.property('errors[0].status', 412);
      });
    });

  together('a changed step name fails the run', async () => {
    let name = 'before';
    const { url, told } = failing(async (context) => {
      await context.run(name, () => {
        name = 'after';
      });
    });
    const { id } = await stand.run(url);
    await eventually(() => expect(told).to.have.length(1), SOON);
    expect(told[0]?.failResponse).to.contain("Incompatible step name. Expected 'after', got 'before'");
    expect(entriesOf(stand.posts(id)[1]!).map(({ callType }) => callType)).to.deep.equal(['step', 'step']);
  });

  together('the log shows a pending retry', async () => {
    const url = stand.serve('waits', fails);
    const id = await stand.trigger(url, { retries: 3, retryDelay: '3600000' });
    const run = await stand.log(id, ({ steps }) => expect(steps.at(-1)?.steps[0]?.state).to.equal('STEP_RETRY'));
    expect(run.steps.map(({ type }) => type)).to.deep.equal(['sequential', 'next']);
    const { errors, nextDeliveryTime } = (run.steps[1]?.steps ?? [])[0] as unknown as Retried;
    expect(errors.map(({ status }) => status)).to.deep.equal([500]);
    expect(JSON.parse(errors[0]!.body)).to.include({ message: 'it failed' });
    expect(nextDeliveryTime).to.be.closeTo(Date.now() + 3_600_000, 60_000);
    expect(await stand.client.cancel(id)).to.deep.equal({ cancelled: 1 });
  });
});
