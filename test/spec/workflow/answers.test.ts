import { expect } from 'chai';
import { QueueSpec, response } from '../../support/queue-spec.js';
import {
  answered,
  callItem,
  entryItem,
  MARK,
  OVER,
  type TriggerOptions,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const NON_RETRYABLE: [string, string] = ['Svc-NonRetryable-Error', 'true'];
const FOR_GOOD = ['failed r#0, for good', 'dead-lettered r#0', 'run r RUN_FAILED'];
const NOT_A_WORKFLOW =
  'detected a non-workflow destination for trigger/invoke. make sure you are sending the request to the correct endpoint';
const TOO_OLD = 'trigger rest api is only usable with sdk versions after v1.0.0 major version';

function begun(options: TriggerOptions = {}): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', options);
  return flow.work().skipEvents();
}

function errorsOf(flow: WorkflowSpec): readonly (string | undefined)[] {
  const failed = flow.all('AttemptFailed').at(-1);
  const dead = flow.all('MessageDeadLettered').at(-1);
  const ended = flow.all('RunEnded').at(-1);
  return [failed?.error, dead?.error, ended?.error];
}

describe('workflow: the answer of an endpoint', () => {
  it('200: the delivery is done, and the text has no effect', () => {
    for (const body of ['{"workflowRunId":"r","finishCondition":"workflow-already-ended"}', '', 'no JSON']) {
      const flow = begun();
      flow.answer('r#0', answered(200, [], body));
      expect(flow.news()).to.deep.equal(['delivered r#0']);
      expect(flow.isActive('r')).to.equal(true);
    }
  });

  it('200 without the protocol version: not a workflow endpoint; the run fails immediately', () => {
    const flow = begun();
    flow.answer('r#0', response(200, [['Content-Type', 'text/html']], '<p>hello</p>'));
    expect(flow.news()).to.deep.equal(FOR_GOOD);
    expect(errorsOf(flow)).to.deep.equal([NOT_A_WORKFLOW, NOT_A_WORKFLOW, NOT_A_WORKFLOW]);
    const [dead] = flow.all('MessageDeadLettered');
    expect(dead).to.include({ status: 200 });
    expect(flow.textOf(dead?.response.number ?? 0)).to.equal('<p>hello</p>');
  });

  it('200 without the protocol version to a message that does not require it: done', () => {
    const flow = begun({ mark: { ...MARK, detectsTrigger: false } });
    flow.answer('r#0', response(200));
    expect(flow.news()).to.deep.equal(['delivered r#0']);
  });

  it('200 without the protocol version to the outcome of a call: done', () => {
    const flow = begun();
    flow.deliver('r#0');
    flow.submit(callItem('r', 1));
    flow.answer('r#c1', response(200));
    flow.skipEvents().answer('r#c1 result', response(200));
    expect(flow.news().at(-1)).to.equal('delivered r#c1 result');
    expect(flow.isActive('r')).to.equal(true);
  });

  for (const [client, isOk] of [
    ['v1.3.3', true],
    ['v1.0.0', true],
    ['2.0.0-rc.1', true],
    ['v10.1.0', true],
    ['v0.3.0', false],
    ['', false],
    [undefined, false],
  ] as const) {
    it(`200 of a client ${client ?? 'that does not say which'} to a REST trigger: ${isOk ? 'done' : 'too old'}`, () => {
      const flow = begun({ mark: { ...MARK, needsRecentClient: true } });
      const header: [string, string][] = [['svc-workflow-sdk-version', '1']];
      if (client !== undefined) header.push(['svc-workflow-sdk', client]);
      flow.answer('r#0', response(200, header));
      expect(flow.news()).to.deep.equal(isOk ? ['delivered r#0'] : FOR_GOOD);
      if (!isOk) expect(errorsOf(flow)).to.deep.equal([TOO_OLD, TOO_OLD, TOO_OLD]);
    });
  }

  for (const status of [199, 300, 301, 400, 404, 405, 412, 500, 503]) {
    it(`${status}: an ordinary failure, retried with the settings of the run`, () => {
      const flow = begun({ maxRetries: 1, retryDelay: '2000' });
      flow.answer('r#0', answered(status, [], '{"message":"m"}'));
      expect(flow.news()).to.deep.equal(['failed r#0, next in 2000']);
      flow.pass(2000);
      expect(flow.news()).to.deep.equal(['started r#0, retry 1']);
      expect(flow.listOf('r#0')).to.deep.equal(['r#0']);
      flow.answer('r#0', status);
      expect(flow.news()).to.deep.equal(FOR_GOOD);
      expect(errorsOf(flow)[1]).to.equal(`HTTP status ${status}`);
    });
  }

  it('no answer: an ordinary failure', () => {
    const flow = begun({ maxRetries: 1, retryDelay: '1' });
    flow.miss('r#0').pass(1).skipEvents();
    flow.miss('r#0');
    expect(flow.news()).to.deep.equal(FOR_GOOD);
    expect(flow.all('MessageDeadLettered')[0]).to.include({ status: 0, error: 'connection refused' });
  });

  it('429 with an instant: retried then, and it counts as a retry', () => {
    const flow = begun({ maxRetries: 1 });
    flow.answer('r#0', answered(429, [['Retry-After', '77']]));
    expect(flow.news()).to.deep.equal(['failed r#0, next in 77000']);
    flow.pass(77_000).skipEvents();
    flow.answer('r#0', 429);
    expect(flow.news()).to.deep.equal(FOR_GOOD);
  });

  it('489 with the header: the run fails immediately', () => {
    const flow = begun({ maxRetries: 9 });
    flow.answer('r#0', answered(489, [NON_RETRYABLE], '{"error":"NonRetryable","message":"no"}'));
    expect(flow.news()).to.deep.equal(FOR_GOOD);
  });

  it('489 without the header, or the header with another status: an ordinary failure', () => {
    for (const outcome of [answered(489), answered(500, [NON_RETRYABLE])]) {
      const flow = begun();
      flow.answer('r#0', outcome);
      expect(flow.news()).to.deep.equal(['failed r#0, next in 12182']);
    }
  });

  it('a failure after the step was appended: the retry finds the step', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1));
    flow.answer('r#0', 500).skipEvents();
    flow.pass(13_000);
    expect(flow.news()).to.deep.equal(['started r#0, retry 1']);
    const again = flow.submit(entryItem('r', 1, { id: 'again' }));
    expect(again).to.deep.include({ type: 'Published' });
    flow.deliver('r#0');
    expect(flow.news()).to.deep.equal(['delivered r#0']);
  });

  it('a failure after the run has ended: no consequence', () => {
    const flow = begun();
    flow.finish('r');
    flow.skipEvents();
    flow.answer('r#0', 500);
    expect(flow.news()).to.deep.equal(['failed r#0, for good', 'cancelled r#0']);
    expect(flow.queue.ask({ type: 'EndRun', runId: 'r' as never, how: 'cancel', response: undefined })).to.include({
      reason: 'NOT_FOUND',
    });
  });

  it('a late or repeated answer: counts once', () => {
    const flow = begun();
    const attempt = flow.attempt('r#0');
    flow.deliver('r#0');
    flow.queue.ask({
      type: 'RecordAttempt',
      id: attempt.id,
      retried: 0,
      restarts: 0,
      outcome: answered(500),
      sentBody: undefined,
    });
    expect(flow.news()).to.deep.equal(['delivered r#0']);
  });

  it('the alias spelling: read like the neutral one', () => {
    const flow = new WorkflowSpec(new QueueSpec({ aliasHeaderWord: 'Brand' }));
    flow.trigger('r');
    flow.answer('r#0', response(200, [['brand-workflow-sdk-version', '1']]));
    expect(flow.isActive('r')).to.equal(true);
  });

  it('after the run failed for another reason: its submissions are refused as over', () => {
    const flow = begun({ maxRetries: 0 });
    flow.submit(entryItem('r', 1));
    flow.work();
    flow.answer('r#0', 500);
    expect(flow.submit(entryItem('r', 2))).to.deep.equal(OVER);
    flow.skipEvents().deliver('r#1');
    expect(flow.news()).to.deep.equal(['delivered r#1']);
  });
});
