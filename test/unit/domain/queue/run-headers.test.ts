/** The headers for a workflow endpoint, and for a third party that a run calls. Proves DH3. */
import { expect } from 'chai';
import {
  DeliveredHeaders,
  type DeliverySettings,
  type Envelope,
  type HeaderList,
} from '../../../../src/domain/queue/index.js';
import type { MessageId } from '../../../../src/kernel/index.js';
import { PLAIN_DELIVERY } from '../../../support/plain-delivery.js';
import {
  CALL_PART,
  envelopeOf,
  failurePart,
  RESULT_PART,
  RUN_CREATED_AT_MS,
  RUN_ID,
  stepPart,
} from '../../../support/run-attempts.js';
import { answered, callItem, entryItem, message, triggerItem, WorkflowSpec } from '../../../support/workflow-spec.js';

const ALIAS = { headerWord: 'Brand', queueWord: 'courier' };
const ATTEMPT = { messageId: 'msg_1' as MessageId, retried: 2, signatures: ['a.b.c'] };
const FIRST = stepPart(0);
const LATER = stepPart(3);
const FAILURE = failurePart({ number: 1, bytes: 1 });

function envelope(settings: Partial<DeliverySettings> = {}, parts: Partial<Envelope> = {}): Envelope {
  return envelopeOf({ settings: { ...PLAIN_DELIVERY, ...settings }, ...parts });
}

/** Headers by lower-case name; each comes once. */
function valueIn(headers: HeaderList, name: string): string | undefined {
  const found = headers.filter(([given]) => given.toLowerCase() === name.toLowerCase());
  expect(found.length, name).to.be.at.most(1);
  return found[0]?.[1];
}

