/** Proves LSP1–LSP3. */
import { expect } from 'chai';
import { type LedStream, nextMove } from '../../../src/adapters/nats/leader-spread.js';

const SERVERS = ['one', 'two', 'three'];

const led = (key: string, leader: string, others = SERVERS.filter((name) => name !== leader)): LedStream => ({
  key,
  leader,
  others,
});

/** Moves until nothing is left to move. */
function spread(streams: readonly LedStream[]): LedStream[] {
  const moved = [...streams];
  for (let moves = 0; moves < 100; moves += 1) {
    const move = nextMove(moved);
    if (move === undefined) return moved;
    moved[moved.findIndex(({ key }) => key === move.key)] = led(move.key, move.to);
  }
  throw new Error('it never ends');
}

describe('leaders of streams', () => {
  const journals = ['KV_0', 'KV_1', 'KV_2', 'KV_3', 'QUEUE_0', 'INTAKE_0', 'METER'];

  it('are spread evenly, from wherever they are, with the leases and the control stream apart (LSP2, LSP3)', () => {
    for (const start of SERVERS) {
      const spreadOut = spread([...journals, 'leases', 'CONTROL'].map((key) => led(key, start)));
      const counts = SERVERS.map((name) => spreadOut.filter(({ leader }) => leader === name).length);
      expect(counts).to.deep.equal([3, 3, 3]);
      const leaderOf = (key: string) => spreadOut.find((stream) => stream.key === key)?.leader;
      expect(leaderOf('leases')).to.not.equal(leaderOf('CONTROL'));
    }
  });

  it('stay where they are once they are spread (LSP3)', () => {
    expect(
      nextMove([led('leases', 'one'), led('CONTROL', 'two'), led('KV_0', 'three'), led('KV_1', 'three')]),
    ).to.equal(undefined);
  });

  it('move to nobody who is not there or lacks something (LSP1)', () => {
    const alone = journals.map((key) => led(key, 'one', []));
    expect(nextMove([...alone, led('leases', 'one', []), led('CONTROL', 'one', [])])).to.equal(undefined);
    expect(nextMove([...alone, led('KV_9', 'one', ['three'])])).to.deep.equal({ key: 'KV_9', to: 'three' });
  });
});
