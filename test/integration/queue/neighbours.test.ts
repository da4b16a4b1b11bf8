/**
 * Neighbours on a real process: other flow-control keys, queues and accounts keep their pace while one has slow or
 * failing destinations, and an operator's change to one account applies soon, and to no other.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import {
  type Environment,
  endEverything,
  type MillraceProcess,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { residentMib } from '../../support/process-memory.js';
import { QUEUE_TOKEN, QueueProcess, type RawAnswer } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';
import { type PaceOptions, QueueTenant } from '../../support/queue-tenant.js';
import { SICKNESSES, SickDestination, type Sickness } from '../../support/sick-destination.js';
import { withinASecond } from '../../support/within-a-second.js';

/** Messages of other tenants that wait during the steady load. */
const WAITING = 2000;
const PER_ORIGIN = 60;
const CONCURRENCY = 240;
const MEDIAN_MS = 250;
/**
 * Bound while an origin sends as fast as it can: that load takes the processor from the server and the test, but no tenant
 * may be stopped.
 */
const FLOODED_MEDIAN_MS = 2500;
/** The heap's bound and the memory outside of the heap. */
const MEMORY_MIB = 600;
const PACE = { count: 60, everyMs: 25 };
/** Time for a few further tries after a slow one. */
const AGAIN = { timeoutMs: 30_000, everyMs: 250 };
/** Deliveries that fail and are retried soon, for longer than a test takes. */
const RESTLESS = { 'svc-retries': '100', 'svc-retry-delay': '200' };
const UNREACHABLE = 'http://127.0.0.1:9/nobody';

