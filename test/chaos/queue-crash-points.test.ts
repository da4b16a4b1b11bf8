/**
 * The owner of a queue shard dies, is frozen or loses its nats-server at chosen points of a message's life. At none of
 * these points is a message lost, accepted twice, or in two places.
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

describe('a queue after the death or sleep of its owner', function () {
  this.timeout(120_000);
  let stand: QueueCrashStand;
  let scheduledAtMs = 0;
  let diedAtTickMs: number | undefined;

  before(async () => {
    stand = await QueueCrashStand.start();
    await stand.owner();
    // Its ticks fall into any of the later tests.
    await stand.client.ask('POST', `/v2/schedules/${stand.sink.url('/tick')}`, undefined, [200], {
      'svc-cron': '* * * * *',
      'svc-schedule-id': 'every-minute',
    });
    scheduledAtMs = Date.now();
  });
  beforeEach(async () => {
    await stand.owner();
  });
  // The next test runs until a tick is near, so that no test waits a minute for it.
  afterEach(async () => {
    const leftMs = nextTickMs() - Date.now();
    if (diedAtTickMs === undefined && leftMs > START_MS && leftMs < 2 * START_MS) await dieAtTick();
  });
  after(() => stand?.stop());

  it('holds no message without a sent entry', async () => {
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

  it('answers a repeated publish with the stored message when the first answer was lost', async () => {
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

  it('delivers an accepted message for which no call was made', async () => {
    const path = stand.sink.path('accepted');
    await stand.accepted(path, { 'svc-delay': '1s' });
    await stand.killOwner();
    await stand.owner();
    await stand.sink.arrived(path);
    await stand.quiet();
    expect(stand.sink.calls(path)).to.have.length(1);
  });

  it('makes a journaled attempt that was never sent', async () => {
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

  it('repeats an interrupted call as the same attempt of the same message', async () => {
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

  it('repeats a delivery without a stored outcome', async () => {
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

  it('does not repeat a delivery when only the acknowledgement of its outcome was lost', async () => {
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

  it('puts a message into the DLQ once when its last failure was not stored', async () => {
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

  it('puts a message into the DLQ once when the acknowledgement of its last failure was lost', async () => {
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

  it('never sends a cancelled message', async () => {
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

  it('sends a message that is cancelled at its due time once or never, as the journal says', async () => {
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

  it('records no outcome from a frozen owner that wakes after a takeover, and the frozen owner starts no call', async () => {
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

  it('has a stored attempt made once, by the new owner, when the old owner wakes after the takeover', async () => {
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

  it('accepts messages while no process owns it, and the next owner delivers each once', async () => {
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

  it('takes each tick of a schedule once when the owner dies at a tick', async () => {
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

  /** The message is in the DLQ, in one entry, and in no other place. */
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

/** The next tick of the schedule that leaves enough time to prepare for it. */
function nextTickMs(): number {
  return (Math.floor((Date.now() + 2 * JUST_BEFORE_MS) / MINUTE_MS) + 1) * MINUTE_MS;
}

function until(atMs: number): Promise<void> {
  return new Promise((done) => setTimeout(done, atMs - Date.now()));
}
