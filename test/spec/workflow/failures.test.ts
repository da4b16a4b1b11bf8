import { expect } from 'chai';
import { noResponse, QueueSpec, SETTINGS } from '../../support/queue-spec.js';
import {
  answered,
  CHILD,
  callItem,
  entryItem,
  invokeItem,
  type TriggerOptions,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const FAILED = { url: 'https://app.example/failed', settings: { ...SETTINGS, maxRetries: 1, retryDelay: '1000' } };
const NO = answered(489, [['Svc-NonRetryable-Error', 'true']], '{"error":"Error","message":"no"}');

function failed(options: TriggerOptions = {}): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { failureCallback: FAILED, maxRetries: 0, ...options });
  flow.deliver('r#0');
  flow.submit(entryItem('r', 1));
  flow.work();
  return flow.skipEvents().answer('r#1', NO);
}

function functionOf(flow: WorkflowSpec) {
  for (const event of flow.queue.engine.rebuildingEvents()) {
    if (event.type === 'RunRestored' && event.dlqId !== undefined) return event.failureFunction;
  }
  return undefined;
}

describe('workflow: runs that fail', () => {
  it('enter the DLQ and call their failure function in one turn', () => {
    const flow = failed();
    expect(flow.news()).to.deep.equal([
      'failed r#1, for good',
      'dead-lettered r#1',
      'run r RUN_FAILED',
      'accepted r failure',
    ]);
    const [ended] = flow.all('RunEnded');
    const [dead] = flow.all('MessageDeadLettered');
    expect(ended).to.include({ state: 'RUN_FAILED', dlqId: dead?.dlqId, error: 'HTTP status 489' });
    expect(functionOf(flow)).to.deep.include({ state: 'CALLBACK_INPROGRESS', url: FAILED.url, status: 0 });
  });

  it('fail immediately with RefuseStep, also during an attempt, and the later answer changes no state', () => {
    for (const isUnderWay of [false, true]) {
      const flow = new WorkflowSpec();
      flow.trigger('r', { failureCallback: FAILED, maxRetries: 3 });
      if (isUnderWay) flow.work();
      flow.skipEvents();
      const command = { type: 'RefuseStep', runId: 'r' as never, error: 'the step was refused: too large' } as const;
      expect(flow.queue.ask(command)).to.deep.equal({ type: 'Done' });
      expect(flow.news()).to.deep.equal([
        'failed r#0, for good',
        'dead-lettered r#0',
        'run r RUN_FAILED',
        'accepted r failure',
      ]);
      expect(flow.all('RunEnded')[0]).to.include({ error: 'the step was refused: too large' });
      const told = flow.recordOf('r failure') as { status: number; body: string };
      const read = JSON.parse(Buffer.from(told.body, 'base64').toString()) as unknown;
      expect([told.status, read]).to.deep.equal([412, { error: 'StepRefused', message: command.error }]);
      flow.skipEvents();
      if (isUnderWay)
        flow.queue.ask({
          type: 'RecordAttempt',
          id: 'r#0' as never,
          retried: 0,
          restarts: 0,
          outcome: NO,
          sentBody: undefined,
        });
      expect(flow.queue.ask(command)).to.deep.equal({ type: 'Done' });
      expect(flow.news()).to.deep.equal([]);
    }
  });

  it('describe the failure in the failure message, with an empty place for the payload', () => {
    const flow = failed();
    const told = flow.recordOf('r failure') as Record<string, unknown>;
    expect(told).to.include({
      status: 489,
      body: Buffer.from('{"error":"Error","message":"no"}').toString('base64'),
      url: 'https://app.example/flow',
      method: 'POST',
      sourceMessageId: 'r#1',
      sourceBody: '',
      retried: 0,
      maxRetries: 0,
      workflowRunId: 'r',
      dlqId: flow.dlqIdOf('r'),
    });
    expect(told.workflowCreatedAt).to.be.a('number');
    expect(told.header).to.deep.include({ 'Svc-NonRetryable-Error': ['true'] });
    const { run } = flow.attempt('r failure');
    expect(run?.part).to.include({ role: 'failure', dlqId: flow.dlqIdOf('r') });
    const payload = run?.part.role === 'failure' ? run.part.payload.number : 0;
    expect(flow.textOf(payload)).to.equal('payload of r');
  });

  it('pass the whole answer to the failure function, of any size', () => {
    const flow = failed();
    const large = new WorkflowSpec();
    large.queue.limit({ maxMessageBytes: 1000 });
    large.trigger('r', { failureCallback: FAILED, maxRetries: 0 });
    large.answer('r#0', answered(500, [], 'x'.repeat(300_000)));
    const { body } = large.recordOf('r failure') as { body: string };
    expect(Buffer.from(body, 'base64')).to.have.length(300_000);
    expect(flow.isActive('r')).to.equal(false);
  });

  it('pass the reason to the failure function if there was no answer', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { failureCallback: FAILED, maxRetries: 0 });
    flow.work();
    flow.queue.outcome('r#0', noResponse('timed out'));
    expect(flow.recordOf('r failure')).to.include({ status: 0, body: '', error: 'timed out' });
  });

  it('without a failure function send no failure message', () => {
    const flow = failed({ failureCallback: undefined });
    expect(flow.news()).to.deep.equal(['failed r#1, for good', 'dead-lettered r#1', 'run r RUN_FAILED']);
    expect(functionOf(flow)).to.equal(undefined);
  });

  it('cancel waiting messages, and leave open calls to end', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { maxRetries: 0 });
    flow.submit(entryItem('r', 1), entryItem('r', 2, { delaySeconds: 60 }), callItem('r', 3, { delaySeconds: 60 }));
    flow.wait('r', 4, 'e');
    flow.notify('f', 'kept', 'r');
    flow.work().skipEvents();
    flow.answer('r#1', 500);
    expect(flow.news()).to.deep.equal([
      'failed r#1, for good',
      'dead-lettered r#1',
      'run r RUN_FAILED',
      'cancelled r#2',
      'cancelled r#c3',
    ]);
    flow.deliver('r#0').pass(120_000);
    expect(flow.news()).to.deep.equal(['delivered r#0']);
    const left = [...flow.queue.engine.rebuildingEvents()].find((event) => event.type === 'RunRestored');
    expect(left).to.deep.include({ waiters: [], storedEvents: [] });
  });

  it('are separate from plain messages in the DLQ', () => {
    const flow = failed();
    const dlqId = flow.dlqIdOf('r');
    expect(flow.queue.ask({ type: 'GetDlq', dlqId })).to.include({ reason: 'NOT_FOUND' });
    const everything = { kind: 'filter', filter: {}, count: 100, after: undefined, order: 'earliestFirst' } as const;
    expect(flow.queue.ask({ type: 'DeleteDlq', selector: everything })).to.include({ count: 0 });
    const retried = { type: 'RetryDlq', selector: everything, firstId: 'x' as never } as const;
    expect(flow.queue.ask({ ...retried, overrides: { headers: [], query: [] } })).to.deep.include({ results: [] });
    expect(functionOf(flow)).to.not.equal(undefined);
  });

  it('leave the DLQ by age, with all their data', () => {
    const flow = failed();
    flow.answer('r failure', answered(200, [], '"done"')).skipEvents();
    flow.pass(7 * 24 * 3600 * 1000);
    expect(flow.news()).to.deep.equal(['DlqExpired 1']);
    for (const id of ['a', 'b']) flow.trigger(id, { body: '' });
    expect(flow.queue.shelf.contents.size).to.equal(0);
  });

  it('leave the DLQ a few at a time when their lists are long', () => {
    const flow = new WorkflowSpec();
    for (const id of ['a', 'b', 'c']) {
      flow.trigger(id, { maxRetries: 0 });
      flow.submit(...Array.from({ length: 1500 }, (_, at) => entryItem(id, at + 1, { body: '', delaySeconds: 60 })));
      flow.answer(`${id}#0`, 500);
    }
    flow
      .work()
      .skipEvents()
      .pass(7 * 24 * 3600 * 1000);
    expect(flow.news()).to.deep.equal(['DlqExpired 2', 'DlqExpired 1']);
  });

  it('make room for newer entries, like plain messages', () => {
    const flow = new WorkflowSpec();
    flow.queue.limit({ maxDlqEntries: 2 });
    for (const id of ['a', 'b', 'c']) {
      flow.trigger(id, { maxRetries: 0 });
      flow.answer(`${id}#0`, 500);
    }
    expect(flow.news().filter((one) => one.startsWith('DlqExpired'))).to.have.length(1);
    expect(flow.rebuilt().queue.digest()).to.equal(flow.queue.digest());
  });

  it('keep the payload for the failure function when their entry leaves the DLQ first', () => {
    const flow = failed();
    const { run } = flow.attempt('r failure');
    flow.queue.limit({ maxDlqEntries: 0 });
    flow.pass(1);
    const payload = run?.part.role === 'failure' ? run.part.payload.number : 0;
    expect(flow.textOf(payload)).to.equal('payload of r');
    flow.answer('r failure', answered(200, [], '"done"')).pass(60_000);
    for (const id of ['a', 'b']) flow.trigger(id, { body: '' });
    expect(flow.queue.shelf.contents.size).to.equal(0);
  });

  it('keep the payload for the failure function when the parent fails with the result, in a DLQ of one entry', () => {
    const flow = new WorkflowSpec();
    flow.queue.limit({ maxDlqEntries: 1 });
    flow.trigger('r', { maxRetries: 0 });
    for (let step = 2; step <= 5000; step += 1) flow.submit(entryItem('r', step, { body: '', delaySeconds: 60 }));
    flow.submit(invokeItem('r', 1, 'child', { failureCallback: { url: CHILD, settings: SETTINGS }, maxRetries: 0 }));
    flow.work().skipEvents();
    flow.answer('child#0', 500);
    expect(flow.isActive('r')).to.equal(false);
    const { run } = flow.attempt('child failure');
    const payload = run?.part.role === 'failure' ? run.part.payload.number : 0;
    expect(flow.textOf(payload)).to.equal('payload of child');
  });
});

