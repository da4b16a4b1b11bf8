import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { KvEndpointHarness, TOKEN } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const ALIAS = { headerWord: 'Upstash', queueWord: 'qstash', kvWord: 'redis' };

/** JSON documents through the published package, in the shapes that its users get. */
describe('client package: @upstash/redis, JSON', () => {
  const face = standOfAllTests(() => new KvEndpointHarness({ aliases: [ALIAS] }).start());
  let json: Redis['json'];

  beforeEach(async () => {
    const redis = new Redis({ url: face.url, token: TOKEN });
    await redis.flushall();
    json = redis.json;
  });

  async function failureOf(action: Promise<unknown>): Promise<string> {
    try {
      await action;
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it did not fail');
  }

  it('JSON.SET writes documents, and JSON.GET reads them whole, by path and by several paths', async () => {
    const document = { a: 2, b: 3, nested: { a: 4, b: null } };
    expect(await json.set('k', '$', document)).to.equal('OK');
    expect(await json.get('k')).to.deep.equal(document);
    expect(await json.get('k', '$')).to.deep.equal([document]);
    expect(await json.get('k', '$..b')).to.deep.equal([null, 3]);
    expect(await json.get('k', '$..a', '$..b')).to.deep.equal({ '$..a': [4, 2], '$..b': [null, 3] });
    expect(await json.get('missing')).to.equal(null);
    expect(await json.set('k', '$.a', 5, { xx: true })).to.equal('OK');
    expect(await json.set('k', '$.a', 6, { nx: true })).to.equal(null);
    expect(await failureOf(json.set('k', '$', 'foo'))).to.contain('ERR');
    expect(await failureOf(json.set('other', '$.a', 1))).to.contain('new objects must be created at the root');
  });

  it('JSON.MSET and JSON.MGET write and read several documents', async () => {
    await json.mset(
      { key: 'one', path: '$', value: { a: 1, nested: { a: 3 } } },
      { key: 'two', path: '$', value: { a: 4, nested: { a: 6 } } },
    );
    expect(await json.mget(['one', 'two', 'missing'], '$..a')).to.deep.equal([[3, 1], [6, 4], null]);
  });

  it('JSON.NUMINCRBY, JSON.TOGGLE and JSON.STRAPPEND answer null for a match of another type', async () => {
    await json.set('k', '$', { a: 'b', b: [{ a: 2 }, { a: 5 }, { a: 'c' }], yes: true });
    expect(await json.numincrby('k', '$.a', 2)).to.deep.equal([null]);
    const sums = (await json.numincrby('k', '$..a', 2)) as unknown as (number | null)[];
    expect(sums).to.have.members([null, 4, 7, null]);
    expect(await json.nummultby('k', '$.b[0].a', 2)).to.deep.equal([8]);
    expect(await json.toggle('k', '$.yes')).to.deep.equal([0]);
    expect(await json.toggle('k', '$.yes')).to.deep.equal([1]);
    expect(await json.strappend('k', '$..a', '"x"')).to.have.members([null, null, 2, 2]);
    expect(await json.strlen('k', '$.a')).to.deep.equal([2]);
    expect(await json.type('k', '$..a')).to.have.members(['integer', 'integer', 'string', 'string']);
  });

  it('JSON.ARRAPPEND, JSON.ARRINSERT, JSON.ARRPOP and JSON.ARRTRIM change arrays', async () => {
    await json.set('k', '$', { name: 'phones', levels: [80, 100], deep: { levels: [1] } });
    expect(await json.arrappend('k', '$.levels', 120, '"x"')).to.deep.equal([4]);
    expect(await json.arrinsert('k', '$.levels', 0, 60)).to.deep.equal([5]);
    expect(await json.arrlen('k', '$..levels')).to.deep.equal([1, 5]);
    expect(await json.arrindex('k', '$.levels', 100)).to.deep.equal([2]);
    expect(await json.arrpop('k', '$.levels')).to.deep.equal(['x']);
    expect(await json.arrpop('k', '$.levels', 0)).to.deep.equal([60]);
    expect(await json.arrtrim('k', '$.levels', 1, 1)).to.deep.equal([1]);
    expect(await json.get('k', '$.levels')).to.deep.equal([[100]]);
  });

  it('JSON.OBJKEYS, JSON.MERGE, JSON.DEL and JSON.CLEAR read and change objects', async () => {
    await json.set('k', '$', { a: [3], nested: { a: { b: 2, c: 1 } } });
    expect(await json.objkeys('k', '$..a')).to.deep.equal([['b', 'c'], null]);
    expect(await json.objlen('k', '$..a')).to.deep.equal([2, null]);
    expect(await json.merge('k', '$', { nested: { a: null }, d: 1 })).to.equal('OK');
    expect(await json.merge('k', '$.e', { f: 1 })).to.equal('OK');
    expect(await json.get('k')).to.deep.equal({ a: [3], nested: {}, d: 1, e: { f: 1 } });
    expect(await json.del('k', '$.d')).to.equal(1);
    expect(await json.forget('k', '$..a')).to.equal(1);
    expect(await json.clear('k', '$.*')).to.equal(1);
    expect(await json.get('k')).to.deep.equal({ nested: {}, e: {} });
  });

  it('JSON.RESP answers nested arrays', async () => {
    await json.set('k', '$', {
      name: 'Wireless',
      description: 'x',
      wireless: true,
      connection: 'Bluetooth',
      price: 99.98,
      stock: 25,
      colors: ['black', 'silver'],
    });
    const reply = (await json.resp('k')) as unknown[];
    expect(reply).to.have.length(15);
    expect(reply.slice(0, 3)).to.deep.equal(['{', 'name', 'Wireless']);
    expect(reply.at(-1)).to.deep.equal(['[', 'black', 'silver']);
  });
});
