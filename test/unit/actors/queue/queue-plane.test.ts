/** Proves DW1–DW3, QP1–QP3, QA1–QA3. */
import { expect } from 'chai';
import { DeliveryPlaces } from '../../../../src/actors/queue/index.js';
import type { QueueCommand } from '../../../../src/domain/queue/index.js';
import { type AccountId, MillraceError } from '../../../../src/kernel/index.js';
import {
  ACCOUNT,
  GENEROUS,
  OTHER_ACCOUNT,
  type QueueOutcome,
  QueueShardStand,
} from '../../../support/queue-shard-stand.js';

const SET_QUEUE: QueueCommand = { type: 'SetQueue', name: 'q', parallelism: 2, isPaused: false };
const GET_QUEUE: QueueCommand = { type: 'GetQueue', name: 'q' };
const UNKNOWN = 'ac-cccccccccccccccc' as AccountId;

describe('a batch of very many messages', () => {
  /** Each look at the clock takes more than half of a slice. */
  function slowly(stand: QueueShardStand): void {
    const { time } = stand;
    const monotonicMs = time.monotonicMs.bind(time);
    let looks = 0;
    time.monotonicMs = () => {
      looks += 1;
      return monotonicMs() + looks * 0.6;
    };
  }

  const itemsOf = (stand: QueueShardStand) => Array.from({ length: 1000 }, (_, i) => stand.item(`host${i % 7}`));

  it('is one entry; other accounts are stored in between, and its own account waits (QA3)', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    slowly(stand);
    const before = stand.ask(actor, SET_QUEUE);
    const batch = stand.publish(actor, itemsOf(stand));
    const behind = stand.ask(actor, GET_QUEUE);
    const others: QueueOutcome[] = [];
    while (batch.reply === undefined) {
      others.push(stand.ask(actor, SET_QUEUE, OTHER_ACCOUNT));
      await stand.settle();
    }
    await stand.settle();
    expect([before.reply?.type, batch.reply.type, behind.reply?.type]).to.deep.equal(['Done', 'Published', 'Queues']);
    expect(stand.answered.slice(-2)).to.deep.equal(['Publish', 'GetQueue']);
    expect(others.filter(({ reply }) => reply?.type === 'Done').length).to.be.greaterThan(2);
    const entries = (await stand.entries()).map((events) => events.map(({ type }) => type));
    const counts = entries.map((types) => types.filter((type) => type === 'MessageAccepted').length);
    expect(counts.filter((count) => count > 0)).to.deep.equal([1000]);
    expect(counts.indexOf(1000)).to.be.greaterThan(0);
    expect(stand.answered.indexOf('Publish')).to.be.greaterThan(1);
    const all = entries.flat();
    expect(all.indexOf('AttemptStarted')).to.be.greaterThan(all.lastIndexOf('MessageAccepted'));
  });

  it('leaves no message when its owner ends halfway, and its caller gets no success (QA3)', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    slowly(stand);
    const batch = stand.publish(actor, itemsOf(stand));
    const queueOf = () => [...(stand.planes[0]?.queues() ?? [])][0];
    while (queueOf()?.isHeld !== true) await new Promise((resolve) => setImmediate(resolve));
    stand.ask(actor, SET_QUEUE, OTHER_ACCOUNT);
    await new Promise((resolve) => setImmediate(resolve));
    actor.end(new MillraceError('FENCED', 'another owner'));
    await stand.settle();
    expect(batch.reply).to.equal(undefined);
    expect(batch.failure).to.be.a('string');
    const next = await stand.serving();
    const again = stand.publish(next, itemsOf(stand));
    while (again.reply === undefined) await stand.settle();
    const accepted = (await stand.entries()).flat().filter(({ type }) => type === 'MessageAccepted');
    expect(accepted.length).to.equal(1000);
  });
});

