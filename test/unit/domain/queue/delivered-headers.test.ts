/** The headers that a destination sees. Proves DH1, DH2. */
import { expect } from 'chai';
import { DeliveredHeaders, type Envelope, type HeaderList } from '../../../../src/domain/queue/index.js';
import type { MessageId, ScheduleId } from '../../../../src/kernel/index.js';
import { PLAIN_DELIVERY, PLAIN_ENVELOPE } from '../../../support/plain-delivery.js';

const ALIAS = { headerWord: 'Brand', queueWord: 'courier' };
const ATTEMPT = { messageId: 'msg_1' as MessageId, retried: 2, signatures: ['a.b.c'] };

function envelope(header: HeaderList, more: Partial<Envelope> = {}): Envelope {
  return {
    ...PLAIN_ENVELOPE,
    url: 'https://a.example/',
    settings: { ...PLAIN_DELIVERY, header },
    callerIp: '192.0.2.7',
    ...more,
  };
}

describe('delivered headers', () => {
  const neutral = new DeliveredHeaders({ alias: undefined, region: undefined });
  const aliased = new DeliveredHeaders({ alias: ALIAS, region: 'EU-CENTRAL-1' });
  const both = new DeliveredHeaders({ alias: ALIAS, isBoth: true, region: undefined });

  it('name the message, the attempt and the caller, and include the forwarded headers', () => {
    const header: HeaderList = [
      ['Content-Type', 'text/plain'],
      ['X-Trace', '1'],
      ['X-Trace', '2'],
    ];
    expect(neutral.of(envelope(header), ATTEMPT)).to.deep.equal([
      ['User-Agent', 'Svc-Msgq'],
      ['Content-Type', 'text/plain'],
      ['X-Trace', '1'],
      ['X-Trace', '2'],
      ['Svc-Caller-Ip', '192.0.2.7'],
      ['Svc-Message-Id', 'msg_1'],
      ['Svc-Retried', '2'],
      ['Svc-Signature', 'a.b.c'],
    ]);
  });

  it('name schedule, group and region where there are any', () => {
    const of = { scheduleId: 'scd_1' as ScheduleId, topicName: 'news' };
    const names = new DeliveredHeaders({ alias: undefined, region: 'US-EAST-1' }).of(envelope([], of), ATTEMPT);
    expect(names).to.deep.include(['Svc-Schedule-Id', 'scd_1']);
    expect(names).to.deep.include(['Svc-Topic-Name', 'news']);
    expect(names).to.deep.include(['Svc-Region', 'US-EAST-1']);
  });

  it('have the alias spelling for messages in either spelling', () => {
    const header: HeaderList = [['Svc-Workflow-RunId', 'wfr_1']];
    for (const isAlias of [false, true]) {
      expect(aliased.of(envelope(header, { isAlias }), ATTEMPT)).to.deep.equal([
        ['User-Agent', 'Brand-Courier'],
        ['Brand-Workflow-RunId', 'wfr_1'],
        ['Brand-Caller-Ip', '192.0.2.7'],
        ['Brand-Region', 'EU-CENTRAL-1'],
        ['Brand-Message-Id', 'msg_1'],
        ['Brand-Retried', '2'],
        ['Brand-Signature', 'a.b.c'],
      ]);
    }
  });

  it('name the sender with the capitals of the alias', () => {
    const capitals = new DeliveredHeaders({ alias: { headerWord: 'Brand', queueWord: 'CourierQ' }, region: undefined });
    const headers = capitals.of(envelope([], { isAlias: true }), ATTEMPT);
    expect(headers).to.deep.include(['User-Agent', 'Brand-CourierQ']);
  });

  it('stay neutral where no alias is configured, also for a message of an alias request', () => {
    const header: HeaderList = [['Svc-Workflow-RunId', 'wfr_1']];
    const fallen = neutral.of(envelope(header, { isAlias: true }), ATTEMPT);
    expect(fallen).to.deep.include(['Svc-Workflow-RunId', 'wfr_1']);
    expect(fallen).to.deep.include(['Svc-Signature', 'a.b.c']);
  });

  it('have both spellings where both are configured, each with a separate signature, and the alias as sender', () => {
    const header: HeaderList = [
      ['X-Trace', '1'],
      ['Svc-Workflow-RunId', 'wfr_1'],
    ];
    expect(both.headerWords).to.deep.equal(['Brand', 'Svc']);
    expect(both.of(envelope(header), { ...ATTEMPT, signatures: ['of.the.alias', 'a.b.c'] })).to.deep.equal([
      ['User-Agent', 'Brand-Courier'],
      ['X-Trace', '1'],
      ['Brand-Workflow-RunId', 'wfr_1'],
      ['Svc-Workflow-RunId', 'wfr_1'],
      ['Brand-Caller-Ip', '192.0.2.7'],
      ['Svc-Caller-Ip', '192.0.2.7'],
      ['Brand-Message-Id', 'msg_1'],
      ['Brand-Retried', '2'],
      ['Brand-Signature', 'of.the.alias'],
      ['Svc-Message-Id', 'msg_1'],
      ['Svc-Retried', '2'],
      ['Svc-Signature', 'a.b.c'],
    ]);
  });

  it('contain none of our header names from a publisher, in either spelling and any case', () => {
    const forged: HeaderList = [
      ['user-agent', 'forged'],
      ['SVC-SIGNATURE', 'forged'],
      ['Brand-Signature', 'forged'],
      ['Svc-Schedule-Id', 'forged'],
      ['Svc-Message-Id', 'forged'],
      ['Svc-Region', 'forged'],
    ];
    for (const headers of [aliased, both]) {
      const values = headers.of(envelope(forged), ATTEMPT).map(([, value]) => value);
      expect(values).to.not.include('forged');
    }
  });

  it('change with the attempt of the same message', () => {
    const same = envelope([]);
    expect(neutral.of(same, ATTEMPT)).to.deep.include(['Svc-Retried', '2']);
    expect(neutral.of(same, { ...ATTEMPT, retried: 3 })).to.deep.include(['Svc-Retried', '3']);
  });
});
