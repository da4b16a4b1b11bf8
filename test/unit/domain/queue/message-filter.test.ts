import { expect } from 'chai';
import { type FilteredFacts, type MessageFilter, matches } from '../../../../src/domain/queue/index.js';
import type { MessageId, ScheduleId } from '../../../../src/kernel/index.js';
import { parse } from '../../../support/queue-settings.js';

const facts: FilteredFacts = {
  id: 'msg_1' as MessageId,
  envelope: {
    url: 'https://A.example:8443/b/c?x=1',
    settings: parse({ 'svc-label': 'red,blue', 'svc-flow-control-key': 'k', 'svc-flow-control-value': 'rate=1' })
      .settings,
    queueName: 'q',
    scheduleId: 'scd_1' as ScheduleId,
    topicName: 'g',
    endpointName: undefined,
    callerIp: '192.0.2.1',
    isAlias: false,
    callbackOf: undefined,
  },
  atMs: 1000,
  responseStatus: 500,
};

describe('a filter of messages', () => {
  it('without criteria means everything', () => {
    expect(matches({}, facts)).to.equal(true);
  });

  const hits: [name: string, hit: MessageFilter, miss: MessageFilter][] = [
    ['ids', { messageId: ['msg_0', 'msg_1'] }, { messageId: ['msg_0'] }],
    ['URLs', { url: ['https://A.example:8443/b/c?x=1'] }, { url: ['https://A.example:8443/b/c'] }],
    ['hosts with their port', { host: ['a.EXAMPLE:8443'] }, { host: ['a.example:8444'] }],
    ['hosts without it', { host: ['a.example'] }, { host: ['b.example'] }],
    ['paths', { path: ['/b/c'] }, { path: ['/b'] }],
    ['groups', { topicName: ['g'] }, { topicName: ['h'] }],
    ['queues', { queueName: ['q'] }, { queueName: ['p'] }],
    ['schedules', { scheduleId: ['scd_1'] }, { scheduleId: ['scd_2'] }],
    ['any of the labels', { label: ['green', 'blue'] }, { label: ['green'] }],
    ['flow-control keys', { flowControlKey: ['k'] }, { flowControlKey: ['l'] }],
    ['callers', { callerIp: ['192.0.2.1'] }, { callerIp: ['192.0.2.2'] }],
    ['statuses', { responseStatus: [0, 500] }, { responseStatus: [404] }],
    ['instants from', { fromMs: 1000 }, { fromMs: 1001 }],
    ['instants to', { toMs: 1000 }, { toMs: 999 }],
  ];
  for (const [name, hit, miss] of hits) {
    it(`goes by ${name}`, () => {
      expect(matches(hit, facts)).to.equal(true);
      expect(matches(miss, facts)).to.equal(false);
    });
  }

  it('wants every criterion met', () => {
    expect(matches({ label: ['red'], queueName: ['q'] }, facts)).to.equal(true);
    expect(matches({ label: ['red'], queueName: ['p'] }, facts)).to.equal(false);
  });

  it('means nothing by an empty list', () => {
    expect(matches({ queueName: [] }, facts)).to.equal(false);
  });

  it('misses what a message does not have', () => {
    const envelope = { ...facts.envelope, queueName: undefined, settings: parse({}).settings };
    const plain = { ...facts, envelope, responseStatus: undefined };
    for (const filter of [
      { queueName: ['q'] },
      { flowControlKey: ['k'] },
      { label: ['red'] },
      { responseStatus: [500] },
    ]) {
      expect(matches(filter, plain)).to.equal(false);
    }
  });
});
