import { expect } from 'chai';
import { permissionsOf } from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvGrant } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { RespFaceHarness } from '../../support/resp-face.js';

/** @param words as ACL SETUSER takes them */
const grantWith = (words: string): KvGrant => grantOf(words.replaceAll(' ', '\n'));

const grantOf = (rules: string): KvGrant => ({
  database: 'db-first' as DatabaseId,
  partitions: ['kv:db-first:0' as PartitionName],
  role: 'standard',
  user: 'alice',
  permissions: permissionsOf(rules, 'alice'),
  rules,
  limits: { maxCommandBytes: 1_000_000, maxRequestsPerDay: 0 },
});

describe('native protocol: permissions', () => {
  let face: RespFaceHarness;
  let current: KvGrant | undefined;
  beforeEach(async () => {
    current = grantWith('~a* &news +get +set +multi +exec +subscribe +client|id');
    face = await new RespFaceHarness({
      limits: { sweepEveryMs: 10 },
      access: {
        grantForLogin: () => current,
        isCurrent: (grant) => grant === current,
        renewed: () => current,
      },
    }).start();
  });
  afterEach(() => face.stop());

  it('bound commands, keys and channels', async () => {
    const client = await face.client(2, 'any');
    expect(await client.call('SET', 'a1', '1')).to.equal('+OK\r\n');
    expect(await client.call('SET', 'b1', '1')).to.match(/^-NOPERM .*key/);
    expect(await client.call('DEL', 'a1')).to.match(/^-NOPERM .*'del'/);
    expect(await client.call('CLIENT', 'ID')).to.match(/^:/);
    expect(await client.call('CLIENT', 'LIST')).to.match(/^-NOPERM .*'client\|list'/);
    expect(await client.call('SUBSCRIBE', 'other')).to.match(/^-NOPERM .*channel/);
    expect(await client.call('SUBSCRIBE', 'news')).to.match(/^\*3/);
    expect(face.owner.requests.every(({ client: who }) => who?.rules === current?.rules)).to.equal(true);
  });

  it('are those of the moment, on open connections and inside transactions', async () => {
    const client = await face.client(2, 'any');
    await client.call('MULTI');
    expect(await client.call('GET', 'a1')).to.equal('+QUEUED\r\n');
    expect(await client.call('SET', 'a1', '1')).to.equal('+QUEUED\r\n');
    current = grantWith('~a* +set +exec');
    expect(await client.call('EXEC')).to.match(/^\*2\r\n-NOPERM .*'get'.*\r\n\+OK\r\n$/);
    expect(await client.call('GET', 'a1')).to.match(/^-NOPERM/);
  });

  it('end the connection with their user', async () => {
    const client = await face.client(2, 'any');
    current = undefined;
    await client.closed();
    await eventually(() => expect(face.server.connections).to.equal(0));
  });
});
