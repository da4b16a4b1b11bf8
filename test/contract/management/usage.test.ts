/** Use of a month, labels and the address of the monthly webhook. Proves UDC1, USR1. */
import { expect } from 'chai';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

describe('management API: use and labels', () => {
  const face = standOfAllTests(() => new ManagementHarness().start());

  it('PATCH /v2/labels sets labels of databases, queues and indexes, keeps others and removes empty ones', async () => {
    const ids = { database: await face.newDatabase(), queue: face.queue, index: await face.newSearchIndex() };
    for (const [kind, id] of Object.entries(ids)) {
      const set = async (...labels: { name: string; value: string }[]) =>
        (await face.ok('PATCH', `/v2/labels/${kind}/${id}`, { body: { labels } })).json;
      await set({ name: 'costCentre', value: '1' }, { name: 'team', value: 'shop' });
      const changed = await set({ name: 'costCentre', value: '2' }, { name: 'team', value: '' });
      expect(changed, kind).to.deep.equal({ id, labels: { costCentre: '2' } });
    }
    const { json } = await face.ok('GET', '/v2/labels');
    expect((json as { id: string }[]).map(({ id }) => id)).to.have.members(Object.values(ids));
    await face.ok('DELETE', `/v2/kv/database/${ids.database}`);
    expect((await face.ok('GET', '/v2/labels')).json).to.have.length(2);
  });

  it('PATCH /v2/labels refuses a name, a value and a number of labels above the bounds', async () => {
    const database = await face.newDatabase();
    const refusalOf = async (labels: object[]) => {
      const { status, json } = await face.call('PATCH', `/v2/labels/database/${database}`, { body: { labels } });
      return `${status} ${(json as { error: string }).error}`;
    };
    expect(await refusalOf([{ name: '1', value: 'x' }])).to.match(/^400 labels: a name has up to 63 letters/);
    expect(await refusalOf([{ name: 'a', value: 'x'.repeat(129) }])).to.match(/^400 labels: the value of a must be/);
    expect(await refusalOf([{ name: 'a', value: 'x\ny' }])).to.match(/^400 labels: the value of a must be/);
    expect(await refusalOf([{ name: 'a', value: 5 }])).to.match(/^400 labels: /);
    const many = Array.from({ length: 17 }, (_, at) => ({ name: `l${at}`, value: 'x' }));
    expect(await refusalOf(many)).to.match(/^4\d\d labels: at most 16 are possible$/);
  });

  it('GET /v2/usage answers the present month or an earlier one, and refuses others', async () => {
    const { json } = await face.ok('GET', '/v2/usage?month=2020-02');
    expect(json).to.have.property('month', '2020-02');
    for (const month of ['2020-13', '2020', '9999-01', 'x']) {
      expect((await face.call('GET', `/v2/usage?month=${month}`)).status, month).to.equal(400);
    }
  });

  it('GET /v2/usage?format=csv answers a table with a column for each label, without formulas', async () => {
    const { text, headers } = await face.call('GET', '/v2/usage?month=2020-02&format=csv');
    expect(headers.get('content-type')).to.equal('text/csv; charset=utf-8');
    const [heads, line, end] = text.split('\r\n');
    expect(heads).to.equal(
      'month,kind,id,name,requests,messages,stored_bytes,transferred_bytes,daily_quota,busiest_day,quota_used_percent,label:costCentre,label:team',
    );
    expect(line).to.match(/^2020-02,database,[\w-]+,main,7,,5,9,8,4,50,'=4711,"shop, ""one"""$/);
    expect(end).to.equal('');
  });

  it('POST /v2/usage/webhook sets the address, which GET shows and DELETE removes', async () => {
    const { status } = await face.call('POST', '/v2/usage/webhook', { body: { url: 'https://10.0.0.1/' } });
    expect(status).to.equal(400);
    await face.ok('POST', '/v2/usage/webhook', { body: { url: 'https://a.example/usage' } });
    expect((await face.ok('GET', '/v2/usage/webhook')).json).to.deep.equal({ url: 'https://a.example/usage' });
    await face.ok('DELETE', '/v2/usage/webhook');
    expect((await face.ok('GET', '/v2/usage/webhook')).json).to.deep.equal({ url: '' });
  });
});
