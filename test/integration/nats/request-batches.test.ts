import { expect } from 'chai';
import { connect, Names, NatsBus, type NatsConnections } from '../../../src/adapters/nats/index.js';
import type { ShardName } from '../../../src/kernel/index.js';
import type { Topic } from '../../../src/ports/index.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

const NAMES = new Names('batches');
const TOPIC: Topic = { kind: 'command', shard: 'KV_0' as ShardName };
const SUBJECT = NAMES.topic(TOPIC);
const PATIENT_MS = 30_000;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('commands sent in one turn of the event loop', () => {
  let server: NatsServer;
  let here: NatsConnections;
  let there: NatsConnections;
  let asking: NatsBus;
  let serving: NatsBus;
  /** Messages that travelled, by subject. */
  let seen: string[];
  let watches: { unsubscribe(): void }[];

  beforeEach(async () => {
    server = await startNatsServer();
    [here, there] = await Promise.all([connect({ servers: [server.url] }), connect({ servers: [server.url] })]);
    [asking, serving] = [new NatsBus(here, NAMES), new NatsBus(there, NAMES)];
    seen = [];
    const watch = (subject: string) =>
      there.control.raw.subscribe(subject, { callback: (_, message) => void seen.push(message.subject) });
    watches = [watch(SUBJECT), watch(`${SUBJECT}.>`)];
  });
  afterEach(async () => {
    asking.close();
    serving.close();
    await Promise.all([here.close(), there.close()]);
    await server.stop();
  });

  async function served(onRequest: (payload: Uint8Array) => Promise<Uint8Array>): Promise<void> {
    serving.serve(TOPIC, onRequest);
    await there.control.flush(PATIENT_MS);
  }
  const ask = (payload: string | Uint8Array) => asking.request(TOPIC, Buffer.from(payload), PATIENT_MS);
  const numbers = Array.from({ length: 50 }, (_, n) => `${n}`);

  it('travel in one message, and each has its own answer', async () => {
    await served(async (payload) => Buffer.from(`answer to ${text(payload)}`));
    const answers = await Promise.all(numbers.map(ask));
    expect(answers.map(text)).to.deep.equal(numbers.map((n) => `answer to ${n}`));
    expect(seen).to.deep.equal([`${SUBJECT}.batch`]);
  });

  it('do not wait for one that has no answer yet (BT2)', async () => {
    let answerFirst: (bytes: Uint8Array) => void = () => {};
    const first = new Promise<Uint8Array>((resolve) => {
      answerFirst = resolve;
    });
    await served((payload) => (text(payload) === '0' ? first : Promise.resolve(payload)));
    const asked = numbers.map(ask);
    expect((await Promise.all(asked.slice(1))).map(text)).to.deep.equal(numbers.slice(1));
    answerFirst(Buffer.from('late'));
    expect(text((await asked[0]) as Uint8Array)).to.equal('late');
  });

  it('fail individually', async () => {
    await served((payload) =>
      text(payload) === '7' ? Promise.reject(new Error('not this one')) : Promise.resolve(payload),
    );
    const ends = await Promise.allSettled(numbers.map(ask));
    expect(ends.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).to.deep.equal([7]);
  });

  it('go one by one, each once, to an owner of an earlier version (BT1)', async () => {
    // A subscriber that watches the batches would count as a receiver of them.
    for (const watch of watches) watch.unsubscribe();
    const received: string[] = [];
    there.control.raw.subscribe(SUBJECT, {
      callback: (_, message) => {
        received.push(text(message.data.subarray(1)));
        message.respond(message.data);
      },
    });
    await there.control.flush(PATIENT_MS);
    expect((await Promise.all(numbers.map(ask))).map(text)).to.deep.equal(numbers);
    expect([...received].sort()).to.deep.equal([...numbers].sort());
  });

  it('travel in several messages when one would be too large (BT3)', async () => {
    await served(async (payload) => payload.subarray(0, 1));
    const large = numbers.slice(0, 5).map((n) => Buffer.alloc(400_000, n));
    expect((await Promise.all(large.map(ask))).map(text)).to.deep.equal(['0', '1', '2', '3', '4']);
    expect(seen).to.have.lengthOf(5);
  });

  it('are served after a malformed batch (BT4)', async () => {
    await served(async (payload) => payload);
    here.control.raw.publish(`${SUBJECT}.batch`, 'no batch', { reply: 'nobody' });
    expect((await Promise.all(numbers.map(ask))).map(text)).to.deep.equal(numbers);
  });
});
