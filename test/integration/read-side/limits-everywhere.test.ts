/** A change through the management API of one process applies at the other within a second. */
import { expect } from 'chai';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import type { ReadSide } from '../../support/read-side.js';
import { ReadSideCluster, statusOf, withinASecond } from '../../support/read-side-cluster.js';
import { databaseOf, searchCall } from '../../support/search-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

/** Above one plan's command size and below the other's; with either plan the command has no effect. */
const LARGE = JSON.stringify(['SET', 'a', 'x'.repeat(11 * 1024 * 1024), 'WHENEVER']);
const TOO_LARGE = /max request size/;
const NO_SUCH_OPTION = /syntax error/;

describe('read side: a change through one process applies at the other within a second', function () {
  this.timeout(90_000);
  const cluster = standOfAllTests(() => ReadSideCluster.start(false));
  let here: ReadSide;
  let kvUrl: string;
  let database: { readonly database_id: string; readonly rest_token: string };

  before(async () => {
    here = cluster.through(cluster.owner);
    kvUrl = cluster.other.kvUrl;
    database = await here.manage('POST', '/v2/kv/database', { name: 'there', region: 'eu-west-1', plan: 'payg' });
    await inForce(performance.now(), () => there('SET', 'a', '1'), 200);
  });

  const there = (...words: string[]) => statusOf(kvUrl, database.rest_token, words);
  async function change(method: string, path: string, body: object = {}): Promise<{ atMs: number; answer: unknown }> {
    const answer = await here.manage(method, path, body);
    return { atMs: performance.now(), answer };
  }
  async function inForce(atMs: number, ask: () => Promise<number>, status: number): Promise<void> {
    await withinASecond(atMs, async () => {
      expect(await ask()).to.equal(status);
    });
  }

  it('allowed addresses', async () => {
    const path = `/v2/kv/update-allowlist/${database.database_id}`;
    const closed = await change('POST', path, { allowed_ips: ['192.0.2.1/32'] });
    await inForce(closed.atMs, () => there('GET', 'a'), 403);
    const open = await change('POST', path, { allowed_ips: [] });
    await inForce(open.atMs, () => there('GET', 'a'), 200);
  });

  it("limits of a database's plan", async () => {
    const path = `/v2/kv/${database.database_id}/change-plan`;
    const refusal = async () => {
      const headers = { authorization: `Bearer ${database.rest_token}` };
      const answer = await fetch(kvUrl, { method: 'POST', headers, body: LARGE });
      return ((await answer.json()) as { error: string }).error;
    };
    expect(await refusal()).to.match(TOO_LARGE);
    const larger = await change('POST', path, { plan_name: 'fixed_5gb' });
    await withinASecond(larger.atMs, async () => void expect(await refusal()).to.match(NO_SUCH_OPTION));
    const smaller = await change('POST', path, { plan_name: 'payg' });
    await withinASecond(smaller.atMs, async () => void expect(await refusal()).to.match(TOO_LARGE));
  });

  it('tokens of a database', async () => {
    const { rest_token: old } = database;
    const { atMs, answer } = await change('POST', `/v2/kv/reset-password/${database.database_id}`);
    database = answer as typeof database;
    await inForce(atMs, () => statusOf(kvUrl, old, ['GET', 'a']), 401);
    await inForce(atMs, () => there('GET', 'a'), 200);
  });

  it("limits of a queue's plan", async () => {
    const { id } = await here.manage('GET', '/v2/msgq/user');
    const queueUrl = cluster.other.addresses.queue as string;
    const publish = async () => {
      const { status } = await fetch(`${queueUrl}/v2/publish/http://127.0.0.1:9/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${QUEUE_TOKEN}`, 'Svc-Retries': '21', 'Svc-Delay': '1h' },
      });
      return status;
    };
    expect(await publish()).to.equal(200);
    const fewer = await change('POST', `/v2/msgq/set-plan/${id}`, { plan_name: 'msgq_fixed_1m' });
    await inForce(fewer.atMs, publish, 400);
    const more = await change('POST', `/v2/msgq/set-plan/${id}`, { plan_name: 'paid' });
    await inForce(more.atMs, publish, 200);
  });

  it('tokens of a queue', async () => {
    const { id } = await here.manage('GET', '/v2/msgq/user');
    const url = `${cluster.other.addresses.queue}/v2/keys`;
    const { atMs, answer } = await change('POST', `/v2/msgq/rotate-token/${id}`);
    await inForce(atMs, () => statusOf(url, QUEUE_TOKEN), 401);
    await inForce(atMs, () => statusOf(url, (answer as { token: string }).token), 200);
  });

  it('tokens of a search index', async () => {
    const made = await here.manage('POST', '/v2/search', { name: 'there', region: 'eu-west-1', type: 'payg' });
    const at = (record: object) => ({
      ...databaseOf(record),
      url: `${cluster.other.addresses.mgmt}/search/${made.id}`,
    });
    const status = async (record: object) => (await searchCall(at(record), 'info')).status;
    await inForce(performance.now(), () => status(made), 200);
    const { atMs } = await change('POST', `/v2/search/${made.id}/reset-password`);
    const renewed = await here.manage('GET', `/v2/search/${made.id}`);
    await inForce(atMs, () => status(made), 401);
    await inForce(atMs, () => status(renewed), 200);
  });

  it('a deleted database', async () => {
    const { atMs } = await change('DELETE', `/v2/kv/database/${database.database_id}`);
    await inForce(atMs, () => there('GET', 'a'), 401);
  });
});
