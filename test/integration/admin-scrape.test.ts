/**
 * The scrape endpoint of a real process: the management API switches it on and off, and its counters match the commands
 * sent.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { endEverything, type MillraceProcess, startMillrace } from '../support/millrace-process.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const COUNTED = { timeoutMs: 40_000, everyMs: 200 };

describe('GET /monitoring/prometheus/federate', function () {
  this.timeout(120_000);
  let millrace: MillraceProcess;
  let mgmtUrl: string;

  before(async () => {
    millrace = await startMillrace({ env: { MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY } });
    mgmtUrl = millrace.addresses.mgmt as string;
  });
  after(() => endEverything());

  async function post(path: string, body: object = {}): Promise<Record<string, string>> {
    const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(mgmtUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    expect(response.status, `${path}: ${text}`).to.equal(200);
    return JSON.parse(text) as Record<string, string>;
  }

  async function scrape(token: string): Promise<{ status: number; values: Map<string, number> }> {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${mgmtUrl}/monitoring/prometheus/federate?match[]={__name__=~"millrace_kv_.*"}`, {
      headers,
    });
    const samples = [...(await response.text()).matchAll(/^(\w+)\{.*\} (\S+)$/gm)];
    return { status: response.status, values: new Map(samples.map(([, name = '', value]) => [name, Number(value)])) };
  }

  it('shows counters that match the commands sent to the database, until the endpoint is disabled', async () => {
    const database = await post('/v2/kv/database', { database_name: 'scraped', primary_region: 'eu-west-1' });
    const { prometheus_token: token = '' } = await post(`/v2/kv/enable-prometheus/${database.database_id}`);
    await eventually(async () => expect((await scrape(token)).status).to.equal(200));
    const kv = new KvClient({ url: millrace.kvUrl, token: database.rest_token as string });
    await eventually(async () => expect((await kv.command('SET', 'a', '1')).kind).to.equal('done'));
    for (const command of [
      ['SET', 'b', '2'],
      ['GET', 'a'],
      ['GET', 'none'],
      ['EVAL', 'return 1', '0'],
    ] as const) {
      await kv.ask(...command);
    }
    kv.close();
    await eventually(async () => {
      const { values } = await scrape(token);
      expect(values.get('millrace_kv_commands_total')).to.equal(5);
      expect(values.get('millrace_kv_scripts_total')).to.equal(1);
      expect(values.get('millrace_kv_keys')).to.equal(2);
      expect(values.get('millrace_kv_bandwidth_bytes_total')).to.be.greaterThan(0);
    }, COUNTED);
    await post(`/v2/kv/disable-prometheus/${database.database_id}`);
    await eventually(async () => expect((await scrape(token)).status).to.equal(401));
    expect(millrace.stderr()).to.not.include(token);
  });
});
