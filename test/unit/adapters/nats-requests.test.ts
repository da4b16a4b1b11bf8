/**
 * Requests to NATS, leases and objects, over a connection with answers of the test. Proves LK3, LK4, LK5, LK6, RI1,
 * JL1, JL2, JO1.
 */
import { expect } from 'chai';
import type { NatsConnections } from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import { JetStreamLeaseStore } from '../../../src/adapters/nats/jetstream-lease-store.js';
import { JetStreamObjectStore } from '../../../src/adapters/nats/jetstream-object-store.js';
import { Names } from '../../../src/adapters/nats/subjects.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { ScriptedNats, type Sent } from '../../support/scripted-nats.js';

const NO_RESPONDERS = 503;
const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a request about a stream without a leader', () => {
  const ANSWER = { config: {}, created: '2026-01-01T00:00:00Z', state: {} };

  it('is repeated every second, and the first answer to any of the tries counts', async () => {
    for (const answered of [1, 2]) {
      const nats = new ScriptedNats();
      const found = new JetStreamApi(nats.link, 5000).findStream('KV_0');
      await eventually(() => expect(nats.sent).to.have.length(3), { timeoutMs: 3000 });
      nats.sent[answered]?.answer(ANSWER);
      expect(await found).to.deep.include({ created: ANSWER.created });
    }
  });

  it('is sent once where it is answered, and a refusal is returned as such', async () => {
    const nats = new ScriptedNats();
    const found = new JetStreamApi(nats.link).findStream('KV_0');
    await turns();
    nats.sent[0]?.answer({ error: { code: 404, err_code: 10059, description: 'stream not found' } });
    expect(await found).to.equal(undefined);
    expect(nats.sent).to.have.length(1);
  });
});

describe('a request to NATS', () => {
  let nats: ScriptedNats;
  beforeEach(() => {
    nats = new ScriptedNats();
  });

  const request = (timeoutMs = 60_000) =>
    nats.link.request('subject', 'payload', { timeoutMs }).then(
      (message) => `answered ${message.string()}`,
      (failure: { kind: string }) => failure.kind,
    );

  it('is sent once, also when it is refused, lost or timed out (LK3, RI1)', async () => {
    const answered = request();
    nats.sent[0]?.answer('yes');
    expect(await answered).to.equal('answered yes');
    const refused = request();
    nats.sent[1]?.answer('', NO_RESPONDERS);
    expect(await refused).to.equal('no-responders');
    expect(await request(1)).to.equal('timed-out');
    const lost = request();
    await nats.status('disconnect');
    expect(await lost).to.equal('disconnected');
    expect(await request()).to.equal('not-sent');
    await nats.status('reconnect');
    await turns();
    expect(nats.sent.map(({ subject }) => subject)).to.deep.equal(Array.from({ length: 4 }, () => 'subject'));
  });

  it('that times out triggers a ping of the server, and a reconnect when the ping is not answered (LK4)', async () => {
    expect(await request(1)).to.equal('timed-out');
    await turns();
    expect(nats.reconnects).to.equal(0);
    nats.answersPings = new Promise(() => undefined);
    await Promise.all([request(1), request(1)]);
    await eventually(() => expect(nats.reconnects).to.equal(1));
  });

  it('goes to another server when its server announces its shutdown (LK5)', async () => {
    await nats.status('ldm');
    expect(nats.reconnects).to.equal(1);
  });

  it('accepts one answer; later ones are dropped, and never answer another request (RI1)', async () => {
    const late = request(1);
    expect(await late).to.equal('timed-out');
    const next = request();
    nats.sent[0]?.answer('too late');
    const twice = request();
    for (const text of ['first', 'second']) nats.sent[2]?.answer(text);
    expect(await twice).to.equal('answered first');
    nats.sent[1]?.answer('its own');
    expect(await next).to.equal('answered its own');
    expect(nats.sent).to.have.length(3);
  });
});

