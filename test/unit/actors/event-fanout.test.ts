/** Proves TE1, TE2, KH2. */
import { expect } from 'chai';
import { SubscriptionRegistry } from '../../../src/actors/kv-shard/index.js';
import type { DatabaseId, PartitionName, SessionId } from '../../../src/kernel/index.js';
import type { BroadcastItem, Broadcasts, BroadcastTurn } from '../../../src/ports/index.js';
import type { KvEvent, KvRequest, KvResponse } from '../../../src/protocol/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';
import { MemoryKvGateway } from '../../support/memory-kv-gateway.js';

const PARTITION = 'kv:db:0' as PartitionName;
const GRANT = { database: 'db' as DatabaseId, partitions: [PARTITION] };

/** The first look at the clock finds time left, and later looks find none until the test continues. */
class Looks implements Broadcasts {
  waiting: BroadcastItem | undefined;

  add(_tenant: string, item: BroadcastItem): BroadcastTurn {
    this.waiting = item;
    return { more: () => {} };
  }

  handOnNow(tenant: string, item: BroadcastItem): void {
    if (item.handOn(() => false) > 0) this.add(tenant, item);
  }

  whenCaughtUp(): undefined {
    return undefined;
  }

  goOn(): void {
    const item = this.waiting;
    this.waiting = undefined;
    if (item !== undefined && item.handOn(() => false) > 0) this.waiting = item;
  }
}

describe('the events of an owner for its listeners', () => {
  const looks = new Looks();
  let subscriptions: SubscriptionRegistry;
  let heard: string[];
  const said = (payload: string): KvEvent => ({ type: 'message', channel: 'news', payload });
  const listen = (name: string) =>
    subscriptions.subscribe(GRANT, 'channel', 'news', (event) =>
      heard.push(`${name}:${(event as { payload: string }).payload}`),
    );
  const say = (...payloads: string[]) =>
    subscriptions.receive({ partition: PARTITION, activation: 'memory', events: payloads.map(said) });
  const listenMany = async (count: number) => {
    const subscriptions = [];
    for (let i = 0; i < count; i += 1) subscriptions.push(await listen(String(i)));
    return subscriptions;
  };

  beforeEach(() => {
    heard = [];
    looks.waiting = undefined;
    subscriptions = new SubscriptionRegistry(
      new MemoryKvGateway(),
      new ManualTime(),
      new MemoryLog(),
      'edge' as SessionId,
      looks,
    );
  });

  it('are delivered synchronously to few listeners', async () => {
    await listenMany(10);
    say('a', 'b');
    expect(heard).to.have.length(20);
    expect(looks.waiting).to.equal(undefined);
  });

  it('are delivered to many listeners in portions, and to each in order', async () => {
    await listenMany(100);
    say('a', 'b');
    expect(heard.length).to.be.within(1, 99);
    say('c');
    while (looks.waiting !== undefined) looks.goOn();
    expect(heard).to.have.length(300);
    for (let i = 0; i < 100; i += 1) {
      expect(heard.filter((line) => line.startsWith(`${i}:`))).to.deep.equal([`${i}:a`, `${i}:b`, `${i}:c`]);
    }
  });

  it('are not delivered to a listener that has stopped, nor to one that subscribed later', async () => {
    const subscriptions = await listenMany(100);
    say('a');
    subscriptions[99]?.stop();
    await listen('late');
    say('b');
    while (looks.waiting !== undefined) looks.goOn();
    expect(heard).not.to.include('99:a');
    expect(heard).not.to.include('late:a');
    expect(heard).to.include('late:b');
    expect(heard).to.have.length(99 + 100);
  });
});

describe('the registrations that a process sends to owners', () => {
  const OTHER = { ...GRANT, partitions: ['kv:db:1' as PartitionName] };
  type Asked = { readonly request: KvRequest; answer(): void; fail(): void };
  let asked: Asked[];
  let subscriptions: SubscriptionRegistry;

  beforeEach(() => {
    asked = [];
    const gateway = {
      execute: (request: KvRequest) =>
        new Promise<KvResponse>((resolve, reject) => {
          const answer = () => resolve({ replies: ['activation', 1], syncToken: '0-0' });
          asked.push({ request, answer, fail: () => reject(new Error('on purpose')) });
        }),
    };
    subscriptions = new SubscriptionRegistry(gateway, new ManualTime(), new MemoryLog(), 'edge' as SessionId);
  });

  const listen = (name: string, grant = GRANT) => subscriptions.subscribe(grant, 'channel', name, () => {});
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const countsOf = ({ request }: Asked) =>
    Object.fromEntries((request.listen?.counts ?? []).map(([, name, count]) => [name, count]));

  it('are sent in order per partition: one request at a time, each with all changes (KH2)', async () => {
    const first = listen('a');
    const others = [listen('b'), listen('c'), listen('b')];
    await settled();
    expect(asked.map(countsOf)).to.deep.equal([{ a: 1 }]);
    const elsewhere = listen('a', OTHER);
    await settled();
    expect(asked.slice(1).map(({ request }) => request.partition)).to.deep.equal(OTHER.partitions);
    asked[0]?.answer();
    const { stop } = await first;
    await settled();
    expect(asked.slice(2).map(countsOf)).to.deep.equal([{ b: 2, c: 1 }]);
    stop();
    const late = listen('d');
    await settled();
    expect(asked).to.have.length(3);
    asked[2]?.answer();
    await Promise.all(others);
    await settled();
    expect(asked.slice(3).map(countsOf)).to.deep.equal([{ a: 0, d: 1 }]);
    for (const { answer } of asked) answer();
    await Promise.all([late, elsewhere]);
  });

  it('are sent again with the next ones when a request failed (KH2)', async () => {
    const first = listen('a').catch(() => 'refused');
    const second = listen('b').catch(() => 'refused');
    await settled();
    asked[0]?.fail();
    expect(await first).to.equal('refused');
    await settled();
    // The refused request may have reached the owner, so it is repeated.
    expect(asked.slice(1).map(countsOf)).to.deep.equal([{ a: 1, b: 1 }]);
    asked[1]?.answer();
    expect(await second).not.to.equal('refused');
    await settled();
    // The first channel has no listener any more.
    expect(asked.slice(2).map(countsOf)).to.deep.equal([{ a: 0 }]);
  });
});
