/** Subscriptions of a process while the partitions of a database are changed. Proves KH5. */
import { expect } from 'chai';
import { SubscriptionRegistry } from '../../../src/actors/kv-shard/index.js';
import type { DatabaseId, PartitionName, SessionId } from '../../../src/kernel/index.js';
import { type KvEvent, type KvRequest, kvPartitions } from '../../../src/protocol/index.js';
import { ManualTime } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const OLD = kvPartitions(DATABASE, { partitions: 1 });
const NEW = kvPartitions(DATABASE, { firstPartition: 1, partitions: 2 });

describe('subscriptions of a database whose partitions are changed', () => {
  const time = new ManualTime(0);
  let listened: Map<string, Map<string, number>>;
  let registry: SubscriptionRegistry;
  let layout: readonly PartitionName[];
  let events: KvEvent[];

  beforeEach(() => {
    listened = new Map();
    layout = OLD;
    events = [];
    const execute = async ({ partition, listen }: KvRequest) => {
      const names = listened.get(partition) ?? new Map<string, number>();
      listened.set(partition, names);
      for (const [kind, name, count] of listen?.counts ?? []) {
        if (count === 0) names.delete(`${kind} ${name}`);
        else names.set(`${kind} ${name}`, count);
      }
      return { replies: [`owner of ${partition}`, 1], syncToken: '' };
    };
    registry = new SubscriptionRegistry({ execute }, time, silentLog, 'edge-1' as SessionId);
    registry.layoutOf = () => layout;
  });

  async function changeTo(...partitions: PartitionName[]): Promise<void> {
    layout = partitions;
    registry.layoutsChanged();
    await time.advance(0);
  }

  const listeners = () =>
    Object.fromEntries(
      [...listened].filter(([, names]) => names.size > 0).map(([at, names]) => [at, [...names.keys()]]),
    );
  const hear = (kind: 'channel' | 'invalidation', name: string) =>
    registry.subscribe({ database: DATABASE, partitions: OLD }, kind, name, (event) => events.push(event));
  const publish = (partition: PartitionName) =>
    registry.receive({
      partition,
      activation: `owner of ${partition}`,
      events: [{ type: 'message', channel: 'news', payload: partition }],
    });

  it('are with the partitions of both layouts during the change, and then with the new ones (KH5)', async () => {
    const subscription = await hear('channel', 'news');
    await changeTo(...OLD, ...NEW);
    expect(Object.keys(listeners())).to.deep.equal([...OLD, ...NEW]);
    for (const partition of [...OLD, ...NEW]) publish(partition);
    expect(events).to.have.length(3);
    await changeTo(...NEW);
    expect(Object.keys(listeners())).to.deep.equal(NEW);
    subscription.stop();
    await time.advance(0);
    expect(listeners()).to.deep.equal({});
  });

  it('that begin during the change are with both, and a cancelled change leaves the old ones', async () => {
    layout = [...OLD, ...NEW];
    await hear('channel', 'news');
    expect(Object.keys(listeners())).to.deep.equal([...OLD, ...NEW]);
    await changeTo(...OLD);
    expect(Object.keys(listeners())).to.deep.equal(OLD);
  });

  it('to cached values receive an invalidation of all keys after the switch (KH5)', async () => {
    await hear('invalidation', '');
    await changeTo(...OLD, ...NEW);
    expect(events).to.deep.equal([]);
    await changeTo(...NEW, ...OLD);
    expect(events).to.deep.equal([{ type: 'invalidate', keys: null, by: undefined }]);
  });
});
