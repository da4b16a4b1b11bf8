/** Proves RG1–RG3. */
import { expect } from 'chai';
import { ErrorReply } from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { keyedKvFold, ReplayGateway } from '../../../src/replay/index.js';
import { effects } from '../../spec/journal/shard-history.js';
import { realTime } from '../../support/real-time.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const PARTITION = `kv:${DATABASE}:0` as PartitionName;
const AT_MS = 1_790_000_000_000;
const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: () => 0 };

function stand(...commands: readonly (string | readonly string[])[]) {
  const fold = keyedKvFold(RANDOM, () => AT_MS);
  fold.apply(effects(...commands));
  const gateway = new ReplayGateway(new Map([[PARTITION, { engine: fold.engine, position: 7 }]]), AT_MS, realTime);
  const ask = async (asked: readonly (readonly string[])[], more: Partial<KvRequest> = {}) =>
    gateway.execute({ database: DATABASE, partition: PARTITION, mode: 'pipeline', commands: asked, bytes: 1, ...more });
  const texts = async (...asked: Parameters<typeof ask>) =>
    (await ask(...asked)).replies.map((reply) => (reply instanceof ErrorReply ? reply.text : reply));
  return { fold, gateway, ask, texts };
}

describe('a replayed database', () => {
  it('answers reads as of its moment, and READONLY to every other command, one by one', async () => {
    const { texts, ask, fold } = stand('SET k v', `SET short x PXAT ${AT_MS + 5}`, `SET over x PXAT ${AT_MS}`);
    const digest = fold.digest();
    const replies = await texts([
      ['GET', 'k'],
      ['SET', 'k', 'w'],
      ['PTTL', 'short'],
      ['GET', 'over'],
      ['CONFIG', 'SET', 'maxmemory', '1'],
      ['NOSUCH'],
    ]);
    expect(replies.map((reply) => (typeof reply === 'string' ? reply.split(' ')[0] : reply))).to.deep.equal([
      'v',
      'READONLY',
      5,
      null,
      'READONLY',
      'ERR',
    ]);
    expect((await ask([['GET', 'k']])).syncToken).to.equal('7-0');
    expect(fold.digest()).to.equal(digest);
  });

  it('lets scripts read and not write, and isolates them from each other', async () => {
    const { texts, fold } = stand('SET k v');
    const digest = fold.digest();
    const script = (body: string) => ['EVAL', body, '1', 'k'];
    const many = await Promise.all(
      Array.from({ length: 5 }, () =>
        texts([script("local x = 0 for i = 1, 100000 do x = x + i end return redis.call('GET', KEYS[1])")]),
      ),
    );
    expect(many.flat()).to.deep.equal(['v', 'v', 'v', 'v', 'v']);
    const [refused] = await texts([script("return redis.call('SET', KEYS[1], 'w')")]);
    expect(refused).to.contain('READONLY');
    const [caught] = await texts([script("return redis.pcall('SET', KEYS[1], 'w').err")]);
    expect(caught).to.contain('READONLY');
    expect(fold.digest()).to.equal(digest);
  });

  it('limits a user to the current read permissions', async () => {
    const { texts } = stand('SET mine 1', 'SET theirs 2');
    const rules = ['on', '~mine', '+@all'].join('\n');
    const client = { face: 'rest' as const, protocol: 2 as const, id: '-', address: '-', user: 'u', rules };
    const reading = (key: string) => ['EVAL', `return redis.call('GET', '${key}')`, '0'];
    const replies = await texts([reading('mine'), reading('theirs')], { client });
    expect(replies[0]).to.equal('1');
    expect(replies[1]).to.contain('No permissions');
  });

  it('scans many keys in slices, while other requests of the partition wait for their turn', async () => {
    const { texts } = stand(...Array.from({ length: 20_000 }, (_, i) => `SET key:${i} ${i}`));
    const [keys, size] = await Promise.all([texts([['KEYS', '*']]), texts([['DBSIZE']])]);
    expect((keys[0] as unknown as unknown[]).length).to.equal(20_000);
    expect(size).to.deep.equal([20_000]);
  });

  it('runs transactions, watches keys that never change, and accepts subscriptions', async () => {
    const { ask, texts } = stand('SET k v');
    const {
      replies: [mark],
    } = await ask([['WATCH', 'k']], { mode: 'watch' });
    const watches = [{ keys: ['k'], mark: String(mark) }];
    const ran = await ask(
      [
        ['GET', 'k'],
        ['DEL', 'k'],
      ],
      { mode: 'transaction', watches },
    );
    expect([ran.isAborted ?? false, ran.replies.length, ran.replies[0]]).to.deep.equal([false, 2, 'v']);
    expect(await texts([['w', 'TIMEOUT']], { mode: 'unblock' })).to.deep.equal([0]);
    expect((await ask([], { mode: 'listen' })).replies).to.have.length(2);
  });

  it('refuses a partition that was not replayed', async () => {
    const { ask } = stand();
    const error = await ask([['GET', 'k']], { partition: `kv:${DATABASE}:1` as PartitionName }).catch((e: Error) => e);
    expect(error).to.have.property('code', 'NOT_FOUND');
  });
});
