/** The read models in their thread, on a real journal. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { NatsBus } from '../../../src/adapters/nats/index.js';
import { AnsweringThread } from '../../../src/adapters/node/index.js';
import { encodeQueueEvent } from '../../../src/codec/queue/index.js';
import type { ReadModelsTask } from '../../../src/composition/thread-tasks.js';
import type { QueueEvent } from '../../../src/domain/queue/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import {
  READ_MODELS_WORKER,
  type ReadModelsInstruction,
  type ReadModelWorkerStatus,
} from '../../../src/projections/index.js';
import { queuePartition } from '../../../src/protocol/index.js';
import { askOverBus, ReadModelsClient } from '../../../src/query/index.js';
import { CLUSTER, ShardHistory } from '../../spec/journal/shard-history.js';
import { eventually } from '../../support/eventually.js';
import { JetStreamStand } from '../../support/jetstream-stand.js';
import { ACCOUNT, ANYTHING, accepted, delivered, QUEUE_SHARD, started, T0 } from '../../support/message-log-stand.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const PREFIX = 'readmodels';
const ENTRY = new URL('../../../src/composition/read-models-worker.js', import.meta.url);

type ReadModelsThread = AnsweringThread<ReadModelsTask, ReadModelsInstruction, ReadModelWorkerStatus>;

describe('the read models in their own thread, on JetStream', function () {
  this.timeout(60_000);
  // Before the server ends.
  after(async () => {
    await thread?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const nats = standOfAllTests(() => JetStreamStand.start(PREFIX));
  let history: ShardHistory;
  let folder: string;
  let thread: ReadModelsThread;
  let log: ReadModelsClient;

  before(async () => {
    history = new ShardHistory(nats.journal, { shard: QUEUE_SHARD });
    await history.claim();
    folder = mkdtempSync(join(tmpdir(), 'millrace-read-models-'));
    thread = newThread();
    log = new ReadModelsClient((question) => thread.ask(question));
  });

  function newThread(entry = ENTRY, onBegun?: () => void): ReadModelsThread {
    const task = {
      nats: { servers: [nats.server.url] },
      prefix: PREFIX,
      file: join(folder, 'messages.db'),
      statsFile: join(folder, 'stats.db'),
      options: {
        snapshots: { writer: 'process' },
        clusterId: CLUSTER,
        shards: [QUEUE_SHARD],
        retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 1_000_000 },
      },
    };
    const options = { entry, task, log: silentLog, timers: realTime, restartMs: 50, ...(onBegun && { onBegun }) };
    const started: ReadModelsThread = new AnsweringThread(options, READ_MODELS_WORKER);
    started.start();
    return started;
  }

  async function store(...events: readonly QueueEvent[]): Promise<void> {
    const effects = new Uint8Array(Buffer.concat(events.map((event) => encodeQueueEvent(event))));
    const section = history.section(queuePartition(ACCOUNT), effects);
    await history.append({ kind: 'batch', commandIds: [], sections: [section] });
  }

  it('show an event within a second', async () => {
    await store(accepted('msg_warm'));
    // The thread may still be starting.
    await eventually(() => log.events(ACCOUNT, ANYTHING, history.head.position));
    // A busy machine may be slow in one try, but not in each.
    let tries = 0;
    await eventually(async () => {
      tries += 1;
      const id = `msg_${tries}`;
      await store(accepted(id), started(id, T0 + 1), delivered(id, T0 + 2));
      const askedAtMs = performance.now();
      const { events } = await log.events(ACCOUNT, { ...ANYTHING, filter: { messageId: [id] } }, history.head.position);
      expect(events.map(({ state }) => state)).to.deep.equal(['CREATED', 'ACTIVE', 'DELIVERED']);
      expect(performance.now() - askedAtMs).to.be.lessThan(1000);
    });
  });

  it('report when they have caught up', async () => {
    await eventually(() => {
      expect(thread.status?.readModels.isCaughtUp).to.equal(true);
      expect(thread.status?.readModels.behindPositions).to.equal(0);
    });
  });

  it('answer other processes over the bus', async () => {
    const bus = new NatsBus(nats.connections, nats.names);
    const remote = new ReadModelsClient(askOverBus(bus, 'query', 5000));
    const unserved = await remote.events(ACCOUNT, ANYTHING, 0).catch((thrown: unknown) => thrown);
    expect(isMillraceError(unserved, 'SHARD_UNAVAILABLE')).to.equal(true);
    const served = bus.serve({ kind: 'query' }, (question) => thread.ask(question));
    const query = { ...ANYTHING, filter: { messageId: ['msg_1'] } };
    await eventually(async () => {
      expect((await remote.events(ACCOUNT, query, history.head.position)).events).to.have.length(3);
    });
    const refused = await remote.events(ACCOUNT, { ...ANYTHING, cursor: 'x' }, 0).catch((thrown: unknown) => thrown);
    expect(isMillraceError(refused, 'INVALID')).to.equal(true);
    served.stop();
    bus.close();
  });

  it('continue at their checkpoint after a restart, and are rebuilt when the file was deleted', async () => {
    const before = await log.events(ACCOUNT, ANYTHING, history.head.position);
    await thread.stop();
    await store(accepted('msg_late', { atMs: T0 + 10 }));
    thread = newThread();
    const answers = () => eventually(() => log.events(ACCOUNT, ANYTHING, history.head.position));
    const restarted = await answers();
    expect(restarted.events.slice(0, -1)).to.deep.equal(before.events);
    expect(restarted.events.at(-1)?.messageId).to.equal('msg_late');
    await thread.stop();
    expect(readdirSync(folder)).to.deep.equal(['messages.db', 'stats.db']);
    rmSync(join(folder, 'messages.db'));
    thread = newThread();
    expect(await answers()).to.deep.equal(restarted);
  });

  it("keep each account's maximum of events, also after a restart of the thread", async () => {
    const limit = 2;
    const tell = () => thread.tell({ kind: 'limits', limits: [[ACCOUNT, limit]] });
    const kept = () => log.events(ACCOUNT, ANYTHING, history.head.position);
    await store(accepted('msg_later', { atMs: T0 + 20 }), delivered('msg_later', T0 + 21));
    expect((await kept()).events).to.have.length.greaterThan(limit);
    tell();
    await eventually(async () => expect((await kept()).events).to.have.length(limit));
    await thread.stop();
    thread = newThread(ENTRY, () => queueMicrotask(tell));
    await store(accepted('msg_last', { atMs: T0 + 30 }), delivered('msg_last', T0 + 31));
    await eventually(async () => {
      expect((await kept()).events.map(({ messageId }) => messageId)).to.deep.equal(['msg_last', 'msg_last']);
    });
  });

  it('refuse questions while the thread is gone, and start another', async () => {
    const dying = newThread(new URL('data:text/javascript,process.exit(3)'));
    const error = await dying.ask(new Uint8Array([1])).catch((thrown: unknown) => thrown);
    expect(isMillraceError(error, 'SHARD_UNAVAILABLE')).to.equal(true);
    await dying.stop();
    expect((await log.events(ACCOUNT, ANYTHING, 0)).events).to.have.length.greaterThan(0);
  });
});
