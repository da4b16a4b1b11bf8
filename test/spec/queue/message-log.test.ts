/** The entries of the message log, and its queries. Proves RM1. */
import { expect } from 'chai';
import type { QueueEvent } from '../../../src/domain/queue/index.js';
import type { MessageId } from '../../../src/kernel/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import type { LogQuery } from '../../../src/ports/index.js';
import type { ReadModels } from '../../../src/projections/index.js';
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
  started,
  T0,
} from '../../support/message-log-stand.js';
import { ALL_RUN_EVENTS, ALL_RUNS } from '../../support/run-log-stand.js';

describe('the message log', () => {
  let stand: MessageLogStand;
  let log: ReadModels;

  beforeEach(() => {
    stand = new MessageLogStand();
    log = stand.open();
  });
  afterEach(() => stand.end());

  const seen = () => stand.history.head.position;
  const ask = (query: Partial<LogQuery>, account = ACCOUNT) => log.events(account, { ...ANYTHING, ...query }, seen());

  describe('for one message', () => {
    it('shows acceptance, attempt and delivery', async () => {
      await stand.store([accepted('msg_1'), started('msg_1', T0 + 1)]);
      await stand.store([delivered('msg_1', T0 + 9)]);
      const { events, cursor } = await ask({});
      expect(events.map(({ state, atMs }) => [state, atMs])).to.deep.equal([
        ['CREATED', T0],
        ['ACTIVE', T0 + 1],
        ['DELIVERED', T0 + 9],
      ]);
      expect(cursor).to.equal(undefined);
      expect(events.map(({ envelope }) => envelope)).to.deep.equal([PLAIN_ENVELOPE, PLAIN_ENVELOPE, PLAIN_ENVELOPE]);
      expect(events.map(({ body }) => Buffer.from(body).toString())).to.deep.equal(Array(3).fill('body of msg_1'));
      expect(events.map(({ nextDeliveryAtMs, error, response }) => [nextDeliveryAtMs, error, response])).to.deep.equal(
        Array(3).fill([undefined, undefined, undefined]),
      );
    });

    it('shows the kept answer of a delivery to a query that asks for it', async () => {
      const answer = { header: [['A', 'b'] as const], body: new Uint8Array(Buffer.from('done')), isCut: true };
      await stand.store([accepted('msg_1'), started('msg_1', T0 + 1), { ...delivered('msg_1', T0 + 9), answer }]);
      const { events } = await ask({ withAnswers: true, states: ['DELIVERED'] });
      expect(events[0]?.response).to.deep.equal({ status: 200, durationMs: 3, ...answer });
      expect((await ask({ states: ['DELIVERED'] })).events[0]?.response).to.equal(undefined);
    });

    it('shows the due time of a delayed message', async () => {
      await stand.store([accepted('msg_1', { notBeforeMs: T0 + 60_000 })]);
      const { events } = await ask({});
      expect(events.map(({ state, nextDeliveryAtMs }) => [state, nextDeliveryAtMs])).to.deep.equal([
        ['CREATED', T0 + 60_000],
      ]);
    });

    it('shows a failed attempt with its response, and the retry with its time', async () => {
      await stand.store([accepted('msg_1'), started('msg_1', T0), failed('msg_1', T0 + 5, T0 + 12_000)]);
      const { events } = await ask({ states: ['ERROR', 'RETRY'] });
      expect(events.map(({ state, error, nextDeliveryAtMs }) => [state, error, nextDeliveryAtMs])).to.deep.equal([
        ['ERROR', 'HTTP status 500', undefined],
        ['RETRY', 'HTTP status 500', T0 + 12_000],
      ]);
      const [error, retry] = events.map(({ response }) => response);
      expect([error?.status, error?.header, Buffer.from(error?.body ?? []).toString()]).to.deep.equal([
        500,
        [['X-Why', 'because']],
        'out of order',
      ]);
      expect(retry).to.equal(undefined);
    });

    it('shows the last failure as FAILED', async () => {
      const last = [failed('msg_1', T0 + 5, undefined), deadLettered('msg_1', `${T0 + 5}-1`, T0 + 5)];
      await stand.store([accepted('msg_1'), started('msg_1', T0), ...last]);
      const { events } = await ask({});
      expect(events.map(({ state }) => state)).to.deep.equal(['CREATED', 'ACTIVE', 'ERROR', 'FAILED']);
    });

    it('shows a cancellation as CANCEL_REQUESTED and CANCELED', async () => {
      const id = 'msg_1' as MessageId;
      await stand.store([accepted('msg_1')]);
      await stand.store([
        { type: 'CancelRequested', id, atMs: T0 + 1 },
        { type: 'MessageCancelled', id, atMs: T0 + 1 },
      ]);
      expect((await ask({})).events.map(({ state }) => state)).to.deep.equal([
        'CREATED',
        'CANCEL_REQUESTED',
        'CANCELED',
      ]);
    });

    it('shows the body of an earlier event: of a schedule, a group, a retry', async () => {
      const body = bodyOf('once');
      const shared = { ...body, content: undefined };
      await stand.store([accepted('msg_1', { body }), accepted('msg_2', { body: shared })]);
      await stand.store([delivered('msg_1'), accepted('msg_3', { body: shared })]);
      const { events } = await ask({ states: ['CREATED'] });
      expect(events.map((event) => Buffer.from(event.body).toString())).to.deep.equal(['once', 'once', 'once']);
    });
  });

  describe('with a filter', () => {
    const labelled = (label: string, url: string) => ({
      ...PLAIN_ENVELOPE,
      url,
      settings: {
        ...PLAIN_SETTINGS,
        labels: [label, 'all'],
        flowControl: { key: `flow-${label}`, parallelism: 1, rate: undefined, periodSeconds: 1 },
      },
      queueName: `queue-${label}`,
      topicName: `topic-${label}`,
      scheduleId: `scd_${label}` as never,
      callerIp: `198.51.100.${label.charCodeAt(0)}`,
    });

    beforeEach(async () => {
      const a = labelled('a', 'https://one.example/x?y=1');
      const b = labelled('b', 'https://two.example:8443/x');
      const c = labelled('c', 'https://two.example:8443/z');
      const messages: readonly [string, typeof a, number][] = [
        ['msg_a', a, T0],
        ['msg_b', b, T0 + 10],
        ['msg_c', c, T0 + 20],
      ];
      for (const [id, envelope, atMs] of messages) {
        await stand.store([accepted(id, { envelope, atMs }), started(id, atMs), delivered(id, atMs + 5)]);
      }
      await stand.store([accepted('msg_elsewhere', { envelope: a })], OTHER_ACCOUNT);
    });

    const cases: readonly [string, LogQuery['filter'], readonly string[]][] = [
      ['one URL', { url: ['https://one.example/x?y=1'] }, ['msg_a']],
      ['a host with its port', { host: ['two.example:8443'] }, ['msg_b', 'msg_c']],
      ['a host without the port that its URL names', { host: ['two.example'] }, ['msg_b', 'msg_c']],
      ['a host with the port that its URL leaves out', { host: ['one.example:443'] }, ['msg_a']],
      ['a host in any case of letters', { host: ['TWO.example:8443'] }, ['msg_b', 'msg_c']],
      [
        'a host with another port than its own',
        { host: ['two.example:443', 'one.example:80', 'one.example:8443'] },
        [],
      ],
      ['the first letters of a host', { host: ['two.exampl', 'two.example:844', 'two.example:'] }, []],
      ['two hosts', { host: ['two.example', 'one.example:443'] }, ['msg_a', 'msg_b', 'msg_c']],
      ['a path', { path: ['/x'] }, ['msg_a', 'msg_b']],
      ['host and path: both hold', { host: ['two.example:8443'], path: ['/x'] }, ['msg_b']],
      ['several values: any holds', { label: ['a', 'c'] }, ['msg_a', 'msg_c']],
      ['any of its labels', { label: ['all'] }, ['msg_a', 'msg_b', 'msg_c']],
      ['a URL group', { topicName: ['topic-b'] }, ['msg_b']],
      ['a queue', { queueName: ['queue-c'] }, ['msg_c']],
      ['a schedule', { scheduleId: ['scd_a'] }, ['msg_a']],
      ['a flow-control key', { flowControlKey: ['flow-b'] }, ['msg_b']],
      ['a caller', { callerIp: ['198.51.100.99'] }, ['msg_c']],
      ['ids', { messageId: ['msg_c', 'msg_a', 'msg_nobody'] }, ['msg_a', 'msg_c']],
      ['an id and a label that is not its own', { messageId: ['msg_c'], label: ['a'] }, []],
      ['a time: both ends are in it', { fromMs: T0 + 10, toMs: T0 + 10 }, ['msg_b']],
      ['a label of no message', { label: ['x'] }, []],
    ];
    for (const [condition, filter, found] of cases) {
      it(`finds events by ${condition}`, async () => {
        const { events } = await ask({ filter });
        expect([...new Set(events.map(({ messageId }) => messageId))]).to.deep.equal(found);
      });
    }

    it('finds events by state, also together with a filter', async () => {
      const { events } = await ask({ states: ['DELIVERED', 'FAILED'], filter: { messageId: ['msg_b'] } });
      expect(events.map(({ messageId, state }) => [messageId, state])).to.deep.equal([['msg_b', 'DELIVERED']]);
    });

    it('shows no events of another account', async () => {
      const { events } = await ask({ filter: { label: ['a'] } }, OTHER_ACCOUNT);
      expect(events.map(({ messageId }) => messageId)).to.deep.equal(['msg_elsewhere']);
      expect((await ask({ filter: { messageId: ['msg_a'] } }, OTHER_ACCOUNT)).events).to.deep.equal([]);
    });

    it('gives the same events in either order', async () => {
      const early = await stand.all(log, { filter: { label: ['all'] }, count: 2 });
      const late = await stand.all(log, { filter: { label: ['all'] }, order: 'latestFirst', count: 2 });
      expect(early).to.have.length(9);
      expect(late).to.deep.equal([...early].reverse());
    });
  });

  describe('with a filter that matches very many profiles', () => {
    const KINDS = 300;

    beforeEach(async () => {
      const events = Array.from({ length: KINDS }, (_, at) => {
        const labels = [`l${at}`, at % 100 === 0 ? 'some\u0000label' : 'others', 'some'];
        return accepted(`msg_${at}`, {
          atMs: T0 + at,
          envelope: { ...PLAIN_ENVELOPE, settings: { ...PLAIN_SETTINGS, labels } },
        });
      });
      await stand.store(events);
    });

    it('finds all events in order, also with a second filter', async () => {
      const all = await stand.all(log, { filter: { host: ['example.com'] }, count: 70 });
      expect(all.map(({ messageId }) => messageId)).to.deep.equal(
        Array.from({ length: KINDS }, (_, at) => `msg_${at}`),
      );
      const one = await stand.all(log, { filter: { host: ['example.com'], label: ['l7', 'l299'] } });
      expect(one.map(({ messageId }) => messageId)).to.deep.equal(['msg_7', 'msg_299']);
    });

    it('matches a label with any characters literally', async () => {
      const found = await stand.all(log, { filter: { label: ['some\u0000label'] } });
      expect(found.map(({ messageId }) => messageId)).to.deep.equal(['msg_0', 'msg_100', 'msg_200']);
    });

    it('ends a page at its time limit, and continues from there', async () => {
      const hasty = stand.open({ searchMs: 0 }, 'hasty.db');
      for (let entry = 0; entry < 4; entry += 1) {
        await stand.store(Array.from({ length: 1500 }, (_, at) => started(`msg_${at % KINDS}`, T0 + 1000 + entry)));
      }
      await stand.store([delivered('msg_5', T0 + 2000)]);
      const query = { ...ANYTHING, states: ['DELIVERED' as const] };
      const first = await hasty.events(ACCOUNT, query, seen());
      expect([first.events, typeof first.cursor]).to.deep.equal([[], 'string']);
      const found = await stand.all(hasty, query);
      expect(found.map(({ messageId }) => messageId)).to.deep.equal(['msg_5']);
    });
  });

  it('ends a page at its size limit', async () => {
    const body = { ...bodyOf(''), content: new Uint8Array(6 * 1024 * 1024) };
    await stand.store([accepted('msg_1', { body }), started('msg_1'), delivered('msg_1'), accepted('msg_2')]);
    const page = await ask({});
    expect(page.events).to.have.length(3);
    expect((await ask({ cursor: page.cursor })).events.map(({ messageId }) => messageId)).to.deep.equal(['msg_2']);
  });

  describe('by page', () => {
    it('ends without a cursor, even if the last page is full', async () => {
      await stand.store([accepted('msg_1'), accepted('msg_2')]);
      const first = await ask({ count: 1 });
      expect(first.cursor).to.match(/^[0-9]+-[0-9]+$/);
      const second = await ask({ count: 1, cursor: first.cursor });
      expect([second.events.length, second.cursor]).to.deep.equal([1, undefined]);
    });

    it('neither repeats nor skips events while others arrive', async () => {
      for (let at = 0; at < 20; at += 1) await stand.store([accepted(`msg_${at}`, { atMs: T0 + at })]);
      const ids: string[] = [];
      let cursor: string | undefined;
      let page = 0;
      do {
        const { events, cursor: next } = await ask({ order: 'latestFirst', count: 3, cursor });
        ids.push(...events.map(({ messageId }) => messageId));
        cursor = next;
        page += 1;
        await stand.store([accepted(`msg_later_${page}`, { atMs: T0 + 100 + page })]);
      } while (cursor !== undefined);
      expect(ids).to.deep.equal(Array.from({ length: 20 }, (_, at) => `msg_${19 - at}`));
    });

    it('refuses an invalid cursor', async () => {
      await stand.store([accepted('msg_1')]);
      for (const cursor of ['', 'x', '1', '1-', '-1-2', '1-2-3', '99999999999999999-1']) {
        const error = await ask({ cursor }).catch((thrown: unknown) => thrown);
        expect(isMillraceError(error, 'INVALID'), cursor).to.equal(true);
      }
    });
  });

  it('waits for the position that the caller has seen', async () => {
    for (let at = 0; at < 50; at += 1) {
      await stand.store([accepted(`msg_${at}`, { atMs: T0 + at })]);
      const { events } = await ask({ order: 'latestFirst', count: 1 });
      expect(events.map(({ messageId }) => messageId)).to.deep.equal([`msg_${at}`]);
    }
  });

  it('answers with its present events if the position does not come in time', async () => {
    await stand.store([accepted('msg_1')]);
    await ask({});
    const impatient = stand.open({ waitMs: 20 }, 'impatient.db');
    await stand.all(impatient);
    expect((await impatient.events(ACCOUNT, ANYTHING, seen())).behind).to.equal(undefined);
    const { events, behind } = await impatient.events(ACCOUNT, ANYTHING, seen() + 3);
    expect(events).to.have.length(1);
    expect(behind?.positions).to.equal(3);
    expect(behind?.ms).to.be.a('number');
    const selector = { kind: 'filter', filter: {}, count: 9, after: undefined, order: 'earliestFirst' } as const;
    const others = [
      await impatient.dlq(ACCOUNT, selector, seen() + 3),
      await impatient.runs(ACCOUNT, ALL_RUNS, seen() + 3),
      await impatient.runEvents(ACCOUNT, ALL_RUN_EVENTS, seen() + 3),
    ];
    expect(others.map((page) => page.behind?.positions)).to.deep.equal([3, 3, 3]);
  });

  describe('for the DLQ', () => {
    const dead = (id: string, number: number, changes: Parameters<typeof accepted>[1] = {}): QueueEvent[] => [
      accepted(id, changes),
      started(id, T0 + number),
      deadLettered(id, `${T0 + number}-${number}`, T0 + number, number % 2 === 0 ? 500 : 404),
    ];
    const filter = (changes: object = {}) => ({
      kind: 'filter' as const,
      filter: {},
      count: 100,
      after: undefined,
      order: 'earliestFirst' as const,
      ...changes,
    });
    const ids = async (changes: object = {}) =>
      (await log.dlq(ACCOUNT, filter(changes), seen())).entries.map(({ messageId }) => messageId);

    it('lists an entry with its message and its last response', async () => {
      await stand.store([accepted('msg_1'), started('msg_1', T0 + 1), failed('msg_1', T0 + 2, T0 + 3)]);
      await stand.store([started('msg_1', T0 + 3, 1), deadLettered('msg_1', `${T0 + 4}-1`, T0 + 4)]);
      const { entries, after } = await log.dlq(ACCOUNT, filter(), seen());
      expect(after).to.equal(undefined);
      const [entry] = entries;
      expect({
        ...entry,
        body: text(entry?.body),
        response: { ...entry?.response, body: text(entry?.response.body) },
      }).to.deep.equal({
        dlqId: `${T0 + 4}-1`,
        messageId: 'msg_1',
        envelope: PLAIN_ENVELOPE,
        body: 'body of msg_1',
        createdAtMs: T0,
        notBeforeMs: T0,
        failedAtMs: T0 + 4,
        retried: 1,
        response: { status: 500, header: [['X-Why', 'because']], body: 'out of order', error: 'HTTP status 500' },
      });
    });

    it('counts events of a period by state', async () => {
      for (let number = 1; number <= 5; number += 1) await stand.store(dead(`msg_${number}`, number));
      const { counts, isWhole } = await log.eventCounts(ACCOUNT, {}, [], seen());
      expect([counts.CREATED, counts.FAILED, isWhole]).to.deep.equal([5, 5, true]);
      const failed = await log.eventCounts(ACCOUNT, { fromMs: T0 + 2, toMs: T0 + 4 }, ['FAILED'], seen());
      expect(failed.counts).to.deep.equal({ FAILED: 3 });
      expect((await log.eventCounts(ACCOUNT, { label: ['none'] }, [], seen())).counts).to.deep.equal({});
      expect((await log.eventCounts(OTHER_ACCOUNT, {}, [], seen())).counts).to.deep.equal({});
    });

    it("gives the age of a queue's backlog at past moments: of the oldest message that was due", async () => {
      const envelope = { ...PLAIN_ENVELOPE, queueName: 'x' };
      await stand.store([accepted('msg_1', { envelope }), accepted('msg_2', { envelope, notBeforeMs: T0 + 20 })]);
      await stand.store([accepted('msg_3', { envelope: { ...PLAIN_ENVELOPE, queueName: 'other' } })]);
      await stand.store([started('msg_1', T0 + 1), delivered('msg_1', T0 + 11)]);
      await stand.store([started('msg_2', T0 + 21), delivered('msg_2', T0 + 41)]);
      const momentsMs = [T0 - 10, T0, T0 + 10, T0 + 15, T0 + 30, T0 + 41, T0 + 60];
      const query = { queueName: 'x', momentsMs, waitingSinceMs: T0 + 50 };
      expect((await log.backlog(ACCOUNT, query, seen())).points).to.deep.equal([
        [T0 - 10, 0],
        [T0, 0],
        [T0 + 10, 10],
        [T0 + 15, 0],
        [T0 + 30, 10],
        [T0 + 41, 0],
        [T0 + 60, 10],
      ]);
      const empty = { queueName: 'none', momentsMs: [T0, T0 + 10], waitingSinceMs: Number.MAX_SAFE_INTEGER };
      expect((await log.backlog(ACCOUNT, empty, seen())).points).to.deep.equal([
        [T0, 0],
        [T0 + 10, 0],
      ]);
      expect((await log.backlog(OTHER_ACCOUNT, empty, seen())).points.map(([, ageMs]) => ageMs)).to.deep.equal([0, 0]);
    });

    it('counts matching entries by status', async () => {
      for (let number = 1; number <= 5; number += 1) {
        await stand.store(
          dead(`msg_${number}`, number, { envelope: { ...PLAIN_ENVELOPE, queueName: number < 4 ? 'x' : 'y' } }),
        );
      }
      expect(await log.dlqCounts(ACCOUNT, {}, seen())).to.deep.equal({ counts: { 404: 3, 500: 2 }, isWhole: true });
      const some = { queueName: ['x'], responseStatus: [404] };
      expect((await log.dlqCounts(ACCOUNT, some, seen())).counts).to.deep.equal({ 404: 2 });
      expect((await log.dlqCounts(ACCOUNT, { toMs: T0 }, seen())).counts).to.deep.equal({});
    });

    it('gives all pages in both orders', async () => {
      for (let number = 1; number <= 5; number += 1) await stand.store(dead(`msg_${number}`, number));
      const page = await log.dlq(ACCOUNT, filter({ count: 2 }), seen());
      expect(page.entries.map(({ messageId }) => messageId)).to.deep.equal(['msg_1', 'msg_2']);
      expect(page.after).to.equal(`${T0 + 2}-2`);
      expect(await ids({ count: 2, after: page.after })).to.deep.equal(['msg_3', 'msg_4']);
      expect(await ids({ count: 2, after: `${T0 + 4}-4`, order: 'latestFirst' })).to.deep.equal(['msg_3', 'msg_2']);
    });

    it('finds entries by status, time, message and settings', async () => {
      const envelope = { ...PLAIN_ENVELOPE, settings: { ...PLAIN_SETTINGS, labels: ['odd'] } };
      await stand.store([...dead('msg_1', 1, { envelope }), ...dead('msg_2', 2), ...dead('msg_3', 3, { envelope })]);
      expect(await ids({ filter: { responseStatus: [500] } })).to.deep.equal(['msg_2']);
      expect(await ids({ filter: { label: ['odd'], responseStatus: [404, 500] } })).to.deep.equal(['msg_1', 'msg_3']);
      expect(await ids({ filter: { fromMs: T0 + 2, toMs: T0 + 3 } })).to.deep.equal(['msg_2', 'msg_3']);
      expect(await ids({ filter: { messageId: ['msg_3'] } })).to.deep.equal(['msg_3']);
    });

    it('answers ids with the entries that exist', async () => {
      await stand.store([...dead('msg_1', 1), ...dead('msg_2', 2)]);
      const dlqIds = [`${T0 + 2}-2`, 'nonsense', `${T0 + 7}-7`] as never[];
      const { entries, after } = await log.dlq(ACCOUNT, { kind: 'ids', dlqIds }, seen());
      expect([entries.map(({ messageId }) => messageId), after]).to.deep.equal([['msg_2'], undefined]);
    });

    it('drops deleted, retried and expired entries, while the log keeps their events', async () => {
      for (let number = 1; number <= 4; number += 1) await stand.store(dead(`msg_${number}`, number));
      await stand.store([
        { type: 'DlqDeleted', dlqIds: [`${T0 + 1}-1` as never], atMs: T0 + 9 },
        { type: 'DlqExpired', dlqIds: [`${T0 + 2}-2` as never], atMs: T0 + 9 },
        { type: 'DlqRetried', dlqId: `${T0 + 3}-3` as never, as: 'msg_9' as MessageId, atMs: T0 + 9 },
      ]);
      expect(await ids()).to.deep.equal(['msg_4']);
      expect((await ask({ states: ['FAILED'] })).events).to.have.length(4);
    });
  });
});

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
