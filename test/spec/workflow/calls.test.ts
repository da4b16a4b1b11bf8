import { expect } from 'chai';
import { noResponse, response, SETTINGS } from '../../support/queue-spec.js';
import { answered, callItem, entryItem, OVER, planItem, published, WorkflowSpec } from '../../support/workflow-spec.js';

const FAILED = { url: 'https://app.example/failed', settings: SETTINGS };

function begun(): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { failureCallback: FAILED });
  return flow.deliver('r#0').skipEvents();
}

describe('workflow: calls to third parties', () => {
  it('are made by the server, and their outcome is delivered to the endpoint', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, { method: 'PUT' }));
    expect(flow.news()).to.deep.equal(['accepted r#c1']);
    expect(flow.entries('r')).to.have.length(1);
    flow.answer('r#c1', response(201, [['X-Reply', 'yes']], 'héllo'), 'asked');
    expect(flow.news()).to.deep.equal(['started r#c1', 'accepted r#c1 result', 'delivered r#c1']);
    const result = flow.recordOf('r#c1 result') as Record<string, unknown>;
    expect(result).to.include({
      status: 201,
      body: Buffer.from('héllo').toString('base64'),
      retried: 0,
      maxRetries: 0,
      sourceMessageId: 'r#c1',
      url: 'https://party.example/thing',
      method: 'PUT',
      sourceBody: Buffer.from('asked').toString('base64'),
    });
    expect(result.header).to.deep.equal({ 'X-Reply': ['yes'] });
    flow.submit(entryItem('r', 1, { type: 'Call' }));
    flow.deliver('r#c1 result');
    expect(flow.listOf('r#1')).to.deep.equal(['r#0', 'r#1']);
  });

  it('are retried by their own settings, with one result', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, { maxRetries: 2, retryDelay: '1000' }));
    flow.answer('r#c1', 500).pass(1000);
    flow.answer('r#c1', 503).pass(1000);
    flow.answer('r#c1', 200);
    expect(flow.news()).to.deep.equal([
      'accepted r#c1',
      'started r#c1',
      'failed r#c1, next in 1000',
      'started r#c1, retry 1',
      'failed r#c1, next in 1000',
      'started r#c1, retry 2',
      'accepted r#c1 result',
      'delivered r#c1',
    ]);
  });

  it('without attempts left are results too: the run does not fail, and the DLQ stays empty', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, { maxRetries: 1, retryDelay: '1000' }));
    flow.answer('r#c1', 500).pass(1000).skipEvents();
    flow.answer('r#c1', response(401, [], 'who are you'), 'asked');
    expect(flow.news()).to.deep.equal(['accepted r#c1 result', 'failed r#c1, for good', 'gave up r#c1']);
    expect(flow.recordOf('r#c1 result')).to.include({
      status: 401,
      retried: 1,
      maxRetries: 1,
      body: Buffer.from('who are you').toString('base64'),
    });
    expect(flow.isActive('r')).to.equal(true);
    expect(flow.all('MessageDeadLettered')).to.deep.equal([]);
  });

  it('without an answer have the reason in their result', () => {
    const flow = begun();
    flow.submit(callItem('r', 1));
    flow.work();
    flow.queue.outcome(flow.idOf('r#c1'), noResponse('timed out'), Buffer.from('asked'));
    expect(flow.recordOf('r#c1 result')).to.include({ status: 0, body: '' });
  });

  it("deliver a whole answer above the account's largest message size", () => {
    const flow = begun();
    flow.queue.limit({ maxMessageBytes: 1000 });
    flow.submit(callItem('r', 1));
    flow.answer('r#c1', response(200, [], 'x'.repeat(5000)), 'asked');
    const { body } = flow.recordOf('r#c1 result') as { body: string };
    expect(Buffer.from(body, 'base64')).to.have.length(5000);
  });

  it('that are submitted again are not made again, while the first is open or answered', () => {
    const flow = begun();
    flow.submit(callItem('r', 1));
    const repeat = () => published(flow.submit(callItem('r', 1, { id: 'again' })))[0];
    expect(repeat()).to.include({ messageId: 'r#c1', isDuplicate: true });
    flow.answer('r#c1', 200);
    expect(repeat()).to.include({ messageId: 'r#c1', isDuplicate: true });
    const copy = flow.rebuilt();
    expect(published(copy.submit(callItem('r', 1, { id: 'again' })))[0]).to.include({ isDuplicate: true });
    flow.submit(entryItem('r', 1, { type: 'Call' }));
    flow.deliver('r#c1 result');
    expect(repeat()).to.include({ isDuplicate: true });
    expect(flow.all('MessageAccepted').filter(({ workflow }) => workflow?.role === 'call')).to.have.length(1);
  });

  it('without a callback end without a result', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, { callback: undefined }));
    flow.answer('r#c1', 200);
    expect(flow.news()).to.deep.equal(['accepted r#c1', 'started r#c1', 'delivered r#c1']);
  });

  it('are refused as over when the run has ended', () => {
    const flow = begun();
    flow.cancel('r');
    expect(flow.submit(callItem('r', 1))).to.deep.equal(OVER);
  });

  it('are announced like other steps of a group, and are not entries', () => {
    const flow = begun();
    flow.submit(planItem('r', 1, { type: 'Call', concurrent: 2 }), planItem('r', 2, { concurrent: 2 }));
    flow.work();
    flow.submit(callItem('r', 1, { concurrent: 2 }));
    flow.deliver('r#p1').deliver('r#p2');
    flow.submit(entryItem('r', 2, { concurrent: 2 }));
    flow.answer('r#c1', 200);
    flow.submit(entryItem('r', 1, { type: 'Call', concurrent: 2 }));
    expect(flow.listOf('r#2')).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#2']);
    expect(flow.listOf('r#1')).to.deep.equal(['r#0', 'r#p1', 'r#p2', 'r#2', 'r#1']);
  });

  it('with an undeliverable outcome fail the run like any delivery', () => {
    const flow = begun();
    flow.submit(callItem('r', 1));
    flow.answer('r#c1', 200).skipEvents();
    flow.answer('r#c1 result', answered(489, [['Svc-NonRetryable-Error', 'true']], 'bad'));
    expect(flow.news()).to.deep.equal([
      'started r#c1 result',
      'failed r#c1 result, for good',
      'dead-lettered r#c1 result',
      'run r RUN_FAILED',
      'accepted r failure',
    ]);
  });

  it('with an outcome delivered twice give one result', () => {
    const flow = begun();
    flow.submit(callItem('r', 1));
    flow.answer('r#c1', 200);
    flow.work();
    flow.submit(entryItem('r', 1, { type: 'Call' }));
    flow.answer('r#c1 result', 500).pass(13_000);
    expect(flow.attempt('r#c1 result').retried).to.equal(1);
    expect(published(flow.submit(entryItem('r', 1, { id: 'again' })))[0]).to.include({ isDuplicate: true });
  });

  it('that are open when the run ends may end, without consequences', () => {
    for (const status of [200, 500]) {
      const flow = begun();
      flow.submit(callItem('r', 1));
      flow.work().skipEvents();
      flow.cancel('r');
      flow.answer('r#c1', status);
      const end = status === 200 ? ['delivered r#c1'] : ['failed r#c1, for good', 'cancelled r#c1'];
      expect(flow.news()).to.deep.equal(['run r RUN_CANCELED', ...end]);
    }
  });

  it('that wait when the run ends are not made', () => {
    const flow = begun();
    flow.submit(callItem('r', 1, { delaySeconds: 5 }));
    flow.skipEvents();
    flow.cancel('r');
    flow.pass(10_000);
    expect(flow.news()).to.deep.equal(['run r RUN_CANCELED', 'cancelled r#c1']);
  });
});
