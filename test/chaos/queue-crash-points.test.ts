/**
 * The owner of the queue dies, sleeps or loses its server at chosen points of a message's life. At none of
 * them is a message lost, accepted twice, or in two places.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { ownershipViolations } from '../support/journal-reader.js';
import { logOf } from '../support/millrace-cluster.js';
import { BACK_TIMEOUT_MS, SHARD } from '../support/queue-conservation-run.js';
import { QueueCrashStand } from '../support/queue-crash-stand.js';

const MINUTE_MS = 60_000;
/** Before a tick: enough to kill an owner in, too little to start another one. */
const JUST_BEFORE_MS = 300;
/** For an owner to be there. */
const START_MS = 5000;

describe('a queue whose owner dies', function () {
  this.timeout(120_000);
  let stand: QueueCrashStand;
  let scheduledAtMs = 0;
  let diedAtTickMs: number | undefined;

  before(async () => {
    stand = await QueueCrashStand.start();
    await stand.owner();
    // Ticks of it fall into whatever happens from here on.
    await stand.client.ask('POST', `/v2/schedules/${stand.sink.url('/tick')}`, undefined, [200], {
      'svc-cron': '* * * * *',
      'svc-schedule-id': 'every-minute',
    });
    scheduledAtMs = Date.now();
  });
  beforeEach(async () => {
    await stand.owner();
  });
  // Tests go on as usual until a tick is near, so that nobody waits a minute for it.
  afterEach(async () => {
    const leftMs = nextTickMs() - Date.now();
    if (diedAtTickMs === undefined && leftMs > START_MS && leftMs < 2 * START_MS) await dieAtTick();
  });
  after(() => stand?.stop());

  it('has nothing of a message whose entry was never sent', async () => {
    const path = stand.sink.path('never-sent');
    const once = { 'svc-deduplication-id': path.slice(1) };
    stand.proxy.stall('to-server');
    const outcome = await stand.publish(path, once);
    expect(outcome.kind).to.not.equal('accepted');
    await stand.killOwner();
    await stand.owner();
    expect(await stand.eventsTo(path, 'MessageAccepted')).to.deep.equal([]);
    expect(await stand.publish(path, once)).to.include({ kind: 'accepted', isDuplicate: false });
    await stand.sink.arrived(path);
    await stand.quiet();
    expect(await stand.eventsTo(path, 'MessageAccepted')).to.have.length(1);
  });

  it('has one message when it died before it could say so, and is asked again', async () => {
    const path = stand.sink.path('never-answered');
    const once = { 'svc-deduplication-id': path.slice(1) };
    stand.proxy.loseAcks();
    const asked = stand.publish(path, once);
    const [accepted] = await stand.stored(path, 'MessageAccepted');
    await stand.killOwner();
    const outcome = await asked;
    expect(outcome.kind, JSON.stringify(outcome)).to.equal('unknown');
    await stand.owner();
    expect(await stand.publish(path, once)).to.deep.equal({ kind: 'accepted', id: accepted?.id, isDuplicate: true });
    await stand.sink.arrived(path);
    await stand.quiet();
    expect(await stand.eventsTo(path, 'MessageAccepted')).to.have.length(1);
    expect(stand.sink.calls(path)).to.have.length(1);
  });

  it('delivers what it had accepted and not begun', async () => {
    const path = stand.sink.path('accepted');
    await stand.accepted(path, { 'svc-delay': '1s' });
    await stand.killOwner();
    await stand.owner();
    await stand.sink.arrived(path);
    await stand.quiet();
    expect(stand.sink.calls(path)).to.have.length(1);
  });

  it('makes an attempt that was journaled and never sent', async () => {
    const path = stand.sink.path('never-called');
    await stand.accepted(path, { 'svc-delay': '1s' });
    stand.proxy.loseAcks();
    await stand.stored(path, 'AttemptStarted');
    await stand.killOwner();
    expect(stand.sink.calls(path), 'calls before the entry was known to be stored').to.deep.equal([]);
    await stand.owner();
    const call = await stand.sink.call(path);
    expect(call.headers['svc-retried']).to.equal('0');
    expect((await stand.stored(path, 'AttemptStarted', 2)).map(({ restarts }) => restarts)).to.deep.equal([0, 1]);
  });

  it('makes a call again that it died in the middle of, as the same attempt of the same message', async () => {
    const path = stand.sink.path('in-the-middle');
    stand.sink.hold(path);
    const id = await stand.accepted(path);
    await stand.sink.arrived(path);
    await stand.killOwner();
    await stand.owner();
    const calls = await stand.sink.arrived(path, 2);
    stand.sink.release(path);
    await stand.stored(path, 'MessageDelivered');
    expect(calls.map(({ headers }) => headers['svc-message-id'])).to.deep.equal([id, id]);
    expect(calls.map(({ headers }) => headers['svc-retried'])).to.deep.equal(['0', '0']);
  });

  it('repeats a delivery whose answer it could not write down', async () => {
    const path = stand.sink.path('never-written');
    stand.sink.hold(path);
    const id = await stand.accepted(path);
    await stand.sink.arrived(path);
    stand.proxy.stall('to-server');
    stand.sink.release(path);
    await eventually(() => expect(stand.sink.calls(path)[0]?.isAnswered).to.equal(true));
    await stand.killOwner();
    await stand.owner();
    const calls = await stand.sink.arrived(path, 2);
    expect(calls.map(({ headers }) => headers['svc-message-id'])).to.deep.equal([id, id]);
    await stand.stored(path, 'MessageDelivered');
    await stand.quiet();
    expect(stand.sink.calls(path)).to.have.length(2);
    expect(await stand.eventsTo(path, 'MessageDelivered')).to.have.length(1);
  });

  it('does not call again when it cannot tell whether an outcome was stored', async () => {
    const path = stand.sink.path('unknown-outcome');
    stand.sink.hold(path);
    await stand.accepted(path);
    await stand.sink.arrived(path);
    stand.proxy.loseAcks();
    stand.sink.release(path);
    await stand.stored(path, 'MessageDelivered');
    await eventually(() => expect(stand.proxy.acksTouched).to.be.greaterThan(0));
    stand.proxy.heal();
    await stand.quiet();
    expect(stand.sink.calls(path)).to.have.length(1);
    expect(await stand.eventsTo(path, 'MessageDelivered')).to.have.length(1);
  });

  it('has a message that failed for the last time in the DLQ once, though that was not stored', async () => {
    const path = stand.sink.path('dead-later');
    stand.sink.hold(path);
    stand.sink.answer(path, { status: 500 });
    const id = await stand.accepted(path, { 'svc-retries': '0' });
    await stand.sink.arrived(path);
    stand.proxy.stall('to-server');
    stand.sink.release(path);
    await eventually(() => expect(stand.sink.calls(path)[0]?.isAnswered).to.equal(true));
    await stand.killOwner();
    expect(await stand.eventsTo(path, 'MessageDeadLettered')).to.deep.equal([]);
    await stand.owner();
    await stand.sink.arrived(path, 2);
    await expectDead(path, id);
  });

  it('has a message that failed for the last time in the DLQ once, though it never heard of that', async () => {
    const path = stand.sink.path('dead');
    stand.sink.hold(path);
    stand.sink.answer(path, { status: 500 });
    const id = await stand.accepted(path, { 'svc-retries': '0' });
    await stand.sink.arrived(path);
    stand.proxy.loseAcks();
    stand.sink.release(path);
    await stand.stored(path, 'MessageDeadLettered');
    await stand.killOwner();
    await stand.owner();
    await expectDead(path, id);
    await stand.quiet();
    expect(stand.sink.calls(path)).to.have.length(1);
  });

  it('never sends what was cancelled, whoever owns it then', async () => {
    const path = stand.sink.path('cancelled');
    const after = stand.sink.path('after');
    const id = await stand.accepted(path, { 'svc-delay': '1s' });
    await stand.accepted(after, { 'svc-delay': '2s' });
    expect(await stand.client.cancel(id)).to.equal('acked');
    await stand.killOwner();
    await stand.owner();
    await stand.sink.arrived(after);
    expect(await stand.client.isThere(id)).to.equal(false);
    expect(stand.sink.calls(path)).to.deep.equal([]);
  });

  it('sends what is cancelled at the moment when it is due once or never, as the journal says', async () => {
    const path = stand.sink.path('race');
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push(await stand.accepted(path, { 'svc-delay': '1s' }));
    const accepted = await stand.stored(path, 'MessageAccepted', ids.length);
    const dueAtMs = new Map<string, number>(accepted.map(({ id, notBeforeMs }) => [id, notBeforeMs]));
    const cancel = async (id: string): Promise<string> => {
      await until((dueAtMs.get(id) as number) - 5);
      return stand.client.cancel(id);
    };
    const answers = await Promise.all(ids.map(cancel));
    await stand.quiet();
    expect(new Set(answers)).to.deep.equal(new Set(['acked']));
    const started = new Set((await stand.eventsTo(path, 'AttemptStarted')).map(({ id }) => id as string));
    const called = stand.sink.calls(path).map(({ headers }) => headers['svc-message-id'] as string);
    expect([...called].sort()).to.deep.equal([...started].sort());
    expect(started.size + (await stand.eventsTo(path, 'MessageCancelled')).length).to.be.at.least(ids.length);
  });

  it('that sleeps through a takeover finishes its calls for nothing, and begins none', async () => {
    const path = stand.sink.path('asleep');
    const flow = { 'svc-flow-control-key': 'asleep', 'svc-flow-control-value': 'parallelism=1' };
    stand.sink.hold(path);
    const first = await stand.accepted(path, flow);
    const second = await stand.accepted(path, flow);
    await stand.sink.arrived(path);
    const sleeper = await stand.owner();
    await sleeper.freeze();
    await stand.succeed();
    await stand.sink.arrived(path, 2);
    sleeper.thaw();
    await eventually(() => expect(logOf(sleeper).some(isOver), 'the sleeper knows').to.equal(true), {
      timeoutMs: BACK_TIMEOUT_MS,
    });
    stand.sink.release(path);
    await stand.stored(path, 'MessageDelivered', 2);
    await stand.quiet();
    await sleeper.kill();
    expect(stand.sink.calls(path).map(({ headers }) => headers['svc-message-id'])).to.deep.equal([
      first,
      first,
      second,
    ]);
    const entries = await stand.journal.entries(SHARD);
    expect(ownershipViolations(entries)).to.deep.equal([]);
    expect(await stand.journal.findings(SHARD)).to.deep.equal([]);
    expect(await stand.eventsTo(path, 'MessageDelivered')).to.have.length(2);
  });

  it('that wakes up to the news that an attempt was stored leaves it to its successor', async () => {
    const path = stand.sink.path('awake');
    stand.sink.hold(path);
    const sleeper = await stand.owner();
    const { proxy } = stand;
    await stand.accepted(path, { 'svc-delay': '1s' });
    proxy.delayAcks(500);
    await stand.stored(path, 'AttemptStarted');
    await sleeper.freeze();
    expect(stand.sink.calls(path)).to.deep.equal([]);
    await stand.succeed();
    await stand.sink.arrived(path);
    sleeper.thaw();
    await eventually(() => expect(logOf(sleeper).some(isOver), 'the sleeper knows').to.equal(true), {
      timeoutMs: BACK_TIMEOUT_MS,
    });
    await sleeper.kill();
    expect(stand.sink.calls(path)).to.have.length(1);
    stand.sink.release(path);
    await stand.stored(path, 'MessageDelivered');
  });

  it('is told what to do while nobody owns it, and the next one does it once', async () => {
    const path = stand.sink.path('told');
    await stand.killOwner();
    const ids = await Promise.all(Array.from({ length: 20 }, () => stand.accepted(path)));
    expect(stand.sink.calls(path)).to.deep.equal([]);
    expect(await stand.inIntake()).to.be.greaterThan(0);
    await stand.owner();
    const calls = await stand.sink.arrived(path, ids.length);
    expect(calls.map(({ headers }) => headers['svc-message-id']).sort()).to.deep.equal([...ids].sort());
    await eventually(async () => expect(await stand.inIntake(), 'left in the intake').to.equal(0));
    await stand.quiet();
    expect(stand.sink.calls(path)).to.have.length(ids.length);
    expect(await stand.eventsTo(path, 'MessageAccepted')).to.have.length(ids.length);
  });

  it('takes each tick of a schedule once, though it dies at one', async () => {
    const tickAtMs = diedAtTickMs ?? (await dieAtTick());
    await eventually(async () => expect(await firedAtMs()).to.include(tickAtMs), { timeoutMs: BACK_TIMEOUT_MS });
    await stand.quiet();
    const [first = 0, ...others] = await firedAtMs();
    expect(first - scheduledAtMs).to.be.within(0, MINUTE_MS);
    expect(others).to.deep.equal(others.map((_, at) => first + (at + 1) * MINUTE_MS));
    const ids = new Set(stand.sink.calls('/tick').map(({ headers }) => headers['svc-message-id']));
    expect(ids.size, 'messages of the schedule').to.equal(others.length + 1);
  });

  /** @returns the tick */
  async function dieAtTick(): Promise<number> {
    await stand.owner();
    diedAtTickMs = nextTickMs();
    await until(diedAtTickMs - JUST_BEFORE_MS);
    await stand.killOwner();
    await stand.owner();
    return diedAtTickMs;
  }

  async function firedAtMs(): Promise<number[]> {
    const events = await stand.events();
    return events.flatMap((event) => (event.type === 'ScheduleFired' ? [event.tickAtMs] : []));
  }

  /** In the DLQ, in one entry, and nowhere else. */
  async function expectDead(path: string, id: string): Promise<void> {
    await stand.stored(path, 'MessageDeadLettered');
    await eventually(
      async () => {
        const entries = (await stand.client.dlq()).filter(({ messageId }) => messageId === id);
        expect(entries).to.have.length(1);
      },
      { timeoutMs: BACK_TIMEOUT_MS },
    );
    expect(await stand.client.isThere(id)).to.equal(false);
    expect(await stand.eventsTo(path, 'MessageDeadLettered')).to.have.length(1);
  }
});

function isOver({ event, shard }: Record<string, unknown>): boolean {
  return event === 'shard.ended' && shard === SHARD;
}

/** Of the schedule, and far enough away to be prepared for. */
function nextTickMs(): number {
  return (Math.floor((Date.now() + 2 * JUST_BEFORE_MS) / MINUTE_MS) + 1) * MINUTE_MS;
}

function until(atMs: number): Promise<void> {
  return new Promise((done) => setTimeout(done, atMs - Date.now()));
}
