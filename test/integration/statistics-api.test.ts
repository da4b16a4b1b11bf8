/** Statistics of the management API for a known load on the public ports of a real process. */
import { expect } from 'chai';
import { dayName, momentText } from '../../src/domain/statistics/index.js';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { QueueProcess } from '../support/queue-process.js';
import { standOfAllTests } from '../support/stand-hooks.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const AUTHORIZATION = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
/** Counting is a second or two late, on a busy machine. */
const COUNTED = { timeoutMs: 20_000, everyMs: 200 };
const DAY_MS = 86_400_000;
/** A cent for a command or a message, so that each of them shows. */
const A_CENT_EACH = '100000';

interface Point {
  readonly x: string;
  readonly y: number;
}
type Answer = Readonly<Record<string, never>>;

function sum(points: readonly Point[]): number {
  return points.reduce((total, { y }) => total + y, 0);
}

describe('GET statistics of the management API', function () {
  this.timeout(120_000);
  const queue = standOfAllTests(() =>
    QueueProcess.start({
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
      MILLRACE_KV_PRICE_CENTS: A_CENT_EACH,
      MILLRACE_QUEUE_PRICE_CENTS: A_CENT_EACH,
      MILLRACE_SEARCH_PRICE_CENTS: A_CENT_EACH,
    }),
  );
  let mgmtUrl: string;
  let askedFromMs: number;

  before(async () => {
    mgmtUrl = queue.millrace.addresses.mgmt as string;
  });

  async function call<T = Answer>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(mgmtUrl + path, {
      method,
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.status, `${method} ${path}: ${text}`).to.equal(200);
    return JSON.parse(text) as T;
  }

  /** Asks until the expected numbers are there; after that, no other number may appear. */
  async function counted<T>(path: string, check: (answer: T) => void): Promise<T> {
    return eventually(async () => {
      askedFromMs = Date.now();
      const answer = await call<T>('GET', path);
      check(answer);
      return answer;
    }, COUNTED);
  }

  function expectSteps(points: readonly Point[], count: number, stepMinutes: number): void {
    expect(points).to.have.length(count);
    const instants = points.map(({ x }) => {
      expect(x).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:00\.000 \+0000 UTC$/);
      return new Date(x).getTime();
    });
    for (const [at, atMs] of instants.entries()) {
      expect(atMs % (stepMinutes * 60_000)).to.equal(0);
      if (at > 0) expect(atMs - (instants[at - 1] as number)).to.equal(stepMinutes * 60_000);
    }
    expect(instants.at(-1)).to.be.within(askedFromMs - stepMinutes * 60_000, Date.now());
  }

  /** Points of days: the moment of the request, on each of them. */
  function expectDays(points: readonly Point[], firstDay: number): void {
    for (const [at, { x }] of points.entries()) {
      expect(x).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d*[1-9])? \+0000 UTC$/);
      const atMs = new Date(x).getTime();
      expect(Math.floor(atMs / DAY_MS)).to.equal(firstDay + at);
      expect(momentText(atMs)).to.equal(x);
      expect(atMs % DAY_MS).to.be.at.least(askedFromMs % DAY_MS);
    }
  }

  const STEPS = [
    ['1h', 60, 1],
    ['3h', 60, 3],
    ['12h', 60, 12],
    ['1d', 60, 24],
    ['3d', 60, 72],
    ['7d', 60, 168],
    ['30d', 240, 180],
  ] as const;

  it('of a database counts commands, reads, writes, keys, bandwidth and cost', async () => {
    const made = await call<Record<string, string>>('POST', '/v2/kv/database', {
      database_name: 'counted',
      platform: 'aws',
      primary_region: 'eu-west-1',
      plan: 'payg',
    });
    const kv = new KvClient({ url: queue.millrace.kvUrl, token: made.rest_token as string });
    await eventually(async () => expect((await kv.command('SET', 'a', '1')).kind).to.equal('done'));
    expect(
      (
        await kv.pipeline([
          ['GET', 'a'],
          ['GET', 'b'],
          ['INCR', 'a'],
          ['EVAL', 'return 1', 0],
        ])
      ).kind,
    ).to.equal('done');
    kv.close();
    interface Stats {
      readonly [series: string]: readonly Point[] & number;
      readonly days: never;
      readonly command_counts: never;
    }
    const path = `/v2/kv/stats/${made.database_id}`;
    const stats = await counted<Stats>(path, ({ daily_net_commands, hits }) => {
      expect(daily_net_commands).to.equal(5);
      expect(Math.round(sum(hits as readonly Point[]) * 60)).to.equal(1);
    });
    const today = Math.floor(Date.now() / DAY_MS);
    const days = [4, 3, 2, 1, 0].map((ago) => dayName(today - ago));
    expect(stats.days).to.deep.equal(days);
    for (const name of ['dailyrequests', 'dailybilling', 'bandwidths']) {
      expectDays(stats[name] as readonly Point[], today - 4);
    }
    const lastOf = (name: string) => (stats[name] as readonly Point[]).at(-1)?.y;
    expect([lastOf('dailyrequests'), lastOf('dailybilling')]).to.deep.equal([5, 0.05]);
    expect(stats.total_monthly_billing).to.equal(0.05);
    const { daily_read_requests, daily_write_requests, total_monthly_script_requests } = stats;
    expect((daily_read_requests as number) + (daily_write_requests as number)).to.equal(5);
    expect([stats.total_monthly_requests, total_monthly_script_requests]).to.deep.equal([5, 1]);
    expect([stats.dailybandwidth, stats.total_monthly_bandwidth]).to.deep.equal([
      lastOf('bandwidths'),
      lastOf('bandwidths'),
    ]);
    const names = stats.command_counts as readonly { metric_identifier: string; data_points: readonly Point[] }[];
    expect(names.map(({ metric_identifier: id, data_points }) => [id, sum(data_points)])).to.deep.equal([
      ['EVAL', 1],
      ['GET', 2],
      ['INCR', 1],
      ['SET', 1],
    ]);
    for (const [period, count, minutes] of STEPS) {
      askedFromMs = Date.now();
      const { throughput, read, write, keyspace, latencymean } = await call<Record<string, readonly Point[]>>(
        'GET',
        `${path}?period=${period}`,
      );
      for (const points of [throughput, read, write, keyspace, latencymean]) expectSteps(points ?? [], count, minutes);
      expect(Math.round(sum(throughput ?? []) * minutes * 60), period).to.equal(5);
      expect((throughput ?? []).map(({ y }) => y)).to.deep.equal(
        (read ?? []).map(({ y }, at) => y + (write?.[at]?.y ?? 0)),
      );
    }
  });

  it('of a queue counts messages, runs, bandwidth and cost', async () => {
    interface Stats {
      readonly [series: string]: unknown;
      readonly days: readonly string[];
      readonly daily_requests: readonly (Point & { workflow_message: number; workflow_run: number })[];
      readonly daily_billings: readonly Point[];
      readonly daily_bandwidths: readonly Point[];
      readonly daily_msgq_messages: readonly { id: string; data_points: readonly Point[] }[];
      readonly daily_workflow_messages: readonly { id: string; data_points: readonly Point[] }[];
    }
    const { id } = await call<{ id: string }>('GET', '/v2/msgq/user');
    await call('POST', `/v2/msgq/set-plan/${id}`, { plan_name: 'paid' });
    const path = queue.sink.path('good');
    for (let n = 0; n < 4; n += 1) await queue.publish(queue.sink.url(path), { body: 'hello' });
    await queue.sink.arrived(path, 4);
    const bad = queue.sink.answer(queue.sink.path('bad'), { status: 500, body: 'no' });
    const dead = { headers: { 'Svc-Retries': '1', 'Svc-Retry-Delay': '10' }, body: 'hello' };
    await queue.deadLetterOf(await queue.publish(bad, dead));
    const url = `/v2/msgq/stats/${id}`;
    const stats = await counted<Stats>(url, ({ daily_msgq_messages }) => {
      expect(Object.fromEntries(daily_msgq_messages.map((one) => [one.id, sum(one.data_points)]))).to.deep.equal({
        ...{ created: 5, active: 6, retry: 1, error: 2, delivered: 4, failed: 1, cancelled: 0 },
      });
    });
    expect(stats.dlq_message_count).to.equal(1);
    const date = new Date(askedFromMs);
    const firstDay = Math.floor(askedFromMs / DAY_MS) - (date.getUTCDate() - 1);
    const length = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    expect(stats.days).to.deep.equal(Array.from({ length }, (_, at) => dayName(firstDay + at)));
    for (const points of [stats.daily_requests, stats.daily_billings, stats.daily_bandwidths]) {
      expect(points).to.have.length(length);
      expectDays(points, firstDay);
    }
    const today = date.getUTCDate() - 1;
    const requests = stats.daily_requests[today];
    expect([requests?.y, requests?.workflow_message, requests?.workflow_run]).to.deep.equal([6, 0, 0]);
    expect(sum(stats.daily_requests)).to.equal(6);
    expect(stats.daily_billings[today]?.y).to.equal(0.06);
    expect(stats.total_monthly_billing).to.equal(0.06);
    // Five bodies accepted, six sent, two answers of two bytes.
    expect(stats.daily_bandwidths[today]?.y).to.equal(5 * 5 + 6 * 5 + 2 * 2);
    expect(stats.daily_workflow_messages.map((one) => one.id)).to.deep.equal([
      ...['started', 'success', 'failed', 'canceled'],
    ]);
    for (const [period, count, minutes] of STEPS) {
      askedFromMs = Date.now();
      const answer = await call<Stats>('GET', `${url}?period=${period}`);
      const series = [answer.daily_used, answer.daily_used_workflow, answer.daily_bandwidth_used] as Point[][];
      for (const points of [...series, ...answer.daily_msgq_messages.map((one) => one.data_points)]) {
        expectSteps(points, count, minutes);
      }
      expect(series.map(sum), period).to.deep.equal([6, 0, 59]);
    }
  });

  it('of a search index counts updates, queries, rerankings and cost', async () => {
    const index = await call<Record<string, string>>('POST', '/v2/search', {
      name: 'counted',
      region: 'eu-west-1',
      type: 'payg',
    });
    const search = async (command: string, body: unknown) => {
      const response = await fetch(`http://${index.endpoint}/${command}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${index.token}` },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      expect(response.status, `${command}: ${text}`).to.equal(200);
      return JSON.parse(text).result as unknown;
    };
    const documents = [1, 2, 3].map((n) => ({ id: `d${n}`, content: { title: `document ${n}` } }));
    await search('upsert-data/books', documents);
    expect(await search('delete/books', { ids: ['d3', 'nothing'] })).to.deep.equal({ deleted: 1 });
    const asked = { query: 'document', topK: 5, includeData: true };
    await eventually(async () => expect(await search('search/books', asked)).to.have.length(2), COUNTED);
    await search('search/books', { ...asked, reranking: true });
    interface Stats {
      readonly [series: string]: readonly Point[] & number;
      readonly days: never;
    }
    const path = `/v2/search/${index.id}/stats`;
    const stats = await counted<Stats>(path, (answer) => {
      expect([answer.daily_update_count, answer.daily_rerank_count]).to.deep.equal([4, 1]);
    });
    expect(stats.current_vector_count).to.equal(2);
    expect(stats.pending_index_count).to.equal(0);
    expect(stats.storage_usage).to.be.greaterThan(0);
    const queries = stats.daily_query_count as number;
    expect(queries).to.be.at.least(2);
    expect(stats.monthly_cost).to.be.closeTo((queries + 4 + 1) / 100, 1e-9);
    const today = Math.floor(Date.now() / DAY_MS);
    for (const name of ['daily_update_requests', 'daily_query_requests', 'daily_rerank_requests', 'daily_bandwidths']) {
      expect(stats[name]).to.have.length(5);
      expectDays(stats[name] as readonly Point[], today - 4);
    }
    expect((stats.vector_count as readonly Point[]).at(-1)?.y).to.equal(2);
    for (const [period, count, minutes] of STEPS) {
      askedFromMs = Date.now();
      const answer = await call<Record<string, readonly Point[]>>('GET', `${path}?period=${period}`);
      for (const name of ['query_throughput', 'update_throughput', 'query_latency_99', 'vector_count', 'data_size']) {
        expectSteps(answer[name] ?? [], count, minutes);
      }
      expect(Math.round(sum(answer.update_throughput ?? []) * minutes * 60), period).to.equal(4);
    }
    const totals = await call<Record<string, number>>('GET', '/v2/search/stats');
    expect(totals).to.include({ record_count: 2, request: queries + 4, rerank_count: 1 });
  });

  it('of a queue refuses an unknown period with 400', async () => {
    const { id } = await call<{ id: string }>('GET', '/v2/msgq/user');
    const response = await fetch(`${mgmtUrl}/v2/msgq/stats/${id}?period=2h`, {
      headers: { authorization: AUTHORIZATION },
    });
    expect(response.status).to.equal(400);
    expect(((await response.json()) as { error: string }).error).to.contain('period');
  });
});
