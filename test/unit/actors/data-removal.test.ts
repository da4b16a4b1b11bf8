import { expect } from 'chai';
import { PartitionRemoval } from '../../../src/actors/kv-shard/index.js';
import { type DatabaseId, MillraceError } from '../../../src/kernel/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { ManualTime } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;

describe('removal of deleted data', () => {
  function given(failures: number) {
    const time = new ManualTime();
    const asked: string[] = [];
    let left = failures;
    const gateway = {
      async execute({ partition, commands }: KvRequest) {
        asked.push(`${commands[0]?.[0]} ${partition}`);
        left -= 1;
        if (left >= 0) throw new MillraceError('SHARD_UNAVAILABLE', 'no owner');
        return { replies: ['OK'], syncToken: '1-0' };
      },
    };
    return { time, asked, removal: new PartitionRemoval({ gateway, timers: time, log: silentLog }) };
  }

  it('empties every partition of the database', async () => {
    const { asked, removal } = given(0);
    removal.remove(DATABASE, 2);
    await eventually(() => expect(asked).to.deep.equal([`FLUSHALL kv:${DATABASE}:0`, `FLUSHALL kv:${DATABASE}:1`]));
  });

  it('asks again until an owner answers', async () => {
    const { time, asked, removal } = given(3);
    removal.remove(DATABASE, 1);
    await eventually(async () => {
      await time.advance(2_000);
      expect(asked).to.have.length(4);
    });
    await time.advance(60_000);
    expect(asked).to.have.length(4);
  });

  it('sends no more requests once it is stopped', async () => {
    const { time, asked, removal } = given(1000);
    removal.remove(DATABASE, 1);
    await eventually(() => expect(asked).to.have.length(1));
    removal.stop();
    await time.advance(60_000);
    expect(asked).to.have.length(1);
  });
});
