/** Proves RE1, RE2. */
import { expect } from 'chai';
import type { DeliverySettings } from '../../../src/domain/queue/index.js';
import { SETTINGS } from '../../support/queue-spec.js';
import {
  answered,
  CALL_MARK,
  callItem,
  ENDPOINT,
  entryItem,
  invokeItem,
  MARK,
  PARTY,
  WorkflowSpec,
} from '../../support/workflow-spec.js';

const FAILED = 'https://app.example/failed';
const flowControl = { key: 'mine', parallelism: 5, rate: undefined, periodSeconds: 1 };
const callControl = { key: 'theirs', parallelism: 1, rate: undefined, periodSeconds: 1 };
const redact = { body: true, allHeaders: false, headers: [] };

/** All settings that a trigger can have. */
const SAID: Partial<DeliverySettings> = {
  header: [
    ['Content-Type', 'text/csv'],
    ['X-User', 'u'],
    ['Svc-Label', 'blue'],
    ['Svc-Workflow-Sdk-Version', '1'],
    ['Svc-Workflow-Invoke-Count', '4'],
  ],
  maxRetries: 7,
  retryDelay: '1000 * retried',
  timeoutSeconds: 20,
  flowControl,
  labels: ['blue'],
  redact,
  failureCallback: {
    url: FAILED,
    settings: {
      ...SETTINGS,
      header: [
        ['Svc-Workflow-Is-Failure', 'true'],
        ['X-User', 'u'],
      ],
      maxRetries: 2,
    },
  },
};
const OF_RUN = {
  maxRetries: 7,
  retryDelay: '1000 * retried',
  timeoutSeconds: 20,
  flowControl,
  labels: ['blue'],
  redact,
};
const STEP_HEADERS = {
  'Content-Type': 'application/json',
  'X-User': 'u',
  'Svc-Label': 'blue',
  'Svc-Workflow-Sdk-Version': '1',
};

function begun(said: Partial<DeliverySettings> = SAID, mark = MARK): WorkflowSpec {
  const flow = new WorkflowSpec();
  flow.trigger('r', { ...said, mark });
  return flow.work();
}

