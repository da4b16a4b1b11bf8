/** Proves PUB1–PUB4. */
import { expect } from 'chai';
import {
  ACCEPTED_IDS_MS,
  DEDUPLICATION_WINDOW_MS,
  MAX_COMMAND_MESSAGES,
  type PublishItem,
  type QueueReply,
} from '../../../src/domain/queue/index.js';
import type { MessageId } from '../../../src/kernel/index.js';
import { groupItem, item, NOW_MS, QueueSpec } from '../../support/queue-spec.js';

const DAY_MS = 24 * 3600 * 1000;

function results(reply: QueueReply): unknown {
  return reply.type === 'Published' ? reply.results : reply;
}

function withGroup(defaults: [string, string][] = []): QueueSpec {
  const queue = new QueueSpec();
  const endpoints = [
    { url: 'https://one.example/', name: 'one' },
    { url: 'https://two.example/', name: undefined },
  ];
  queue.ask({ type: 'UpsertEndpoints', group: 'team', endpoints });
  queue.ask({ type: 'SetGroupDefaults', group: 'team', defaults });
  return queue.skipEvents();
}

describe('queue: Publish', () => {
  it('is answered with the given id and the destination', () => {
    const queue = new QueueSpec();
    const reply = queue.publish(item('a', { url: 'https://a.example/?b=1' }));
    expect(results(reply)).to.deep.equal([{ messageId: 'a', url: 'https://a.example/?b=1', isDuplicate: false }]);
  });

  it('is answered with the normalised URL, which records show too', () => {
    const queue = new QueueSpec();
    for (const [at, [given, called]] of [
      ['HTTPS://A.example:443', 'https://a.example/'],
      ['http://a.example:8080/b/../c?d=1', 'http://a.example:8080/c?d=1'],
    ].entries()) {
      const reply = queue.publish(item(`m${at}`, { url: given as string }));
      expect(results(reply)).to.deep.equal([{ messageId: `m${at}`, url: called, isDuplicate: false }]);
      queue.work();
      expect(queue.engine.attemptOf(`m${at}` as MessageId)?.envelope.url).to.equal(called);
    }
  });

  it('keeps an endpoint of a group as given, and calls its normalised URL', () => {
    const queue = new QueueSpec();
    const endpoints = [{ url: 'https://One.example', name: undefined }];
    queue.ask({ type: 'UpsertEndpoints', group: 'team', endpoints });
    expect(queue.ask({ type: 'GetGroup', group: 'team' })).to.have.deep.nested.property(
      'groups[0].endpoints',
      endpoints,
    );
    const [list] = results(queue.publish(groupItem('a', 'team'))) as { messageId: MessageId; url: string }[][];
    expect(list?.map(({ url }) => url)).to.deep.equal(['https://one.example/']);
    queue.work();
    expect(queue.engine.attemptOf(list?.[0]?.messageId as MessageId)?.envelope.url).to.equal('https://one.example/');
  });

  it('can be read back immediately', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { delaySeconds: 60 }));
    const reply = queue.ask({ type: 'GetMessage', id: item('a').id });
    expect(reply.type === 'Message' && reply.message).to.deep.include({
      id: 'a',
      createdAtMs: NOW_MS,
      notBeforeMs: NOW_MS + 60_000,
      status: 'waiting',
      retried: 0,
    });
  });

  it('prefers an instant to a delay', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { notBeforeMs: NOW_MS + 5000, delaySeconds: 60 }));
    queue.work();
    queue.skipEvents().pass(5000);
    expect(queue.news()).to.deep.equal(['started a']);
  });

  it('with repeated ids changes no state and gets the same answer', () => {
    const queue = new QueueSpec();
    const first = queue.publish(item('a'), item('b'));
    queue.work();
    queue.outcome('a', 200);
    queue.nowMs += 60_000;
    queue.skipEvents();
    expect(results(queue.publish(item('a'), item('b')))).to.deep.equal(results(first));
    expect(queue.news()).to.deep.equal([]);
  });

  it('with repeated ids gets the same answer after the account was suspended', () => {
    const queue = new QueueSpec();
    const first = queue.publish(item('a'), item('b'));
    queue.suspend().skipEvents();
    expect(results(queue.publish(item('a'), item('b')))).to.deep.equal(results(first));
    expect(queue.publish(item('c')).type).to.equal('Rejected');
    expect(queue.news()).to.deep.equal([]);
  });

  it('remembers ids for ten minutes, across a crash and in snapshots', () => {
    const queue = new QueueSpec();
    queue.publish(item('a'));
    queue.work();
    queue.outcome('a', 200);
    queue.nowMs += 10 * 60_000;
    queue.publish(item('b'));
    for (const copy of [queue.replayed(), queue.rebuilt()]) {
      copy.publish(item('a'));
      expect(copy.news()).to.deep.equal([]);
    }
    for (let minute = 0; minute < 11; minute += 1) {
      queue.nowMs += 60_000;
      queue.publish(item(`later ${minute}`));
    }
    queue.skipEvents().publish(item('a'));
    expect(queue.news()).to.deep.equal(['accepted a']);
  });

  it('to a group makes a message for each endpoint, with one shared body', () => {
    const queue = withGroup();
    const [list] = results(queue.publish(groupItem('a', 'team'))) as { messageId: string; url: string }[][];
    expect(list?.map(({ url }) => url)).to.deep.equal(['https://one.example/', 'https://two.example/']);
    expect(list?.[0]?.messageId).to.equal('a');
    const accepted = queue.journal.filter((event) => event.type === 'MessageAccepted');
    expect(accepted.map(({ body }) => [body.number, body.content === undefined])).to.deep.equal([
      [1, false],
      [1, true],
    ]);
    expect(accepted.map(({ envelope }) => [envelope.topicName, envelope.endpointName])).to.deep.equal([
      ['team', 'one'],
      ['team', undefined],
    ]);
  });

  it('reports to the body store after the delivery that a body is no longer sent, unless it is shared', () => {
    const queue = withGroup();
    queue.publish(groupItem('shared', 'team'), item('alone'));
    queue.work();
    for (const event of [...queue.journal]) if (event.type === 'MessageAccepted') queue.outcome(event.id, 200);
    expect(queue.shelf.unloaded).to.deep.equal([2]);
  });

  it('keeps a shared body until the last of its messages is forgotten', () => {
    const queue = withGroup();
    queue.publish(groupItem('a', 'team'));
    const [, second] = queue.journal.filter((event) => event.type === 'MessageAccepted').map(({ id }) => id);
    queue.ask({ type: 'CancelMessage', id: item('a').id });
    expect(queue.engine.isNeeded(1)).to.equal(true);
    expect(queue.shelf.contents.size).to.equal(1);
    queue.ask({ type: 'CancelMessage', id: second! });
    expect(queue.engine.isNeeded(1)).to.equal(false);
    expect(queue.shelf.contents.size).to.equal(0);
  });

  it("merges the call's configuration over that of the group", () => {
    const queue = withGroup([
      ['svc-retries', '7'],
      ['svc-method', 'PUT'],
    ]);
    queue.publish(groupItem('a', 'team', [['svc-retries', '1']]));
    const [accepted] = queue.journal.filter((event) => event.type === 'MessageAccepted');
    expect(accepted?.envelope.settings).to.include({ maxRetries: 1, method: 'PUT' });
  });

  it('to an unknown group is refused as a whole call', () => {
    const queue = new QueueSpec();
    expect(queue.publish(item('a'), groupItem('b', 'nobody'))).to.include({ type: 'Rejected', reason: 'INVALID' });
    expect(queue.news()).to.deep.equal([]);
  });

  it('is refused above the number of messages of one call', () => {
    const queue = new QueueSpec();
    const items = (count: number) => Array.from({ length: count }, (_, at) => item(`m${at}`, { delaySeconds: 1 }));
    expect(queue.publish(...items(MAX_COMMAND_MESSAGES + 1))).to.include({ reason: 'INVALID' });
    expect(queue.publish(...items(MAX_COMMAND_MESSAGES)).type).to.equal('Published');
  });

  it('accepts intake records above all limits, once, and in order', () => {
    const queue = new QueueSpec().limit({ maxMessagesPerDayHard: 1 }).suspend();
    const take = (position: number, ...items: PublishItem[]) =>
      queue.ask({ type: 'TakeIntake', records: [{ position, items }] });
    take(4, item('a'), item('b'));
    take(4, item('c'));
    expect(queue.news()).to.deep.equal(['accepted a', 'accepted b', 'IntakeTaken']);
    expect(queue.engine.intakePosition).to.equal(4);
    take(5, item('a'));
    expect(queue.news()).to.deep.equal(['IntakeTaken']);
  });

  it('skips intake records that were accepted before, however old, when they come again', () => {
    const queue = new QueueSpec();
    const records = (...positions: number[]) =>
      positions.map((position) => ({ position, items: [item(`m${position}`)] }));
    queue.ask({ type: 'TakeIntake', records: records(5, 9) });
    for (const copy of [queue.replayed(), queue.rebuilt()]) {
      copy.nowMs += 10 * ACCEPTED_IDS_MS;
      copy.ask({ type: 'TakeIntake', records: records(5, 9, 12) });
      expect(copy.news()).to.deep.equal(['accepted m12', 'IntakeTaken']);
      expect(copy.engine.intakePosition).to.equal(12);
    }
  });

  it('does not move the intake position past records that it refuses', () => {
    const queue = new QueueSpec();
    const record = (position: number, of: PublishItem) => ({ position, items: [of] });
    const records = [record(1, item('a')), record(2, groupItem('b', 'nobody'))];
    expect(queue.ask({ type: 'TakeIntake', records })).to.include({ type: 'Rejected', reason: 'INVALID' });
    expect(queue.news()).to.deep.equal([]);
    expect(queue.engine.intakePosition).to.equal(0);
  });
});

