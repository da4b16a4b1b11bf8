import { expect } from 'chai';
import { KvFold, KvPlane, type KvPlanePorts } from '../../../src/actors/kv-shard/index.js';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { KvEngine } from '../../../src/domain/kv/index.js';
import type { DatabaseId } from '../../../src/kernel/index.js';
import { ROOMY } from '../../../src/ports/index.js';
import { kvPartition } from '../../../src/protocol/index.js';
import { NO_LISTENERS } from '../../support/no-listeners.js';
import { timersOf } from '../../support/timers-of.js';

const PARTITION = kvPartition('db-aaaaaaaaaaaaaaaa' as DatabaseId, 0);
const ENTRIES = 1000;
const ENTRIES_OF_A_STEP = 100;
/** The time that each look at the clock below takes. */
const MS_PER_LOOK = 0.01;

type Steps = Parameters<KvPlane['restore']>[0];

describe('the replay of a shard', () => {
  it('yields to the event loop between many entries of one command each', async () => {
    let nowMs = 0;
    let breaths = 0;
    const plane = new KvPlane(
      portsOf({
        clock: { nowMs: () => nowMs, monotonicMs: () => (nowMs += MS_PER_LOOK) },
        timers: timersOf({
          after: () => ({ cancel: () => undefined }),
          soon: (action) => {
            breaths += 1;
            setImmediate(action);
          },
        }),
      }),
      { expiryKeysPerTick: 1, expiryEveryMs: 100, passivateAfterMs: 1000 } as ConstructorParameters<typeof KvPlane>[1],
    );
    await plane.restore(entriesOf(ENTRIES) as unknown as Steps);
    const [, fold] = [...plane.loaded()][0] as readonly [unknown, KvFold];
    expect(fold.size).to.equal(ENTRIES);
    expect(breaths).to.be.within(3, ENTRIES / 10);
  });
});

async function* entriesOf(count: number): AsyncGenerator<unknown> {
  let reads: unknown[] = [];
  for (let index = 1; index <= count; index += 1) {
    const effects = Buffer.from(encodeCommand(['SET', `key:${index}`, 'x']), 'latin1');
    const section = { partition: PARTITION, index, previousHash: new Uint8Array(32), effects };
    const entry = { clockMs: index, body: { kind: 'batch', commandIds: [], sections: [section] } };
    reads.push({ entry, position: index, totalBytes: effects.length });
    if (reads.length < ENTRIES_OF_A_STEP) continue;
    yield { kind: 'entries', reads };
    reads = [];
  }
}

function portsOf(ports: Pick<KvPlanePorts, 'clock' | 'timers'>): KvPlanePorts {
  const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
  return {
    ...ports,
    log: silent,
    storage: ROOMY,
    ...NO_LISTENERS,
    createFold: () =>
      new KvFold(
        new KvEngine(
          { bytes: (count) => new Uint8Array(count), float: () => 0 },
          { nowMicros: () => 0, info: () => new Map() },
        ),
      ),
    loadPartition: () => Promise.reject(new Error('there is no snapshot')),
  };
}
