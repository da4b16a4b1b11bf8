/** Statistics by the management API: neutral numbers in the format of the published API. */
import { expect } from 'chai';
import { MillraceError } from '../../../src/kernel/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

interface Point {
  readonly x: string;
  readonly y: number;
}
type Series = Record<string, Point[]> & { readonly days: string[] };

const BOUNDARY = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+0000 UTC$/;
const PERIODS: readonly (readonly [string, number, number])[] = [
  ['1h', 60, 1],
  ['3h', 60, 3],
  ['12h', 60, 12],
  ['1d', 60, 24],
  ['3d', 60, 72],
  ['7d', 60, 168],
  ['30d', 240, 180],
];
const PRICES = {
  kv: {
    centsPer100kCommands: 20,
    centsPerGbMonth: 25,
    freeStorageBytes: 1024 ** 3,
    centsPerGb: 3,
    freeBandwidthBytesPerMonth: 200 * 1024 ** 3,
  },
  queue: { centsPer100kMessages: 100_000, centsPerGb: 0, freeBandwidthBytesPerMonth: 0 },
  search: {
    centsPer100kRequests: 100_000,
    centsPerGbMonth: 0,
    freeStorageBytes: 0,
    centsPerGb: 0,
    freeBandwidthBytesPerMonth: 0,
  },
};