describe('neighbours in one process', function () {
  this.timeout(120_000);
  let queue: QueueProcess;
  let sink: QueueSink;
  let first: QueueTenant;
  let second: QueueTenant;
  let sick: SickDestination[] = [];

  before(async () => {
    queue = await QueueProcess.start({
      MILLRACE_DELIVERY_CONCURRENCY: String(CONCURRENCY),
      MILLRACE_DELIVERY_PER_ORIGIN: String(PER_ORIGIN),
    });
    ({ sink } = queue);
    first = QueueTenant.first(queue);
    second = await QueueTenant.create(queue, 'second');
  });
  afterEach(async () => {
    for (const tenant of [first, second]) await tenant.request('DELETE', '/v2/messages');
    await Promise.all(sick.map((destination) => destination.close()));
    sick = [];
  });
  after(() => queue?.stop());

  async function fallSick(sickness: Sickness): Promise<SickDestination> {
    const destination = await SickDestination.that(sickness);
    sick.push(destination);
    return destination;
  }

  const everySickness = Object.keys(SICKNESSES) as Sickness[];
  const isFlood = (sickness: Sickness) => sickness.startsWith('floods');
  /** One destination of each kind, except those that flood the machine. */
  const allSick = () => Promise.all(everySickness.filter((sickness) => !isFlood(sickness)).map(fallSick));

  function expectLatencies(latencies: readonly number[], medianMs = MEDIAN_MS): void {
    expect(latencies).to.have.lengthOf(PACE.count);
    expect(latencies[PACE.count / 2], `of ${latencies}`).to.be.at.most(medianMs);
  }

  /**
   * Retries the measurement: other load of the machine passes, but slowness caused by neighbours lasts as long as they are
   * there.
   */
  async function expectPace(tenant: QueueTenant, more: Partial<PaceOptions> = {}, medianMs = MEDIAN_MS): Promise<void> {
    await eventually(async () => expectLatencies(await tenant.keepPace({ ...PACE, ...more }), medianMs), AGAIN);
  }

  async function expectBounds(): Promise<void> {
    // After this process has given up a call, the destination's socket stays open until the close arrives.
    for (const { mostSockets, url } of sick) expect(mostSockets, `sockets to ${url}`).to.be.below(PER_ORIGIN * 1.2);
    expect(await residentMib(queue.millrace.pid)).to.be.below(MEMORY_MIB);
  }

  /** Waits until the destination has as many open attempts as permitted. */
  const isFull = (destination: SickDestination) =>
    eventually(() => expect(destination.openSockets).to.equal(PER_ORIGIN), { timeoutMs: 15_000 });

  for (const sickness of everySickness) {
    it(`an origin that ${sickness} uses its own sockets at most, and calls to other origins are not delayed`, async () => {
      const destination = await fallSick(sickness);
      await first.flood(WAITING, () => ({ destination: destination.url, headers: RESTLESS, body: 'b' }));
      if (sickness === 'hangs' || sickness === 'drips') await isFull(destination);
      await expectPace(first, {}, isFlood(sickness) ? FLOODED_MEDIAN_MS : MEDIAN_MS);
      await expectBounds();
    });
  }

  it('a flow-control key with hanging calls keeps its parallelism, and other keys call the same origin', async () => {
    const path = sink.path('hanging');
    const headers = { 'svc-flow-control-key': 'sick', 'svc-flow-control-value': 'parallelism=20' };
    sink.hold(path);
    await first.flood(WAITING, () => ({ destination: sink.url(path), headers, body: 'b' }));
    await sink.arrived(path, 20);
    const well = { 'svc-flow-control-key': 'well', 'svc-flow-control-value': 'parallelism=5, rate=1000' };
    await expectPace(first, { headers: well });
    expect(sink.calls(path)).to.have.lengthOf(20);
    expect(await first.json('/v2/flowControl/sick')).to.include({ parallelismCount: 20, waitListSize: WAITING - 20 });
    await first.request('DELETE', '/v2/messages?flowControlKey=sick');
    sink.release(path);
  });

  it('a flow-control key with slow and failing destinations does not delay other keys', async () => {
    const destinations = await allSick();
    const headers = { ...RESTLESS, 'svc-flow-control-key': 'sickly', 'svc-flow-control-value': 'parallelism=50' };
    const urlAt = (number: number) => destinations[number % destinations.length]?.url;
    await first.flood(WAITING, (number) => ({ destination: urlAt(number), headers, body: 'b' }));
    await eventually(async () => {
      expect(await first.json('/v2/flowControl/sickly')).to.include({ parallelismCount: 50 });
    });
    await expectPace(first, { headers: { 'svc-flow-control-key': 'k', 'svc-flow-control-value': 'rate=999' } });
    await expectBounds();
  });

  it('a queue with hanging messages does not delay other queues', async () => {
    const destinations = await allSick();
    await first.request('POST', '/v2/queues', { body: { queueName: 'sick', parallelism: 50 } });
    await first.request('POST', '/v2/queues', { body: { queueName: 'well', parallelism: 5 } });
    const urlAt = (number: number) => destinations[number % destinations.length]?.url;
    await first.flood(WAITING, (number) => ({
      destination: urlAt(number),
      headers: RESTLESS,
      queue: 'sick',
      body: 'b',
    }));
    await expectPace(first, { queueName: 'well' });
    await expectPace(first);
    expect(await first.json('/v2/queues/sick'))
      .to.have.property('lag')
      .above(WAITING / 2);
    await expectBounds();
  });

  it('an account with endless calls does not delay other accounts', async () => {
    const destinations = await allSick();
    for (let more = 0; more < 5; more += 1) destinations.push(await fallSick('hangs'));
    const urlAt = (number: number) => destinations[number % destinations.length]?.url;
    await first.flood(2 * WAITING, (number) => ({ destination: urlAt(number), headers: RESTLESS, body: 'b' }));
    const open = () => destinations.reduce((sum, { openSockets }) => sum + openSockets, 0);
    await eventually(() => expect(open()).to.be.at.least(CONCURRENCY / 2), { timeoutMs: 15_000 });
    await expectPace(second);
    expect(open()).to.be.at.most(CONCURRENCY);
    await expectBounds();
  });

  it('an account with large bodies beyond the memory budget does not delay other accounts', async () => {
    const destination = await fallSick('hangs');
    const body = 'x'.repeat(1024 * 1024);
    for (let number = 0; number < 200; number += 1) await first.publish(destination.url, { body });
    await expectPace(second);
    expect(await residentMib(queue.millrace.pid)).to.be.below(2 * MEMORY_MIB);
  });

  it('an account with batches that are slow to parse does not delay other accounts', async () => {
    const members = Array.from({ length: 400_000 }, (_, at) => `"a${at}":1`).join();
    const hard: readonly [body: string, status: number, words: RegExp][] = [
      ['['.repeat(15_000_000), 400, /nested deeper than 64 levels/],
      [`[${'{},'.repeat(5_000_000)}{}]`, 400, /^message 0: destination must be/],
      [`[{"destination":"${UNREACHABLE}","headers":{${members}}}]`, 400, /more than 1024 values/],
      [`["${'\\"'.repeat(7_500_000)}"]`, 413, /too large/],
      [`[${'"",'.repeat(5_000_000)}""]`, 400, /^message 0: /],
    ];
    for (const [body, wanted, words] of hard) {
      await eventually(async () => {
        const answer = first.request('POST', '/v2/batch', { body });
        const latencies = await second.keepPace(PACE);
        const { status, json } = await answer;
        expect(status).to.equal(wanted);
        expect((json as { error: string }).error).to.match(words);
        // The test sends the megabytes itself.
        expectLatencies(latencies, FLOODED_MEDIAN_MS);
      }, AGAIN);
    }
  });

  it('a thousand flow-control keys drain together: none finishes before another has started', async () => {
    const keys = 1000;
    const each = 10;
    const path = sink.path('keys');
    const dueAtSeconds = Math.ceil(Date.now() / 1000) + 5;
    // All messages of a key follow each other, which is the worst order.
    await first.flood(keys * each, (number) => ({
      destination: sink.url(path),
      headers: {
        'svc-flow-control-key': `key-${Math.floor(number / each)}`,
        'svc-flow-control-value': 'parallelism=1',
        'svc-not-before': String(dueAtSeconds),
      },
      body: String(Math.floor(number / each)),
    }));
    await eventually(() => expect(sink.calls(path)).to.have.lengthOf(keys * each), { timeoutMs: 60_000 });
    const counts = new Map<string, number>();
    let begunAtFirstEnd: number | undefined;
    for (const { body: key } of sink.calls(path)) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (counts.get(key) === each) begunAtFirstEnd ??= counts.size;
    }
    expect(begunAtFirstEnd).to.equal(keys);
    expect([...new Set(counts.values())]).to.deep.equal([each]);
  });

  describe('an account that is suspended', () => {
    it('is refused, delivers no message, keeps its messages and continues in order, without an effect on other accounts', async () => {
      const path = sink.path('suspended');
      const count = 50;
      const refused = () => second.request('POST', `/v2/publish/${UNREACHABLE}`);
      sink.hold(path);
      await second.flood(count, (number) => ({ destination: sink.url(path), queue: 'ordered', body: String(number) }));
      for (let done = 1; done <= 5; done += 1) {
        await sink.arrived(path, done);
        sink.releaseOne(path);
      }
      await sink.arrived(path, 6);
      await second.administer('suspend');
      await eventually(async () => expect((await refused()).status).to.equal(403));
      // The open call ends, and is the last.
      sink.releaseOne(path);
      await eventually(async () => {
        expect(await second.json('/v2/globalParallelism')).to.include({ parallelismCount: 0 });
      });
      await expectPace(first);
      expect(sink.calls(path)).to.have.lengthOf(6);
      expect(await second.json('/v2/queues/ordered')).to.include({ lag: count - 6 });
      sink.release(path);
      await second.administer('activate');
      const calls = await sink.arrived(path, count);
      expect(calls.map(({ body }) => Number(body))).to.deep.equal([...calls.keys()]);
      expect(sink.mostAtOnce(path)).to.equal(1);
    });
  });

  describe("an operator's change of a limit applies within a second", () => {
    /** @param check throws until the change is felt */
    async function limited(limits: readonly string[], check: () => Promise<unknown>): Promise<void> {
      await second.administer('limits', ...limits);
      await withinASecond([queue.millrace], check);
    }
    const publish = (headers: Record<string, string> = {}, body = 'b') =>
      second.request('POST', `/v2/publish/${UNREACHABLE}`, { headers: { 'Svc-Delay': '1d', ...headers }, body });
    const expectOther = async () => {
      const { status, headers } = await first.request('POST', `/v2/publish/${UNREACHABLE}`, {
        headers: { 'Svc-Delay': '1d', 'Svc-Retries': '9' },
        body: 'bb',
      });
      expect(status).to.equal(200);
      expect(limitNames(headers)).to.deep.equal([]);
    };
    const limitNames = (headers: RawAnswer['headers']) =>
      Object.keys(headers).filter((name) => name.includes('ratelimit'));

    it('retries', async () => {
      expect((await publish({ 'Svc-Retries': '9' })).status).to.equal(200);
      await limited(['maxRetries=8'], async () => {
        const { status, json } = await publish({ 'Svc-Retries': '9' });
        expect({ status, json }).to.deep.equal({
          status: 400,
          json: { error: 'quota maxRetries exceeded, current limit: 8' },
        });
      });
      expect((await publish({ 'Svc-Retries': '8' })).status).to.equal(200);
      await expectOther();
    });

    it('parallel attempts', async () => {
      const path = sink.path('few');
      sink.hold(path);
      await limited(['maxGlobalParallelism=3'], async () => {
        expect(await second.json('/v2/globalParallelism')).to.include({ parallelismMax: 3 });
      });
      await second.flood(10, () => ({ destination: sink.url(path) }));
      await sink.arrived(path, 3);
      // A raised limit starts waiting messages without any other event.
      await limited(['maxGlobalParallelism=4'], () => sink.arrived(path, 4));
      sink.release(path);
      await sink.arrived(path, 10);
      expect(sink.mostAtOnce(path)).to.equal(4);
      expect(await first.json('/v2/globalParallelism')).to.include({ parallelismMax: 500 });
    });

    it('message size', async () => {
      await limited(['maxMessageBytes=1'], async () => expect((await publish({}, 'bb')).status).to.equal(413));
      expect((await publish({}, 'b')).status).to.equal(200);
      await expectOther();
      await limited(['maxMessageBytes=1000'], async () => expect((await publish({}, 'bb')).status).to.equal(200));
    });

    it('messages a day', async () => {
      await limited(['maxMessagesPerDay=1', 'maxMessagesPerDayHard=1'], async () => {
        const { status, headers } = await publish();
        expect(status).to.equal(429);
        expect(limitNames(headers)).to.have.members(['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']);
        expect(Number(headers['ratelimit-reset']) * 1000).to.be.within(Date.now(), Date.now() + 86_400_000);
      });
      await expectOther();
      // Above the soft limit, below the hard one.
      await limited(['maxMessagesPerDayHard=1000000'], async () => {
        const { status, headers } = await publish();
        expect(status).to.equal(200);
        expect(headers).to.include({ 'ratelimit-limit': '1000000' });
      });
      await limited(['maxMessagesPerDay=0', 'maxMessagesPerDayHard=0'], async () => {
        const { status, headers } = await publish();
        expect({ status, names: limitNames(headers) }).to.deep.equal({ status: 200, names: [] });
      });
    });

    it('calls a second', async () => {
      await limited(['maxRequestsPerSecond=1'], async () => {
        const answers = await Promise.all(Array.from({ length: 4 }, () => second.request('GET', '/v2/queues')));
        const refused = answers.find(({ status }) => status === 429);
        expect(refused).to.not.equal(undefined);
        const names = ['burst-ratelimit-limit', 'burst-ratelimit-remaining', 'burst-ratelimit-reset'];
        expect(limitNames((refused as RawAnswer).headers)).to.have.members(names);
      });
      expect((await publish()).status).to.equal(200);
      await expectOther();
      await limited(['maxRequestsPerSecond=0'], async () => {
        const answers = await Promise.all(Array.from({ length: 4 }, () => second.request('GET', '/v2/queues')));
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      });
    });
  });
});

