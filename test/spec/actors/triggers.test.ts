/** Relays of triggers on a journal and a queue in memory. Proves TRL1, TRL2, TRL3, TRL4, PCP1, PCP2 and LQS1. */
import { expect } from 'chai';
import { LaneQueueSweep, relayPlaces, TriggerDesk, TriggerRelay } from '../../../src/actors/triggers/index.js';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { DEFAULT_ACCOUNT_LIMITS, type Trigger } from '../../../src/domain/control/index.js';
import type { QueueCommandOf, QueueReply } from '../../../src/domain/queue/index.js';
import {
  type AccountId,
  ByteBudget,
  type ByteString,
  type DatabaseId,
  MillraceError,
  type PartitionName,
  type TriggerId,
} from '../../../src/kernel/index.js';
import type { FeedPage, LayoutWithFormer } from '../../../src/ports/index.js';
import { KvShardStand, SHARD } from '../../support/kv-shard-stand.js';
import { MemoryLeaseStore } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';
import { keyTrigger } from '../control/management-given.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const OLD = `kv:${DATABASE}:0` as PartitionName;
const NEXT = `kv:${DATABASE}:1` as PartitionName;
const ACCOUNT = 'ac-aaaaaaaaaaaaaaaa' as AccountId;
const TERMS = { state: 'active', limits: DEFAULT_ACCOUNT_LIMITS, centsPer100kMessages: 0 } as const;

/** Accepts records as an account does: each sequence of a source once. */
class MemoryQueue {
  readonly bodies: { readonly event: string; readonly commands: readonly string[][] }[] = [];
  readonly ids: string[] = [];
  readonly requests: QueueCommandOf<'TakeOutbox'>[] = [];
  readonly taken = new Map<string, number>();
  readonly refusals: QueueReply[] = [];
  losesAnswer = false;
  /** Accepts so many records of a request. */
  most = Number.POSITIVE_INFINITY;

  ask = async (_: unknown, command: unknown): Promise<QueueReply> => {
    const asked = command as QueueCommandOf<'TakeOutbox'>;
    const { source, records, upTo = 0 } = asked;
    if (records.length > 0) this.requests.push(asked);
    const refusal = records.length > 0 ? this.refusals.shift() : undefined;
    if (refusal !== undefined) return refusal;
    let takenUpTo = this.taken.get(source) ?? 0;
    let accepted = 0;
    for (const { sequence, call } of records) {
      if (sequence <= takenUpTo || call.kind !== 'publish' || accepted === this.most) continue;
      accepted += 1;
      takenUpTo = sequence;
      this.bodies.push(JSON.parse(Buffer.from(call.item.body).toString()));
      this.ids.push(call.item.id);
    }
    this.taken.set(source, Math.max(takenUpTo, upTo));
    if (this.losesAnswer && records.length > 0) throw new MillraceError('OUTCOME_UNKNOWN', 'the answer was lost');
    return { type: 'OutboxTaken', sequence: this.taken.get(source) ?? 0 };
  };

  get lines(): string[] {
    return this.bodies.map(({ event, commands }) => `${event} ${commands.flat().join(' ')}`);
  }
}

