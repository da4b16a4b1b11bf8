/** Proves STI2: a draft of an index file is completed or discarded, STI3: no file is written while the disk is nearly full. */
import { expect } from 'chai';
import type { OwnedPartition } from '../../../src/actors/kv-shard/owned-partition.js';
import { StoredIndexes } from '../../../src/actors/kv-shard/stored-indexes.js';
import { type CommandSpec, findCommand, KvEngine } from '../../../src/domain/kv/index.js';
import type { PartitionName } from '../../../src/kernel/index.js';
import type { IndexFiles, Log } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { seededRandom } from '../../support/kv-bench.js';
import { silentLog } from '../../support/silent-log.js';

const CLOCK = { nowMs: () => 0, monotonicMs: () => 0 };
/** The smallest size of an index that is stored. */
const DOCUMENTS = 5000;

describe('the draft of an index file', () => {
  let engine: KvEngine;
  let owned: OwnedPartition;
  let stored: StoredIndexes;
  let steps: string[];
  let fails: boolean;
  let isDiskFull: boolean;
  const run = (line: string) => {
    const words = line.split(' ');
    engine.execute(findCommand(words) as CommandSpec, words, 1);
  };
  const work = async () => {
    stored.work(() => false);
    await new Promise(setImmediate);
  };

  beforeEach(() => {
    steps = [];
    fails = false;
    isDiskFull = false;
    engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    run('SEARCH.CREATE i ON HASH PREFIX 1 h: SCHEMA t TEXT');
    for (let id = 0; id < DOCUMENTS; id += 1) run(`HSET h:${id} t word${id}`);
    engine.searches.workUntil(() => false);
    owned = { name: 'kv:db-aaaaaaaaaaaaaaaa:0' as PartitionName, engine } as OwnedPartition;
    const note = (step: string) => async () => {
      steps.push(step);
      if (fails && step === 'append') throw new Error('no space');
    };
    const files: IndexFiles = {
      read: async () => undefined,
      write: () => ({ append: note('append'), complete: note('complete'), discard: note('discard') }),
      keepOnly: async () => undefined,
      keepOnlyOf: async () => undefined,
    };
    const log: Log = { ...silentLog, warn: () => steps.push('warning') };
    stored = new StoredIndexes({ files, clock: CLOCK, log, storage: { isFull: () => isDiskFull } }, () => undefined);
    stored.look(owned, engine);
  });

  it('is completed when all pieces are written', async () => {
    await eventually(async () => {
      await work();
      expect(steps.at(-1)).to.equal('complete');
    });
    expect(steps).not.to.include('discard');
  });

  it('is discarded when the actor ends, after the piece that is on its way', async () => {
    stored.work(() => false);
    stored.stop();
    expect(steps).to.deep.equal(['append']);
    await work();
    expect(steps).to.deep.equal(['append', 'discard']);
    await work();
    expect(steps).to.have.length(2);
  });

  it('is discarded when its index is dropped', async () => {
    await work();
    run('SEARCH.DROP i');
    stored.look(owned, engine);
    await work();
    expect(steps).to.deep.equal(['append', 'discard']);
  });

  it('is not begun while the disk is nearly full', async () => {
    isDiskFull = true;
    await work();
    expect(steps).to.deep.equal([]);
    isDiskFull = false;
    await work();
    expect(steps).to.deep.equal(['append']);
  });

  it('is discarded when a piece cannot be written', async () => {
    fails = true;
    await work();
    expect(steps).to.deep.equal(['append', 'warning', 'discard']);
  });
});