describe('headers of a message to a workflow endpoint', () => {
  const neutral = new DeliveredHeaders({ alias: undefined, region: undefined });
  const aliased = new DeliveredHeaders({ alias: ALIAS, region: undefined });
  const both = new DeliveredHeaders({ alias: ALIAS, isBoth: true, region: undefined });

  it('name the run, the entry, the attempt and the settings in force', () => {
    const header: HeaderList = [
      ['Content-Type', 'text/csv'],
      ['X-User', 'u'],
      ['Svc-Label', 'a,b'],
      ['Svc-Workflow-Sdk-Version', '1'],
    ];
    const flowControl = { key: 'k', parallelism: 2, rate: 5, periodSeconds: 60 };
    const settings = { header, maxRetries: 7, retryDelay: 'pow(2, retried)', flowControl };
    expect(neutral.of(envelope(settings), { ...ATTEMPT, part: FIRST })).to.deep.equal([
      ['User-Agent', 'Svc-Msgq'],
      ['Content-Type', 'text/csv'],
      ['X-User', 'u'],
      ['Svc-Label', 'a,b'],
      ['Svc-Workflow-Sdk-Version', '1'],
      ['Svc-Caller-Ip', '192.0.2.1'],
      ['Svc-Max-Retries', '7'],
      ['Svc-Retry-Delay', 'pow(2, retried)'],
      ['Svc-Flow-Control-Key', 'k'],
      ['Svc-Flow-Control-Value', 'parallelism=2,rate=5,period=60'],
      ['Svc-Workflow-RunId', RUN_ID],
      ['Svc-Workflow-CreatedAt', String(RUN_CREATED_AT_MS)],
      ['Svc-Message-Id', 'msg_1'],
      ['Svc-Retried', '2'],
      ['Svc-Signature', 'a.b.c'],
    ]);
  });

  it('name only the configured limits of flow control', () => {
    const valueFor = (flowControl: DeliverySettings['flowControl']) =>
      valueIn(neutral.of(envelope({ flowControl }), { ...ATTEMPT, part: LATER }), 'Svc-Flow-Control-Value');
    const limits = { key: 'k', periodSeconds: 1 };
    expect(valueFor({ ...limits, parallelism: 3, rate: undefined })).to.equal('parallelism=3');
    expect(valueFor({ ...limits, parallelism: undefined, rate: 4 })).to.equal('rate=4,period=1');
    expect(valueFor(undefined)).to.equal(undefined);
  });

  it('carry a flow-control key outside of Latin-1 as UTF-8 bytes', () => {
    const flowControl = { key: 'ключ', parallelism: 3, rate: undefined, periodSeconds: 1 };
    const headers = neutral.of(envelope({ flowControl }), { ...ATTEMPT, part: LATER });
    expect(valueIn(headers, 'Svc-Flow-Control-Key')).to.equal(Buffer.from('ключ').toString('latin1'));
    expect(valueIn(headers, 'Svc-Flow-Control-Value')).to.equal('parallelism=3');
  });

  it('have both spellings for runs that were not triggered in the alias spelling, with a signature for each', () => {
    const signatures = aliased.wordsFor(envelope(), LATER).map((word) => `of ${word}`);
    const headers = aliased.of(envelope(), { ...ATTEMPT, signatures, part: LATER });
    for (const word of ['Brand', 'Svc']) {
      expect(valueIn(headers, `${word}-Workflow-RunId`)).to.equal(RUN_ID);
      expect(valueIn(headers, `${word}-Max-Retries`)).to.equal('3');
      expect(valueIn(headers, `${word}-Signature`)).to.equal(`of ${word}`);
    }
    expect(aliased.wordsFor(envelope(), { role: 'call' })).to.deep.equal(['Brand']);
  });

  it('have the alias spelling for runs that were triggered in it', () => {
    const headers = aliased.of({ ...envelope(), isAlias: true }, { ...ATTEMPT, part: LATER });
    expect(valueIn(headers, 'Brand-Workflow-RunId')).to.equal(RUN_ID);
    expect(valueIn(headers, 'Brand-Workflow-CreatedAt')).to.equal(String(RUN_CREATED_AT_MS));
    expect(valueIn(headers, 'Brand-Max-Retries')).to.equal('3');
    expect(headers.filter(([name]) => name.startsWith('Svc-'))).to.deep.equal([]);
  });

  it('come once, also when a run forwards them, in either spelling and any case', () => {
    const forged: HeaderList = [
      ['svc-workflow-runid', 'forged'],
      ['Brand-Workflow-RunId', 'forged'],
      ['Svc-Workflow-Createdat', 'forged'],
      ['Svc-Message-Id', 'forged'],
      ['Svc-Retried', 'forged'],
      ['Svc-Max-Retries', 'forged'],
      ['Svc-Retry-Delay', 'forged'],
      ['BRAND-FLOW-CONTROL-KEY', 'forged'],
      ['Svc-Flow-Control-Value', 'forged'],
    ];
    for (const part of [FIRST, LATER, RESULT_PART, FAILURE]) {
      for (const spelled of [aliased, both]) {
        const signatures = spelled.wordsFor(envelope(), part).map((word) => `of ${word}`);
        const headers = spelled.of(envelope({ header: forged }), { ...ATTEMPT, signatures, part });
        expect(headers.map(([, value]) => value)).to.not.include('forged');
        const names = headers.map(([name]) => name.toLowerCase());
        expect(new Set(names).size).to.equal(names.length);
      }
    }
  });

  it('mark only a step as a step, with any forwarded headers', () => {
    const header: HeaderList = [
      ['Svc-Workflow-Callback', 'true'],
      ['Svc-Workflow-Is-Failure', 'true'],
      ['Svc-Workflow-Failure-Callback', 'true'],
      ['Svc-Workflow-Sdk-Version', '1'],
      ['Svc-Workflow-Invoke-Count', '2'],
    ];
    const given = (part: typeof FIRST) =>
      neutral
        .of(envelope({ header }), { ...ATTEMPT, part })
        .map(([name]) => name)
        .filter((name) => header.some(([forwarded]) => forwarded === name));
    expect(given(LATER)).to.deep.equal(['Svc-Workflow-Sdk-Version', 'Svc-Workflow-Invoke-Count']);
    expect(given(RESULT_PART)).to.deep.equal(['Svc-Workflow-Callback', 'Svc-Workflow-Invoke-Count']);
    expect(given(FAILURE)).to.deep.equal([
      'Svc-Workflow-Is-Failure',
      'Svc-Workflow-Failure-Callback',
      'Svc-Workflow-Sdk-Version',
      'Svc-Workflow-Invoke-Count',
    ]);
  });

  it('have JSON as content type where the list is left out, for any payload, and where the type is unknown', () => {
    const header: HeaderList = [['Content-Type', 'text/plain; charset=utf-8']];
    const leftOut = neutral.of(envelope({ header }), { ...ATTEMPT, part: FIRST, isListLeftOut: true });
    expect(valueIn(leftOut, 'Content-Type')).to.equal('application/json');
    const sent = neutral.of(envelope({ header }), { ...ATTEMPT, part: FIRST });
    expect(valueIn(sent, 'Content-Type')).to.equal('text/plain; charset=utf-8');
    expect(valueIn(neutral.of(envelope(), { ...ATTEMPT, part: FIRST }), 'Content-Type')).to.equal('application/json');
  });
});

