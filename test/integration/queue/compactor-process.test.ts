/**
 * Snapshots of queues, made in the compactor's process: the state and its bodies remain after their entries are
 * removed.
 */
import { expect } from 'chai';
import { carriedBodies, QueuePartitionFold } from '../../../src/actors/queue/index.js';
import { ProcessCompactor } from '../../../src/adapters/node/index.js';
import { decodeManifest } from '../../../src/codec/envelope/index.js';
import { encodeQueueEvent } from '../../../src/codec/queue/index.js';
import type { CompactorTask } from '../../../src/composition/thread-tasks.js';
import type { Envelope, QueueEvent } from '../../../src/domain/queue/index.js';
import { BodyReader, DEFAULT_COMPACTION_LIMITS, SnapshotStore } from '../../../src/journal/index.js';
import type { MessageId, ShardName } from '../../../src/kernel/index.js';
import type { Manifest, ManifestPartition } from '../../../src/protocol/index.js';
import { KEEP_NOTHING } from '../../spec/journal/journal-stand.js';
import { CLUSTER, ShardHistory } from '../../spec/journal/shard-history.js';
import { QUEUE } from '../../support/body-stand.js';
import { JetStreamStand } from '../../support/jetstream-stand.js';
import { PLAIN_ENVELOPE } from '../../support/plain-delivery.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const PREFIX = 'queues';
const ENTRY = new URL('../../../src/composition/compactor-worker.js', import.meta.url);
const YEAR_MS = 365 * 24 * 3_600_000;
const START_MS = 1_790_000_000_000;

const envelope: Envelope = {
  ...PLAIN_ENVELOPE,
  url: 'https://example.com/hook',
};

const idOf = (number: number) => `msg_${String(number).padStart(28, 'z')}` as MessageId;
const textOf = (number: number) => `body ${number} `.repeat(50);

function accepted(number: number): QueueEvent {
  const content = Buffer.from(textOf(number));
  return {
    type: 'MessageAccepted',
    id: idOf(number),
    atMs: START_MS,
    envelope,
    body: { number, bytes: content.length, content },
    notBeforeMs: START_MS + YEAR_MS,
    deduplication: undefined,
    retryOf: undefined,
    holdsPlaceOf: undefined,
  };
}

function delivered(number: number, atMs: number): QueueEvent[] {
  const id = idOf(number);
  return [
    { type: 'AttemptStarted', id, atMs, retried: 0, restarts: 0 },
    { type: 'MessageDelivered', id, atMs, status: 200, durationMs: 1 },
  ];
}

describe('snapshots of queues, made by the compactor process, on JetStream', function () {
  this.timeout(60_000);
  // Before the server ends.
  after(async () => {
    await compactor?.close();
  });
  const nats = standOfAllTests(() => JetStreamStand.start(PREFIX));
  let compactor: ProcessCompactor<CompactorTask>;

  before(async () => {
    const limits = { ...DEFAULT_COMPACTION_LIMITS, segmentBytes: 50_000, retention: KEEP_NOTHING };
    const installation: CompactorTask = { nats: { servers: [nats.server.url] }, prefix: PREFIX, limits };
    compactor = new ProcessCompactor<CompactorTask>({ entry: ENTRY, installation, log: silentLog });
  });

  it('keep the bodies of messages that wait for a year, and drop those of delivered messages', async () => {
    const history = new ShardHistory(nats.journal, { shard: 'QUEUE_0' as ShardName, chunkBytes: 64 * 1024 });
    const append = (events: readonly QueueEvent[]) => {
      const section = history.section(QUEUE, Buffer.concat(events.map(encodeQueueEvent)));
      return history.append({ kind: 'batch', commandIds: [], sections: [section] });
    };
    const snapshot = async (): Promise<Manifest> => {
      await history.claim();
      const job = { shard: history.shard, clusterId: CLUSTER, upToPosition: history.head.position };
      const { manifest, purgeBelow } = await compactor.compact(job);
      await nats.journal.truncateFront(history.shard, purgeBelow);
      return decodeManifest((await nats.objects.get(manifest)) as Uint8Array);
    };
    const bodyBytes = ({ partitions }: Manifest) =>
      (partitions[0]?.bodySegments ?? []).reduce((sum, { bodies }) => sum + bodies.bytes, 0);
    const numbers = Array.from({ length: 400 }, (_, i) => i + 1);
    await history.claim();
    const { position } = await append(numbers.map(accepted));
    expect(bodyBytes(await snapshot())).to.equal(numbers.reduce((sum, number) => sum + textOf(number).length, 0));

    await append(numbers.slice(0, 300).flatMap((number) => delivered(number, START_MS + 1000)));
    // Each later event forgets a few of the delivered messages.
    const later: QueueEvent = { type: 'FlowPaused', key: 'later', isPaused: true, atMs: START_MS + 3_600_000 };
    await append(new Array<QueueEvent>(300).fill(later));
    await snapshot();
    const manifest = await snapshot();
    const waiting = numbers.slice(300);
    expect(bodyBytes(manifest)).to.be.at.most(2 * waiting.reduce((sum, number) => sum + textOf(number).length, 0));
    expect(await nats.journal.readAt(history.shard, position)).to.equal(undefined);

    const reader = new BodyReader(
      { journal: nats.journal, objects: nats.objects, timers: realTime, log: silentLog },
      carriedBodies,
    );
    for (const number of waiting) {
      const content = await reader.read(history.shard, QUEUE, number, position);
      expect(Buffer.from(content).toString()).to.equal(textOf(number));
    }
    const fold = new QueuePartitionFold();
    const partition = manifest.partitions[0] as ManifestPartition;
    await new SnapshotStore(nats.objects, silentLog).loadWhole(partition, fold, { checkDigest: true });
    expect(waiting.every((number) => fold.bodies?.isNeeded(number) === true)).to.equal(true);
    expect(fold.bodies?.isNeeded(1)).to.equal(false);
  });
});
