/**
 * The statistics of accounts from the journals of their queues: live, after a restart, after a kill and rebuilt.
 * Proves FM2, SS1, SS2.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { encodeQueueEvent } from '../../../../src/codec/queue/index.js';
import type { QueueEvent } from '../../../../src/domain/queue/index.js';
import type { RunPart } from '../../../../src/domain/queue/runs/index.js';
import { PERIODS, type Period } from '../../../../src/domain/statistics/index.js';
import { SnapshotStore } from '../../../../src/journal/index.js';
import type { DlqId, MessageId, RunId } from '../../../../src/kernel/index.js';
import type { Checkpoint, StatisticsModel, StatsCheckpoint, StatsStore } from '../../../../src/projections/index.js';
import { METER_SHARD, queuePartition } from '../../../../src/protocol/index.js';
import { CLUSTER } from '../../../spec/journal/shard-history.js';
import { eventually } from '../../../support/eventually.js';
import { killedAt } from '../../../support/killed-file.js';
import {
  ACCOUNT,
  accepted,
  deadLettered,
  delivered,
  failed,
  OTHER_ACCOUNT,
  PLAIN_ENVELOPE,
  QUEUE_SHARD,
  started,
} from '../../../support/message-log-stand.js';
import { type SeededRandom, seededRandom } from '../../../support/seeded-random.js';
import { silentLog } from '../../../support/silent-log.js';
import { DAY, fromEnd, HOUR, kvRow, MINUTE, MONDAY, StatsStand, sum } from './stats-stand.js';

const NOW = MONDAY + 10 * HOUR;
const TEN_BYTES = { number: 1, bytes: 10, content: new Uint8Array(10) };
const STEP: RunPart = { role: 'step', runId: 'run_1' as RunId, runCreatedAtMs: MONDAY, index: 0, step: undefined };

const message = (id: string, atMs: number, bytes = 10) =>
  accepted(id, { atMs, body: { number: 1, bytes, content: new Uint8Array(bytes) } });
const ofRun = (id: string, atMs: number) => accepted(id, { atMs, body: TEN_BYTES, workflow: STEP });
const cancelled = (id: string, atMs: number): QueueEvent => ({ type: 'MessageCancelled', id: id as MessageId, atMs });
const dlqGone = (type: 'DlqDeleted' | 'DlqExpired', atMs: number, ...ids: string[]): QueueEvent => ({
  type,
  dlqIds: ids as DlqId[],
  atMs,
});
/** The size of the answers in `failed`. */
const ANSWER_BYTES = Buffer.byteLength('out of order');

