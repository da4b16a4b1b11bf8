import { expect } from 'chai';
import { type FilteredMessage, type MessageFilter, matches } from '../../../../src/domain/queue/index.js';
import type { MessageId, ScheduleId } from '../../../../src/kernel/index.js';
import { parse } from '../../../support/queue-settings.js';

const message: FilteredMessage = {
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
  it('without criteria matches every message', () => {
    expect(matches({}, message)).to.equal(true);
  });

  const hits: [name: string, hit: MessageFilter, miss: MessageFilter][] = [
    ['ids', { messageId: ['msg_0', 'msg_1'] }, { messageId: ['msg_0'] }],
    ['URLs', { url: ['https://A.example:8443/b/c?x=1'] }, { url: ['https://A.example:8443/b/c'] }],
    ['hosts with their port', { host: ['a.EXAMPLE:8443'] }, { host: ['a.example:8444'] }],
    ['hosts without their port', { host: ['a.example'] }, { host: ['b.example'] }],
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
    it(`matches by ${name}`, () => {
      expect(matches(hit, message)).to.equal(true);
      expect(matches(miss, message)).to.equal(false);
    });
  }

  it('requires every criterion', () => {
    expect(matches({ label: ['red'], queueName: ['q'] }, message)).to.equal(true);
    expect(matches({ label: ['red'], queueName: ['p'] }, message)).to.equal(false);
  });

  it('with an empty list matches no message', () => {
    expect(matches({ queueName: [] }, message)).to.equal(false);
  });

  it('accepts a host with and without its port, for URLs with and without the port', () => {
    const at = (url: string, ...host: string[]) =>
      matches({ host }, { ...message, envelope: { ...message.envelope, url } });
    for (const host of ['a.example', 'a.example:443', 'A.Example', 'A.EXAMPLE:443']) {
      expect(at('https://a.example/x', host), host).to.equal(true);
      expect(at('https://a.example:443/x', host), host).to.equal(true);
    }
    expect(at('http://a.example/x', 'a.example:80')).to.equal(true);
    expect(at('http://a.example:8080/x', 'a.example', 'b.example')).to.equal(true);
    expect(at('http://[::1]:8080/x', '[::1]')).to.equal(true);
    expect(at('http://[::1]/x', '[::1]:80')).to.equal(true);
    for (const host of ['a.example:80', 'a.example:8443', 'a.exampl', 'a.example:', '443']) {
      expect(at('https://a.example/x', host), host).to.equal(false);
    }
  });

  it('does not match a message without the filtered property', () => {
    const envelope = { ...message.envelope, queueName: undefined, settings: parse({}).settings };
    const plain = { ...message, envelope, responseStatus: undefined };
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