describe('an answer of the owner of an account', () => {
  it('is sent when the entry with its events is stored', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.journal.isOpen = false;
    const outcome = stand.publish(actor, [stand.item('a')]);
    await stand.settle();
    expect(outcome.reply).to.equal(undefined);
    await stand.journal.held[0]?.ack();
    await stand.settle();
    expect(outcome.reply?.type).to.equal('Published');
  });

  it('waits, also for a read, until all changes that it may have seen are stored', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.journal.isOpen = false;
    const change = stand.ask(actor, SET_QUEUE);
    const look = stand.ask(actor, GET_QUEUE);
    await stand.settle();
    const later = stand.ask(actor, GET_QUEUE);
    await stand.settle();
    expect([change.reply, look.reply, later.reply]).to.deep.equal([undefined, undefined, undefined]);
    await stand.journal.held[0]?.ack();
    await stand.settle();
    expect([change.reply?.type, look.reply?.type, later.reply?.type]).to.deep.equal(['Done', 'Queues', 'Queues']);
  });

  it('does not wait for unstored changes of another account', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.journal.isOpen = false;
    stand.ask(actor, SET_QUEUE);
    await stand.settle();
    const look = stand.ask(actor, { type: 'ListQueues' }, OTHER_ACCOUNT);
    await stand.settle();
    expect(look.reply).to.deep.equal({ type: 'Queues', queues: [] });
  });

  it('names the journal position at which all earlier changes are stored', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    const change = stand.ask(actor, SET_QUEUE);
    const position = stand.ask(actor, { type: 'GetPosition' });
    await stand.settle();
    expect(change.reply?.type).to.equal('Done');
    expect(position.reply).to.deep.equal({ type: 'Position', position: actor.head?.position });
  });

  it('waits for an account that is not known yet, and fails when it does not become known in time', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    const early = stand.ask(actor, SET_QUEUE, UNKNOWN);
    await stand.time.advance(1000);
    expect(early).to.deep.equal({});
    stand.accounts.set(UNKNOWN, GENEROUS);
    await stand.time.advance(100);
    expect(early.reply?.type).to.equal('Done');
    stand.accounts.delete(UNKNOWN);
    const never = stand.ask(actor, SET_QUEUE, 'ac-dddddddddddddddd' as AccountId);
    await stand.time.advance(5100);
    expect(never).to.deep.equal({ failure: 'SHARD_UNAVAILABLE' });
  });

  it('is a refusal for a command that adds data while the disk is nearly full', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.storage.full = true;
    const publish = stand.publish(actor, [stand.item('a')]);
    const look = stand.ask(actor, { type: 'ListQueues' });
    await stand.settle();
    expect(publish).to.deep.equal({ failure: 'STORAGE_FULL' });
    expect(look.reply?.type).to.equal('Queues');
  });
});

