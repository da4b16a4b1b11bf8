/** Wishes for the placement of shards over the operators' API: rights, audit log and refusals. */
import { expect } from 'chai';
import { standOfEachTest } from '../../support/stand-hooks.js';
import { AdminStand } from './admin-stand.js';

describe('POST /v2/admin/cluster', () => {
  const stand = standOfEachTest(() => new AdminStand().start());

  const post = (path: string, as = stand.owner) => stand.call('POST', `/v2/admin/cluster/${path}`, { as });

  it('drain, undrain and move record the person, and appear in the audit log', async () => {
    for (const path of [
      'processes/node-1/drain',
      'processes/node-1/undrain',
      'shards/KV_3/move?process=node-2',
      'shards/KV_3/move',
    ]) {
      const { status, text } = await post(path);
      expect([status, text], path).to.deep.equal([200, '"OK"']);
    }
    expect(stand.wishes).to.deep.equal([
      ['node-1', 'drain', 'owner@example.com'],
      ['node-1', 'undrain', 'owner@example.com'],
      ['KV_3', 'node-2', 'owner@example.com'],
      ['KV_3', 'anywhere', 'owner@example.com'],
    ]);
    const { json } = await stand.call('GET', '/v2/auditlogs', { as: stand.owner });
    const [line] = json as Record<string, unknown>[];
    expect(line).to.include({ action: 51, entity: 'KV_3', secondary_entity: 'move to anywhere' });
  });

  it('answers 400 with the reason when a wish cannot be fulfilled', async () => {
    stand.wishRefusal = 'node-9 does not answer';
    const { status, json } = await post('shards/KV_3/move?process=node-9');
    expect([status, json]).to.deep.equal([400, { error: 'node-9 does not answer' }]);
  });

  it('answers 403 to people of other accounts and to read-only keys', async () => {
    const team = await stand.newTeam();
    const other = await post('processes/node-1/drain', await stand.memberOf(team, 'admin'));
    const reader = await post('processes/node-1/drain', await stand.readOnlyKey());
    expect([other.status, reader.status, stand.wishes]).to.deep.equal([403, 403, []]);
  });
});
