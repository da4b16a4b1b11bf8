import { expect } from 'chai';
import type { DeliverySettings } from '../../../src/domain/queue/index.js';
import { response, SETTINGS } from '../../support/queue-spec.js';
import {
  answered,
  ENDPOINT,
  entryItem,
  MARK,
  OVER,
  only,
  type TriggerOptions,
  triggerItem,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const REST = { ...MARK, needsRecentClient: true };
const UNKNOWN: [string, string] = ['Svc-Workflow-Unknown-Sdk', 'true'];
const VERSION: [string, string] = ['Svc-Workflow-Sdk-Version', '1'];
const failureCallback = { url: ENDPOINT, settings: SETTINGS };
const flowControl = { key: 'f', parallelism: 3, rate: undefined, periodSeconds: 1 };
const redact = { body: true, allHeaders: false, headers: [] };
const FIRST: Partial<DeliverySettings> = {
  header: [['X-First', '1'], VERSION, UNKNOWN],
  maxRetries: 7,
  retryDelay: '1000',
  timeoutSeconds: 30,
  labels: ['first'],
  failureCallback,
  flowControl,
  redact,
};
/** A trigger as sent by the client of the endpoint: with the received headers and without settings. */
const SECOND: TriggerOptions = {
  id: 'second',
  isByEndpoint: true,
  header: [['X-First', '1'], ['X-Seen', '1'], VERSION, UNKNOWN],
};

describe('workflow: a start by a client without the protocol', () => {
  const begun = () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { ...FIRST, mark: REST, body: 'the payload' });
    return flow.work().skipEvents();
  };

  it('is triggered again by the endpoint: the same run, with entry 0 delivered again', () => {
    const flow = begun();
    const again = only(flow.submit(triggerItem('r', SECOND)));
    expect(again).to.include({ messageId: 'second', isDuplicate: false });
    expect(again.run).to.deep.include({ runId: 'r' });
    expect(flow.news()).to.deep.equal(['run r reconfigured', 'accepted second at 0']);
    flow.deliver('r#0');
    expect(flow.listOf('second')).to.deep.equal(['second']);
    expect(flow.bodyOf('second')).to.equal('the payload');
    expect(flow.entries('r')?.map(({ messageId }) => messageId)).to.deep.equal(['second']);
  });

  it('has the settings of the second trigger, and those of the first that the second does not name', () => {
    const flow = begun();
    flow.submit(triggerItem('r', SECOND));
    const { envelope } = flow.attempt('second');
    expect(flow.headersOf('second')).to.deep.equal({
      'X-First': '1',
      'X-Seen': '1',
      'Svc-Workflow-Sdk-Version': '1',
    });
    expect(envelope.settings).to.deep.include({
      maxRetries: 7,
      retryDelay: '1000',
      timeoutSeconds: 30,
      labels: ['first'],
      failureCallback,
      flowControl,
      redact,
    });
    flow.submit(entryItem('r', 1));
    expect(flow.headersOf('r#1')).to.include({ 'X-Seen': '1' });
  });

  it('respects the options of the second trigger', () => {
    const flow = begun();
    const said = { retryDelay: '5', labels: ['second'], flowControl: { ...flowControl, key: 'g' }, timeoutSeconds: 3 };
    flow.submit(triggerItem('r', { ...SECOND, ...said }));
    expect(flow.attempt('second').envelope.settings).to.deep.include(said);
  });

  it('is triggered again once, for any number of repetitions by the endpoint', () => {
    const flow = begun();
    flow.submit(triggerItem('r', SECOND));
    flow.skipEvents();
    expect(only(flow.submit(triggerItem('r', { ...SECOND, id: 'third' })))).to.include({
      messageId: 'second',
      isDuplicate: true,
    });
    expect(flow.news()).to.deep.equal([]);
  });

  it('fails like any other when the first delivery fails', () => {
    const flow = begun();
    flow.submit(triggerItem('r', SECOND));
    flow.answer('second', answered(489, [['Svc-NonRetryable-Error', 'true']]));
    expect(flow.isActive('r')).to.equal(false);
    expect(flow.recordOf('r failure')).to.include({ sourceMessageId: 'second' });
    flow.pass(60_000);
    expect(flow.rebuilt().queue.digest()).to.equal(flow.queue.digest());
  });

  it('releases the payload when it has ended', () => {
    const flow = begun();
    flow.submit(triggerItem('r', SECOND));
    flow.deliver('r#0').deliver('second').finish('r');
    flow.pass(60_000);
    for (const id of ['a', 'b', 'c']) flow.trigger(id, { body: '' });
    expect(flow.queue.shelf.contents.size).to.equal(0);
  });

  it('is refused as over when the run has ended', () => {
    const flow = begun();
    flow.cancel('r');
    expect(flow.submit(triggerItem('r', SECOND))).to.deep.equal(OVER);
  });

  it('is not triggered again by any other caller', () => {
    const flow = begun();
    const again = only(flow.submit(triggerItem('r', { ...SECOND, isByEndpoint: false })));
    expect(again).to.include({ messageId: 'r#0', isDuplicate: true });
    expect(flow.news()).to.deep.equal([]);
  });

  it('is a duplicate for a run that the endpoint knows', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r');
    expect(only(flow.submit(triggerItem('r', SECOND)))).to.include({ messageId: 'r#0', isDuplicate: true });
  });
});

describe('workflow: a REST trigger', () => {
  it('requires a recent endpoint for its first delivery only', () => {
    const flow = new WorkflowSpec();
    flow.trigger('r', { mark: REST });
    flow.deliver('r#0');
    flow.submit(entryItem('r', 1));
    flow.answer('r#1', response(200, [VERSION]));
    expect(flow.isActive('r')).to.equal(true);
  });
});
