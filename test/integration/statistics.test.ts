/**
 * Statistics of a known load on the public ports of a real process, compared with a count by hand: soon after the load,
 * and again after the read model was deleted and the process was killed. Proves STA1, MLO1.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, Names, NatsBus, type NatsConnections } from '../../src/adapters/nats/index.js';
import {
  boundaryText,
  dayName,
  kvCents,
  momentText,
  monthCents,
  NO_PRICES,
  type Prices,
  pointTimes,
  queueCents,
  sameTimeOn,
} from '../../src/domain/statistics/index.js';
import type { AccountId, DatabaseId } from '../../src/kernel/index.js';
import type { AccountSeries, DatabaseSeries, Statistics } from '../../src/ports/index.js';
import { askOverBus, StatisticsClient } from '../../src/query/index.js';
import { credentialsIn } from '../support/db-output-reader.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { KvClient } from '../support/kv-client.js';
import { embeddedEnvironment, runMillrace } from '../support/millrace-process.js';
import { RespClient } from '../support/resp-client.js';
import { WorkflowStand } from '../support/workflow-stand.js';

/** Counting is a second or two late, on a busy machine. */
const COUNTED = { timeoutMs: 20_000, everyMs: 200 };
const DAY_MS = 86_400_000;
const KILLS = 3;
const PRICES: Prices = {
  ...NO_PRICES,
  kv: { ...NO_PRICES.kv, centsPer100kCommands: 20 },
  queue: { ...NO_PRICES.queue, centsPer100kMessages: 100 },
};

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