describe('an attempt', () => {
  it('is sent when the entry with its start is stored, and not before', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.journal.isOpen = false;
    stand.publish(actor, [stand.item('a')]);
    await stand.settle();
    expect(stand.http.calls).to.have.length(0);
    await stand.journal.held[0]?.ack();
    await stand.settle();
    expect(stand.http.calls.map(({ url, body }) => [url, Buffer.from(body).toString()])).to.deep.equal([
      ['https://a.example/', 'body 1'],
    ]);
  });

  it('is started in the entry that accepts its message, when it may start immediately', async () => {
    const stand = new QueueShardStand();
    stand.publish(await stand.serving(), [stand.item('a')]);
    await stand.settle();
    const types = (await stand.entries()).map((events) => events.map(({ type }) => type));
    expect(types).to.deep.equal([['MessageAccepted', 'AttemptStarted']]);
  });

  it('has its outcome, and the resulting events, in one entry', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a', { settings: { maxRetries: 0 } })]);
    await stand.settle();
    stand.http.open[0]?.answer(500, 'no');
    await stand.settle();
    const types = (await stand.entries()).map((events) => events.map(({ type }) => type));
    expect(types.at(-1)).to.deep.equal(['AttemptFailed', 'MessageDeadLettered']);
  });

  it('is never sent when its owner ends before the entry is stored', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.journal.isOpen = false;
    const outcome = stand.publish(actor, [stand.item('a')]);
    await stand.settle();
    actor.end(new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' }));
    await stand.journal.held[0]?.ack();
    await stand.time.advance(10_000);
    expect(stand.http.calls).to.have.length(0);
    expect(outcome.failure).to.equal('OUTCOME_UNKNOWN');
  });

  it('is aborted when its owner ends, and its outcome no longer counts', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a')]);
    await stand.settle();
    const call = stand.http.open[0];
    actor.end(new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' }));
    expect(call?.signal.aborted).to.equal(true);
    expect(stand.room.inFlight).to.equal(0);
    const entries = (await stand.entries()).length;
    call?.answer(200);
    await stand.settle();
    expect(await stand.entries()).to.have.length(entries);
  });

  it('that was open when its owner ended is made again by the next owner, once, as a restart', async () => {
    const stand = new QueueShardStand();
    const first = await stand.serving();
    stand.publish(first, [stand.item('a')]);
    await stand.settle();
    first.end(new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' }));
    await stand.serving();
    await stand.time.advance(60_000);
    expect(stand.http.open).to.have.length(1);
    const restarted = (await stand.entries()).flat().filter(({ type }) => type === 'AttemptStarted');
    expect(restarted.map((event) => event.type === 'AttemptStarted' && event.restarts)).to.deep.equal([0, 1]);
    stand.http.open[0]?.answer(200);
    await stand.settle();
    expect((await stand.entries()).flat().at(-1)?.type).to.equal('MessageDelivered');
  });

  it('that has concluded is not made again by the next owner', async () => {
    const stand = new QueueShardStand();
    const first = await stand.serving();
    stand.publish(first, [stand.item('a')]);
    await stand.settle();
    stand.http.open[0]?.answer(200);
    await stand.settle();
    first.end(new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' }));
    const second = await stand.serving();
    await stand.time.advance(60_000);
    expect(second.state).to.equal('serving');
    expect(stand.http.calls).to.have.length(1);
  });

  it('is made again by an owner that knows its message from a snapshot alone', async () => {
    const stand = new QueueShardStand();
    const first = await stand.serving();
    stand.publish(first, [stand.item('a')]);
    await stand.settle();
    const { manifest, manifestDigest, coveredNumber } = await stand.compact(first);
    await first.appendSnapshot(manifest, manifestDigest, coveredNumber);
    first.end(new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' }));
    await stand.serving();
    await stand.settle();
    expect(stand.http.open.map(({ body }) => Buffer.from(body).toString())).to.deep.equal(['body 1']);
  });

  it('is made again later when it failed', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a', { settings: { retryDelay: '5000' } })]);
    await stand.settle();
    stand.http.open[0]?.answer(503);
    await stand.time.advance(4990);
    expect(stand.http.calls).to.have.length(1);
    await stand.time.advance(20);
    expect(stand.http.calls).to.have.length(2);
  });

  it('waits for a signing key, because no call is sent unsigned', async () => {
    const stand = new QueueShardStand();
    stand.signature = undefined;
    stand.publish(await stand.serving(), [stand.item('a')]);
    await stand.time.advance(1000);
    expect(stand.http.calls).to.have.length(0);
    stand.signature = 'signed';
    await stand.time.advance(200);
    expect(stand.http.calls).to.have.length(1);
  });

  it('is not started while its shard is being handed over', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a', { settings: { delaySeconds: 1 } })]);
    await stand.settle();
    stand.journal.isOpen = false;
    stand.ask(actor, SET_QUEUE);
    await stand.settle();
    const drained = actor.drain();
    await stand.time.advance(2000);
    for (const append of stand.journal.held) await append.ack();
    await stand.settle();
    await drained;
    expect(stand.http.calls).to.have.length(0);
  });
});