describe("workflow: the settings of a run's deliveries", () => {
  it('the first delivery has all settings of its trigger', () => {
    const { envelope, run } = begun().attempt('r#0');
    expect(envelope.settings).to.deep.include({ ...OF_RUN, header: SAID.header, method: 'POST' });
    expect(envelope).to.include({ url: ENDPOINT, callerIp: '192.0.2.1', isAlias: false });
    expect(run?.part).to.include({ role: 'step', index: 0, step: undefined });
  });

  it("a step has the run's settings, a JSON body, and only its own protocol headers", () => {
    const flow = begun();
    flow.submit(entryItem('r', 1, { maxRetries: 0, labels: ['red'], flowControl: callControl, method: 'PUT' }));
    const { envelope } = flow.attempt('r#1');
    expect(envelope.settings).to.deep.include({ ...OF_RUN, method: 'POST', callback: undefined, delaySeconds: 0 });
    expect(flow.headersOf('r#1')).to.deep.equal(STEP_HEADERS);
    expect(envelope.workflow).to.deep.equal(MARK);
  });

  it('a step has its invoke count from its own headers', () => {
    const flow = begun();
    const header: [string, string][] = [
      ['Content-Type', 'application/json'],
      ['Svc-Workflow-Sdk-Version', '1'],
      ['Svc-Workflow-Invoke-Count', '5'],
    ];
    flow.submit(entryItem('r', 1, { header }));
    expect(flow.headersOf('r#1')).to.deep.equal({ ...STEP_HEADERS, 'Svc-Workflow-Invoke-Count': '5' });
  });

  it("a step's own headers win over those of the run", () => {
    const flow = begun();
    const header: [string, string][] = [
      ['Content-Type', 'text/plain'],
      ['X-User', 'of the step'],
      ['X-Step', 'one'],
      ['X-Step', 'two'],
      ['Svc-Workflow-Sdk-Version', '1'],
    ];
    flow.submit(entryItem('r', 1, { header, maxRetries: 0 }));
    expect(flow.attempt('r#1').envelope.settings).to.deep.include({
      ...OF_RUN,
      header: [
        ['Content-Type', 'application/json'],
        ['Svc-Label', 'blue'],
        ['X-User', 'of the step'],
        ['X-Step', 'one'],
        ['X-Step', 'two'],
        ['Svc-Workflow-Sdk-Version', '1'],
      ],
    });
    flow.submit(entryItem('r', 2));
    expect(flow.headersOf('r#2'), 'the next one has its own').to.deep.equal(STEP_HEADERS);
  });

  it("headers of a call's callback win over those of the run in its outcome", () => {
    const flow = begun();
    const header: [string, string][] = [
      ['X-User', 'of the call'],
      ['X-Step', 'one'],
      ['Svc-Workflow-Callback', 'true'],
    ];
    const callback = { url: ENDPOINT, settings: { ...SETTINGS, header } };
    flow.submit(callItem('r', 1, { callback }));
    flow.answer('r#c1', 200);
    expect(flow.headersOf('r#c1 result')).to.deep.equal({
      'Content-Type': 'application/json',
      'X-User': 'of the call',
      'Svc-Label': 'blue',
      'X-Step': 'one',
      'Svc-Workflow-Callback': 'true',
    });
  });

  it('a timeout has the headers requested for it, and an event those of the wait', () => {
    const flow = begun();
    const header: [string, string][] = [
      ['X-User', 'too late'],
      ['X-Late', 'yes'],
    ];
    flow.wait('r', 1, 'e', { seconds: 5, timeoutHeader: header });
    flow.pass(5000);
    expect(flow.headersOf('r#1')).to.deep.equal({
      ...STEP_HEADERS_OF_TIMEOUT,
      'X-User': 'too late',
      'X-Late': 'yes',
    });
    flow.wait('r', 2, 'e', { seconds: 5, timeoutHeader: header });
    flow.notify('e', 'n');
    expect(flow.headersOf('n')).to.deep.equal(STEP_HEADERS);
  });

  it('a step of a client that repeats its settings with each message has those', () => {
    const mark = { ...MARK, isConfiguredByTrigger: false };
    const flow = begun(SAID, mark);
    const header: [string, string][] = [
      ['X-User', 'mine'],
      ['Svc-Workflow-Sdk-Version', '1'],
    ];
    flow.submit(entryItem('r', 1, { mark, maxRetries: 1, header, labels: ['red'] }));
    expect(flow.attempt('r#1').envelope.settings).to.deep.include({
      maxRetries: 1,
      labels: ['red'],
      flowControl: undefined,
    });
    expect(flow.headersOf('r#1')).to.deep.equal({
      'Content-Type': 'application/json',
      'X-User': 'mine',
      'Svc-Workflow-Sdk-Version': '1',
    });
  });

  it('a call has its own headers, method, retries and flow control, and the labels and redaction of the run', () => {
    const flow = begun();
    const header: [string, string][] = [
      ['Content-Type', 'application/xml'],
      ['Svc-Workflow-RunId', 'of another run'],
    ];
    flow.submit(
      callItem('r', 1, { header, method: 'PATCH', maxRetries: 4, timeoutSeconds: 3, flowControl: callControl }),
    );
    const { envelope, run } = flow.attempt('r#c1');
    expect(envelope.url).to.equal(PARTY);
    expect(envelope.settings).to.deep.include({
      header,
      method: 'PATCH',
      maxRetries: 4,
      timeoutSeconds: 3,
      retryDelay: undefined,
      flowControl: callControl,
      labels: ['blue'],
      redact,
      failureCallback: undefined,
    });
    expect(envelope.workflow).to.deep.equal(CALL_MARK);
    expect(run).to.deep.include({ entries: [] });
    expect(flow.bodyOf('r#c1')).to.equal('asked');
  });

  it("the outcome of a call has the run's settings, without the protocol version", () => {
    const flow = begun();
    flow.submit(callItem('r', 1));
    flow.answer('r#c1', 200);
    const { envelope, run } = flow.attempt('r#c1 result');
    expect(envelope.url).to.equal(ENDPOINT);
    expect(envelope.settings).to.deep.include({
      ...OF_RUN,
      method: 'POST',
      callback: undefined,
      failureCallback: undefined,
    });
    expect(flow.headersOf('r#c1 result')).to.deep.equal({
      'Content-Type': 'application/json',
      'X-User': 'u',
      'Svc-Label': 'blue',
      'Svc-Workflow-Callback': 'true',
      'Svc-Workflow-StepId': '1',
    });
    expect(run).to.deep.include({ entries: [] });
    expect(envelope.workflow).to.include({ detectsTrigger: false, canFetch: false });
  });

  it("an event has the run's settings, and the requested headers", () => {
    const flow = begun();
    flow.wait('r', 1, 'e');
    flow.notify('e', 'n');
    expect(flow.attempt('n').envelope.settings).to.deep.include(OF_RUN);
    expect(flow.headersOf('n')).to.deep.equal(STEP_HEADERS);
    flow.wait('r', 2, 'e', { seconds: 5 });
    flow.pass(5000);
    expect(flow.headersOf('r#2')).to.deep.equal(STEP_HEADERS_OF_TIMEOUT);
  });

  it("the result of a child has the parent's settings", () => {
    const flow = begun();
    flow.submit(invokeItem('r', 1, 'child', { maxRetries: 0, labels: ['child'] }));
    flow.finish('child');
    expect(flow.attempt('r#1').envelope).to.deep.include({ url: ENDPOINT });
    expect(flow.attempt('r#1').envelope.settings).to.deep.include(OF_RUN);
    expect(flow.headersOf('r#1')).to.deep.equal(STEP_HEADERS);
  });

  it("the failure message has its own headers and retries, and otherwise the run's settings", () => {
    const flow = begun();
    flow.answer('r#0', answered(489, [['Svc-NonRetryable-Error', 'true']]));
    const { envelope } = flow.attempt('r failure');
    expect(envelope.url).to.equal(FAILED);
    expect(envelope.settings).to.deep.include({
      maxRetries: 2,
      retryDelay: '1000 * retried',
      flowControl,
      labels: ['blue'],
      redact,
      callback: undefined,
      failureCallback: undefined,
    });
    expect(flow.headersOf('r failure')).to.deep.equal({
      'Content-Type': 'application/json',
      'Svc-Workflow-Is-Failure': 'true',
      'X-User': 'u',
    });
  });

  it('the failure message may have its own retry delay and flow control', () => {
    const failureCallback = { url: FAILED, settings: { ...SETTINGS, retryDelay: '5', flowControl: callControl } };
    const flow = begun({ ...SAID, failureCallback });
    flow.answer('r#0', answered(489, [['Svc-NonRetryable-Error', 'true']]));
    expect(flow.attempt('r failure').envelope.settings).to.deep.include({ retryDelay: '5', flowControl: callControl });
  });

  it('equal steps share one envelope', () => {
    const flow = begun();
    flow.submit(entryItem('r', 1), entryItem('r', 2));
    expect(flow.attempt('r#1').envelope).to.equal(flow.attempt('r#2').envelope);
  });

  it("a callback of the trigger is not sent for the run's deliveries", () => {
    const flow = begun({ callback: { url: 'https://cb.example/', settings: SETTINGS } });
    flow.skipEvents().deliver('r#0');
    expect(flow.news()).to.deep.equal(['delivered r#0']);
  });
});

const STEP_HEADERS_OF_TIMEOUT = { ...STEP_HEADERS, 'Svc-Workflow-Timed-Out': 'true' };