describe('workflow: failure functions', () => {
  it('with an answer are done, and their answer is kept with the run', () => {
    const flow = failed().skipEvents();
    flow.answer('r failure', answered(200, [['X-Done', '1']], '{"result":"sorry"}'));
    expect(flow.news()).to.deep.equal([
      'started r failure',
      'failure function of r: CALLBACK_SUCCESS',
      'delivered r failure',
    ]);
    const ended = functionOf(flow);
    expect(ended).to.deep.include({ state: 'CALLBACK_SUCCESS', status: 200 });
    expect(ended?.header).to.deep.include(['X-Done', '1']);
    expect(flow.textOf(ended?.body.number ?? 0)).to.equal('{"result":"sorry"}');
    expect(flow.rebuilt().queue.digest()).to.equal(flow.queue.digest());
  });

  it('that the endpoint does not have count as absent', () => {
    const flow = failed().skipEvents();
    flow.answer('r failure', answered(200, [['Svc-Workflow-Failure-Callback-Notfound', 'true']]));
    expect(flow.news().slice(1)).to.deep.equal(['failure function of r: none', 'delivered r failure']);
    expect(functionOf(flow)).to.equal(undefined);
  });

  it('that fail are retried by their own settings and then given up, without a second DLQ entry', () => {
    const flow = failed().skipEvents();
    flow.answer('r failure', 500).pass(1000);
    flow.answer('r failure', answered(503, [], 'down'));
    expect(flow.news()).to.deep.equal([
      'started r failure',
      'failed r failure, next in 1000',
      'started r failure, retry 1',
      'failed r failure, for good',
      'failure function of r: CALLBACK_FAIL',
      'gave up r failure',
    ]);
    expect(functionOf(flow)).to.deep.include({ state: 'CALLBACK_FAIL', status: 503 });
    expect(flow.all('MessageDeadLettered')).to.have.length(1);
  });

  it('without an answer are given up with status 0', () => {
    const flow = failed({ failureCallback: { ...FAILED, settings: SETTINGS_ONCE } });
    flow.miss('r failure');
    expect(functionOf(flow)).to.deep.include({ state: 'CALLBACK_FAIL', status: 0 });
  });

  it('that refuse further attempts are not retried', () => {
    const flow = failed();
    flow.answer('r failure', NO);
    expect(functionOf(flow)).to.deep.include({ state: 'CALLBACK_FAIL', status: 489 });
  });

  it('are called again after a crash', () => {
    const flow = failed();
    flow.work();
    for (const copy of [flow.replayed(), flow.rebuilt()]) {
      copy.skipEvents().pass(60_000);
      expect(copy.attempt('r failure').restarts).to.equal(1);
      copy.deliver('r failure');
      expect(functionOf(copy)).to.deep.include({ state: 'CALLBACK_SUCCESS' });
    }
  });

  it('get headers as the endpoint received them', () => {
    const flow = new WorkflowSpec(new QueueSpec({ deliveredWords: ['Brand'] }));
    flow.trigger('r', { maxRetries: 0, header: [['Svc-Label', 'l']], failureCallback: FAILED });
    flow.answer('r#0', 500);
    expect(flow.recordOf('r failure')).to.deep.include({ sourceHeader: { 'Brand-Label': 'l' } });
  });
});

const SETTINGS_ONCE = { ...SETTINGS, maxRetries: 0 };
