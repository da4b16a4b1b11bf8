/**
 * The outcome of an append when the server refuses, does not answer, is unreachable or sends an unreadable answer.
 * Proves JJ1, PO1, PO2, LK2.
 */
import { expect } from 'chai';
import { connect, JetStreamJournal, Names, type NatsConnections } from '../../../src/adapters/nats/index.js';
import { outcomeOfRefusal } from '../../../src/adapters/nats/publish-once.js';
import { isMillraceError, type ShardName } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

describe('journal append: error codes of the server', () => {
  it('a conflict reads the last position from the error text', () => {
    expect(outcomeOfRefusal(10071, 'wrong last sequence: 41')).to.deep.equal({ kind: 'conflict', last: 41 });
    expect(outcomeOfRefusal(10071, 'wrong last sequence')).to.deep.equal({ kind: 'conflict', last: undefined });
  });

  it('another append in flight is not a conflict', () => {
    expect(outcomeOfRefusal(10164, 'wrong last sequence')).to.include({ kind: 'rejected', retryable: true });
  });

  for (const code of [10002, 10023, 10028, 10047, 10167]) {
    it(`code ${code}, no room, is rejected as retryable`, () => {
      expect(outcomeOfRefusal(code, 'full')).to.include({ kind: 'rejected', retryable: true });
    });
  }

  for (const code of [10054, 10060, 10070, 10097, 10109, 10165, 10190, 10199, 10210]) {
    it(`code ${code}, a final refusal, is rejected as not retryable`, () => {
      expect(outcomeOfRefusal(code, 'no')).to.include({ kind: 'rejected', retryable: false });
    });
  }

  it('a limit of the store is rejected as retryable, and a failure of the store is unknown', () => {
    expect(outcomeOfRefusal(10077, 'maximum bytes exceeded')).to.include({ kind: 'rejected', retryable: true });
    expect(outcomeOfRefusal(10077, 'maximum messages exceeded')).to.include({ kind: 'rejected', retryable: true });
    expect(outcomeOfRefusal(10077, 'write /store/1.blk: input/output error').kind).to.equal('unknown');
  });

  for (const code of [10163, 10008, 0, 99_999]) {
    it(`code ${code} gives an unknown outcome`, () => expect(outcomeOfRefusal(code, 'hm').kind).to.equal('unknown'));
  }
});

describe('journal append: faults', () => {
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

  /** Answers appends in place of a stream; the reply is empty when `answer` is undefined. */
  async function answering(answer: object | string | undefined): Promise<void> {
    connections.control.subscribe(names.journalSubject(shard), (message) => {
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      if (answer !== undefined && message.reply) connections.control.publish(message.reply, text);
    });
    await connections.control.flush(1000);
  }

  it('without a stream it is rejected as retryable', async () => {
    expect(await journal.append(shard, bytes, 0)).to.include({ kind: 'rejected', retryable: true });
  });

  it('without an answer in time the outcome is unknown', async () => {
    await answering(undefined);
    expect((await journal.append(shard, bytes, 0)).kind).to.equal('unknown');
  });

  it('with another append in flight it is rejected as retryable', async () => {
    await answering({ error: { code: 400, err_code: 10164, description: 'wrong last sequence' } });
    expect(await journal.append(shard, bytes, 0)).to.include({ kind: 'rejected', retryable: true });
  });

  it('with an unreadable answer, or one of another stream, the outcome is unknown', async () => {
    await answering('not json');
    expect((await journal.append(shard, bytes, 0)).kind).to.equal('unknown');
    const other = 'KV_1' as ShardName;
    connections.control.subscribe(names.journalSubject(other), (message) => {
      if (message.reply) connections.control.publish(message.reply, JSON.stringify({ stream: 'elsewhere', seq: 1 }));
    });
    await connections.control.flush(1000);
    expect((await journal.append(other, bytes, 0)).kind).to.equal('unknown');
  });

  it('with a position other than the expected one the outcome is unknown', async () => {
    await answering({ stream: names.journalStream(shard), seq: 9 });
    const outcome = await journal.append(shard, bytes, 3);
    expect(outcome.kind).to.equal('unknown');
    expect(isMillraceError((outcome as { cause: unknown }).cause, 'JOURNAL_DAMAGED')).to.equal(true);
  });

  it('it sends the expected stream and sequence, and no de-duplication id', async () => {
    const seen: string[][] = [];
    connections.control.subscribe(names.journalSubject(shard), (message) => {
      seen.push([...(message.headers?.keys() ?? [])].sort());
    });
    await connections.control.flush(1000);
    await journal.append(shard, bytes, 7);
    expect(seen).to.deep.equal([['Nats-Expected-Last-Sequence', 'Nats-Expected-Stream']]);
  });

  it('above the maximum message size it is rejected as not retryable', async () => {
    const outcome = await journal.append(shard, new Uint8Array(2 * 1024 * 1024), 0);
    expect(outcome).to.include({ kind: 'rejected', retryable: false });
  });

  it('when the connection is lost the outcome is unknown without waiting for the timeout', async () => {
    const patient = new JetStreamJournal(connections, names, { appendTimeoutMs: 60_000 });
    await answering(undefined);
    const outcome = patient.append(shard, bytes, 0);
    await connections.control.flush(1000);
    await server.kill();
    expect((await outcome).kind).to.equal('unknown');
  });

  it('while the connection is down it is rejected as retryable, and not sent', async () => {
    await server.kill();
    await eventually(() => expect(connections.appends.isConnected()).to.equal(false));
    expect(await journal.append(shard, bytes, 0)).to.include({ kind: 'rejected', retryable: true });
  });
});
