/**
 * Wall clocks that are wrong by an hour or by ten minutes in both directions: set while a process runs, and set while
 * it is stopped. No key expires early, delays and schedules are late by at most five seconds, and requests are answered
 * all the time.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { FakeTime } from '../support/fake-time.js';
import { freePort } from '../support/free-port.js';
import { MillraceCluster, type NatsFacts, ownerOf, startPlainNats } from '../support/millrace-cluster.js';
import { type Environment, endEverything, type MillraceProcess, startMillrace } from '../support/millrace-process.js';
import { QueueSink } from '../support/queue-sink.js';
import { startTogether } from '../support/together.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** How late a timed action may be. */
const LATE_MS = 5000;
/** The clocks of two machines, the rounding of both, and the time of a command. */
const EARLY_MS = 200;
const TOKEN = 'queue-of-the-tests-0123456789abcdef';
/** Starts and takeovers on a busy machine. */
const SLOW = { timeoutMs: 60_000 };
const ENVIRONMENT: Environment = { MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true', MILLRACE_QUEUE_TOKEN: TOKEN };

/** Things of one installation with a time at which they are due, by the right clock. */
class Timed {
  readonly #ends = new Map<string, number>();

  constructor(
    private readonly sink: QueueSink,
    private readonly name: string,
  ) {}

  async key(through: MillraceProcess, key: string, seconds: number): Promise<void> {
    await eventually(async () => {
      this.#ends.set(key, Date.now() + seconds * 1000);
      await through.kv.ask('SET', key, 'v', 'EX', seconds);
    }, SLOW);
  }

  /** Waits until the key is present with the expected time to live. */
  async has(through: MillraceProcess, key: string): Promise<void> {
    await eventually(async () => {
      const leftMs = (this.#ends.get(key) as number) - Date.now();
      const ttlMs = (await through.kv.ask('PTTL', key)) as number;
      expect(ttlMs, `${this.name}: PTTL of ${key}`).to.be.within(leftMs - LATE_MS, leftMs + LATE_MS);
    }, SLOW);
  }

  /** Waits until the key expires, which must be in time. */
  async ends(through: MillraceProcess, key: string): Promise<void> {
    const endMs = this.#ends.get(key) as number;
    for (;;) {
      const askedMs = Date.now();
      const value = await through.kv.ask('GET', key);
      if (value === null) {
        expect(Date.now(), `${this.name}: ${key} was lost early`).to.be.at.least(endMs - EARLY_MS);
        return;
      }
      expect(askedMs, `${this.name}: ${key} is still there`).to.be.below(endMs + LATE_MS);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /**
   * @returns a function that waits until a message delayed by so many seconds has arrived in time, after a process was there
   * to send it
   */
  async delayed(through: MillraceProcess, seconds: number): Promise<(sinceMs?: number) => Promise<void>> {
    const path = this.sink.path(`${this.name}-delayed`);
    const url = `${through.addresses.queue}/v2/publish/${this.sink.url(path)}`;
    const sentMs = await eventually(async () => {
      const nowMs = Date.now();
      const headers = { authorization: `Bearer ${TOKEN}`, 'svc-delay': `${seconds}s` };
      const { status } = await fetch(url, { method: 'POST', headers, body: 'x' });
      expect(status, 'publish').to.equal(200);
      return nowMs;
    }, SLOW);
    return async (sinceMs = 0) => {
      const { atMs } = await this.sink.call(path);
      const dueMs = sentMs + seconds * 1000;
      expect(atMs, `${this.name}: a delay of ${seconds} s`).to.be.at.least(dueMs - EARLY_MS);
      expect(atMs, `${this.name}: a delay of ${seconds} s`).to.be.at.most(Math.max(dueMs, sinceMs) + LATE_MS);
    };
  }

  /** @param tickMs when the next minute begins, by the right clock @returns as `delayed` */
  async everyMinute(through: MillraceProcess, tickMs: number): Promise<(sinceMs?: number) => Promise<void>> {
    const path = this.sink.path(`${this.name}-schedule`);
    const headers = { authorization: `Bearer ${TOKEN}`, 'svc-cron': '* * * * *' };
    const url = `${through.addresses.queue}/v2/schedules/${this.sink.url(path)}`;
    const { status } = await fetch(url, { method: 'POST', headers, body: 'tick' });
    expect(status, 'schedule').to.equal(200);
    const firstMs = tickMs + Math.max(0, Math.ceil((Date.now() - tickMs) / MINUTE_MS)) * MINUTE_MS;
    return async (sinceMs = 0) => {
      await eventually(() => expect(this.sink.calls(path).length).to.be.at.least(1), { timeoutMs: 2 * MINUTE_MS });
      const { atMs } = this.sink.calls(path)[0] as { atMs: number };
      expect(atMs, `${this.name}: a tick`).to.be.at.least(firstMs - EARLY_MS);
      expect(atMs, `${this.name}: a tick`).to.be.at.most(Math.max(firstMs, sinceMs) + LATE_MS);
    };
  }
}

/** A start takes a core: at most as many run in parallel as a small machine has. */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let nextLane = 0;

function inTurn<T>(start: () => Promise<T>): Promise<T> {
  const lane = nextLane++ % lanes.length;
  const started = (lanes[lane] as Promise<unknown>).then(start);
  lanes[lane] = started.catch(() => undefined);
  return started;
}

/** With a clock that is ahead by this, the minute ends in so many seconds. */
function clockAheadForMinuteEnd(seconds: number): { aheadMs: number; tickMs: number } {
  const tickMs = Date.now() + seconds * 1000;
  return { aheadMs: MINUTE_MS - (tickMs % MINUTE_MS), tickMs };
}

function inMinutes(ms: number): string {
  return `${ms > 0 ? '+' : '−'}${Math.abs(ms) / MINUTE_MS} min`;
}

describe('with a wrong wall clock', function () {
  this.timeout(240_000);
  const test = startTogether();
  const servers: NatsFacts[] = [];
  let sink: QueueSink;

  before(async () => {
    sink = await QueueSink.listening();
  });

  after(async () => {
    await endEverything();
    for (const server of servers) await server.stop();
    await sink.close();
  });

  for (const byMs of [HOUR_MS, -HOUR_MS, 10 * MINUTE_MS, -10 * MINUTE_MS]) {
    test(`a process with an embedded nats-server expires keys, delivers and ticks on time after a jump of ${inMinutes(byMs)}, and after a restart with the opposite error`, () =>
      embedded(byMs));
  }

  async function embedded(byMs: number): Promise<void> {
    const timed = new Timed(sink, `embedded${byMs}`);
    const time = await FakeTime.create();
    const env = { ...ENVIRONMENT, ...time.env, MILLRACE_QUEUE_PORT: String(await freePort()) };
    const { first, aheadMs, tickMs } = await inTurn(async () => {
      const soon = clockAheadForMinuteEnd(25);
      await time.setAhead(soon.aheadMs);
      return { first: await startMillrace({ env }), ...soon };
    });
    const { dataDir } = first;
    await timed.key(first, 'long', 600);
    await timed.key(first, 'before', 10);
    const delayedBefore = await timed.delayed(first, 10);
    const ticks = await timed.everyMinute(first, tickMs);

    await time.setAhead(aheadMs + byMs);
    await eventually(() => expect(first.stderr()).to.include('"clock.jumped"'), SLOW);
    await timed.has(first, 'long');
    await timed.key(first, 'after', 6);
    const delayedAfter = await timed.delayed(first, 6);
    await Promise.all([timed.ends(first, 'before'), timed.ends(first, 'after'), delayedBefore(), delayedAfter()]);
    await isReady(first);

    // After the restart its clock is wrong in the other direction.
    await timed.key(first, 'across', 20);
    const delayedAcross = await timed.delayed(first, 20);
    await first.kill('SIGTERM');
    await time.setAhead(aheadMs - byMs);
    const second = await inTurn(() => startMillrace({ dataDir, env }));
    const againMs = Date.now();
    await timed.has(second, 'long');
    await timed.key(second, 'new', 3);
    const delayedNew = await timed.delayed(second, 3);
    await Promise.all([
      timed.ends(second, 'new'),
      delayedNew(),
      timed.ends(second, 'across'),
      delayedAcross(againMs),
      ticks(againMs),
    ]);
    expect(second.stderr().match(/"clock\.off"/g), 'lines about the clock').to.have.length(1);
    await second.kill('SIGTERM');
  }

  test("a process whose journal is ahead of the clock continues from the journal's time", async () => {
    const timed = new Timed(sink, 'ahead');
    const time = await FakeTime.create();
    await time.setAhead(HOUR_MS);
    const env = { ...ENVIRONMENT, ...time.env };
    const wrong = await inTurn(() => startMillrace({ env }));
    await timed.key(wrong, 'short', 15);
    const { dataDir } = wrong;
    await wrong.kill('SIGKILL');
    await time.setAhead(0);
    // Only the journal contradicts the clock.
    const trusting = { ...env, MILLRACE_CLOCK_TRUST: 'machine' };
    const right = await inTurn(() => startMillrace({ dataDir, env: trusting }));
    await timed.key(right, 'new', 4);
    const delayedNew = await timed.delayed(right, 4);
    await Promise.all([timed.ends(right, 'new'), delayedNew()]);
    await isReady(right);
    expect(right.stderr().match(/"clock\.journal-ahead"/g), 'lines about the clock').to.have.length(1);
    // The time without a running process is unknown: older timers wait for as much longer, and no more.
    await eventually(async () => expect(await right.kv.ask('GET', 'short')).to.equal(null), SLOW);
    await right.kill('SIGTERM');
  });

  for (const byMs of [HOUR_MS, -10 * MINUTE_MS]) {
    const jumpMs = byMs > 0 ? -HOUR_MS : 10 * MINUTE_MS;
    test(`a process that joins with an error of ${inMinutes(byMs)} owns no shards, and an owner whose clock jumps by ${inMinutes(jumpMs)} hands over its shards`, () =>
      clustered(byMs, jumpMs));
  }

  async function clustered(byMs: number, jumpMs: number): Promise<void> {
    const timed = new Timed(sink, `cluster${byMs}`);
    const nats = await startPlainNats();
    servers.push(nats);
    const cluster = await inTurn(() => MillraceCluster.prepare(nats, ENVIRONMENT));
    const times = [await FakeTime.create(), await FakeTime.create()] as const;
    const one = await inTurn(() => cluster.start(times[0].env));
    await timed.key(one, 'long', 600);
    const delayedBefore = await timed.delayed(one, 12);

    await times[1].setAhead(byMs);
    const two = await inTurn(() => cluster.start(times[1].env));
    await isNotReady(two, /the machine's clock is \d+\.\d s (ahead|behind): owns no shards/);
    await timed.has(two, 'long');
    await timed.key(two, 'joined', 4);
    const delayedJoined = await timed.delayed(two, 4);
    await Promise.all([timed.ends(one, 'joined'), delayedJoined(), delayedBefore()]);
    expect(two.stderr(), 'what a process owns whose clock is off').to.not.include('"shard.serving"');
    expect(await metricsOf(two)).to.match(/^millrace_clock_owns_nothing 1$/m);

    await times[1].setAhead(0);
    await isReady(two);
    await isReady(one);

    const both = [one, two];
    const owner = ownerOf('KV_0', both);
    const other = owner === one ? two : one;
    await timed.key(owner, 'across', 8);
    const delayedAcross = await timed.delayed(owner, 8);
    await (owner === one ? times[0] : times[1]).setAhead(jumpMs);
    await isNotReady(owner, /owns no shards/);
    await eventually(() => {
      for (const shard of ['KV_0', 'QUEUE_0', 'CONTROL']) expect(ownerOf(shard, both), shard).to.equal(other);
    }, SLOW);
    await timed.has(owner, 'long');
    await timed.key(owner, 'new', 4);
    const delayedNew = await timed.delayed(owner, 4);
    await Promise.all([timed.ends(other, 'across'), timed.ends(other, 'new'), delayedAcross(), delayedNew()]);
    await timed.has(other, 'long');
  }

  async function isNotReady({ metricsUrl }: MillraceProcess, why: RegExp): Promise<void> {
    await eventually(async () => {
      const { checks } = (await (await fetch(`${metricsUrl}/readyz`)).json()) as {
        checks: { clock: { ok: boolean; detail?: string } };
      };
      expect(checks.clock.ok).to.equal(false);
      expect(checks.clock.detail).to.match(why);
    }, SLOW);
  }

  async function isReady({ metricsUrl }: MillraceProcess): Promise<void> {
    await eventually(async () => {
      const answer = await fetch(`${metricsUrl}/readyz`);
      const text = await answer.text();
      expect(answer.status, text).to.equal(200);
    }, SLOW);
  }

  async function metricsOf({ metricsUrl }: MillraceProcess): Promise<string> {
    return (await fetch(`${metricsUrl}/metrics`)).text();
  }
});
