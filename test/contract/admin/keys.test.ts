/** Keys and folders of a database in lists and trees, page by page. Proves LOK1, LOK2. */
import { expect } from 'chai';
import {
  ADMIN_LOOKS,
  LOOK_MS,
  MAX_ADMIN_ANSWER_BYTES,
  MAX_ADMIN_PAGE,
  MAX_KEY_FOLDERS,
} from '../../../src/edge/admin/admin-limits.js';
import type { ByteString } from '../../../src/kernel/index.js';
import { databaseIdOfUuid, kvPartition } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import type { Caller } from '../../support/management-endpoint.js';
import { AdminStand } from './admin-stand.js';

interface Keys {
  readonly keys: readonly { key: unknown; type: string; ttlMs: number | null; bytes: number; length?: number }[];
  readonly folders?: readonly { name: unknown; keys: number }[];
  readonly cursor: string;
}

describe('GET /v2/admin/databases/:id/keys and folders', () => {
  let stand: AdminStand;
  let database: string;

  before(async () => {
    stand = await new AdminStand().start();
  });
  beforeEach(async () => {
    database = await stand.newDatabase({ database_name: `d${stand.gateway.requests.length}` });
  });
  afterEach(() => {
    stand.monotonicMs = () => 0;
    stand.gateway.gate = undefined;
  });
  after(() => stand.stop());

  const get = (path: string, as?: Caller) =>
    stand.call('GET', `/v2/admin/databases/${database}/${path}`, { as: as ?? stand.owner });
  const shown = async (path: string, as?: Caller): Promise<Keys> => {
    const { status, json, misfits } = await get(path, as);
    expect([path, status, misfits], JSON.stringify(json)).to.deep.equal([path, 200, []]);
    return json as Keys;
  };
  const refusedAs = async (path: string, status: number, error: string | RegExp, as?: Caller) => {
    const answer = await get(path, as);
    expect([path, answer.status]).to.deep.equal([path, status]);
    expect((answer.json as { error: string }).error).to.match(
      error instanceof RegExp ? error : new RegExp(`^${error}`),
    );
  };
  const run = async (...commands: readonly (readonly ByteString[])[]) => {
    const id = databaseIdOfUuid(database);
    if (id === undefined) throw new Error('no id');
    const place = { database: id, partition: kvPartition(id, 0) };
    await stand.gateway.execute({ ...place, mode: 'pipeline', commands, bytes: 0 });
  };
  /** All pages, one after the other. */
  const all = async (path: string, most = 1000): Promise<Keys[]> => {
    const pages: Keys[] = [];
    let cursor = '0';
    do {
      pages.push(await shown(`${path}&cursor=${cursor}`));
      cursor = pages.at(-1)?.cursor ?? '0';
    } while (cursor !== '0' && pages.length < most);
    return pages;
  };

  it('shows the type, time to live, size and length of each key', async () => {
    await run(
      ['SET', 'a', 'text', 'PX', '60000'],
      ['RPUSH', 'list', '1', '2'],
      ['HSET', 'hash', 'f', 'v'],
      ['SADD', 'set', 'a', 'b', 'c'],
      ['ZADD', 'zset', '1', 'm'],
      ['XADD', 'stream', '*', 'f', 'v'],
      ['ARMSET', 'array', '0', 'a', '900', 'b'],
      ['VECTOR.CREATE', 'vector', 'DIM', '2', 'METRIC', 'DOT'],
      ['VECTOR.ADD', 'vector', 'a', 'VALUES', '2', '1', '0'],
      ['JSON.SET', 'json', '$', '{"a":1}'],
      ['BF.ADD', 'bloom', 'a'],
      ['TDIGEST.CREATE', 'digest'],
      ['SEARCH.CREATE', 'index', 'ON', 'JSON', 'PREFIX', '1', 'j', 'SCHEMA', 'a', 'I64'],
    );
    const { keys, cursor } = await shown('keys');
    expect(cursor).to.equal('0');
    const byKey = Object.fromEntries(keys.map(({ key, type, length }) => [key, [type, length]]));
    expect(byKey).to.deep.equal({
      a: ['string', 4],
      list: ['list', 2],
      hash: ['hash', 1],
      set: ['set', 3],
      zset: ['zset', 1],
      stream: ['stream', 1],
      array: ['array', 2],
      vector: ['vector', 1],
      json: ['ReJSON-RL', undefined],
      bloom: ['MBbloom--', undefined],
      digest: ['TDIS-TYPE', undefined],
      index: ['search', undefined],
    });
    expect(keys.filter(({ ttlMs }) => ttlMs !== null).map(({ key }) => key)).to.deep.equal(['a']);
    expect(keys.find(({ key }) => key === 'a')?.ttlMs).to.be.within(50_000, 60_000);
    for (const { bytes } of keys) expect(bytes).to.be.greaterThan(0);
  });

  it('filters by pattern and type, also for read-only keys', async () => {
    await run(
      ['SET', 'user:1', 'a'],
      ['SET', 'other', 'a'],
      ['HSET', 'user:2', 'a', 'b'],
      ['SET', '\xff\xe0', 'bytes'],
    );
    const looking = await stand.readOnlyKey();
    const names = async (path: string) => (await shown(path, looking)).keys.map(({ key }) => key);
    expect(await names('keys?match=user:*&type=hash')).to.deep.equal(['user:2']);
    expect(await names('keys?match=user:*')).to.have.members(['user:1', 'user:2']);
    const bytes = Buffer.from([0xff, 0xe0]).toString('base64');
    expect(await names(`keys?match_base64=${encodeURIComponent(bytes)}`)).to.deep.equal([{ base64: bytes }]);
  });

  it('lists every key once over all pages', async () => {
    const written = Array.from({ length: 3000 }, (_, n) => `k:${n}`);
    await run(...written.map((key) => ['SET', key, '1']));
    const pages = await all('keys?count=100');
    const met = pages.flatMap(({ keys }) => keys.map(({ key }) => key));
    expect(met).to.have.length(3000);
    expect(met).to.have.members(written);
    expect(Math.max(...pages.map(({ keys }) => keys.length))).to.be.at.most(110);
    const rare = await all('keys?match=k:2999&count=10');
    expect(rare.flatMap(({ keys }) => keys.map(({ key }) => key))).to.deep.equal(['k:2999']);
    expect(rare.length).to.equal(1);
  });

  it('lists the keys of every partition', async () => {
    database = await stand.newDatabase({ database_name: 'wide', partitions: 3 });
    const id = databaseIdOfUuid(database);
    if (id === undefined) throw new Error('no id');
    for (const index of [0, 1, 2]) {
      const partition = kvPartition(id, index);
      const commands = [['SET', `p${index}`, '1']];
      await stand.gateway.execute({ database: id, partition, mode: 'pipeline', commands, bytes: 0 });
    }
    const { keys, cursor } = await shown('keys');
    expect([keys.map(({ key }) => key), cursor]).to.deep.equal([['p0', 'p1', 'p2'], '0']);
  });

  it('ends a page after its time limit, and continues at the cursor', async () => {
    const written = Array.from({ length: 20_000 }, (_, n) => ['SET', `k${n}`, '1']);
    await run(...written);
    let nowMs = 0;
    stand.monotonicMs = () => {
      nowMs += LOOK_MS / 2;
      return nowMs;
    };
    const first = await shown('keys?match=none*');
    expect(first.keys).to.deep.equal([]);
    expect(first.cursor).to.not.equal('0');
    expect((await all('keys?match=k1?')).flatMap(({ keys }) => keys)).to.have.length(10);
  });

  it('ends a page at its size limit', async () => {
    const large = 'x'.repeat(MAX_ADMIN_ANSWER_BYTES / 4);
    for (const n of [1, 2, 3, 4, 5, 6]) await run(['SET', `${large}${n}`, '1']);
    const pages = await all('keys?count=1000&match=*x?');
    expect(pages.flatMap(({ keys }) => keys)).to.have.length(6);
  });

  it('shows folders with their number of keys, and the keys next to them', async () => {
    await run(
      ...['user:1:name', 'user:1:age', 'user:2', 'user', 'user:', 'team:1', 'plain'].map((key) => ['SET', key, '1']),
    );
    const root = await shown('folders');
    expect(Object.fromEntries((root.folders ?? []).map(({ name, keys }) => [name, keys]))).to.deep.equal({
      user: 4,
      team: 1,
    });
    expect(root.keys.map(({ key }) => key)).to.have.members(['user', 'plain']);
    expect(root.cursor).to.equal('0');
    const below = await shown('folders?prefix=user:');
    expect(below.folders).to.deep.equal([{ name: '1', keys: 2 }]);
    expect(below.keys.map(({ key }) => key)).to.have.members(['user:2', 'user:']);
    const slashed = await shown('folders?separator=1:');
    expect(slashed.folders).to.deep.equal([{ name: 'user:', keys: 2 }]);
    expect((await shown('folders?type=hash')).folders).to.deep.equal([]);
  });

  it('takes a prefix literally', async () => {
    await run(['SET', '[a]*?\\:x:1', '1'], ['SET', 'a:x:1', '1'], ['SET', '\xff:x:1', '1']);
    const { folders } = await shown(`folders?prefix=${encodeURIComponent('[a]*?\\:')}`);
    expect(folders).to.deep.equal([{ name: 'x', keys: 1 }]);
    const bytes = encodeURIComponent(Buffer.from([0xff, 0x3a]).toString('base64'));
    expect((await shown(`folders?prefix_base64=${bytes}`)).folders).to.deep.equal([{ name: 'x', keys: 1 }]);
  });

  it('ends a page at the maximum number of folders', async () => {
    const many = MAX_KEY_FOLDERS * 7;
    await run(...Array.from({ length: many }, (_, n) => ['SET', `f${n}:k`, '1']));
    const pages = await all('folders?count=10');
    expect(pages.length).to.be.greaterThan(1);
    const names = pages.flatMap(({ folders = [] }) => folders.map(({ name }) => name));
    expect(new Set(names).size).to.equal(many);
  });

  it('refuses invalid filters, a count above the maximum, and more parallel requests than allowed', async () => {
    await refusedAs('keys?type=text', 400, 'type: must be one of string, list');
    await refusedAs('keys?cursor=x', 400, 'cursor: must be the cursor of an earlier response');
    await refusedAs('keys?cursor=99999999999999999999', 400, /cursor/);
    await refusedAs(`keys?count=${MAX_ADMIN_PAGE + 1}`, 400, `count: must be a number from 1 to ${MAX_ADMIN_PAGE}`);
    await refusedAs(`keys?match=${'*?'.repeat(600)}`, 400, /pattern is too long/);
    await refusedAs('keys?match_base64=%21', 400, 'match_base64: must be base64');
    await refusedAs('folders?separator=', 400, 'separator: must not be empty');
    let open = () => {};
    stand.gateway.gate = new Promise((resolve) => {
      open = resolve;
    });
    const before = stand.gateway.requests.length;
    const looks = Array.from({ length: ADMIN_LOOKS.ofAccount }, () => shown('keys'));
    await eventually(() => expect(stand.gateway.requests.length - before).to.equal(ADMIN_LOOKS.ofAccount));
    await refusedAs('keys', 503, 'the server is busy');
    open();
    await Promise.all(looks);
    await shown('keys');
  });

  it("answers 404 for another account's database, and 403 to roles without access to databases", async () => {
    const { caller } = await stand.newPerson(`s${stand.gateway.requests.length}@example.com`);
    for (const path of ['keys', 'folders']) await refusedAs(path, 404, 'database not found', caller);
    const team = await stand.newTeam('clerks');
    const finance = await stand.memberOf(team, 'finance');
    for (const path of ['keys', 'folders']) await refusedAs(path, 403, 'the role finance may not do this', finance);
  });
});