describe('a message that was sent both to the owner and to the intake', () => {
  it('is accepted once, and delivered once, in either order', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    const [first, second] = [stand.item('asked-first'), stand.item('told-first')];
    stand.publish(actor, [first]);
    stand.ask(actor, { type: 'TakeIntake', records: [{ position: 1, items: [first, second] }] });
    const late = stand.publish(actor, [second]);
    await stand.settle();
    expect(stand.http.calls.map(({ url }) => url)).to.deep.equal([
      'https://asked-first.example/',
      'https://told-first.example/',
    ]);
    expect(late.reply?.type).to.equal('Published');
    const accepted = (await stand.entries()).flat().filter(({ type }) => type === 'MessageAccepted');
    expect(accepted).to.have.length(2);
  });

  it('is known to the next owner, too', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    const item = stand.item('a');
    stand.publish(actor, [item]);
    await stand.settle();
    stand.http.open[0]?.answer(200);
    await stand.settle();
    actor.end(new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' }));
    const next = await stand.serving();
    const taken = stand.ask(next, { type: 'TakeIntake', records: [{ position: 1, items: [item] }] });
    await stand.time.advance(60_000);
    expect(taken.reply?.type).to.equal('Done');
    expect(stand.http.calls).to.have.length(1);
  });
});

describe('a due message', () => {
  it('is started while the process has delivery places, and waits for free ones', async () => {
    const stand = new QueueShardStand();
    stand.room = new DeliveryPlaces(4);
    const actor = await stand.serving();
    stand.publish(
      actor,
      Array.from({ length: 10 }, (_, n) => stand.item(`host${n}`)),
    );
    await stand.settle();
    expect(stand.http.open).to.have.length(4);
    stand.http.open[0]?.answer(200);
    await stand.settle();
    expect(stand.http.open).to.have.length(4);
    expect(stand.http.calls).to.have.length(5);
  });

  it('waits when its account has used up its part of the places, and starts when others are freed', async () => {
    const stand = new QueueShardStand();
    stand.room = new DeliveryPlaces(8);
    const somebody = 'ac-somebody' as AccountId;
    stand.room.take(somebody, 4);
    const actor = await stand.serving();
    stand.publish(
      actor,
      Array.from({ length: 10 }, () => stand.item('a')),
    );
    await stand.settle();
    const before = stand.http.open.length;
    expect(before).to.be.within(1, 3);
    stand.room.release(somebody, 4);
    await stand.settle();
    expect(stand.http.open.length).to.be.above(before);
  });

  it('is started in portions that fit an entry', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving({ startsPerTurn: 8 });
    stand.publish(
      actor,
      Array.from({ length: 50 }, () => stand.item('a')),
    );
    await stand.time.advance(100);
    expect(stand.http.open).to.have.length(50);
    for (const events of await stand.entries()) {
      expect(events.filter(({ type }) => type === 'AttemptStarted').length).to.be.at.most(8);
    }
  });

  it('is started fairly: an account with a few messages does not wait for one with many', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving({ startsPerTurn: 10 });
    stand.journal.isOpen = false;
    stand.publish(
      actor,
      Array.from({ length: 200 }, () => stand.item('many')),
    );
    stand.publish(actor, [stand.item('few'), stand.item('few')], OTHER_ACCOUNT);
    await stand.settle();
    await stand.journal.held[0]?.ack();
    await stand.settle();
    const hosts = stand.http.calls.map(({ url }) => new URL(url).hostname);
    expect(hosts.filter((host) => host === 'few.example')).to.have.length(2);
    expect(hosts).to.have.length(10);
  });

  it('of a suspended account waits until it is resumed', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a', { settings: { delaySeconds: 10 } })]);
    await stand.settle();
    stand.accounts.set(ACCOUNT, { ...GENEROUS, state: 'passive' });
    stand.planes[0]?.accountsChanged();
    await stand.time.advance(20_000);
    expect(stand.http.calls).to.have.length(0);
    stand.accounts.set(ACCOUNT, GENEROUS);
    stand.planes[0]?.accountsChanged();
    await stand.settle();
    expect(stand.http.calls).to.have.length(1);
  });

  it('in a year is checked at intervals, because timers are shorter than that and clocks jump', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a', { settings: { delaySeconds: 365 * 86_400 } })]);
    await stand.settle();
    expect(stand.planes[0]?.nextTickInMs(stand.time.nowMs())).to.be.within(1000, 60_000);
    await stand.time.advance(60_000);
    expect(stand.http.calls).to.have.length(0);
  });

  it('does not keep an idle shard busy', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a')]);
    await stand.settle();
    stand.http.open[0]?.answer(200);
    await stand.settle();
    const tickInMs = stand.planes[0]?.nextTickInMs(stand.time.nowMs());
    expect(tickInMs === undefined || tickInMs > 1000, String(tickInMs)).to.equal(true);
  });
});