describe('statistics of queues', () => {
  let stand: StatsStand;

  beforeEach(() => {
    stand = new StatsStand();
    stand.nowMs = NOW;
  });
  afterEach(() => stand.end());

  async function series(period: Period = '1h', nowMs = NOW) {
    return (await stand.open()).account(ACCOUNT, period, nowMs);
  }

  it('count messages by outcome, and charge acceptances and retries', async () => {
    const at = NOW - 3 * MINUTE;
    await stand.store([message('msg_1', at), started('msg_1', at), delivered('msg_1', at)]);
    await stand.store([message('msg_2', at), started('msg_2', at), failed('msg_2', at, NOW)]);
    await stand.store([started('msg_2', NOW, 1), failed('msg_2', NOW, undefined), deadLettered('msg_2', '1-1', NOW)]);
    await stand.store([message('msg_3', NOW), cancelled('msg_3', NOW)]);
    await stand.store([message('msg_4', NOW)], OTHER_ACCOUNT);
    const { messages, requests, workflowRequests, workflows, days, dlqMessages, bandwidthBytes } = await series();
    expect(Object.fromEntries(Object.entries(messages).map(([name, values]) => [name, fromEnd(values)]))).to.deep.equal(
      {
        created: { 3: 2, 0: 1 },
        active: { 3: 2, 0: 1 },
        retry: { 3: 1 },
        error: { 3: 1, 0: 1 },
        delivered: { 3: 1 },
        failed: { 0: 1 },
        cancelled: { 0: 1 },
      },
    );
    expect([fromEnd(requests), sum(workflowRequests)]).to.deep.equal([{ 3: 2, 0: 2 }, 0]);
    expect(sum(Object.values(workflows).flat())).to.equal(0);
    expect(dlqMessages).to.equal(1);
    // Two and one accepted, two and one sent, an answer each time.
    expect(fromEnd(bandwidthBytes)).to.deep.equal({ 3: 40 + ANSWER_BYTES, 0: 20 + ANSWER_BYTES });
    const today = days.find(({ day }) => day === MONDAY / DAY);
    expect(today).to.deep.equal({
      ...{ day: MONDAY / DAY, requests: 4, workflowRequests: 0, workflowRuns: 0 },
      bandwidthBytes: 60 + 2 * ANSWER_BYTES,
      messages: 3,
    });
    expect(days).to.have.length(30);
    expect(sum(days.map((day) => day.requests))).to.equal(4);
  });

  it('do not charge an attempt that is repeated because an owner died', async () => {
    const again: QueueEvent = { type: 'AttemptStarted', id: 'msg_1' as MessageId, atMs: NOW, retried: 2, restarts: 1 };
    await stand.store([message('msg_1', NOW), started('msg_1', NOW, 2), again]);
    const { requests, messages, bandwidthBytes } = await series();
    expect([sum(requests), sum(messages.active), sum(bandwidthBytes)]).to.deep.equal([2, 2, 30]);
  });

  it('count messages of runs separately, and runs by their end', async () => {
    const run = { runId: 'run_1' as never, atMs: NOW };
    const begun: QueueEvent = {
      ...{ type: 'RunStarted', ...run, envelope: PLAIN_ENVELOPE, invoker: undefined, resumedFrom: undefined },
      ...{ kept: [], payloadHash: '' },
    };
    const ended = (state: 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED'): QueueEvent => ({
      ...{ type: 'RunEnded', ...run, state, response: undefined, dlqId: undefined, error: undefined },
    });
    await stand.store([begun, ofRun('msg_s1', NOW), started('msg_s1', NOW), failed('msg_s1', NOW, NOW + 1)]);
    await stand.store([started('msg_s1', NOW, 1), delivered('msg_s1', NOW), ended('RUN_SUCCESS')]);
    await stand.store([begun, ended('RUN_FAILED'), begun, ended('RUN_CANCELED'), begun]);
    const { requests, workflowRequests, messages, workflows, days } = await series();
    expect([sum(requests), sum(workflowRequests)]).to.deep.equal([2, 2]);
    expect(sum(Object.values(messages).flat())).to.equal(0);
    const runs = Object.entries(workflows).map(([name, values]) => [name, sum(values)]);
    expect(Object.fromEntries(runs)).to.deep.equal({ started: 4, success: 1, failed: 1, canceled: 1 });
    expect(days.find(({ day }) => day === MONDAY / DAY)).to.deep.include({ workflowRequests: 2, workflowRuns: 4 });
  });

  it('count attempts and ends of delayed messages', async () => {
    const later = (id: string, part?: RunPart) =>
      accepted(id, { atMs: NOW, notBeforeMs: NOW + HOUR, body: TEN_BYTES, ...(part && { workflow: part }) });
    await stand.store([later('msg_plain'), later('msg_run', STEP), later('msg_gone'), cancelled('msg_gone', NOW)]);
    stand.nowMs = NOW + HOUR;
    for (const id of ['msg_plain', 'msg_run']) {
      await stand.store([started(id, NOW + HOUR), delivered(id, NOW + HOUR)]);
    }
    const { messages, workflowRequests, bandwidthBytes } = await series('1h', NOW + HOUR);
    expect(sum(messages.active)).to.equal(1);
    expect([sum(messages.delivered), sum(messages.cancelled), sum(workflowRequests)]).to.deep.equal([1, 0, 0]);
    expect(fromEnd(bandwidthBytes)[0]).to.equal(20 + 0);
  });

  it('follow the DLQ as entries come and leave', async () => {
    for (const n of [1, 2, 3, 4]) await stand.store([message(`m${n}`, NOW), deadLettered(`m${n}`, `1-${n}`, NOW)]);
    const retried: QueueEvent = { type: 'DlqRetried', dlqId: '1-3' as DlqId, as: 'm5' as MessageId, atMs: NOW };
    await stand.store([dlqGone('DlqDeleted', NOW, '1-1'), retried, dlqGone('DlqExpired', NOW, '1-4')]);
    expect((await series()).dlqMessages).to.equal(1);
  });

  it('add the bytes that only the meter knows', async () => {
    await stand.meter(NOW - MINUTE, { queues: [{ account: ACCOUNT, bytesIn: 3, bytesOut: 4 }] });
    await stand.store([message('msg_1', NOW)]);
    expect(fromEnd((await series()).bandwidthBytes)).to.deep.equal({ 1: 7, 0: 10 });
  });

  it('show every day of the month, with zeros for future ones', async () => {
    await stand.store([message('msg_1', Date.UTC(2026, 8, 1)), message('msg_2', NOW)]);
    const { days } = await series('1d');
    expect(days.map(({ day }) => day)).to.deep.equal(
      Array.from({ length: 30 }, (_, at) => Date.UTC(2026, 8, 1) / DAY + at),
    );
    expect(days.filter((day) => day.requests > 0).map(({ day }) => day)).to.deep.equal([
      Date.UTC(2026, 8, 1) / DAY,
      MONDAY / DAY,
    ]);
  });

  describe('of a month of load', () => {
    /** Random messages over a month, and the instants at which each of their states must be counted. */
    async function month(random: SeededRandom, entries: number) {
      const counted: Record<'created' | 'active' | 'delivered' | 'failed', number[]> = {
        ...{ created: [], active: [], delivered: [], failed: [] },
      };
      const waiting: string[] = [];
      for (let at = 0; at < entries; at += 1) {
        const atMs = NOW - 31 * DAY + Math.floor(((at + 1) / entries) ** 0.3 * 31 * DAY);
        const events: QueueEvent[] = [message(`msg_${at}`, atMs, at % 50)];
        counted.created.push(atMs);
        waiting.push(`msg_${at}`);
        if (random.next() < 0.7) {
          const [id = ''] = waiting.splice(Math.floor(random.next() * waiting.length), 1);
          events.push(started(id, atMs));
          counted.active.push(atMs);
          const isGood = random.next() < 0.8;
          events.push(isGood ? delivered(id, atMs) : deadLettered(id, `${atMs}-${at}`, atMs));
          (isGood ? counted.delivered : counted.failed).push(atMs);
        }
        await stand.store(events);
        if (at % 5 === 0) await stand.meter(atMs, { rows: [kvRow({ commands: at, commandCounts: [['GET', at]] })] });
      }
      return counted;
    }

    async function everything(model: StatisticsModel) {
      const all = PERIODS.map(async (period) => [
        await model.account(ACCOUNT, period, NOW),
        await model.database(kvRow({}).database, period, NOW),
      ]);
      return Promise.all(all);
    }

    it('equal a direct count in every period', async () => {
      const counted = await month(seededRandom(7), 400);
      const model = await stand.open();
      for (const period of PERIODS) {
        const { times, messages } = await model.account(ACCOUNT, period, NOW);
        for (const [name, instants] of Object.entries(counted)) {
          const expected = new Array<number>(times.count).fill(0);
          for (const atMs of instants) {
            const step = Math.floor((atMs - times.firstAtMs) / times.stepMs);
            if (step >= 0) expected[step] = (expected[step] ?? 0) + 1;
          }
          expect(messages[name as keyof typeof messages], `${period} ${name}`).to.deep.equal(expected);
        }
      }
    });

    it('are equal live, after a restart and rebuilt', async () => {
      const live = stand.begin();
      await month(seededRandom(8), 60);
      await stand.counted(live);
      await stand.close(live);
      await stand.store([message('msg_last', NOW), started('msg_3', NOW), delivered('msg_3', NOW)]);
      const restarted = await stand.open();
      const rebuilt = await stand.open('rebuilt.db');
      expect(await everything(rebuilt)).to.deep.equal(await everything(restarted));
    });

    it('are counted once, for a kill at any point of a transaction', async () => {
      await month(seededRandom(9), 20);
      const whole = await everything(await stand.open('whole.db'));
      for (const at of [1, 7, 23, 40, 52, 66]) {
        const name = `killed-${at}.db`;
        const kills = killedAt(stand.files(name), at + CHANGES_OF_A_NEW_FILE);
        const store = stand.newStore(kills.files);
        await expectKilled(store);
        kills.leave();
        expect(await everything(await stand.open(name)), `killed at ${at}`).to.deep.equal(whole);
      }
    });

    async function expectKilled(store: StatsStore): Promise<void> {
      const { createdAt } = await stand.queue.journal.tail(QUEUE_SHARD);
      let at: Checkpoint = { createdAt, position: 0, entry: 0, hash: new Uint8Array(32), clockMs: 0, hasGap: false };
      const records = await stand.records();
      let counted: StatsCheckpoint = { ...at, ...records.of, dlqFrom: 0 };
      const fold = () => {
        for (const [n, read] of stand.queue.reads().entries()) {
          at = store.apply(QUEUE_SHARD, [read], at).after;
          if (n % 5 === 0) counted = store.applyMeter(METER_SHARD, records.next(), counted).after;
        }
      };
      expect(fold).to.throw('killed');
    }
  });

  it('drop only rows older than their retention', async () => {
    await stand.store([message('msg_old', NOW - 5 * HOUR), message('msg_new', NOW)]);
    const model = await stand.open();
    await stand.close(model);
    const store = stand.newStore();
    const rows = () => {
      const file = stand.files().open();
      const count = file.prepare('SELECT resolution, count(*) AS rows FROM buckets GROUP BY resolution').all([]);
      file.close();
      return count.map((row) => [row.resolution, row.rows]);
    };
    store.prune(0, 10);
    store.close();
    // The older one was never in the table of minutes.
    expect(rows()).to.deep.equal([
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 2],
      [5, 1],
    ]);
    stand.nowMs = NOW + 33 * DAY;
    const later = stand.newStore();
    later.prune(0, 10);
    later.close();
    expect(rows()).to.deep.equal([[5, 1]]);
    const again = await stand.open();
    const { days } = await again.account(ACCOUNT, '1h', NOW);
    expect(sum(days.map((day) => day.requests))).to.equal(2);
  });

  it('are rebuilt if the file is not a database, belongs to another cluster, or to another journal', async () => {
    await stand.store([message('msg_1', NOW)]);
    writeFileSync(join(stand.queue.folder, 'stats.db'), 'no database, but long enough to be looked at '.repeat(200));
    const first = await stand.open();
    expect(sum((await first.account(ACCOUNT, '1h', NOW)).requests)).to.equal(1);
    await stand.close(first);
    const other = await stand.open(undefined, 'another-cluster');
    expect(sum((await other.account(ACCOUNT, '1h', NOW)).requests)).to.equal(1);
    await stand.close(other);
    await stand.close(await stand.open());
    const store = stand.newStore();
    const checkpoint = store.checkpoint(QUEUE_SHARD);
    if (checkpoint === undefined) throw new Error('nothing was counted');
    store.setCheckpoint(QUEUE_SHARD, { ...checkpoint, createdAt: 'long ago' });
    store.close();
    const again = stand.begin();
    await eventually(async () => expect(sum((await again.account(ACCOUNT, '1h', NOW)).requests)).to.equal(1));
  });

  describe('of a journal without its front', () => {
    async function truncated(): Promise<void> {
      await stand.store([message('msg_alive', NOW, 100), message('msg_dead', NOW), message('msg_gone', NOW)]);
      await stand.store([deadLettered('msg_dead', '1-1', NOW)]);
      const covered = stand.queue.history.head;
      await stand.store([message('msg_dead_2', NOW), deadLettered('msg_dead_2', '1-2', NOW)]);
      const snapshots = new SnapshotStore(stand.queue.objects, silentLog);
      const restored = [
        {
          ...{ type: 'MessageRestored', id: 'msg_alive', envelope: PLAIN_ENVELOPE, body: { number: 1, bytes: 100 } },
          ...{ createdAtMs: NOW, notBeforeMs: NOW, dueAtMs: NOW, status: 'waiting', retried: 0, restarts: 0 },
          ...{ sinceMs: 0, isCancelRequested: false, order: 0, holdsPlaceOf: undefined },
        },
        ...['1-1', '1-2'].map((dlqId) => ({
          type: 'DlqRestored',
          entry: {
            ...{ dlqId, messageId: `of ${dlqId}`, envelope: PLAIN_ENVELOPE, body: { number: 0, bytes: 0 } },
            ...{ createdAtMs: NOW, notBeforeMs: NOW, failedAtMs: NOW, retried: 0 },
            response: { status: 500, header: [], error: 'HTTP status 500', body: { number: 0, bytes: 0 } },
          },
        })),
      ] as unknown as readonly QueueEvent[];
      const bytes = new Uint8Array(Buffer.concat(restored.map((event) => encodeQueueEvent(event))));
      const { head } = stand.queue.history;
      const name = queuePartition(ACCOUNT);
      const segment = await snapshots.writeSegment(QUEUE_SHARD, head.number, name, 0, bytes);
      const link = stand.queue.history.links().get(name);
      if (link === undefined) throw new Error('nothing was stored');
      await snapshots.writeManifest({
        ...{ shard: QUEUE_SHARD, clusterId: CLUSTER, head, recentCommandIds: [], journalBytes: 1 },
        partitions: [{ name, index: link.number, hash: link.hash, keys: 2, digest: '', segments: [segment] }],
        ...{ createdAtMs: NOW, headStoredAtMs: NOW },
      });
      await stand.store([started('msg_alive', NOW), delivered('msg_alive', NOW)]);
      await stand.store([message('msg_new', NOW, 1), dlqGone('DlqDeleted', NOW, '1-1')]);
      await stand.queue.journal.truncateFront(QUEUE_SHARD, covered.position + 1);
    }

    it('count the rest, take pending messages and the DLQ from a snapshot, and report the gap', async () => {
      await truncated();
      const model = await stand.open();
      const { messages, dlqMessages, bandwidthBytes } = await model.account(ACCOUNT, '1h', NOW);
      expect([sum(messages.created), sum(messages.delivered), dlqMessages]).to.deep.equal([2, 1, 1]);
      // Bytes of three messages: the failed one as accepted, the delivered one as sent, the new one as accepted.
      expect(sum(bandwidthBytes)).to.equal(10 + 100 + 1);
      expect(model.status().incompleteShards).to.deep.equal([QUEUE_SHARD]);
    });
  });
});

/** The writes of the version and of the cluster. */
const CHANGES_OF_A_NEW_FILE = 2;
