/** What an append says when the server refuses, is silent, is gone or answers nonsense. Proves JJ1, PO1, PO2, LK2. */
import { expect } from 'chai';
import { connect, JetStreamJournal, Names, type NatsConnections } from '../../../src/adapters/nats/index.js';
import { outcomeOfRefusal } from '../../../src/adapters/nats/publish-once.js';
import { isMillraceError, type ShardName } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

describe('append: the table of error codes', () => {
  it('takes the real last position from the text of a lost compare-and-set', () => {
    expect(outcomeOfRefusal(10071, 'wrong last sequence: 41')).to.deep.equal({ kind: 'conflict', last: 41 });
    expect(outcomeOfRefusal(10071, 'wrong last sequence')).to.deep.equal({ kind: 'conflict', last: undefined });
  });

  it('never takes another append in flight for a lost compare-and-set', () => {
    expect(outcomeOfRefusal(10164, 'wrong last sequence')).to.include({ kind: 'rejected', retryable: true });
  });

  for (const code of [10002, 10023, 10028, 10047, 10167]) {
    it(`rejects for now what has no room (${code})`, () => {
      expect(outcomeOfRefusal(code, 'full')).to.include({ kind: 'rejected', retryable: true });
    });
  }

  for (const code of [10054, 10060, 10070, 10097, 10109, 10165, 10190, 10199, 10210]) {
    it(`rejects for good what would be refused again (${code})`, () => {
      expect(outcomeOfRefusal(code, 'no')).to.include({ kind: 'rejected', retryable: false });
    });
  }

  it('tells a limit of the store from a failure of the store', () => {
    expect(outcomeOfRefusal(10077, 'maximum bytes exceeded')).to.include({ kind: 'rejected', retryable: true });
    expect(outcomeOfRefusal(10077, 'maximum messages exceeded')).to.include({ kind: 'rejected', retryable: true });
    expect(outcomeOfRefusal(10077, 'write /store/1.blk: input/output error').kind).to.equal('unknown');
  });

  for (const code of [10163, 10008, 0, 99_999]) {
    it(`knows nothing after ${code}`, () => expect(outcomeOfRefusal(code, 'hm').kind).to.equal('unknown'));
  }
});

describe('append: what the world does to it', () => {
  let server: NatsServer;
  let connections: NatsConnections;
  let journal: JetStreamJournal;
  const names = new Names('outcomes');
  const shard = 'KV_0' as ShardName;
  const bytes = Buffer.from('entry');

  beforeEach(async () => {
    server = await startNatsServer();
    connections = await connect({ servers: [server.url] });
    journal = new JetStreamJournal(connections, names, { appendTimeoutMs: 300 });
  });
  afterEach(async () => {
    await connections.close();
    await server.stop();
  });

  /** Answers appends in place of a stream; replies with nothing when `answer` is undefined. */
  async function answering(answer: object | string | undefined): Promise<void> {
    connections.control.subscribe(names.journalSubject(shard), (message) => {
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      if (answer !== undefined && message.reply) connections.control.publish(message.reply, text);
    });
    await connections.control.flush(1000);
  }

  it('rejects for now when no stream listens', async () => {
    expect(await journal.append(shard, bytes, 0)).to.include({ kind: 'rejected', retryable: true });
  });

  it('is unknown when nothing answers in time', async () => {
    await answering(undefined);
    expect((await journal.append(shard, bytes, 0)).kind).to.equal('unknown');
  });

  it('rejects for now when another append is in flight', async () => {
    await answering({ error: { code: 400, err_code: 10164, description: 'wrong last sequence' } });
    expect(await journal.append(shard, bytes, 0)).to.include({ kind: 'rejected', retryable: true });
  });

  it('is unknown when the answer cannot be read, or is about another stream', async () => {
    await answering('not json');
    expect((await journal.append(shard, bytes, 0)).kind).to.equal('unknown');
    const other = 'KV_1' as ShardName;
    connections.control.subscribe(names.journalSubject(other), (message) => {
      if (message.reply) connections.control.publish(message.reply, JSON.stringify({ stream: 'elsewhere', seq: 1 }));
    });
    await connections.control.flush(1000);
    expect((await journal.append(other, bytes, 0)).kind).to.equal('unknown');
  });

  it('never says stored at a position other than the one behind the expectation', async () => {
    await answering({ stream: names.journalStream(shard), seq: 9 });
    const outcome = await journal.append(shard, bytes, 3);
    expect(outcome.kind).to.equal('unknown');
    expect(isMillraceError((outcome as { cause: unknown }).cause, 'JOURNAL_DAMAGED')).to.equal(true);
  });

  it('sends the expectations of the fence and no de-duplication id', async () => {
    const seen: string[][] = [];
    connections.control.subscribe(names.journalSubject(shard), (message) => {
      seen.push([...(message.headers?.keys() ?? [])].sort());
    });
    await connections.control.flush(1000);
    await journal.append(shard, bytes, 7);
    expect(seen).to.deep.equal([['Nats-Expected-Last-Sequence', 'Nats-Expected-Stream']]);
  });

  it('rejects for good what is larger than a message may be', async () => {
    const outcome = await journal.append(shard, new Uint8Array(2 * 1024 * 1024), 0);
    expect(outcome).to.include({ kind: 'rejected', retryable: false });
  });

  it('is unknown at once, not after its timeout, when the connection is lost while it waits', async () => {
    const patient = new JetStreamJournal(connections, names, { appendTimeoutMs: 60_000 });
    await answering(undefined);
    const outcome = patient.append(shard, bytes, 0);
    await connections.control.flush(1000);
    await server.kill();
    expect((await outcome).kind).to.equal('unknown');
  });

  it('rejects for now, without sending, while the connection is down', async () => {
    await server.kill();
    await eventually(() => expect(connections.appends.isConnected()).to.equal(false));
    expect(await journal.append(shard, bytes, 0)).to.include({ kind: 'rejected', retryable: true });
  });
});