describe('statistics of a known load', function () {
  this.timeout(180_000);
  let stand: WorkflowStand;
  let connections: NatsConnections;
  let statistics: Statistics;
  let account: AccountId;
  let startedAtMs: number;
  let respPort: number;

  const dataDir = () => stand.queue.millrace.dataDir;
  const millrace = async (...args: string[]) => {
    const { code, stdout, stderr } = await runMillrace(args, await embeddedEnvironment(dataDir()));
    expect(code, stderr).to.equal(0);
    return stdout.toString();
  };

  before(async () => {
    startedAtMs = Date.now();
    respPort = await freePort();
    stand = await WorkflowStand.start({ MILLRACE_RESP_PORT: String(respPort) });
    await ask();
    [account] = (/ac-[a-z2-7]{16}/.exec(await millrace('account', 'list')) ?? []) as unknown as [AccountId];
  });
  after(async () => {
    await connections?.close();
    await stand?.stop();
    await stand?.queue.stop();
  });

  /** Over the bus, as an edge without the read models does. */
  async function ask(): Promise<void> {
    const file = await readFile(join(dataDir(), 'nats/client.json'), 'utf8');
    const { url, user, password } = JSON.parse(file) as Record<'url' | 'user' | 'password', string>;
    connections = await connect({ servers: [url], user, password });
    statistics = new StatisticsClient(askOverBus(new NatsBus(connections, new Names('')), 'query', 5000));
  }

  async function newDatabase(name: string) {
    const { id, token, password } = credentialsIn(await millrace('db', 'create', '--name', name));
    return { id: id as DatabaseId, token, password };
  }

  /** Every point that is not 0 lies within the test. */
  function expectWithinTest({ times }: DatabaseSeries | AccountSeries, values: readonly number[]): void {
    for (const [at, atMs] of pointTimes(times).entries()) {
      if (values[at] === 0) continue;
      expect(atMs + times.stepMs, boundaryText(atMs)).to.be.greaterThan(startedAtMs);
      expect(atMs, boundaryText(atMs)).to.be.at.most(Date.now());
    }
  }

  describe('of a database over REST', () => {
    let id: DatabaseId;
    let refusal: string;

    before(async () => {
      const { id: made, token } = await newDatabase('over-rest');
      id = made;
      const kv = new KvClient({ url: stand.queue.millrace.kvUrl, token });
      await eventually(async () => expect((await kv.command('GET', 'missing')).kind).to.equal('done'));
      for (let key = 1; key <= 5; key += 1) await kv.ask('SET', `k${key}`, 'v');
      for (let key = 1; key <= 3; key += 1) await kv.ask('GET', `k${key}`);
      expect(
        (
          await kv.pipeline([
            ['INCR', 'n'],
            ['INCR', 'n'],
            ['GET', 'n'],
          ])
        ).kind,
      ).to.equal('done');
      await kv.ask('EVAL', 'return 1', 0);
      const headers = { authorization: `Bearer ${token}` };
      const refused = await fetch(kv.url, { method: 'POST', headers, body: '["NO-SUCH-COMMAND"]' });
      expect(refused.status).to.equal(400);
      refusal = await refused.text();
      kv.close();
    });

    it('count each command once, by kind and by name', async () => {
      const series = await eventually(async () => {
        const found = await statistics.database(id, '1h', Date.now());
        expect(sum(found.commands)).to.equal(13);
        expect(sum(found.hits)).to.equal(4);
        return found;
      }, COUNTED);
      expect([sum(series.reads), sum(series.writes)]).to.deep.equal([13 - sum(series.writes), sum(series.writes)]);
      expect(series.commandCounts.map(({ name, counts }) => [name, sum(counts)])).to.deep.equal([
        ['EVAL', 1],
        ['GET', 5],
        ['INCR', 2],
        ['SET', 5],
      ]);
      expect(sum(series.misses)).to.equal(1);
      for (const values of [series.commands, series.writes, series.hits, series.bandwidthBytes]) {
        expect(values).to.have.length(60);
        expectWithinTest(series, values);
      }
      const { latency, readLatency, writeLatency } = series;
      for (const { mean, p99 } of [latency, readLatency, writeLatency]) {
        expect(Math.max(...mean)).to.be.greaterThan(0);
        expect(mean.every((value, at) => (p99[at] as number) > 0 === value > 0)).to.equal(true);
      }
    });

    it("count the bytes of the commands' words and of the answers as sent", async () => {
      const words = [10, ...[1, 2, 3, 4, 5].map(() => 6), ...[1, 2, 3].map(() => 5), 5, 5, 4, 4 + 8 + 1];
      const answers = [
        '{"result":null}',
        ...[1, 2, 3, 4, 5].map(() => '{"result":"OK"}'),
        ...[1, 2, 3].map(() => '{"result":"v"}'),
        '[{"result":1},{"result":2},{"result":"2"}]',
        '{"result":1}',
      ];
      // Of a refused command only the answer's bytes count.
      answers.push(refusal);
      const { bandwidthBytes } = await statistics.database(id, '1h', Date.now());
      expect(sum(bandwidthBytes)).to.equal(sum(words) + sum(answers.map((text) => text.length)));
    });

    it('show the number of keys and their bytes', async () => {
      await eventually(async () => {
        const { keys, current, storageBytes } = await statistics.database(id, '1h', Date.now());
        expect([keys.at(-1), current.keys]).to.deep.equal([6, 6]);
        expect(storageBytes.at(-1)).to.be.greaterThan(6 * 3);
        expect(current.storageBytes).to.equal(storageBytes.at(-1));
      }, COUNTED);
    });

    it('charge the commands to the current day', async () => {
      const nowMs = Date.now();
      const { days } = await statistics.database(id, '1h', nowMs);
      const cents = kvCents(days, PRICES);
      expect(cents.at(-1)).to.be.closeTo((13 * 20) / 100_000, 1e-12);
      expect(monthCents(days, cents, Math.floor(nowMs / DAY_MS))).to.be.closeTo((13 * 20) / 100_000, 1e-12);
      expect(days.at(-1)).to.deep.include({ commands: 13, scripts: 1 });
    });

    it('cover every period completely, with times in the documented format', async () => {
      const nowMs = Date.now();
      for (const period of ['1h', '3h', '12h', '1d', '3d', '7d', '30d'] as const) {
        const { times, commands, days } = await statistics.database(id, period, nowMs);
        expect(sum(commands), period).to.equal(13);
        expect(commands).to.have.length(period === '30d' ? 240 : 60);
        const texts = pointTimes(times).map(boundaryText);
        for (const text of texts) expect(text).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:00\.000 \+0000 UTC$/);
        expect(new Date(texts.at(-1) as string).getTime()).to.equal(Math.floor(nowMs / times.stepMs) * times.stepMs);
        const five = days.slice(-5).map(({ day }) => [dayName(day), momentText(sameTimeOn(day, nowMs))]);
        expect(five).to.have.length(5);
        expect(new Date(five.at(-1)?.[1] as string).getTime()).to.equal(nowMs);
      }
    });
  });

  describe('of a database over RESP', () => {
    it('count commands and open connections', async () => {
      const { id, password } = await newDatabase('over-resp');
      const client = await RespClient.connect({ port: respPort, host: '127.0.0.1' });
      await eventually(async () => expect(await client.call(['AUTH', password])).to.equal('+OK\r\n'));
      await client.callAll([
        ['SET', 'a', '1'],
        ['SET', 'b', '2'],
        ['GET', 'a'],
      ]);
      await client.call(['GET', 'nothing']);
      await eventually(async () => {
        const series = await statistics.database(id, '1h', Date.now());
        expect([sum(series.commands), sum(series.writes), series.current.connections]).to.deep.equal([4, 2, 1]);
        expect([sum(series.hits), sum(series.misses), series.current.keys]).to.deep.equal([1, 1, 2]);
        expect(series.commandCounts.map(({ name, counts }) => [name, sum(counts)])).to.deep.equal([
          ['GET', 2],
          ['SET', 2],
        ]);
        expect(series.connections.at(-1)).to.equal(1);
      }, COUNTED);
      client.close();
      await eventually(async () => {
        expect((await statistics.database(id, '1h', Date.now())).current.connections).to.equal(0);
      }, COUNTED);
    });
  });

  describe('of a queue', () => {
    /** Expected counts of the queue's work. */
    const expected = { created: 0, active: 0, retry: 0, error: 0, delivered: 0, failed: 0, cancelled: 0 };
    let bandwidth = 0;
    /** Deliveries to endpoints of runs. */
    let ofRuns = 0;

    async function counted(): Promise<AccountSeries> {
      return eventually(async () => {
        const series = await statistics.account(account, '1h', Date.now());
        const sums = Object.entries(series.messages).map(([name, values]) => [name, sum(values)]);
        expect(Object.fromEntries(sums)).to.deep.equal(expected);
        return series;
      }, COUNTED);
    }

    it('count messages, attempts, retries and failures', async () => {
      const { queue, sink } = stand;
      const good = sink.path('good');
      for (let n = 0; n < 3; n += 1) await queue.publish(sink.url(good), { body: 'hello' });
      await sink.arrived(good, 3);
      const bad = sink.answer(sink.path('bad'), { status: 500, body: 'no' });
      const headers = { 'Svc-Retries': '2', 'Svc-Retry-Delay': '10' };
      await queue.deadLetterOf(await queue.publish(bad, { headers, body: 'again' }));
      const later = await queue.publish(sink.url(good), { headers: { 'Svc-Delay': '1h' }, body: 'later' });
      expect((await queue.delete(`/v2/messages/${later}`)).status).to.be.within(200, 202);
      Object.assign(expected, { created: 5, active: 6, retry: 2, error: 3, delivered: 3, failed: 1, cancelled: 1 });
      // Accepted bodies, the body of each attempt, and the answers of failed attempts.
      bandwidth = 5 * 5 + 6 * 5 + 3 * 2;
      const series = await counted();
      expect([sum(series.requests), sum(series.workflowRequests)]).to.deep.equal([5 + 2, 0]);
      expect([sum(series.bandwidthBytes), series.dlqMessages]).to.deep.equal([bandwidth, 1]);
      expectWithinTest(series, series.requests);
    });

    it('count a callback as a message, and follow the number of DLQ entries', async () => {
      const { queue, sink } = stand;
      const told = sink.path('told');
      await queue.publish(sink.answer(sink.path('called'), { body: 'fine' }), {
        headers: { 'Svc-Callback': sink.url(told) },
        body: 'hello',
      });
      const callback = await sink.call(told);
      const dead = await queue.publish(sink.answer(sink.path('dead'), { status: 500 }), {
        headers: { 'Svc-Retries': '0' },
        body: 'dead!',
      });
      const { dlqId } = await queue.deadLetterOf(dead);
      for (const [name, more] of Object.entries({ created: 3, active: 3, error: 1, delivered: 2, failed: 1 })) {
        expected[name as keyof typeof expected] += more;
      }
      bandwidth += 2 * 10 + 2 * callback.bytes.length;
      expect((await counted()).dlqMessages).to.equal(2);
      await queue.delete(`/v2/dlq/${dlqId}`);
      await eventually(async () => {
        const { dlqMessages, bandwidthBytes } = await statistics.account(account, '1h', Date.now());
        expect([dlqMessages, sum(bandwidthBytes)]).to.deep.equal([1, bandwidth]);
      }, COUNTED);
    });

    it('count a run of a workflow and each of its messages', async () => {
      const before = await counted();
      const url = stand.serve('counted', async (context) => {
        await context.run('one', () => 1);
        await context.run('two', () => 2);
        return 'to its end';
      });
      const { result } = await stand.run(url, { body: 'payload' });
      expect(result).to.equal('to its end');
      const after = await eventually(async () => {
        const series = await statistics.account(account, '1h', Date.now());
        const runs = Object.entries(series.workflows).map(([name, values]) => [name, sum(values)]);
        expect(Object.fromEntries(runs)).to.deep.equal({ started: 1, success: 1, failed: 0, canceled: 0 });
        return series;
      }, COUNTED);
      // The endpoint is called for the payload and for each step's record.
      const calls = stand.app.under(url).length;
      expect(calls).to.equal(3);
      ofRuns += calls;
      expect(sum(after.workflowRequests)).to.equal(calls);
      expect(sum(after.requests) - sum(before.requests)).to.equal(calls);
      await counted();
    });

    it('count a failed run, and its DLQ entry until it is deleted', async () => {
      const { dlqMessages: before } = await counted();
      const url = stand.serve('fails', (context) =>
        context.run('throws', () => {
          throw new Error('on purpose');
        }),
      );
      const { id } = await stand.run(url, { body: 'payload', retries: 0 });
      await eventually(async () => {
        const { workflows, dlqMessages } = await statistics.account(account, '1h', Date.now());
        expect([sum(workflows.started), sum(workflows.failed), dlqMessages]).to.deep.equal([2, 1, before + 1]);
      }, COUNTED);
      // The payload, and the word that the run has failed.
      ofRuns += stand.app.under(url).length;
      const { json } = await stand.queue.get(`/v2/workflows/dlq?workflowRunId=${id}`);
      const [entry] = (json as { messages: { dlqId: string }[] }).messages;
      await stand.queue.delete(`/v2/workflows/dlq/${entry?.dlqId}`);
      await eventually(async () => {
        expect((await statistics.account(account, '1h', Date.now())).dlqMessages).to.equal(before);
      }, COUNTED);
      await counted();
    });

    it('have an entry for each day of the month, and charge the current day', async () => {
      const nowMs = Date.now();
      const { days, requests } = await statistics.account(account, '1h', nowMs);
      const date = new Date(nowMs);
      expect(days.length).to.equal(new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate());
      expect(dayName(days[0]?.day as number)).to.equal(
        new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth())).toLocaleDateString('en-US', {
          weekday: 'long',
          timeZone: 'UTC',
        }),
      );
      const today = days[date.getUTCDate() - 1];
      expect(today).to.deep.include({ requests: sum(requests), workflowRequests: ofRuns, workflowRuns: 2 });
      expect(ofRuns).to.equal(3 + 2);
      const cents = queueCents(days, PRICES);
      expect(cents[date.getUTCDate() - 1]).to.equal(sum(requests) / 1000);
      expect(sum(cents)).to.equal(sum(requests) / 1000);
    });
  });

  describe('of databases and queues', () => {
    it('agree with the log of messages after three kills', async () => {
      const { queue, sink } = stand;
      const path = sink.path('under-kills');
      for (let round = 1; round <= KILLS; round += 1) {
        // Some of these calls fail, because the process is killed during them.
        const published = Array.from({ length: 150 }, () => queue.publish(sink.url(path), { body: 'hello' }));
        const ended = Promise.allSettled(published);
        await eventually(() => expect(sink.calls(path).length).to.be.at.least(round * 60), COUNTED);
        await queue.restart('SIGKILL');
        await ended;
      }
      await connections.close();
      await ask();
      await eventually(async () => {
        const logged = { CREATED: 0, ACTIVE: 0, RETRY: 0, ERROR: 0, DELIVERED: 0, FAILED: 0, CANCELED: 0 };
        let cursor = '';
        do {
          const { json } = await queue.get(`/v2/events?count=1000${cursor}`);
          const page = json as { events: { state: keyof typeof logged }[]; cursor?: string };
          for (const { state } of page.events) if (state in logged) logged[state] += 1;
          cursor = page.cursor === undefined ? '' : `&cursor=${encodeURIComponent(page.cursor)}`;
        } while (cursor !== '');
        const { messages } = await statistics.account(account, '1d', Date.now());
        expect(Object.values(messages).map(sum)).to.deep.equal(Object.values(logged));
        expect(logged.DELIVERED + logged.FAILED + logged.CANCELED).to.equal(logged.CREATED);
      }, COUNTED);
    });

    it('are the same after the read model was deleted, and /metrics and /readyz show the progress', async () => {
      const nowMs = Date.now();
      const ids = (await millrace('db', 'list')).match(/db-[a-z2-7]{16}/g) ?? [];
      const databases = ids.map((id) => id as DatabaseId);
      const everything = async () => ({
        account: await statistics.account(account, '1d', nowMs),
        databases: await Promise.all(databases.map(async (id) => usedIn(await statistics.database(id, '1d', nowMs)))),
      });
      const before = await everything();
      await connections.close();
      await stand.queue.millrace.kill('SIGKILL');
      await rm(join(dataDir(), 'read-models/stats.db'));
      await stand.queue.restart('SIGKILL');
      await ask();
      await eventually(async () => expect(await everything()).to.deep.equal(before), COUNTED);
      const metrics = await (await fetch(`${stand.queue.millrace.metricsUrl}/metrics`)).text();
      expect(metrics).to.match(/^millrace_statistics_behind_positions \d+$/m);
      expect(metrics).to.match(/^millrace_statistics_behind_seconds [\d.]+$/m);
      await eventually(async () => {
        const readiness = await fetch(`${stand.queue.millrace.metricsUrl}/readyz`);
        expect(readiness.status, await readiness.text()).to.equal(200);
      }, COUNTED);
    });
  });
});

/** The series that do not change by themselves: clients that have disconnected are counted once more after a restart. */
function usedIn({ connections: _, current: __, ...series }: DatabaseSeries) {
  return series;
}
