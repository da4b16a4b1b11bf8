/** Proves DLQ1, DLQ2. */
import { expect } from 'chai';
import type { DlqSelector, MessageFilter, QueueReply, RawSettings } from '../../../src/domain/queue/index.js';
import type { DlqId, MessageId } from '../../../src/kernel/index.js';
import { type ItemOptions, item, QueueSpec, response } from '../../support/queue-spec.js';

const DAY_MS = 24 * 3600 * 1000;
const NOTHING: RawSettings = { headers: [], query: [] };

/** A queue in which each of these messages has failed, one after the other. */
function failed(ids: string[], options: ItemOptions = {}, queue = new QueueSpec()): QueueSpec {
  for (const id of ids) {
    queue.publish(item(id, { maxRetries: 0, ...options }));
    queue.work();
    queue.outcome(id, response(500, [['X-A', '1']], `answer to ${id}`));
  }
  return queue.skipEvents();
}

function dlqIds(queue: QueueSpec): DlqId[] {
  return [...queue.engine.rebuildingEvents()].flatMap((event) =>
    event.type === 'DlqRestored' ? [event.entry.dlqId] : [],
  );
}

const byIds = (...ids: DlqId[]): DlqSelector => ({ kind: 'ids', dlqIds: ids });
const byFilter = (filter: MessageFilter = {}, count = 100, after?: DlqId): DlqSelector => ({
  kind: 'filter',
  filter,
  count,
  after,
  order: 'earliestFirst',
});
const remove = (selector: DlqSelector) => ({ type: 'DeleteDlq', selector }) as const;
const retry = (selector: DlqSelector, overrides = NOTHING, firstId = 'again') =>
  ({ type: 'RetryDlq', selector, firstId: firstId as MessageId, overrides }) as const;

function retried(reply: QueueReply): string[] {
  return reply.type === 'DlqRetried' ? reply.results.map(({ messageId }) => messageId) : [reply.type];
}