describe('queue: deduplication', () => {
  const once = (id: string, more = {}) => item(id, { deduplication: { id: 'order-1' }, ...more });
  const same = (id: string, more = {}) => item(id, { deduplication: 'content', body: 'same', ...more });

  function first(reply: QueueReply): unknown {
    const [one] = results(reply) as { messageId: string; isDuplicate: boolean }[];
    return [one?.messageId, one?.isDuplicate];
  }

  it('answers a duplicate with the earlier message, and accepts no new one', () => {
    const queue = new QueueSpec();
    queue.publish(once('a'));
    queue.skipEvents();
    expect(first(queue.publish(once('b')))).to.deep.equal(['a', true]);
    expect(queue.news()).to.deep.equal([]);
  });

  it('applies to the whole account, for all destinations', () => {
    const queue = new QueueSpec();
    queue.publish(once('a'));
    expect(first(queue.publish(once('b', { url: 'https://elsewhere.example/' })))).to.deep.equal(['a', true]);
  });

  it('ends after ten minutes, to the millisecond', () => {
    const queue = new QueueSpec();
    queue.publish(once('a'));
    queue.nowMs += DEDUPLICATION_WINDOW_MS - 1;
    expect(first(queue.publish(once('b')))).to.deep.equal(['a', true]);
    queue.nowMs += 1;
    expect(first(queue.publish(once('c')))).to.deep.equal(['c', false]);
  });

  it('survives a crash, and is in snapshots', () => {
    const queue = new QueueSpec();
    queue.publish(once('a'));
    for (const copy of [queue.replayed(), queue.rebuilt()]) {
      expect(first(copy.publish(once('b')))).to.deep.equal(['a', true]);
    }
  });

  it('continues after the earlier message was cancelled', () => {
    const queue = new QueueSpec();
    queue.publish(once('a'));
    queue.ask({ type: 'CancelMessage', id: item('a').id });
    expect(first(queue.publish(once('b')))).to.deep.equal(['a', true]);
  });

  it('takes the first of two equal ids in one call', () => {
    const queue = new QueueSpec();
    const [, second] = results(queue.publish(once('a'), once('b'))) as { messageId: string }[];
    expect(second?.messageId).to.equal('a');
    expect(queue.news()).to.deep.equal(['accepted a']);
  });

  it('by content compares destination, body and forwarded headers', () => {
    const queue = new QueueSpec();
    queue.publish(same('a'));
    expect(first(queue.publish(same('b')))).to.deep.equal(['a', true]);
    for (const [id, more] of [
      ['c', { body: 'other' }],
      ['d', { url: 'https://elsewhere.example/' }],
      ['e', { header: [['X-A', '1']] }],
    ] as const) {
      expect(first(queue.publish(same(id, more)))).to.deep.equal([id, false]);
    }
  });

  it('judges each endpoint of a group separately', () => {
    const queue = withGroup();
    queue.publish(groupItem('a', 'team', [['svc-deduplication-id', 'x']]));
    queue.ask({
      type: 'UpsertEndpoints',
      group: 'team',
      endpoints: [{ url: 'https://three.example/', name: undefined }],
    });
    const [list] = results(queue.publish(groupItem('b', 'team', [['svc-deduplication-id', 'x']]))) as {
      isDuplicate: boolean;
    }[][];
    expect(list?.map(({ isDuplicate }) => isDuplicate)).to.deep.equal([true, true, false]);
  });
});