describe('the relay of a trigger', () => {
  let stand: KvShardStand;
  let queue: MemoryQueue;
  let relays: TriggerRelay[];
  let copies: ByteBudget;
  let layout: LayoutWithFormer;

  beforeEach(() => {
    stand = new KvShardStand();
    queue = new MemoryQueue();
    relays = [];
    copies = new ByteBudget(1024 * 1024);
    layout = { partitions: 1 };
  });
  afterEach(() => {
    for (const relay of relays) relay.stop();
    for (const actor of stand.actors) actor.fail(new Error('the test is over'));
  });

  const triggerOf = (over: Partial<Trigger> = {}): Trigger => {
    const starts = [{ shard: SHARD, position: 0 }];
    const fixed = { account: ACCOUNT, database: DATABASE, patterns: ['k*'], events: ['set', 'del', 'field'], starts };
    return keyTrigger('tr-a' as TriggerId, { ...fixed, ...over });
  };
  const portsOf = () => {
    const { time, journal, objects } = stand;
    return {
      clock: time,
      timers: time,
      journal,
      objects,
      leases: new MemoryLeaseStore(time),
      log: silentLog,
      random: { bytes: (count: number) => new Uint8Array(count), float: () => 0 },
      destinations: { refusalOf: () => undefined },
      accounts: { termsOf: () => TERMS },
      queue,
      copyBudget: copies,
    };
  };
  const start = (over: Partial<Trigger> = {}): TriggerRelay => {
    const trigger = triggerOf(over);
    const ports = portsOf();
    const places = relayPlaces(trigger, layout, 1);
    const begun = places.map((place) => new TriggerRelay(ports, trigger, place));
    relays.push(...begun);
    for (const relay of begun) relay.start();
    return begun[0] as TriggerRelay;
  };
  const end = async (): Promise<number> => (await stand.journal.tail(SHARD)).last;

  it('hands over the selected changes in the order of the journal, present and later ones (TRL1)', async () => {
    const actor = await stand.serving();
    stand.send(actor, ['SET k1 a', 'SET x b', 'HSET k2 f v'], 'pipeline');
    await stand.settle();
    start();
    await stand.time.advance(200);
    stand.send(actor, ['MSET k3 c k4 d', 'DEL k1 k3'], 'transaction');
    await stand.time.advance(500);
    expect(queue.lines).to.deep.equal([
      'set SET k1 a',
      'field HSET k2 f v',
      'set SET k3 c',
      'set SET k4 d',
      'del DEL k1',
      'del DEL k3',
    ]);
  });

  it('hands over each change once, with one id, when answers are lost and relays end within an entry (TRL2)', async () => {
    const actor = await stand.serving();
    stand.send(actor, ['SET k1 a', 'SET k2 b', 'SET k3 c'], 'transaction');
    await stand.settle();
    queue.most = 2;
    queue.losesAnswer = true;
    start();
    await stand.time.advance(30);
    relays[0]?.stop();
    queue.most = Number.POSITIVE_INFINITY;
    start();
    await stand.time.advance(200);
    queue.losesAnswer = false;
    start();
    stand.send(actor, 'SET k4 d');
    await stand.time.advance(6_000);
    expect(queue.lines).to.deep.equal(['set SET k1 a', 'set SET k2 b', 'set SET k3 c', 'set SET k4 d']);
    expect(new Set(queue.ids).size).to.equal(4);
    const again = new MemoryQueue();
    Object.assign(queue, { ask: again.ask });
    start();
    await stand.time.advance(200);
    expect(again.ids).to.deep.equal(queue.ids);
  });

  it('sends a refused change again until it is accepted, and reports the reason and the lag (TRL3)', async () => {
    const actor = await stand.serving();
    const full: QueueReply = { type: 'Rejected', reason: 'FULL', message: 'the account is full' };
    queue.refusals.push(full, full, full, full);
    stand.send(actor, ['SET k1 a', 'SET k2 b'], 'transaction');
    await stand.settle();
    const relay = start();
    await stand.time.advance(120);
    expect(relay.problem).to.equal('the account is full');
    expect(relay.lagMs).to.be.greaterThan(50);
    await stand.time.advance(20_000);
    expect(queue.lines).to.deep.equal(['set SET k1 a', 'set SET k2 b']);
    expect(relay.problem).to.equal(undefined);
    expect(relay.lagMs).to.equal(0);
  });

  it('from a snapshot hands over all keys once, also over an end in between, then the changes (TRL4)', async () => {
    const actor = await stand.serving();
    stand.send(actor, ['SET k2 b', 'HSET k1 f v', 'SET x y'], 'pipeline');
    await stand.settle();
    const starts = [{ shard: SHARD, position: await end() }];
    stand.send(actor, ['SET k3 c', 'DEL k2'], 'pipeline');
    await stand.settle();
    queue.most = 1;
    queue.losesAnswer = true;
    start({ from: 'snapshot', starts });
    await stand.time.advance(100);
    relays[0]?.stop();
    queue.most = Number.POSITIVE_INFINITY;
    queue.losesAnswer = false;
    start({ from: 'snapshot', starts });
    await stand.time.advance(500);
    expect(queue.lines).to.deep.equal(['snapshot HSET k1 f v', 'snapshot SET k2 b', 'set SET k3 c', 'del DEL k2']);
  });

  it('reads the former layout to its end, then the next one, without copied keys and the emptying (TLP1, TRL5)', async () => {
    const actor = await stand.serving();
    const step = async (partition: PartitionName, ...words: string[]) => {
      stand.ask(actor, { partition, mode: 'transfer', commands: [words] });
      await stand.settle();
    };
    stand.send(actor, ['SET k1 a', 'SET k2 b'], 'transaction');
    await stand.settle();
    const full: QueueReply = { type: 'Rejected', reason: 'FULL', message: 'the account is full' };
    queue.refusals.push(full, full, full, full, full);
    start();
    await stand.time.advance(50);
    await step(NEXT, 'empty', '5');
    await step(OLD, 'begin', '5');
    await step(NEXT, 'fill', '5', encodeCommand(['MSET', 'k1', 'a', 'k2', 'b'] as ByteString[]), 'k1', 'k2');
    await step(OLD, 'close', '5');
    const ends = [{ shard: SHARD, position: await end() }];
    await step(NEXT, 'open', '5');
    stand.ask(actor, { partition: NEXT, commands: [['SET', 'k1', 'later']] });
    await stand.settle();
    // This relay has not received the end position of its journal yet.
    await step(OLD, 'empty', '6');
    layout = { firstPartition: 1, partitions: 1, former: { firstPartition: 0, partitions: 1, starts: [], ends } };
    start();
    await stand.time.advance(60_000);
    expect(queue.lines).to.deep.equal(['set SET k1 a', 'set SET k2 b', 'set SET k1 later']);
  });

  it('its feed continues in the next layout, also one that was opened before the switch, and a moment has its layout', async () => {
    const actor = await stand.serving();
    const ask = async (partition: PartitionName, words: string[], mode?: 'transfer') => {
      stand.ask(actor, { partition, commands: [words], ...(mode && { mode }) });
      await stand.time.advance(1_000);
    };
    const desk = new TriggerDesk({ ...portsOf(), layoutOf: () => layout }, 1);
    await ask(OLD, ['SET', 'k1', 'a']);
    const secondMs = stand.time.nowMs();
    await ask(OLD, ['SET', 'k2', 'b']);
    const feed = desk.openFeed(triggerOf(), layout, undefined);
    const { signal } = new AbortController();
    const keysOf = ({ records }: FeedPage) => records.map(({ record }) => JSON.parse(record).commands[0][2]);
    const first = await feed.next(1, signal);
    await ask(OLD, ['begin', '5'], 'transfer');
    await ask(OLD, ['close', '5'], 'transfer');
    await ask(NEXT, ['empty', '5'], 'transfer');
    const ends = await desk.endsOf(DATABASE, layout);
    await ask(NEXT, ['open', '5'], 'transfer');
    await ask(NEXT, ['SET', 'k1', 'c']);
    const before = layout;
    layout = { firstPartition: 1, partitions: 1, former: { firstPartition: 0, partitions: 1, starts: [], ends } };
    expect(keysOf(first)).to.deep.equal(['a']);
    expect(keysOf(await feed.next(9, signal))).to.deep.equal(['b', 'c']);
    const continued = desk.openFeed(triggerOf(), layout, first.cursor);
    const second = await continued.next(1, signal);
    const third = await desk.openFeed(triggerOf(), layout, second.cursor).next(9, signal);
    expect([...keysOf(second), ...keysOf(third)]).to.deep.equal(['b', 'c']);
    expect(third.cursor).to.match(/^1\/KV_0:\d+$/);
    expect(keysOf(await desk.openFeed(triggerOf(), layout, third.cursor).next(9, signal))).to.deep.equal([]);
    const moment = { kind: 'time', atMs: secondMs } as const;
    const begins = await desk.startsAt(DATABASE, layout, moment);
    expect(keysOf(await desk.openFeed(triggerOf(begins), layout, undefined).next(9, signal))).to.deep.equal(['b', 'c']);
    expect(await desk.startsAt(DATABASE, before, moment)).to.deep.equal(begins);
    const unread = await desk.lagOf(triggerOf(), layout);
    expect(unread.entries).to.be.greaterThan(3);
    expect(await desk.hasReadFormer(triggerOf(), layout)).to.equal(false);
    layout = { firstPartition: 2, partitions: 1, former: { firstPartition: 1, partitions: 1, starts: ends, ends } };
    expect(() => desk.openFeed(triggerOf(), layout, first.cursor)).to.throw('is not one of this feed');
    const early = await desk.startsAt(DATABASE, layout, moment).catch((error: Error) => error);
    expect((early as Error).message).to.include('changed twice');
  });

  it('remembers the position of entries without a selected change, after some seconds', async () => {
    const actor = await stand.serving();
    start();
    await stand.time.advance(6_000);
    stand.send(actor, 'SET x 1');
    await stand.time.advance(500);
    const [position = 0] = queue.taken.values();
    expect(Math.floor(position / 65_536)).to.equal(await end());
  });

  it('is lost when the history is shorter than its lag, and continues from a later moment', async () => {
    const actor = await stand.serving();
    stand.send(actor, 'SET k1 a');
    await stand.settle();
    stand.send(actor, 'SET k2 b');
    await stand.settle();
    const last = await end();
    await stand.journal.truncateFront(SHARD, last);
    const lost = start();
    await stand.time.advance(200);
    const desk = new TriggerDesk({ ...portsOf(), layoutOf: () => layout }, 1);
    expect(lost.problem).to.contain('does not have position 1 any more: skip to a later moment');
    expect((await desk.lagOf(triggerOf({}), layout)).lost).to.contain('skip to a later moment');
    const starts = [{ shard: SHARD, position: last }];
    expect((await desk.lagOf(triggerOf({ starts }), layout)).lost).to.equal(undefined);
    lost.stop();
    start({ starts });
    stand.send(actor, 'SET k3 c');
    await stand.time.advance(500);
    expect(queue.lines).to.deep.equal(['set SET k3 c']);
  });

  it('stops with the reason when its copy for values has no room, and releases it when it ends (PCP1, PCP2)', async () => {
    const actor = await stand.serving();
    stand.send(actor, [`SET k1 ${'a'.repeat(2_000)}`], 'pipeline');
    await stand.settle();
    copies = new ByteBudget(5_000);
    const other = copies.hold(ACCOUNT);
    other.force(1_000);
    const relay = start({ values: ['after'], starts: [{ shard: SHARD, position: await end() }] });
    await stand.time.advance(200);
    expect(relay.problem).to.contain('MILLRACE_TRIGGER_MEMORY_BYTES');
    expect(copies.bytesOf(ACCOUNT)).to.equal(1_000);
    other.release();
    stand.send(actor, 'SET k2 b');
    await stand.time.advance(10_000);
    expect(queue.lines).to.deep.equal(['set SET k2 b']);
    expect(copies.bytesOf(ACCOUNT)).to.be.greaterThan(2_000);
    relay.stop();
    await stand.time.advance(200);
    expect(copies.usedBytes).to.equal(0);
  });
});

