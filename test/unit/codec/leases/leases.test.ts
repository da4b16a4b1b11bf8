import { encode } from '@msgpack/msgpack';
import { expect } from 'chai';
import {
  decodeBootTimes,
  decodeHeartbeat,
  encodeBootTimes,
  encodeHeartbeat,
} from '../../../../src/codec/leases/index.js';
import type { SessionId, ShardName } from '../../../../src/kernel/index.js';

const heartbeat = {
  session: 'node-1' as SessionId,
  canOwn: true,
  isLeaving: false,
  process: 'node-0' as SessionId,
  clock: {
    nowMs: 1_790_000_000_000,
    generation: 2,
    isSure: true,
    isBehindJournal: false,
    heard: [['node-2' as SessionId, 1, -3] as const],
  },
  news: [{ shard: 'KV_3' as ShardName, epoch: 4, what: 'released' as const }],
};

describe('heartbeats', () => {
  it('are decoded as they were encoded', () => {
    expect(decodeHeartbeat(encodeHeartbeat(heartbeat))).to.deep.equal(heartbeat);
  });

  it('of versions without clocks are read', () => {
    const { clock: _, news: __, ...older } = heartbeat;
    const bytes = encode([1, 'node-1', true, false, 'node-0']);
    expect(decodeHeartbeat(bytes)).to.deep.equal(older);
    expect(Buffer.from(encodeHeartbeat(older))).to.deep.equal(Buffer.from(bytes));
  });
});

describe('boot times', () => {
  it('are decoded as they were encoded', () => {
    const records = [
      { bootId: 'a', offsetMs: 1_789_999_000_000 },
      { bootId: 'b', offsetMs: 5 },
    ];
    expect(decodeBootTimes(encodeBootTimes(records))).to.deep.equal(records);
    expect(decodeBootTimes(encode([1, [['a', 1_789_999_000_000]]]))).to.deep.equal(records.slice(0, 1));
  });
});
