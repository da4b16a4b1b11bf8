/** Enabling and disabling the scrape endpoint of a database by the management API. */
import { expect } from 'chai';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

type Shown = Record<string, unknown> & { readonly prometheus_token?: string };

describe('management API: enable-prometheus and disable-prometheus', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());
  let database: string;

  beforeEach(async () => {
    database = await face.newDatabase();
  });

  const switched = async (verb: 'enable' | 'disable') =>
    (await face.ok('POST', `/v2/kv/${verb}-prometheus/${database}`)).json as Shown;
  const shown = async () => (await face.ok('GET', `/v2/kv/database/${database}`)).json as Shown;

  it('enable shows the token once, and stores its hash and a sealed copy', async () => {
    expect((await shown()).prometheus_enabled).to.equal('false');
    const on = await switched('enable');
    expect(on.prometheus_enabled).to.equal('true');
    expect(on.prometheus_token).to.match(/^mrm_[\w-]{32}$/);
    const later = await shown();
    expect(later.prometheus_enabled).to.equal('true');
    expect(later).to.not.have.property('prometheus_token');
    expect(JSON.stringify(face.control.asked)).to.not.include(on.prometheus_token);
    expect(face.control.state.scrapeTokens.size).to.equal(1);
  });

  it('enable keeps an existing token', async () => {
    const before = await switched('enable');
    const again = await switched('enable');
    expect(again).to.not.have.property('prometheus_token');
    const [hash] = face.control.state.scrapeTokens.keys();
    await switched('enable');
    expect([...face.control.state.scrapeTokens.keys()]).to.deep.equal([hash]);
    expect(before.prometheus_token).to.be.a('string');
  });

  it('disable removes the token, and a later enable makes another', async () => {
    const first = await switched('enable');
    expect((await switched('disable')).prometheus_enabled).to.equal('false');
    expect(face.control.state.scrapeTokens.size).to.equal(0);
    expect((await switched('disable')).prometheus_enabled).to.equal('false');
    const second = await switched('enable');
    expect(second.prometheus_token).to.be.a('string').that.does.not.equal(first.prometheus_token);
  });

  it('both are in the audit log, without the token', async () => {
    const { prometheus_token: token } = await switched('enable');
    await switched('disable');
    const { json, text } = await face.ok('GET', '/auditlogs');
    const actions = (json as { action_string: string; entity: string }[]).map(({ action_string }) => action_string);
    expect(actions.slice(0, 2)).to.deep.equal(['Disable Prometheus', 'Enable Prometheus']);
    expect(text).to.not.include(token);
  });

  it('both work for a queue too', async () => {
    const [queue] = (await face.ok('GET', '/v2/msgq/users')).json as { id: string }[];
    const at = async (verb: string) =>
      (await face.ok('POST', `/v2/msgq/${verb}-prometheus/${queue?.id}`)).json as Shown;
    const on = await at('enable');
    expect(on.prometheus_enabled).to.equal('true');
    expect(on.prometheus_token).to.match(/^mrm_[\w-]{32}$/);
    expect(await at('enable')).to.not.have.property('prometheus_token');
    expect(face.control.state.queueScrapeTokens.size).to.equal(1);
    expect((await at('disable')).prometheus_enabled).to.equal('false');
    expect(face.control.state.queueScrapeTokens.size).to.equal(0);
  });

  it("both get 403 for a read-only key, and 404 for another account's database", async () => {
    const looker = await face.readOnlyKey();
    const { caller: stranger } = await face.newPerson('stranger@example.com');
    for (const verb of ['enable', 'disable']) {
      const path = `/v2/kv/${verb}-prometheus/${database}`;
      expect((await face.call('POST', path, { as: looker })).status).to.equal(403);
      expect((await face.call('POST', path, { as: stranger })).status).to.equal(404);
      expect((await face.call('GET', path)).status).to.equal(405);
    }
  });
});