describe('a request of the JetStream client', () => {
  let nats: ScriptedNats;
  beforeEach(() => {
    nats = new ScriptedNats();
  });

  const info = (timeoutMs?: number) =>
    new JetStreamApi(nats.link)
      .ask(({ streams }) => streams.info('S'), timeoutMs)
      .then(
        () => 'answered',
        ({ cause }: { cause?: { kind?: string; message: string } }) => cause?.kind ?? cause?.message,
      );

  it('fails as other requests do: refused, without a server, in time, with the connection (LK6)', async () => {
    nats.onSent = (sent) => setImmediate(() => sent.answer({ config: {}, state: {} }));
    expect(await info()).to.equal('answered');
    nats.onSent = (sent) =>
      setImmediate(() => sent.answer({ error: { code: 500, err_code: 10039, description: 'no' } }));
    expect(await info()).to.equal('no');
    nats.onSent = (sent) => setImmediate(() => sent.answer('', NO_RESPONDERS));
    expect(await info()).to.equal('no-responders');
    nats.onSent = () => {};
    const lost = info();
    await turns();
    await nats.status('disconnect');
    expect(await lost).to.equal('disconnected');
    expect(await info()).to.equal('not-sent');
    expect(nats.sent).to.have.length(4);
  });

  it('is sent again while the servers have no leader, until its time is over', async () => {
    const refused = (sent: Sent) =>
      sent.answer({ error: { code: 503, err_code: 10008, description: 'JetStream system temporarily unavailable' } });
    nats.onSent = (sent) => {
      const isLed = nats.sent.length > 2;
      setImmediate(() => (isLed ? sent.answer({ config: {}, state: {} }) : refused(sent)));
    };
    expect(await info()).to.equal('answered');
    expect(nats.sent).to.have.length(3);
    nats.onSent = (sent) => setImmediate(() => refused(sent));
    expect(await info(1000)).to.equal('JetStream system temporarily unavailable');
    expect(nats.sent).to.have.length.at.least(5);
  });

  it('that times out triggers a ping of the server (LK4, LK6)', async () => {
    nats.answersPings = new Promise(() => undefined);
    expect(await info(1)).to.equal('timed-out');
    await eventually(() => expect(nats.reconnects).to.equal(1));
  });
});

describe('a lease in a bucket', () => {
  let nats: ScriptedNats;
  let leases: JetStreamLeaseStore;
  beforeEach(() => {
    nats = new ScriptedNats();
    leases = new JetStreamLeaseStore({ control: nats.link } as NatsConnections, new Names('a'));
  });

  const refusal = (code: number, description = 'no') => ({ error: { code: 400, err_code: code, description } });
  const ANSWERS: readonly [string, (sent: Sent) => unknown, string][] = [
    ['stored', (sent) => sent.answer({ stream: 'KV_a_leases', seq: 8 }), 'stored'],
    ['another change was first', (sent) => sent.answer(refusal(10071, 'wrong last sequence: 9')), 'conflict'],
    ['another change is in flight', (sent) => sent.answer(refusal(10164)), 'unknown'],
    ['the store is full', (sent) => sent.answer(refusal(10023)), 'unknown'],
    ['an error in the request', (sent) => sent.answer(refusal(10060)), 'unknown'],
    ['the store failed', (sent) => sent.answer(refusal(10077, 'input/output error')), 'unknown'],
    ['an unknown code', (sent) => sent.answer(refusal(99_999)), 'unknown'],
    ['an unreadable text', (sent) => sent.answer('not json'), 'unknown'],
    ['another stream', (sent) => sent.answer({ stream: 'KV_other', seq: 8 }), 'unknown'],
    ['no number', (sent) => sent.answer({ stream: 'KV_a_leases' }), 'unknown'],
    ['no responder', (sent) => sent.answer('', NO_RESPONDERS), 'unknown'],
    ['the connection is lost', () => nats.status('disconnect'), 'unknown'],
  ];
  for (const [reply, answer, expected] of ANSWERS) {
    it(`is changed by one conditional publish, and is ${expected} when the answer is: ${reply} (JL1, JL2)`, async () => {
      nats.onSent = (sent) => setImmediate(() => answer(sent));
      const outcome = await leases.update('shard.KV_0', Buffer.from('mine'), 7);
      expect(outcome.kind).to.equal(expected);
      await turns();
      expect(nats.sent.map(({ subject, text, headers }) => ({ subject, text, headers }))).to.deep.equal([
        {
          subject: '$KV.a_leases.shard.KV_0',
          text: 'mine',
          headers: { 'Nats-Expected-Stream': 'KV_a_leases', 'Nats-Expected-Last-Subject-Sequence': '7' },
        },
      ]);
    });
  }

  it('is created only where there is none (JL1)', async () => {
    nats.onSent = (sent) => setImmediate(() => sent.answer({ stream: 'KV_a_leases', seq: 1 }));
    expect(await leases.create('k', Buffer.from('v'))).to.deep.equal({ kind: 'stored', revision: 1 });
    expect(nats.sent.map(({ headers }) => headers['Nats-Expected-Last-Subject-Sequence'])).to.deep.equal(['0']);
  });
});