describe('headers of a third-party call of a run', () => {
  const headers = new DeliveredHeaders({ alias: ALIAS, region: undefined });

  it('are those of a plain message: the headers of the call and none of the run', () => {
    const header: HeaderList = [
      ['Content-Type', 'text/plain'],
      ['Svc-Workflow-RunId', 'of another'],
      ['Svc-Max-Retries', '9'],
    ];
    const given = header.map(([name, value]) => [name.replace('Svc-', 'Brand-'), value]);
    const flowControl = { key: 'k', parallelism: 2, rate: undefined, periodSeconds: 1 };
    const same = envelope({ header, flowControl });
    expect(headers.of(same, { ...ATTEMPT, part: CALL_PART })).to.deep.equal(headers.of(same, ATTEMPT));
    expect(headers.of(same, { ...ATTEMPT, part: CALL_PART })).to.deep.include.members(given);
  });

  it('differ from those of a step with the same settings', () => {
    const same = envelope();
    const step = headers.of(same, { ...ATTEMPT, part: LATER });
    const call = headers.of(same, { ...ATTEMPT, part: CALL_PART });
    expect(valueIn(step, 'Brand-Max-Retries')).to.equal('3');
    expect(valueIn(call, 'Brand-Max-Retries')).to.equal(undefined);
  });
});

describe('headers of the messages that a run creates', () => {
  const headers = new DeliveredHeaders({ alias: undefined, region: undefined });
  const USER: HeaderList = [
    ['Content-Type', 'text/csv'],
    ['X-User', 'u'],
    ['Svc-Workflow-Sdk-Version', '1'],
    ['Svc-Workflow-Invoke-Count', '1'],
  ];

  function seen(spec: WorkflowSpec, name: string): HeaderList {
    const { id, envelope: made, retried, run } = spec.attempt(name);
    return headers.of(made, { messageId: id, retried, signatures: ['s'], part: run?.part });
  }

  function started(): WorkflowSpec {
    const spec = new WorkflowSpec();
    const failureCallback = {
      url: 'https://app.example/flow',
      settings: { ...PLAIN_DELIVERY, header: [['Svc-Workflow-Is-Failure', 'true']] as HeaderList },
    };
    spec.submit(triggerItem('r', { header: USER, maxRetries: 0, failureCallback }));
    return spec;
  }

  it('have the settings of the trigger on the first delivery, and the headers of the user on later ones', () => {
    const spec = started();
    const first = seen(spec, 'r#0');
    expect(valueIn(first, 'X-User')).to.equal('u');
    expect(valueIn(first, 'Content-Type')).to.equal('text/csv');
    expect(valueIn(first, 'Svc-Workflow-Invoke-Count')).to.equal('1');
    spec.deliver('r#0').submit(entryItem('r', 1));
    const second = seen(spec, 'r#1');
    expect(valueIn(second, 'X-User')).to.equal('u');
    expect(valueIn(second, 'Content-Type')).to.equal('application/json');
    expect(valueIn(second, 'Svc-Workflow-Sdk-Version')).to.equal('1');
    expect(valueIn(second, 'Svc-Workflow-Invoke-Count')).to.equal(undefined);
    expect(valueIn(second, 'Svc-Message-Id')).to.equal(message('r#1'));
    expect(valueIn(second, 'Svc-Workflow-RunId')).to.equal('r');
  });

  it('omit the protocol version when they bring the outcome of a call, and omit the run in the call itself', () => {
    const spec = started();
    spec.deliver('r#0').submit(callItem('r', 1));
    const call = seen(spec, 'r#c1');
    expect(call.filter(([name]) => /^svc-workflow|^x-user/i.test(name))).to.deep.equal([]);
    spec.answer('r#c1', 200, 'asked');
    const result = seen(spec, 'r#c1 result');
    expect(valueIn(result, 'Svc-Workflow-Sdk-Version')).to.equal(undefined);
    expect(valueIn(result, 'Svc-Workflow-Callback')).to.equal('true');
    expect(valueIn(result, 'Svc-Workflow-StepId')).to.equal('1');
    expect(valueIn(result, 'Svc-Workflow-RunId')).to.equal('r');
    expect(valueIn(result, 'X-User')).to.equal('u');
    expect(valueIn(result, 'Content-Type')).to.equal('application/json');
  });

  it('mark the message to the failure function as a failure, with its run', () => {
    const spec = started();
    spec.answer('r#0', answered(500));
    const failure = seen(spec, 'r failure');
    expect(valueIn(failure, 'Svc-Workflow-Is-Failure')).to.equal('true');
    expect(valueIn(failure, 'Svc-Workflow-RunId')).to.equal('r');
    expect(valueIn(failure, 'Content-Type')).to.equal('application/json');
  });
});