describe('queue: the daily limits and the budget of an account', () => {
  const daily = (reply: QueueReply) =>
    reply.type === 'Published' || reply.type === 'Rejected' ? reply.daily : undefined;

  it('above the soft limit a publish is accepted, and DailyLimitReached is recorded once a day', () => {
    const queue = new QueueSpec().limit({ maxMessagesPerDay: 2 });
    queue.publish(item('a', { delaySeconds: DAY_MS }), item('b', { delaySeconds: DAY_MS }));
    expect(queue.news()).to.deep.equal(['accepted a', 'accepted b']);
    const reply = queue.publish(item('c', { delaySeconds: DAY_MS }), item('d', { delaySeconds: DAY_MS }));
    expect(daily(reply)).to.deep.equal({
      limit: 2,
      remaining: 0,
      resetAtMs: Date.UTC(2026, 0, 16),
      isAboveSoft: true,
    });
    expect(queue.news()).to.deep.equal(['accepted c', 'accepted d', 'DailyLimitReached']);
    queue.nowMs += DAY_MS;
    queue.publish(item('e'), item('f'), item('g'));
    expect(queue.news()).to.deep.equal(['accepted e', 'accepted f', 'accepted g', 'DailyLimitReached']);
  });

  it('above the hard limit whole calls are refused until midnight UTC', () => {
    const queue = new QueueSpec().limit({ maxMessagesPerDay: 2, maxMessagesPerDayHard: 3 });
    queue.publish(item('a'), item('b'));
    const refused = queue.publish(item('c'), item('d'));
    expect(refused).to.include({ type: 'Rejected', reason: 'DAILY_LIMIT' });
    expect(daily(refused)).to.include({ limit: 3, remaining: 1 });
    expect(queue.publish(item('c')).type).to.equal('Published');
    queue.nowMs = Date.UTC(2026, 0, 16);
    expect(queue.publish(item('d')).type).to.equal('Published');
  });

  it('retries count, duplicates do not', () => {
    const queue = new QueueSpec().limit({ maxMessagesPerDayHard: 4 });
    queue.publish(item('a', { retryDelay: '0', deduplication: { id: 'x' } }));
    queue.publish(item('b', { deduplication: { id: 'x' } }));
    queue.work();
    queue.outcome('a', 500);
    queue.work();
    expect(daily(queue.publish(item('c')))).to.include({ remaining: 1 });
  });

  it("a publish is refused when the month's budget is spent", () => {
    const queue = new QueueSpec().limit({ budgetCents: 1 });
    queue.account = { ...queue.account, centsPer100kMessages: 50_000 };
    queue.publish(item('a'), item('b'));
    expect(queue.publish(item('c'))).to.include({ type: 'Rejected', reason: 'BUDGET' });
    queue.nowMs = Date.UTC(2026, 1, 1);
    expect(queue.publish(item('c')).type).to.equal('Published');
  });
});