describe('an object in pieces', () => {
  const PIECE_BYTES = 128 * 1024;
  const CHUNK = /^\$O\.a_snapshots\.C\./;
  const DESCRIPTION = /^\$O\.a_snapshots\.M\./;
  let nats: ScriptedNats;
  let objects: JetStreamObjectStore;
  beforeEach(() => {
    nats = new ScriptedNats();
    objects = new JetStreamObjectStore({ control: nats.link, reads: nats.link } as NatsConnections, new Names('a'));
    // No message is stored, and purges succeed; a test answers requests for pieces and descriptions itself.
    nats.onSent = ({ subject, answer }) => {
      const none = { error: { code: 404, err_code: 10037, description: 'no message found' } };
      if (subject.includes('.MSG.GET.')) setImmediate(() => answer(none));
      else if (subject.includes('.PURGE.')) setImmediate(() => answer({ success: true, purged: 0 }));
    };
  });
  const stored = (seq: number) => ({ stream: 'OBJ_a_snapshots', seq });

  it('is described after its last piece is stored, and not before (JO1)', async () => {
    const put = objects.put('name', new Uint8Array(20 * PIECE_BYTES + 1));
    await eventually(() => expect(nats.to(CHUNK)).to.have.length(16));
    for (const [at, sent] of nats.to(CHUNK).slice(0, 15).entries()) sent.answer(stored(at + 1));
    await turns();
    expect([nats.to(CHUNK).length, nats.to(DESCRIPTION).length]).to.deep.equal([16, 0]);
    nats.to(CHUNK)[15]?.answer(stored(16));
    await eventually(() => expect(nats.to(CHUNK)).to.have.length(21));
    for (const [at, sent] of nats.to(CHUNK).slice(16, 20).entries()) sent.answer(stored(at + 17));
    await turns();
    expect(nats.to(DESCRIPTION)).to.have.length(0);
    nats.to(CHUNK)[20]?.answer(stored(21));
    await eventually(() => expect(nats.to(DESCRIPTION)).to.have.length(1));
    const [description] = nats.to(DESCRIPTION);
    expect(JSON.parse(description?.text ?? '')).to.include({ name: 'name', chunks: 21, size: 20 * PIECE_BYTES + 1 });
    description?.answer(stored(22));
    await put;
  });

  it('is never described when one of its pieces was not stored (JO1)', async () => {
    const put = objects.put('name', new Uint8Array(3 * PIECE_BYTES)).catch((error: unknown) => error);
    await eventually(() => expect(nats.to(CHUNK)).to.have.length(3));
    const [first, second, third] = nats.to(CHUNK);
    first?.answer(stored(1));
    third?.answer(stored(2));
    second?.answer({ error: { code: 400, err_code: 10023, description: 'insufficient resources' } });
    expect(isMillraceError(await put, 'JOURNAL_UNAVAILABLE')).to.equal(true);
    expect(nats.to(DESCRIPTION)).to.have.length(0);
  });
});
