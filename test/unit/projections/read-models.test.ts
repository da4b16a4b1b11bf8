/**
 * The file of the read models: checkpoints, rebuilding, retention, and unusable files. Proves FF1, FM1, JS1, ML1, QR1,
 * SF1.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { encodeQueueEvent } from '../../../src/codec/queue/index.js';
import type { DlqSelector, QueueEvent } from '../../../src/domain/queue/index.js';
import { SnapshotStore } from '../../../src/journal/index.js';
import type { MessageId, ScheduleId } from '../../../src/kernel/index.js';
import type { SqlFiles } from '../../../src/ports/index.js';
import { type Checkpoint, MessageLogStore, type ReadModels } from '../../../src/projections/index.js';
import { queuePartition } from '../../../src/protocol/index.js';
import { CLUSTER } from '../../spec/journal/shard-history.js';
import { eventually } from '../../support/eventually.js';
import { killedAt } from '../../support/killed-file.js';
import {
  ACCOUNT,
  ANYTHING,
  accepted,
  bodyOf,
  deadLettered,
  delivered,
  failed,
  MessageLogStand,
  OTHER_ACCOUNT,
  PLAIN_ENVELOPE,
  PLAIN_SETTINGS,
  QUEUE_SHARD,
  started,
  T0,
} from '../../support/message-log-stand.js';
import { silentLog } from '../../support/silent-log.js';

const WHOLE_DLQ: DlqSelector = { kind: 'filter', filter: {}, count: 100, after: undefined, order: 'earliestFirst' };

describe('the read models of the queue', () => {
  let stand: MessageLogStand;

  beforeEach(() => {
    stand = new MessageLogStand();
  });
  afterEach(() => stand.end());

  /** A history with every kind of event that writes rows. */
  async function busyHistory(from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at += 1) {
      const atMs = T0 + at * 10;
      const envelope = { ...PLAIN_ENVELOPE, settings: { ...PLAIN_SETTINGS, labels: [`l${at % 3}`] } };
      const events: QueueEvent[] = [accepted(`msg_${at}`, { atMs, envelope }), started(`msg_${at}`, atMs)];
      if (at % 4 === 0)
        events.push(failed(`msg_${at}`, atMs + 1, undefined), deadLettered(`msg_${at}`, `${atMs}-${at}`, atMs + 1));
      else if (at % 4 === 1) events.push(delivered(`msg_${at}`, atMs + 2));
      if (at % 8 === 4) events.push({ type: 'DlqDeleted', dlqIds: [`${atMs}-${at}` as never], atMs: atMs + 3 });
      await stand.store(events);
    }
  }

  async function contents(models: ReadModels) {
    return {
      events: await stand.all(models, { count: 7 }),
      dlq: (await models.dlq(ACCOUNT, WHOLE_DLQ, stand.history.head.position)).entries,
    };
  }

  it('are equal live, after a restart and rebuilt, cursors included', async () => {
    const live = stand.open();
    await busyHistory(0, 20);
    await stand.all(live);
    await stand.close(live);
    await busyHistory(20, 20);
    const restarted = stand.open();
    const before = await contents(restarted);
    const page = await restarted.events(ACCOUNT, { ...ANYTHING, count: 11 }, stand.history.head.position);
    const rebuilt = stand.open({}, 'rebuilt.db');
    expect(before.events.length).to.be.greaterThan(100);
    expect(before.dlq).to.have.length(5);
    expect(await contents(rebuilt)).to.deep.equal(before);
    const next = { ...ANYTHING, count: 5, cursor: page.cursor };
    expect(await rebuilt.events(ACCOUNT, next, 0)).to.deep.equal(await restarted.events(ACCOUNT, next, 0));
  });

  it('match a message with a repeated id to the existing one, within a batch and later', async () => {
    const ids = (from: number) => Array.from({ length: 40 }, (_, at) => `msg_${from + at}`);
    await stand.store(ids(0).map((id) => accepted(id)));
    await stand.store([...ids(30), 'msg_31', 'msg_65'].map((id, at) => accepted(id, { atMs: T0 + 1 + at })));
    const live = stand.open();
    const entries = await stand.all(live, { count: 7 });
    expect(entries).to.have.length(82);
    await stand.close(live);
    const rebuilt = stand.open({ follower: { lingerMs: 1, batchBytes: 1 } }, 'rebuilt.db');
    expect(await stand.all(rebuilt, { count: 7 })).to.deep.equal(entries);
    await stand.close(rebuilt);
    for (const name of ['messages.db', 'rebuilt.db']) {
      const file = stand.files(name).open();
      const counted = file.prepare('SELECT (SELECT count(*) FROM messages) AS rows, sum(refs) AS refs FROM envelopes');
      expect(counted.get([])).to.deep.equal({ rows: 70, refs: 70 });
      file.close();
    }
  });

  it('fold an entry once, even after a kill in the middle of a transaction', async () => {
    await busyHistory(0, 12);
    const kills = killedAt(stand.files(), 40);
    const { createdAt } = await stand.journal.tail(QUEUE_SHARD);
    expect(() => foldAll(kills.files, createdAt)).to.throw('killed');
    kills.leave();
    const left = new MessageLogStore(stand.files(), silentLog, { clusterId: CLUSTER });
    expect(left.checkpoint(QUEUE_SHARD)?.entry).to.be.within(2, 11);
    left.close();
    const models = stand.open();
    const whole = stand.open({}, 'whole.db');
    expect(await contents(models)).to.deep.equal(await contents(whole));
  });

  it('are rebuilt if the file is not a database', async () => {
    await busyHistory(0, 4);
    writeFileSync(join(stand.folder, 'messages.db'), 'no database, but long enough to be looked at '.repeat(200));
    expect(await stand.all(stand.open())).to.have.length.greaterThan(8);
  });

  it('are rebuilt if the file belongs to another cluster', async () => {
    await busyHistory(0, 4);
    const before = stand.open({ clusterId: 'another' });
    const events = await stand.all(before);
    await stand.close(before);
    expect(await stand.all(stand.open())).to.deep.equal(events);
  });

  it('are rebuilt if the journal is another one than before', async () => {
    await busyHistory(0, 4);
    const models = stand.open();
    await stand.all(models);
    await stand.close(models);
    const file = new MessageLogStore(stand.files(), silentLog, { clusterId: CLUSTER });
    const checkpoint = file.checkpoint(QUEUE_SHARD);
    if (checkpoint === undefined) throw new Error('nothing was folded');
    file.setCheckpoint(QUEUE_SHARD, { ...checkpoint, createdAt: 'long ago' });
    file.close();
    const again = stand.open();
    const whole = stand.open({}, 'whole.db');
    await eventually(async () => expect(await contents(again)).to.deep.equal(await contents(whole)));
  });

  it('are rebuilt if the journal continues from another entry than the last one folded', async () => {
    await busyHistory(0, 4);
    const models = stand.open();
    await stand.all(models);
    await stand.close(models);
    const file = new MessageLogStore(stand.files(), silentLog, { clusterId: CLUSTER });
    const checkpoint = file.checkpoint(QUEUE_SHARD);
    if (checkpoint === undefined) throw new Error('nothing was folded');
    file.setCheckpoint(QUEUE_SHARD, { ...checkpoint, hash: new Uint8Array(32).fill(7) });
    file.close();
    await busyHistory(4, 1);
    const again = stand.open();
    const whole = stand.open({}, 'whole.db');
    await eventually(async () => expect(await contents(again)).to.deep.equal(await contents(whole)));
  });

  it('remove the oldest events above the limit, with unused messages, bodies and envelopes', async () => {
    const models = stand.open({
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 10 },
    });
    for (let at = 0; at < 30; at += 1) {
      const settings = { ...PLAIN_SETTINGS, labels: [`l${at}`] };
      const id = `msg_${at}`;
      await stand.store([
        accepted(id, { atMs: T0 + at, envelope: { ...PLAIN_ENVELOPE, settings } }),
        delivered(id, T0 + at),
      ]);
    }
    await stand.untilPruned(models, 10);
    await stand.close(models);
    expect(rowsOf(stand.files(), ['messages', 'bodies', 'envelopes', 'profiles'])).to.deep.equal([5, 5, 5, 5]);
  });

  it("keep each account's allowed number of events, from the moment it is set", async () => {
    const models = stand.open();
    for (const account of [ACCOUNT, OTHER_ACCOUNT]) {
      for (let at = 0; at < 5; at += 1) await stand.store([accepted(`msg_${at}`), delivered(`msg_${at}`)], account);
    }
    await stand.untilPruned(models, 10);
    models.limitEvents([[ACCOUNT, 4]]);
    await stand.untilPruned(models, 4);
    expect(await stand.all(models, {}, OTHER_ACCOUNT)).to.have.length(10);
    models.limitEvents([
      [ACCOUNT, 0],
      [OTHER_ACCOUNT, 9],
    ]);
    await stand.untilPruned(models, 0);
    await stand.untilPruned(models, 9, OTHER_ACCOUNT);
    models.limitEvents([[ACCOUNT, 1000]]);
    await stand.store([accepted('msg_new')]);
    expect((await stand.all(models)).map(({ messageId }) => messageId)).to.deep.equal(['msg_new']);
  });

  it('use the limit of an account before its first event, and after a rebuild', async () => {
    const models = stand.open({
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 0 },
    });
    models.limitEvents([[ACCOUNT, 3]]);
    await busyHistory(0, 4);
    await stand.untilPruned(models, 3);
    await stand.store([accepted('msg_other')], OTHER_ACCOUNT);
    await stand.untilPruned(models, 0, OTHER_ACCOUNT);
    const store = new MessageLogStore(stand.files('again.db'), silentLog, {
      clusterId: CLUSTER,
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 0 },
    });
    store.limitEvents([[ACCOUNT, 3]]);
    store.discard('for the test');
    const nothing = { createdAt: '', position: 0, entry: 0, hash: new Uint8Array(), clockMs: 0, hasGap: false };
    store.apply(QUEUE_SHARD, stand.reads(), nothing);
    while (store.isPruneDue) store.prune(T0);
    store.close();
    expect(rowsOf(stand.files('again.db'), ['events'])).to.deep.equal([3]);
  });

  it('keep a pending or dead-lettered message after its events have been removed', async () => {
    const models = stand.open({
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 2 },
    });
    await stand.store([accepted('msg_alive'), accepted('msg_dead'), started('msg_dead')]);
    await stand.store([deadLettered('msg_dead', `${T0}-1`, T0)]);
    await stand.store([accepted('msg_1'), delivered('msg_1'), accepted('msg_2'), delivered('msg_2')]);
    await stand.untilPruned(models, 2);
    await stand.store([delivered('msg_alive', T0 + 9)]);
    const position = stand.history.head.position;
    const [last] = (await models.events(ACCOUNT, { ...ANYTHING, order: 'latestFirst', count: 1 }, position)).events;
    expect([last?.messageId, Buffer.from(last?.body ?? []).toString()]).to.deep.equal([
      'msg_alive',
      'body of msg_alive',
    ]);
    const [entry] = (await models.dlq(ACCOUNT, WHOLE_DLQ, position)).entries;
    expect([entry?.messageId, Buffer.from(entry?.body ?? []).toString()]).to.deep.equal([
      'msg_dead',
      'body of msg_dead',
    ]);
  });

  it("keep a schedule's body for its messages, and release it with the last of them", async () => {
    const models = stand.open({
      retention: { maxAgeMs: Number.MAX_SAFE_INTEGER, maxAnswerAgeMs: Number.MAX_SAFE_INTEGER, maxEvents: 2 },
    });
    const body = bodyOf('of the schedule');
    const id = 'scd_1' as ScheduleId;
    const schedule = {
      id,
      cron: '* * * * *',
      destination: { kind: 'url' as const, url: 'https://example.com/' },
      settings: PLAIN_SETTINGS,
      ownHeaders: [],
      queueName: undefined,
      callerIp: '192.0.2.1',
      isAlias: false,
      isPaused: false,
      createdAtMs: T0,
      nextTickAtMs: T0 + 60_000,
    };
    await stand.store([{ type: 'ScheduleSet', schedule, body, atMs: T0 }]);
    const tick = (name: string) => accepted(name, { body: { ...body, content: undefined } });
    await stand.store([tick('msg_1'), delivered('msg_1'), tick('msg_2'), delivered('msg_2')]);
    await stand.store([{ type: 'ScheduleDeleted', id, atMs: T0 }]);
    await stand.untilPruned(models, 2);
    const events = await stand.all(models);
    expect(events.map((event) => Buffer.from(event.body).toString())).to.deep.equal(Array(2).fill('of the schedule'));
    await stand.store([accepted('msg_3'), delivered('msg_3')]);
    await eventually(async () => {
      expect((await stand.all(models)).map(({ messageId }) => messageId)).to.deep.equal(['msg_3', 'msg_3']);
    });
    await stand.close(models);
    expect(rowsOf(stand.files(), ['messages', 'bodies', 'schedules'])).to.deep.equal([1, 1, 0]);
  });

  it('remove events above the age', async () => {
    const models = stand.open({ retention: { maxAgeMs: 60_000, maxAnswerAgeMs: 60_000, maxEvents: 1000 } });
    await stand.store([accepted('msg_old', { atMs: Date.now() - 70_000 }), delivered('msg_old', Date.now() - 65_000)]);
    await stand.store([accepted('msg_new', { atMs: Date.now() })]);
    await stand.untilPruned(models, 1);
    expect((await stand.all(models)).map(({ messageId }) => messageId)).to.deep.equal(['msg_new']);
  });

  it('remove answers above their age or above the bytes of their account, and keep their events', async () => {
    const answered = (id: string, atMs: number, bytes: number): QueueEvent => ({
      ...delivered(id, atMs),
      answer: { header: [], body: new Uint8Array(bytes), isCut: false },
    });
    const models = stand.open({ retention: { maxAgeMs: 900_000, maxAnswerAgeMs: 60_000, maxEvents: 8 } });
    const old = Date.now() - 70_000;
    await stand.store([accepted('msg_old', { atMs: old }), answered('msg_old', old, 9)]);
    const now = Date.now();
    await stand.store([accepted('msg_1', { atMs: now }), answered('msg_1', now, 5_000)]);
    await stand.store([accepted('msg_2', { atMs: now }), answered('msg_2', now, 5_000)]);
    await eventually(async () => {
      const { events } = await models.events(
        ACCOUNT,
        { ...ANYTHING, withAnswers: true, states: ['DELIVERED'] },
        stand.history.head.position,
      );
      expect(events.map(({ messageId, response }) => [messageId, response?.body.byteLength])).to.deep.equal([
        ['msg_old', undefined],
        ['msg_1', undefined],
        ['msg_2', 5_000],
      ]);
    });
    await stand.close(models);
    expect(rowsOf(stand.files(), ['responses', 'events'])).to.deep.equal([1, 6]);
  });

  describe('without the front of the journal', () => {
    const inDlq = bodyOf('in the snapshot');
    const response = bodyOf('last words');

    async function truncatedHistory(): Promise<void> {
      const { history, journal, objects } = stand;
      await stand.store([accepted('msg_lost'), delivered('msg_lost')]);
      const entry = {
        dlqId: `${T0}-1` as never,
        messageId: 'msg_dead' as MessageId,
        envelope: PLAIN_ENVELOPE,
        body: { number: inDlq.number, bytes: inDlq.bytes },
        createdAtMs: T0,
        notBeforeMs: T0,
        failedAtMs: T0,
        retried: 2,
        response: {
          status: 503,
          header: [],
          body: { number: response.number, bytes: response.bytes },
          error: 'HTTP status 503',
        },
      };
      const alive: QueueEvent = {
        type: 'MessageRestored',
        id: 'msg_alive' as MessageId,
        envelope: PLAIN_ENVELOPE,
        body: { number: 0, bytes: 0 },
        createdAtMs: T0,
        notBeforeMs: T0,
        dueAtMs: T0,
        status: 'waiting',
        retried: 0,
        restarts: 0,
        sinceMs: T0,
        isCancelRequested: false,
        order: 1,
        holdsPlaceOf: undefined,
      };
      stand.snapshotBodies.set(inDlq.number, Buffer.from('in the snapshot'));
      stand.snapshotBodies.set(response.number, Buffer.from('last words'));
      const store = new SnapshotStore(objects, silentLog);
      const name = queuePartition(ACCOUNT);
      const bytes = Buffer.concat([encodeQueueEvent({ type: 'DlqRestored', entry }), encodeQueueEvent(alive)]);
      const segment = await store.writeSegment(QUEUE_SHARD, history.head.number, name, 0, new Uint8Array(bytes));
      const link = history.links().get(name);
      if (link === undefined) throw new Error('nothing was stored');
      await store.writeManifest({
        shard: QUEUE_SHARD,
        clusterId: CLUSTER,
        head: history.head,
        partitions: [{ name, index: link.number, hash: link.hash, keys: 2, digest: '', segments: [segment] }],
        recentCommandIds: [],
        createdAtMs: T0,
        headStoredAtMs: T0,
        journalBytes: 1,
      });
      const covered = history.head.position;
      await stand.store([delivered('msg_alive', T0 + 5)]);
      await journal.truncateFront(QUEUE_SHARD, covered + 1);
    }

    it('the DLQ is complete, pending messages are known, and the gap is reported', async () => {
      await truncatedHistory();
      const models = stand.open();
      const events = await stand.all(models);
      expect(events.map(({ messageId, state }) => [messageId, state])).to.deep.equal([['msg_alive', 'DELIVERED']]);
      const { entries } = await models.dlq(ACCOUNT, WHOLE_DLQ, 0);
      const texts = entries.map(({ body, response: last }) =>
        [body, last.body].map((bytes) => Buffer.from(bytes).toString()),
      );
      expect(entries.map(({ messageId, retried }) => [messageId, retried])).to.deep.equal([['msg_dead', 2]]);
      expect(texts).to.deep.equal([['in the snapshot', 'last words']]);
      expect(models.status().incompleteShards).to.deep.equal([QUEUE_SHARD]);
    });

    it('keep folded rows, and forget DLQ entries that have gone since', async () => {
      await stand.store([accepted('msg_before'), started('msg_before'), deadLettered('msg_before', `${T0}-9`, T0)]);
      const models = stand.open();
      await stand.all(models);
      await stand.close(models);
      await truncatedHistory();
      const again = stand.open();
      const states = (await stand.all(again)).map(({ messageId, state }) => `${messageId} ${state}`);
      expect(states).to.deep.equal([
        'msg_before CREATED',
        'msg_before ACTIVE',
        'msg_before FAILED',
        'msg_alive DELIVERED',
      ]);
      const { entries } = await again.dlq(ACCOUNT, WHOLE_DLQ, 0);
      expect(entries.map(({ messageId }) => messageId)).to.deep.equal(['msg_dead']);
    });

    it('without a snapshot the rest of the journal is folded', async () => {
      await stand.store([accepted('msg_1')]);
      const covered = stand.history.head.position;
      await stand.store([accepted('msg_2')]);
      await stand.journal.truncateFront(QUEUE_SHARD, covered + 1);
      const models = stand.open();
      expect((await stand.all(models)).map(({ messageId }) => messageId)).to.deep.equal(['msg_2']);
      expect(models.status().incompleteShards).to.deep.equal([QUEUE_SHARD]);
    });
  });

  it('report their lag, and its end', async () => {
    await busyHistory(0, 10);
    const models = stand.open();
    await stand.all(models);
    await eventually(() => {
      const { behindPositions, behindMs, isCaughtUp, troubles, incompleteShards } = models.status();
      expect([behindPositions, behindMs, isCaughtUp]).to.deep.equal([0, 0, true]);
      expect([troubles, incompleteShards]).to.deep.equal([[], []]);
    });
  });

  /** Folds the journal entry by entry, until a statement kills it. */
  function foldAll(files: SqlFiles, createdAt: string): void {
    const store = new MessageLogStore(files, silentLog, { clusterId: CLUSTER });
    let at: Checkpoint = { createdAt, position: 0, entry: 0, hash: new Uint8Array(32), clockMs: 0, hasGap: false };
    for (const read of stand.reads()) at = store.apply(QUEUE_SHARD, [read], at).after;
  }
});

function rowsOf(files: SqlFiles, tables: readonly string[]): number[] {
  const file = files.open();
  const counts = tables.map((table) => file.prepare(`SELECT count(*) AS rows FROM ${table}`).get([])?.rows as number);
  file.close();
  return counts;
}