describe('a command that runs in steps', () => {
  it('lets others run in between, and is answered when it is done and stored', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    const items = Array.from({ length: 500 }, () => stand.item('a', { settings: { delaySeconds: 60 } }));
    stand.publish(actor, items);
    await stand.settle();
    const cancel = stand.ask(actor, {
      type: 'CancelMessages',
      selector: { kind: 'filter', filter: {}, count: undefined },
    });
    const look = stand.ask(actor, { type: 'ListQueues' });
    await stand.time.advance(1000);
    expect(cancel.reply).to.deep.equal({ type: 'Cancelled', count: 500 });
    expect(look.reply).to.deep.equal({ type: 'Queues', queues: [] });
    expect(stand.answered).to.deep.equal(['Publish', 'ListQueues', 'CancelMessages']);
  });

  it('fails for its caller when its owner ends', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a', { settings: { delaySeconds: 60 } })]);
    await stand.settle();
    stand.journal.isOpen = false;
    const cancel = stand.ask(actor, {
      type: 'CancelMessages',
      selector: { kind: 'filter', filter: {}, count: undefined },
    });
    await stand.settle();
    actor.end(new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' }));
    await stand.settle();
    expect(cancel.failure).to.equal('OUTCOME_UNKNOWN');
  });
});

describe('a body that is not in memory', () => {
  it('is read from the journal before the call is made', async () => {
    const stand = new QueueShardStand();
    stand.bodyMemoryBytes = 0;
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a', { body: Buffer.from('kept'), settings: { delaySeconds: 5 } })]);
    await stand.settle();
    await stand.time.advance(5000);
    expect(stand.http.calls.map(({ body }) => Buffer.from(body).toString())).to.deep.equal(['kept']);
  });

  it('is read before an answer shows it', async () => {
    const stand = new QueueShardStand();
    stand.bodyMemoryBytes = 0;
    const actor = await stand.serving();
    const item = stand.item('a', { body: Buffer.from('kept'), settings: { delaySeconds: 5 } });
    stand.publish(actor, [item]);
    await stand.settle();
    const look = stand.ask(actor, { type: 'GetMessage', id: item.id });
    await stand.time.advance(10);
    expect(look.reply?.type === 'Message' && Buffer.from(look.reply.content ?? []).toString()).to.equal('kept');
  });
});

describe('a shard that is about to be handed over', () => {
  it('starts no attempt any more, and takes the outcomes of the open ones', async () => {
    const stand = new QueueShardStand();
    const actor = await stand.serving();
    stand.publish(actor, [stand.item('a')]);
    await stand.settle();
    const plane = stand.planes.at(-1);
    plane?.startNoMore();
    const later = stand.publish(actor, [stand.item('b')]);
    await stand.time.advance(1000);
    expect(later.reply?.type).to.equal('Published');
    expect(stand.http.calls).to.have.length(1);
    expect(plane?.attemptsInFlight).to.equal(1);
    stand.http.calls[0]?.answer(200);
    await stand.settle();
    expect(plane?.attemptsInFlight).to.equal(0);
  });
});