describe('management API: statistics', () => {
  const face = standOfAllTests(() => new ManagementHarness({ pricesOf: () => PRICES }).start());
  let database: string;
  let index: string;

  before(async () => {
    // A Thursday in a month of 30 days, with a fraction that ends in zeros.
    face.control.nowMs = Date.parse('2026-09-10T15:12:52.760Z');
    database = await face.newDatabase();
    index = await face.newSearchIndex();
  });

  const read = async (path: string) => (await face.ok('GET', path)).json as Series & Record<string, unknown>;

  for (const [period, count, stepMinutes] of PERIODS) {
    it(`have ${count} points ${stepMinutes} minutes apart for ${period}, at the same times in every series`, async () => {
      for (const [path, names] of [
        [`/v2/msgq/stats/${face.queue}`, ['daily_used', 'daily_used_workflow', 'daily_bandwidth_used']],
        [`/v2/kv/stats/${database}`, ['throughput', 'keyspace', 'latency_99', 'hits', 'diskusage', 'connection_count']],
        [`/v2/search/${index}/stats`, ['query_throughput', 'vector_count', 'data_size', 'rerank_latency_99']],
      ] as const) {
        const answer = await read(`${path}?period=${period}`);
        const times = (answer[names[0]] as Point[]).map(({ x }) => x);
        expect(times.length, path).to.equal(count);
        for (const name of names)
          expect(
            (answer[name] as Point[]).map(({ x }) => x),
            name,
          ).to.deep.equal(times);
        for (const [at, x] of times.entries()) {
          expect(x).to.match(BOUNDARY);
          if (at > 0) expect(Date.parse(x) - Date.parse(times[at - 1] as string)).to.equal(stepMinutes * 60_000);
        }
        const last = Date.parse(times.at(-1) as string);
        expect(last).to.be.at.most(face.control.nowMs);
        expect(last + stepMinutes * 60_000).to.be.greaterThan(face.control.nowMs);
      }
    });
  }

  it('default to the last hour', async () => {
    for (const path of [`/v2/msgq/stats/${face.queue}`, `/v2/kv/stats/${database}`, `/v2/search/${index}/stats`]) {
      expect(await read(path)).to.deep.equal(await read(`${path}?period=1h`));
    }
  });

  it('end at until, for the period before', async () => {
    const untilSeconds = Math.floor(face.control.nowMs / 1000) - 3600;
    for (const path of [`/v2/msgq/stats/${face.queue}`, `/v2/kv/stats/${database}`, '/v2/kv/stats']) {
      const name = path.includes('msgq') ? 'daily_used' : 'throughput';
      const times = ((await read(`${path}?until=${untilSeconds}`))[name] as Point[]).map(({ x }) => Date.parse(x));
      expect(times.at(-1), path)
        .to.be.at.most(untilSeconds * 1000)
        .and.greaterThan((untilSeconds - 60) * 1000);
      const { status } = await face.call('GET', `${path}?until=yesterday`);
      expect(status, path).to.equal(400);
    }
  });

  it('of all databases are in one answer, with the totals of each', async () => {
    const answer = await read('/v2/kv/stats?period=1d');
    expect(answer.throughput).to.have.length(60);
    expect(answer.read?.[0]?.y).to.equal(60 / (24 * 60));
    expect(answer.latency_99?.[0]?.y).to.equal(2);
    expect(answer.databases).to.deep.equal([
      {
        database_id: database,
        current_keys: 7,
        current_storage: 4096,
        current_connections: 2,
        daily_net_commands: 1000,
        total_monthly_requests: 5000,
        total_monthly_bandwidth: 25_000,
      },
    ]);
    expect(await read('/v2/kv/stats')).to.deep.equal(await read('/v2/kv/stats?period=1h'));
  });

  it('refuse an unknown period with 400', async () => {
    for (const period of ['2h', '60', '', '1H', '30d ']) {
      const query = `period=${encodeURIComponent(period)}`;
      for (const path of [`/v2/msgq/stats/${face.queue}`, `/v2/kv/stats/${database}`, `/v2/search/${index}/stats`]) {
        const { status, json } = await face.call('GET', `${path}?${query}`);
        expect(status, period).to.equal(400);
        expect((json as { error: string }).error).to.match(/^period: must be one of/);
      }
    }
  });

  it('of a queue cover every day of the month, also future ones', async () => {
    const answer = await read(`/v2/msgq/stats/${face.queue}?period=7d`);
    const { days } = answer;
    expect(days.length).to.equal(30);
    expect(days.slice(0, 3)).to.deep.equal(['Tuesday', 'Wednesday', 'Thursday']);
    for (const name of ['daily_requests', 'daily_billings', 'daily_bandwidths'] as const) {
      const points = answer[name] as Point[];
      expect(points.length).to.equal(30);
      expect(points[0]?.x).to.equal('2026-09-01 15:12:52.76 +0000 UTC');
      expect(points[29]?.x).to.equal('2026-09-30 15:12:52.76 +0000 UTC');
    }
    expect(answer.daily_requests?.[9]).to.include({ y: 100, workflow_message: 20, workflow_run: 5 });
    expect(answer.daily_requests?.[10]).to.include({ y: 0, workflow_message: 0, workflow_run: 0 });
    expect(answer.daily_billings?.[9]?.y).to.equal(1);
    expect(answer.total_monthly_billing).to.equal(10);
    expect(answer.dlq_message_count).to.equal(4);
  });

  it('of a queue have every series, also empty ones', async () => {
    const answer = (await read(`/v2/msgq/stats/${face.queue}`)) as unknown as Record<
      string,
      { id: string; data_points: Point[] }[]
    >;
    const ids = (name: string) => answer[name]?.map(({ id }) => id);
    expect(ids('daily_msgq_messages')).to.deep.equal([
      ...['created', 'active', 'retry', 'error', 'delivered', 'failed', 'cancelled'],
    ]);
    expect(ids('daily_workflow_messages')).to.deep.equal(['started', 'success', 'failed', 'canceled']);
    for (const { data_points } of [...(answer.daily_msgq_messages ?? []), ...(answer.daily_workflow_messages ?? [])]) {
      expect(data_points.length).to.equal(60);
    }
  });

  it('of a queue and a database have daily costs that add up to the monthly cost', async () => {
    // 100 messages a day are 0.00014 dollars, 1000 commands 0.00004. Each is rounded, so the sum of days is smaller.
    const cheap = await new ManagementHarness({
      pricesOf: () => ({
        ...PRICES,
        kv: { ...PRICES.kv, centsPer100kCommands: 0.4 },
        queue: { ...PRICES.queue, centsPer100kMessages: 14 },
      }),
    }).start();
    try {
      cheap.control.nowMs = Date.parse('2026-09-05T15:12:52.760Z');
      const queue = (await cheap.ok('GET', `/v2/msgq/stats/${cheap.queue}`)).json as Series;
      expect(queue.total_monthly_billing).to.equal(0.0007);
      expect(queue.daily_billings?.slice(0, 6).map(({ y }) => y)).to.deep.equal([
        ...[0.0001, 0.0002, 0.0001, 0.0002, 0.0001, 0],
      ]);
      const kv = (await cheap.ok('GET', `/v2/kv/stats/${await cheap.newDatabase()}`)).json as Series;
      expect(kv.total_monthly_billing).to.equal(0.0002);
      expect(kv.dailybilling?.map(({ y }) => y)).to.deep.equal([0, 0.0001, 0, 0.0001, 0]);
    } finally {
      await cheap.stop();
    }
  });

  it('of a queue cost at most the budget, or the price of the plan', async () => {
    const billing = async () => (await read(`/v2/msgq/stats/${face.queue}`)).total_monthly_billing;
    // 100 requests a day at a dollar each hundred are 10 dollars; the lowest budget is 20.
    await face.ok('PATCH', `/v2/msgq/update-budget/${face.queue}`, { body: { budget: 20 } });
    expect(await billing()).to.equal(10);
    const dear = await new ManagementHarness({
      pricesOf: () => ({ ...PRICES, queue: { ...PRICES.queue, centsPer100kMessages: 10_000_000 } }),
    }).start();
    try {
      dear.control.nowMs = face.control.nowMs;
      const path = `/v2/msgq/stats/${dear.queue}`;
      const total = async () => ((await dear.ok('GET', path)).json as Record<string, unknown>).total_monthly_billing;
      expect(await total()).to.equal(1000);
      await dear.ok('PATCH', `/v2/msgq/update-budget/${dear.queue}`, { body: { budget: 20 } });
      expect(await total()).to.equal(20);
      await dear.ok('POST', `/v2/msgq/set-plan/${dear.queue}`, { body: { plan_name: 'msgq_fixed_1m' } });
      expect(await total()).to.equal(180);
    } finally {
      await dear.stop();
    }
  });

  it('of a database cover the last five days, today last', async () => {
    const answer = await read(`/v2/kv/stats/${database}`);
    expect(answer.days).to.deep.equal(['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday']);
    for (const [name, y] of [
      ['dailyrequests', 1000],
      ['bandwidths', 5000],
      ['dailybilling', 0.002],
    ] as const) {
      const points = answer[name] as Point[];
      expect(points.map((point) => point.y)).to.deep.equal([y, y, y, y, y]);
      expect(points[4]?.x).to.equal('2026-09-10 15:12:52.76 +0000 UTC');
    }
    expect(answer).to.include({
      daily_net_commands: 1000,
      daily_read_requests: 600,
      daily_write_requests: 400,
      dailybandwidth: 5000,
      total_monthly_requests: 10_000,
      total_monthly_read_requests: 6000,
      total_monthly_write_requests: 4000,
      total_monthly_script_requests: 30,
      total_monthly_bandwidth: 50_000,
      total_monthly_storage: 4096,
      current_storage: 4096,
      total_monthly_billing: 0.02,
      queue_optimized: false,
    });
  });

  it('of a database are averages a second, and throughput is reads plus writes', async () => {
    const answer = await read(`/v2/kv/stats/${database}`);
    for (const [name, y] of [
      ['read', 1],
      ['write', 0.5],
      ['throughput', 1.5],
      ['hits', 0.75],
      ['misses', 0.25],
      ['keyspace', 7],
      ['latencymean', 0.25],
    ] as const) {
      expect((answer[name] as Point[])[0]?.y, name).to.equal(y);
    }
    const counts = answer.command_counts as unknown as { metric_identifier: string; data_points: Point[] }[];
    expect(counts.map(({ metric_identifier }) => metric_identifier)).to.deep.equal(['GET', 'SET']);
    expect(counts[0]?.data_points[0]?.y).to.equal(60);
    expect(answer.monitor_count).to.have.keys('x', 'y');
  });

  it('of a search index count today and this month', async () => {
    expect(await read(`/v2/search/${index}/stats`)).to.include({
      pending_index_count: 0,
      current_vector_count: 11,
      daily_query_count: 10,
      daily_update_count: 5,
      daily_rerank_count: 1,
      monthly_query_count: 100,
      monthly_update_count: 50,
      monthly_rerank_count: 10,
      monthly_bandwidth_usage: 7000,
      storage_usage: 2048,
      monthly_cost: 1.6,
    });
  });

  it('of a search index on the free plan have cost 0, also in the total', async () => {
    const free = await face.newSearchIndex({ name: 'tried out', type: 'free' });
    expect((await read(`/v2/search/${free}/stats`)).monthly_cost).to.equal(0);
    face.statistics.asked.length = 0;
    await read('/v2/search/stats');
    const totals = face.statistics.asked.filter(({ what }) => what === 'totals').map(({ id }) => id.split(',').length);
    expect(totals).to.deep.equal([2, 1]);
    await face.ok('DELETE', `/v2/search/${free}`);
  });

  it('of all search indexes are added up', async () => {
    await face.newSearchIndex({ name: 'second' });
    expect(await read('/v2/search/stats')).to.deep.equal({
      record_count: 22,
      request: 30,
      bandwidth: 1400,
      storage: 4096,
      billing: 0,
      rerank_count: 2,
    });
  });

  it('get 503 with Retry-After when they are unavailable', async () => {
    face.statistics.failure = new MillraceError('SHARD_UNAVAILABLE', 'no projection answers');
    const { status, headers } = await face.call('GET', `/v2/kv/stats/${database}`);
    face.statistics.failure = undefined;
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '1']);
  });

  it('have a millrace-stale header when counting is behind', async () => {
    const paths = [
      `/v2/kv/stats/${database}`,
      `/v2/msgq/stats/${face.queue}`,
      '/v2/search/stats',
      `/v2/search/${index}/stats`,
      `/v2/search/${index}`,
    ];
    for (const path of paths) {
      face.statistics.behind = undefined;
      const fresh = await face.ok('GET', path);
      expect(fresh.headers.get('millrace-stale'), path).to.equal(null);
      face.statistics.behind = { positions: 7, ms: 61_000 };
      const stale = await face.ok('GET', path);
      expect(stale.headers.get('millrace-stale'), path).to.equal('positions=7, seconds=61');
      expect(stale.text).to.equal(fresh.text);
    }
    face.statistics.behind = undefined;
  });
});
