/** The check of shards in `/readyz`. */
import { expect } from 'chai';
import { checkOfShards } from '../../../../src/actors/runtime/index.js';
import { MillraceError, type ShardName } from '../../../../src/kernel/index.js';

type Host = Parameters<typeof checkOfShards>[0][number];

const shard = (name: string) => name as ShardName;
const SERVED: Host = { stoppedShards: () => new Map(), lookFailures: () => new Map(), isSettled: () => true };

describe('the readiness of the shards of a process', () => {
  it('is ok when each shard is served', () => {
    expect(checkOfShards([SERVED, SERVED])).to.deep.equal({ ok: true });
  });

  it('is not ok while shards move, and the detail names the reason', () => {
    const lookFailures = () => new Map([[shard('KV_1'), 'no answer']]);
    expect(checkOfShards([SERVED, { ...SERVED, isSettled: () => false, lookFailures }])).to.deep.equal({
      ok: false,
      detail: 'shards are loading or moving; KV_1: no answer',
    });
  });

  it('reports stuck shards once only stopped ones are not served, each with its reason', () => {
    const damaged = (name: string): Host => ({
      ...SERVED,
      stoppedShards: () => new Map([[shard(name), new MillraceError('JOURNAL_DAMAGED', 'cut')]]),
    });
    expect(checkOfShards([damaged('KV_0'), damaged('QUEUE_0')])).to.deep.equal({
      ok: false,
      isStuck: true,
      detail: 'stopped, the journal is in doubt: KV_0 (cut), QUEUE_0 (cut)',
    });
    const newer: Host = {
      ...SERVED,
      stoppedShards: () => new Map([[shard('KV_2'), new MillraceError('NEWER_FORMAT', 'version 2')]]),
    };
    expect(checkOfShards([newer]).detail).to.equal('stopped, written by a newer release: KV_2 (version 2)');
    const moving = { ...SERVED, isSettled: () => false };
    expect(checkOfShards([damaged('KV_0'), moving])).to.deep.equal({
      ok: false,
      detail: 'stopped, the journal is in doubt: KV_0 (cut); shards are loading or moving',
    });
  });
});
