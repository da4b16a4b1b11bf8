/** The scrape endpoint: the metrics of a database, the access to them, and their format. */
import { expect } from 'chai';
import type { Middleware } from 'koa';
import { createScrapeHandler, ScrapeGrants } from '../../../src/edge/monitoring/index.js';
import { type DatabaseId, MillraceError } from '../../../src/kernel/index.js';
import { databaseIdOfUuid, hashSecret } from '../../../src/protocol/index.js';
import { MANAGEMENT_ALIAS, ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const PATH = '/monitoring/prometheus/federate';
const ODD_NAME = 'a "quoted" \\ name';

class ScrapeStand extends ManagementHarness {
  isFresh = true;

  constructor() {
    let scrape: Middleware | undefined;
    super({
      aliases: [MANAGEMENT_ALIAS],
      mount: [(context, next) => scrape?.(context, next) ?? next()],
    });
    const stand = this;
    scrape = createScrapeHandler({
      access: new ScrapeGrants({
        state: this.control.state,
        get isFresh() {
          return stand.isFresh;
        },
      }),
      statistics: this.statistics,
      clock: { nowMs: () => this.control.nowMs, monotonicMs: () => 0 },
      log: this.log,
      isDraining: () => false,
    });
  }

  /** @returns the token that shows the queue of the owner, and all databases */
  async switchQueueOn(token: string): Promise<string> {
    const prometheusToken = { sha256: hashSecret(token), sealed: this.sealing.seal(token) };
    const account = this.ownerAccount;
    const reply = await this.control.send({
      type: 'ChangeAccountPlan',
      account,
      plan: { prometheusToken },
      limits: {},
    });
    if (reply.type === 'Rejected') throw new Error(reply.message);
    return token;
  }

  /** @returns the token that shows the database */
  async switchOn(uuid: string, token: string): Promise<string> {
    const prometheusToken = { sha256: hashSecret(token), sealed: this.sealing.seal(token) };
    await this.change(uuid, { prometheusToken });
    return token;
  }

  async change(uuid: string, settings: object): Promise<void> {
    const account = this.ownerAccount;
    const database = databaseIdOfUuid(uuid) as DatabaseId;
    const reply = await this.control.send({ type: 'ChangeDatabase', account, database, change: { settings } });
    if (reply.type === 'Rejected') throw new Error(reply.message);
  }

  async scrape(token: string | undefined, query = '', method = 'GET', path = PATH) {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${this.url}${path}${query}`, { method, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

describe('GET /monitoring/prometheus/federate', () => {
  const stand = standOfAllTests(() => new ScrapeStand().start());
  let database: string;
  let token: string;

  before(async () => {
    database = await stand.newDatabase({ database_name: 'first' });
    token = await stand.switchOn(database, 'mrm_one');
  });
  beforeEach(() => {
    stand.isFresh = true;
    stand.statistics.failure = undefined;
    stand.statistics.asked.length = 0;
  });

  const namesIn = (text: string) => [...text.matchAll(/^# TYPE (\S+) (counter|gauge)$/gm)].map(([, name]) => name);
  const valueIn = (text: string, name: string, labels = '') => {
    const id = `database_id="${database}",database_name="first"${labels}`;
    const line = text.split('\n').find((line) => line.startsWith(`${name}{${id}} `));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  };

  it('shows totals of the month, the last whole minute and current values', async () => {
    const { status, headers, text } = await stand.scrape(token);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(headers.get('cache-control')).to.equal('no-store');
    const expected: readonly (readonly [string, number, string?])[] = [
      ['millrace_kv_minute_commands', 60, ',command="GET"'],
      ['millrace_kv_minute_commands', 30, ',command="SET"'],
      ['millrace_kv_minute_reads', 60],
      ['millrace_kv_minute_writes', 30],
      ['millrace_kv_minute_hits', 45],
      ['millrace_kv_minute_misses', 15],
      ['millrace_kv_minute_bandwidth_bytes', 1000],
      ['millrace_kv_minute_latency_seconds', 0.00025, ',requests="all",stat="mean"'],
      ['millrace_kv_minute_latency_seconds', 0.002, ',requests="all",stat="p99"'],
      ['millrace_kv_minute_latency_seconds', 0.001, ',requests="read",stat="p99"'],
      ['millrace_kv_minute_latency_seconds', 0.0003, ',requests="write",stat="mean"'],
      ['millrace_kv_connections', 2],
      ['millrace_kv_keys', 7],
      ['millrace_kv_storage_bytes', 4096],
    ];
    for (const [name, value, labels] of expected) expect(valueIn(text, name, labels), name + labels).to.equal(value);
    for (const line of text.trimEnd().split('\n')) {
      expect(line).to.match(/^(# (HELP|TYPE) \w+ .+|\w+\{(\w+="[^"]*",?)+\} [\d.e+-]+)$/);
    }
    expect(new Set(namesIn(text)).size, 'each family once').to.equal(namesIn(text).length);
  });

  it("with an account's token shows the queue and every database", async () => {
    const second = await stand.newDatabase({ database_name: 'second' });
    const { status, text } = await stand.scrape(await stand.switchQueueOn('mrm_queue'));
    expect(status).to.equal(200);
    expect(namesIn(text)).to.include.members(['millrace_queue_requests_total', 'millrace_kv_keys']);
    expect(new Set(namesIn(text)).size, 'each family once').to.equal(namesIn(text).length);
    expect(text).to.match(/^millrace_queue_dlq_messages\{queue_id="[^"]+",queue_name="[^"]+"\} \d+$/m);
    for (const id of [database, second]) expect(text).to.include(`millrace_kv_keys{database_id="${id}",`);
    expect(text).to.match(/^millrace_queue_minute_messages\{queue_id="[^"]+",queue_name="[^"]+",state="delivered"\} /m);
    expect(namesIn((await stand.scrape(token)).text)).to.not.include('millrace_queue_requests_total');
  });

  it('counts from the first day of the month', async () => {
    const { nowMs } = stand.control;
    const total = async () => valueIn((await stand.scrape(token)).text, 'millrace_kv_commands_total');
    try {
      for (const [instant, days] of [
        ['2026-03-01T00:00:04Z', 28],
        ['2026-03-01T00:00:05Z', 1],
        ['2026-03-03T12:00:00Z', 3],
        ['2026-03-31T12:00:00Z', 31],
      ] as const) {
        stand.control.nowMs = Date.parse(instant);
        expect(await total(), instant).to.equal(1000 * days);
      }
    } finally {
      stand.control.nowMs = nowMs;
    }
  });

  it('has a millrace-stale header when counting is behind', async () => {
    expect((await stand.scrape(token)).headers.get('millrace-stale')).to.equal(null);
    stand.statistics.behind = { positions: 3, ms: 9000 };
    const { status, headers } = await stand.scrape(token);
    stand.statistics.behind = undefined;
    expect([status, headers.get('millrace-stale')]).to.deep.equal([200, 'positions=3, seconds=9']);
  });

  it('queries the last minute after it is completely counted', async () => {
    await stand.scrape(token);
    const id = databaseIdOfUuid(database);
    expect(stand.statistics.asked).to.deep.include({ what: 'database', id, period: '1h' });
  });

  it('shows only matched metrics', async () => {
    const names = async (...matches: string[]) => {
      const query = matches.map((match) => `match[]=${encodeURIComponent(match)}`).join('&');
      return namesIn((await stand.scrape(token, `?${query}`)).text);
    };
    expect(await names('millrace_kv_keys')).to.deep.equal(['millrace_kv_keys']);
    expect(await names('{__name__="millrace_kv_keys"}', 'millrace_kv_minute_hits')).to.have.members([
      'millrace_kv_keys',
      'millrace_kv_minute_hits',
    ]);
    expect(await names('{__name__=~"millrace_kv_minute_.*"}')).to.have.length(7);
    const all = await names('{__name__=~".+"}');
    expect(all).to.deep.equal(namesIn((await stand.scrape(token)).text));
    expect(await names('other_metric')).to.deep.equal([]);
    expect(await names('{__name__=~"millrace_kv_keys.+"}')).to.deep.equal([]);
  });

  it('refuses invalid matchers with 400', async () => {
    for (const match of ['', '{job="x"}', '{__name__=~"(a+)+$"}', '{__name__="a.*"}', 'a b', '1a', '{}']) {
      const { status, text } = await stand.scrape(token, `?match[]=${encodeURIComponent(match)}`);
      expect([match, status]).to.deep.equal([match, 400]);
      expect((JSON.parse(text) as { error: string }).error).to.match(/^match\[\]: must be the name of a metric/);
    }
    const many = Array.from({ length: 101 }, () => 'match[]=a').join('&');
    expect((await stand.scrape(token, `?${many}`)).status).to.equal(400);
  });

  it('answers 401 without a valid token', async () => {
    for (const wrong of [undefined, 'mrm_other', '', 'x'.repeat(600), stand.owner.key]) {
      const { status, headers, text } = await stand.scrape(wrong);
      expect([wrong, status, headers.get('www-authenticate')]).to.deep.equal([wrong, 401, 'Bearer realm="monitoring"']);
      expect(JSON.parse(text)).to.have.all.keys('error');
    }
    const basic = await stand.call('GET', PATH);
    expect(basic.status).to.equal(401);
    expect(stand.statistics.asked).to.deep.equal([]);
  });

  it('answers 404 to other paths and 405 to other methods', async () => {
    for (const path of ['/monitoring/', `${PATH}/`, '/monitoring/prometheus', '/monitoring/prometheus/api/v1/query']) {
      expect((await stand.scrape(token, '', 'GET', path)).status, path).to.equal(404);
      expect((await stand.scrape(undefined, '', 'GET', path)).status, path).to.equal(401);
    }
    const posted = await stand.scrape(token, '', 'POST');
    expect([posted.status, posted.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    const head = await stand.scrape(token, '', 'HEAD');
    expect([head.status, head.text]).to.deep.equal([200, '']);
  });

  it('shows only the database of the token', async () => {
    const other = await stand.newDatabase({ database_name: 'second' });
    const { text } = await stand.scrape(await stand.switchOn(other, 'mrm_two'));
    expect(text).to.include(`database_id="${other}"`).and.not.include(database);
    expect((await stand.scrape(token)).text).to.not.include(other);
  });

  it('escapes names as the format requires', async () => {
    const odd = await stand.newDatabase({ database_name: 'plain' });
    const id = databaseIdOfUuid(odd) as DatabaseId;
    const oddToken = await stand.switchOn(odd, 'mrm_odd');
    const { live } = stand.control.state;
    stand.control.state.live = (asked) => {
      const found = live.call(stand.control.state, asked);
      return found?.id === id ? { ...found, name: `${ODD_NAME}\n` } : found;
    };
    try {
      const { text } = await stand.scrape(oddToken, '?match[]=millrace_kv_keys');
      expect(text.split('\n')[2]).to.equal(
        `millrace_kv_keys{database_id="${odd}",database_name="a \\"quoted\\" \\\\ name\\n"} 7`,
      );
    } finally {
      stand.control.state.live = live;
    }
  });

  it('answers 401 after it is disabled, the token replaced, or the database deleted', async () => {
    const gone = await stand.newDatabase({ database_name: 'gone' });
    const first = await stand.switchOn(gone, 'mrm_first');
    const second = await stand.switchOn(gone, 'mrm_second');
    expect([(await stand.scrape(first)).status, (await stand.scrape(second)).status]).to.deep.equal([401, 200]);
    await stand.change(gone, { prometheusToken: null });
    expect((await stand.scrape(second)).status).to.equal(401);
    const third = await stand.switchOn(gone, 'mrm_third');
    await stand.ok('DELETE', `/v2/kv/database/${gone}`);
    expect((await stand.scrape(third)).status).to.equal(401);
  });

  it('answers 503 while tokens cannot be checked, or statistics are unavailable', async () => {
    stand.statistics.failure = new MillraceError('MAILBOX_FULL', 'too many questions');
    const busy = await stand.scrape(token);
    expect([busy.status, busy.headers.get('retry-after')]).to.deep.equal([503, '1']);
    stand.isFresh = false;
    expect((await stand.scrape(token)).status).to.equal(503);
  });

  it('hides an internal error from the client, and logs it', async () => {
    stand.statistics.failure = new Error('a secret detail');
    const { status, text } = await stand.scrape(token);
    expect([status, text.includes('secret')]).to.deep.equal([500, false]);
    expect(JSON.stringify(stand.log.lines)).to.include('monitoring.request.failed').and.include('a secret detail');
  });
});