describe('the queues of deleted triggers', () => {
  const trigger = keyTrigger('tr-aaaaaaaaaaaaaaaa' as TriggerId, { lanes: 2 });
  const sweepOf = (queues: () => readonly string[], known: () => readonly Trigger[] | undefined) => {
    const removed: string[] = [];
    const ask = async (_: unknown, command: unknown): Promise<QueueReply> => {
      const { name, ifEmpty } = command as QueueCommandOf<'DeleteQueue'>;
      expect(ifEmpty).to.equal(true);
      removed.push(name);
      return { type: 'Done' };
    };
    const sweep = new LaneQueueSweep({
      queue: { ask },
      emptyQueues: () => queues().map((name) => [ACCOUNT, name] as const),
      knownTriggers: known,
    });
    return { sweep, removed };
  };

  it('are removed at the second look without their trigger, and queues of other names stay (LQS1)', async () => {
    let known: readonly Trigger[] | undefined = [trigger];
    let queues = [
      `trigger-${trigger.id}`,
      `trigger-${trigger.id}-1`,
      `trigger-${trigger.id}-2`,
      'trigger-mine',
      'mail',
    ];
    const { sweep, removed } = sweepOf(
      () => queues,
      () => known,
    );
    await sweep.look();
    expect(await sweep.look()).to.equal(1);
    expect(removed).to.deep.equal([`trigger-${trigger.id}-2`]);
    queues = queues.filter((name) => !removed.includes(name));
    known = undefined;
    expect(await sweep.look()).to.equal(0);
    known = [];
    await sweep.look();
    await sweep.look();
    expect(removed.slice(1)).to.deep.equal([`trigger-${trigger.id}`, `trigger-${trigger.id}-1`]);
  });
});