describe('a process that comes back after a downtime', function () {
  this.timeout(150_000);
  const overdue = 2000;
  const schedules = 10;
  let sink: QueueSink;
  let running: MillraceProcess | undefined;

  before(async () => {
    sink = await QueueSink.listening();
  });
  after(async () => {
    await sink?.close();
    await endEverything();
  });

  async function call(method: string, target: string, headers: Record<string, string> = {}, body?: object) {
    const answer = await fetch(`${running?.addresses.queue}${target}`, {
      method,
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.status, await answer.clone().text()).to.equal(200);
    return answer.json();
  }

  it('spreads overdue messages, and makes each missed tick once', async () => {
    const env: Environment = { MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true', MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN };
    const dataDir = await temporaryDirectory();
    const delayed = sink.path('delayed');
    const ticks = sink.path('ticks');
    running = await startMillrace({ dataDir, env });
    const dueAtSeconds = Math.ceil(Date.now() / 1000) + 10;
    const headers = { 'svc-not-before': String(dueAtSeconds) };
    for (let half = 0; half < 2; half += 1) {
      const numbers = Array.from({ length: overdue / 2 }, (_, at) => (half * overdue) / 2 + at);
      const items = numbers.map((number) => ({ destination: sink.url(delayed), headers, body: String(number) }));
      await call('POST', '/v2/batch', {}, items);
    }
    for (let number = 0; number < schedules; number += 1) {
      await call('POST', `/v2/schedules/${sink.url(ticks)}`, {
        'svc-cron': '* * * * *',
        'svc-schedule-id': `s${number}`,
      });
    }
    const [{ nextScheduleTime }] = (await call('GET', '/v2/schedules')) as [{ nextScheduleTime: number }];
    await running.kill();
    expect(Date.now(), 'the process died before anything was due').to.be.below(dueAtSeconds * 1000);
    const isPast = Math.max(nextScheduleTime, dueAtSeconds * 1000) + 500;
    await eventually(() => expect(Date.now()).to.be.above(isPast), { timeoutMs: 65_000 });
    running = await startMillrace({ dataDir, env });

    const calls = await sink.arrived(delayed, overdue);
    expect(new Set(calls.map(({ body }) => body)).size).to.equal(overdue);
    const spreadMs = (calls.at(-1)?.atMs ?? 0) - (calls[0]?.atMs ?? 0);
    expect(spreadMs, 'one in a millisecond').to.be.within(overdue / 2, overdue * 5);
    // Each schedule runs once for the missed minute; the next minute has not come yet.
    // Schedules that were created before the last one's minute have had an earlier tick.
    const missed = () =>
      sink.calls(ticks).filter(({ atMs }) => atMs >= nextScheduleTime && atMs < nextScheduleTime + 60_000);
    await eventually(() => expect(missed().length).to.be.at.least(schedules), { timeoutMs: 15_000 });
    const late = missed();
    expect(late.map(({ headers }) => headers['svc-schedule-id']).sort()).to.deep.equal(
      Array.from({ length: schedules }, (_, number) => `s${number}`),
    );
  });
});