describe('queue: DLQ', () => {
  it('an entry has the message and its last response', () => {
    const queue = failed(['a']);
    const [dlqId] = dlqIds(queue);
    const reply = queue.ask({ type: 'GetDlq', dlqId: dlqId! });
    expect(reply.type === 'Dlq' && reply.entry).to.deep.include({
      messageId: 'a',
      failedAtMs: queue.nowMs,
      retried: 0,
    });
    expect(reply.type === 'Dlq' && reply.entry.response).to.deep.include({
      status: 500,
      error: 'HTTP status 500',
      header: [['X-A', '1']],
    });
    expect(queue.ask({ type: 'GetMessage', id: item('a').id })).to.include({ reason: 'NOT_FOUND' });
    expect([...queue.shelf.contents.values()].map(String)).to.deep.equal(['body of a', 'answer to a']);
  });

  it('DeleteDlq by id removes entries and releases their bodies', () => {
    const queue = failed(['a']);
    const [dlqId] = dlqIds(queue) as [DlqId];
    expect(queue.ask(remove(byIds(dlqId)))).to.deep.equal({ type: 'DlqDeleted', count: 1, after: undefined });
    expect(queue.ask(remove(byIds(dlqId)))).to.deep.equal({ type: 'DlqDeleted', count: 0, after: undefined });
    expect(queue.ask({ type: 'GetDlq', dlqId })).to.include({ reason: 'NOT_FOUND' });
    expect(queue.shelf.contents.size).to.equal(0);
  });

  it('DeleteDlq by filter removes one page, and returns the start of the next one', () => {
    const queue = failed(['a', 'b', 'c']);
    const [, second, third] = dlqIds(queue);
    expect(queue.ask(remove(byFilter({}, 2)))).to.deep.equal({ type: 'DlqDeleted', count: 2, after: second });
    expect(dlqIds(queue)).to.deep.equal([third]);
    expect(queue.ask(remove(byFilter({}, 2, second)))).to.deep.equal({
      type: 'DlqDeleted',
      count: 1,
      after: undefined,
    });
  });

  it('DeleteDlq removes only matching entries', () => {
    const queue = failed(['b'], { labels: ['keep'] }, failed(['a']));
    expect(queue.ask(remove(byFilter({ label: ['drop'] })))).to.include({ count: 0 });
    expect(queue.ask(remove(byFilter({ messageId: ['a'], responseStatus: [500] })))).to.include({ count: 1 });
    expect(dlqIds(queue).length).to.equal(1);
  });

  it('DeleteDlq with latestFirst starts with the newest entries', () => {
    const queue = failed(['a', 'b', 'c']);
    const [first] = dlqIds(queue);
    queue.ask(remove({ kind: 'filter', filter: {}, count: 2, after: undefined, order: 'latestFirst' }));
    expect(dlqIds(queue)).to.deep.equal([first]);
  });

  it('RetryDlq makes a new message with the same body and removes the entry', () => {
    const queue = failed(['a']);
    const [dlqId] = dlqIds(queue) as [DlqId];
    expect(retried(queue.ask(retry(byIds(dlqId))))).to.deep.equal(['again']);
    queue.work();
    expect(queue.news()).to.deep.equal(['accepted again', 'DlqRetried', 'started again']);
    expect(queue.engine.attemptOf('again' as MessageId)?.body.number).to.equal(1);
    expect(dlqIds(queue)).to.deep.equal([]);
    expect([...queue.shelf.contents.values()].map(String)).to.deep.equal(['body of a']);
  });

  it('RetryDlq with overrides changes only the named settings', () => {
    const queue = failed(['a'], { delaySeconds: 0, labels: ['l'] });
    const [dlqId] = dlqIds(queue) as [DlqId];
    queue.ask(retry(byIds(dlqId), { headers: [['svc-retries', '5']], query: [['svc-delay', '10s']] }));
    const accepted = queue.journal.filter((event) => event.type === 'MessageAccepted').at(-1);
    expect(accepted?.envelope.settings).to.deep.include({ maxRetries: 5, labels: ['l'] });
    expect(accepted?.notBeforeMs).to.equal(queue.nowMs + 10_000);
  });

  it('RetryDlq does not repeat the first delay', () => {
    const queue = new QueueSpec();
    queue.publish(item('a', { maxRetries: 0, delaySeconds: 60 }));
    queue.pass(60_000);
    queue.outcome('a', response(500, [], 'no'));
    queue.skipEvents();
    const [dlqId] = dlqIds(queue) as [DlqId];
    queue.ask(retry(byIds(dlqId), { headers: [['svc-retries', '5']], query: [] }));
    const again = queue.ask({ type: 'GetMessage', id: 'again' as MessageId });
    expect(again.type === 'Message' && again.message).to.include({
      createdAtMs: queue.nowMs,
      notBeforeMs: queue.nowMs,
    });
    queue.work();
    expect(queue.news()).to.include('started again');
  });

  it('RetryDlq with an unknown id is refused and changes no state', () => {
    const queue = failed(['a']);
    const [dlqId] = dlqIds(queue) as [DlqId];
    const reply = queue.ask(retry(byIds(dlqId, '1-999' as DlqId)));
    expect(reply).to.include({ reason: 'NOT_FOUND', message: 'some messages were not found' });
    expect(queue.news()).to.deep.equal([]);
  });

  it('a repeated RetryDlq is answered with the messages that it made', () => {
    const queue = failed(['a', 'b']);
    const command = retry(byFilter());
    const first = retried(queue.ask(command));
    expect(first.length).to.equal(2);
    queue.skipEvents();
    expect(retried(queue.ask(command))).to.deep.equal(first);
    expect(queue.news()).to.deep.equal([]);
  });

  it('a filter without matches is answered with an empty list', () => {
    const queue = new QueueSpec();
    expect(queue.ask(retry(byFilter()))).to.deep.equal({ type: 'DlqRetried', results: [], after: undefined });
  });

  it('RetryDlq is refused for a suspended account, and above the hard daily limit', () => {
    const queue = failed(['a']);
    const command = retry(byIds(dlqIds(queue)[0]!));
    expect(queue.suspend().ask(command)).to.include({ reason: 'SUSPENDED' });
    expect(queue.suspend(false).limit({ maxMessagesPerDayHard: 1 }).ask(command)).to.include({ reason: 'DAILY_LIMIT' });
    expect(dlqIds(queue).length).to.equal(1);
  });

  it('a full DLQ drops its oldest entry for a new one', () => {
    const queue = failed(['a', 'b', 'c'], {}, new QueueSpec().limit({ maxDlqEntries: 2 }));
    expect(dlqIds(queue).length).to.equal(2);
    expect(queue.journal.filter(({ type }) => type === 'DlqExpired').length).to.equal(1);
    queue.limit({ maxDlqEntries: 1 }).work();
    expect(dlqIds(queue).length).to.equal(1);
  });

  it('entries expire after dlqRetentionMs', () => {
    const queue = failed(['a']);
    queue.nowMs += 7 * DAY_MS - 1;
    queue.work();
    expect(queue.news()).to.deep.equal([]);
    queue.pass(1);
    expect(queue.news()).to.deep.equal(['DlqExpired 1']);
    expect(queue.engine.size).to.equal(0);
  });
});
