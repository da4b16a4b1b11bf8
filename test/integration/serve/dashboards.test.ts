/** Every expression of infra/dashboards, evaluated by Prometheus on the metrics of a real process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { missingProgram } from '../../support/installed.js';
import { PASSWORD } from '../../support/millrace-process.js';
import { Prometheus, problemsOfMetrics } from '../../support/prometheus.js';
import { QUEUE_TOKEN, QueueProcess, SIGNING_KEYS } from '../../support/queue-process.js';
import { TwoStepRuns } from '../../support/two-step-runs.js';

const FOLDER = 'infra/dashboards';
const RULES = join(FOLDER, 'rules.yml');
const BOARDS = ['cluster', 'journal', 'kv', 'overview', 'queue', 'workflows'];
/** Metrics without a value in this test: the process has no snapshot yet, and its destinations have no names. */
const NOT_YET = /millrace_snapshot_timestamp_seconds|millrace_name_lookups_total/;
const MGMT = { MILLRACE_MGMT_EMAIL: 'admin@tests.example', MILLRACE_MGMT_KEY: 'mrk_key-of-the-tests-0123456789' };
const authorization = `Basic ${Buffer.from(Object.values(MGMT).join(':')).toString('base64')}`;

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

function expressionsOf(board: string): string[] {
  const { panels } = JSON.parse(readFileSync(join(FOLDER, `${board}.json`), 'utf8')) as { panels: Panel[] };
  const all = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return all.map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'));
}

describe('dashboards and alert rules, on a real process', function () {
  this.timeout(180_000);
  let queue: QueueProcess;
  let prometheus: Prometheus;
  let runs: TwoStepRuns;
  let page: string;

  /** Names in the expression that the process does not declare. */
  const unknownIn = (expression: string): string[] => {
    const declared = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const withoutStrings = expression.replaceAll(/"[^"]*"/g, '');
    const named = [...withoutStrings.matchAll(/\b(?:millrace|process|nodejs)_\w+/g)].map(([name]) => name);
    return named.filter((name) => !declared.has(name) && !declared.has(name.replace(/_(bucket|sum|count)$/, '')));
  };

  before(async function () {
    if (missingProgram('prometheus', 'promtool') !== undefined) this.skip();
    const respPort = await freePort();
    queue = await QueueProcess.start({ ...MGMT, MILLRACE_RESP_PORT: String(respPort) });
    const { kv, addresses, metricsUrl } = queue.millrace;
    await eventually(async () => expect((await kv.command('SET', 'key', 'value')).kind).to.equal('done'));
    const redis = await createClient({ url: `redis://127.0.0.1:${respPort}`, password: PASSWORD }).connect();
    await redis.get('key');
    const path = '/delivered';
    await queue.request('POST', `/v2/publish/${queue.sink.origin}${path}`, { body: 'hello' });
    const baseUrl = queue.url;
    runs = await TwoStepRuns.listening({ baseUrl, token: QUEUE_TOKEN, signingKeys: SIGNING_KEYS, retries: 0 });
    await runs.trigger();
    await queue.get('/v2/workflows/logs');
    await queue.get('/v2/no-such-route/with-names-of-a-stranger');
    const verified = await fetch(`${addresses.mgmt}/v2/admin/verify`, { headers: { authorization } });
    await verified.text();
    await eventually(async () => {
      page = await (await fetch(`${metricsUrl}/metrics`)).text();
      expect(page).to.contain('millrace_deliveries_total{');
      expect(page).to.contain('millrace_verify_fine 1');
      expect(page).to.contain('millrace_queue_events_total{type="RunEnded"}');
    });
    redis.destroy();
    prometheus = await Prometheus.scraping(new URL(metricsUrl).host, RULES);
    await eventually(() => prometheus.scraped(4), { timeoutMs: 60_000 });
  });
  after(async () => {
    prometheus?.stop();
    await runs?.close();
    await queue?.stop();
  });

  it('read metrics without a fault that promtool reports', () => {
    expect(problemsOfMetrics(page)).to.equal('');
  });

  it('read metrics without names chosen by clients', () => {
    expect(page).to.contain('millrace_http_requests_total{face="kv",route="whole-command",status="200"}');
    expect(page).to.match(/millrace_http_requests_total\{face="queue",route="\/v2\/publish\/",status="20\d"\}/);
    expect(page).to.contain('millrace_http_requests_total{face="queue",route="none",status="404"}');
    expect(page).not.to.contain('with-names-of-a-stranger');
  });

  it('are checked by a test that reports an undeclared metric', async () => {
    expect(unknownIn('sum(rate(millrace_nothing_total{face="millrace_x"}[1m]))')).to.deep.equal([
      'millrace_nothing_total',
    ]);
    expect(await prometheus.query('sum(rate(millrace_nothing_total[1m]))')).to.deep.equal([]);
  });

  it('exist for six boards', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
    expect(files.sort()).to.deep.equal(BOARDS.map((board) => `${board}.json`));
  });

  for (const board of BOARDS) {
    it(`show data in each panel of ${board}`, async () => {
      for (const expression of expressionsOf(board)) {
        expect(unknownIn(expression), expression).to.deep.equal([]);
        const found = await prometheus.query(expression);
        if (!NOT_YET.test(expression)) expect(found, expression).not.to.be.empty;
      }
    });
  }

  it('have rules that Prometheus evaluates, on declared metrics, each with a runbook section', async () => {
    const rules = await eventually(async () => {
      const all = await prometheus.rules();
      expect(all.map(({ health }) => health)).not.to.include('unknown');
      return all;
    });
    expect(rules).to.have.length.above(15);
    for (const { name, query, health, lastError, annotations } of rules) {
      expect({ health, lastError }, name).to.deep.equal({ health: 'ok', lastError: undefined });
      expect(unknownIn(query), name).to.deep.equal([]);
      const [file = '', section = ''] = (annotations.runbook_url ?? '').split('#');
      expect(headingsOf(readFileSync(file, 'utf8')), name).to.include(section);
    }
  });

  it('raise no alert while all is well, and MillraceDown after a process has ended', async () => {
    expect(await prometheus.query('ALERTS')).to.deep.equal([]);
    await queue.millrace.kill();
    await eventually(async () => expect(await prometheus.query('ALERTS{alertname="MillraceDown"}')).not.to.be.empty);
  });
});

/** The headings in the form that links use. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s+/g, '-'),
  );
}
