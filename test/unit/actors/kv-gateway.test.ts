import { expect } from 'chai';
import { KvShardGateway } from '../../../src/actors/kv-shard/index.js';
import type { ShardCaller } from '../../../src/actors/runtime/index.js';
import { encodeKvResponse } from '../../../src/codec/remote/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import { ManualTime } from '../../support/memory/index.js';

describe('a command to an owner in another process', () => {
  /** Whether a command is repeated after a lost answer. */
  async function mayRunAgain(...commands: string[][]): Promise<boolean> {
    const time = new ManualTime();
    let answer: boolean | undefined;
    const caller = {
      call: async ({ isRead }: { isRead: boolean }) => {
        answer = isRead;
        return encodeKvResponse({ replies: commands.map(() => null), syncToken: '0-0' });
      },
    } as unknown as ShardCaller;
    const limits = { holdMs: 1000, retryEveryMs: 10 };
    const gateway = new KvShardGateway({ clock: time, timers: time, caller, host: undefined }, limits, 4);
    await gateway.execute({
      database: 'db' as DatabaseId,
      partition: 'kv:db:0' as PartitionName,
      mode: 'pipeline',
      commands,
      bytes: 10,
    });
    return answer as boolean;
  }

  it('is repeated when it only reads', async () => {
    expect(await mayRunAgain(['GET', 'k'])).to.equal(true);
    expect(await mayRunAgain(['HGETALL', 'h'], ['ZRANGE', 'z', '0', '-1'])).to.equal(true);
  });

  it('is not repeated when it may write; scripts and functions count as writes', async () => {
    for (const words of [
      ['SET', 'k', 'v'],
      ['EVAL', "return redis.call('INCR', KEYS[1])", '1', 'k'],
      ['EVALSHA', '0'.repeat(40), '0'],
      ['FCALL', 'f', '0'],
      ['FUNCTION', 'FLUSH'],
      ['PUBLISH', 'c', 'm'],
    ]) {
      expect(await mayRunAgain(words), words[0]).to.equal(false);
      expect(await mayRunAgain(['GET', 'k'], words), words[0]).to.equal(false);
    }
  });
});
