/** What `/readyz` says of shards. */
import { expect } from 'chai';
import { checkOfShards } from '../../../../src/actors/runtime/index.js';
import { MillraceError, type ShardName } from '../../../../src/kernel/index.js';

type Host = Parameters<typeof checkOfShards>[0][number];

const shard = (name: string) => name as ShardName;
const SERVED: Host = { stoppedShards: () => new Map(), lookFailures: () => new Map(), isSettled: () => true };

describe('the shards of a process', () => {
  it('are ready when each of them is served', () => {
    expect(checkOfShards([SERVED, SERVED])).to.deep.equal({ ok: true });
  });

  it('are waited for while they move, and what holds them up is said', () => {
    const lookFailures = () => new Map([[shard('KV_1'), 'no answer']]);
    expect(checkOfShards([SERVED, { ...SERVED, isSettled: () => false, lookFailures }])).to.deep.equal({
      ok: false,
      detail: 'shards are loading or moving; KV_1: no answer',
    });
  });

  it('are waited for by nobody once a journal is in doubt', () => {
    const damaged = (name: string): Host => ({
      ...SERVED,
      stoppedShards: () => new Map([[shard(name), new MillraceError('JOURNAL_DAMAGED', 'cut')]]),
    });
    expect(checkOfShards([damaged('KV_0'), damaged('QUEUE_0')])).to.deep.equal({
      ok: false,
      isStuck: true,
      detail: 'stopped, the journal is in doubt: KV_0, QUEUE_0',
    });
  });
});
