/** An unreadable record of the intake, on a real server: it stays until a person removes it. */
import { expect } from 'chai';
import { IntakeFollower, type QueueWork } from '../../../src/actors/queue/index.js';
import { connect, JetStreamIntakeLog, Names, type NatsConnections } from '../../../src/adapters/nats/index.js';
import { JetStreamApi } from '../../../src/adapters/nats/jetstream-api.js';
import { declareStreams } from '../../../src/adapters/nats/streams.js';
import { encodeIntakeRecord } from '../../../src/codec/queue/index.js';
import type { QueueCommandOf } from '../../../src/domain/queue/index.js';
import { UNWATCHED } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';
import { ACCOUNT, messageItem, QUEUE_SHARD } from '../../support/queue-shard-stand.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';

const STREAM = 'kept_INTAKE_0';

describe('an unreadable record of the intake', function () {
  this.timeout(30_000);
  let server: NatsServer;
  let connections: NatsConnections;
  let api: JetStreamApi;
  let log: JetStreamIntakeLog;

  before(async () => {
    server = await startNatsServer();
    connections = await connect({ servers: [server.url] });
    const names = new Names('kept');
    api = new JetStreamApi(connections.control);
    for (const { key, config } of declareStreams(names, { kvShards: 1, queueShards: 1, replicas: 1 })) {
      if (key === 'INTAKE_0') await api.createStream(config);
    }
    log = new JetStreamIntakeLog(connections, names);
  });
  after(async () => {
    await connections?.close();
    await server?.stop();
  });

  const tell = (n: number) =>
    log.append(QUEUE_SHARD, encodeIntakeRecord({ account: ACCOUNT, items: [messageItem(n, 'a')] }));
  const stored = async () => {
    const { first_seq: first, messages } = (await api.ask(({ streams }) => streams.info(STREAM))).state;
    return { first, messages };
  };

  /** An owner that accepts every request. @returns the requested positions */
  function owner(): { asked: number[]; stop: () => void } {
    const asked: number[] = [];
    const submit = (work: QueueWork) => {
      const { records } = work.command as QueueCommandOf<'TakeIntake'>;
      asked.push(...records.map(({ position }) => position));
      work.reply = { type: 'Done' };
      realTime.soon(() => work.release(1));
    };
    const ports = { intake: log, timers: realTime, log: silentLog, metrics: UNWATCHED, submit };
    const follower = new IntakeFollower(ports, QUEUE_SHARD);
    follower.start();
    return { asked, stop: () => follower.stop() };
  }

  it('stays under every owner, with the records after it, and only a purge removes it', async () => {
    await tell(1);
    await log.append(QUEUE_SHARD, Buffer.from('no record'));
    await tell(2);
    const first = owner();
    await eventually(async () => {
      expect(first.asked).to.deep.equal([1, 3]);
      expect(await stored()).to.deep.equal({ first: 2, messages: 2 });
    });
    first.stop();
    const second = owner();
    await eventually(() => expect(second.asked).to.deep.equal([3]));
    second.stop();
    expect(await stored()).to.deep.equal({ first: 2, messages: 2 });
    await api.purge(STREAM, { seq: 3 });
    const third = owner();
    await eventually(async () => {
      expect(third.asked).to.deep.equal([3]);
      expect((await stored()).messages).to.equal(0);
    });
    third.stop();
  });
});
