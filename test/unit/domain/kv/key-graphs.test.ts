/** Graphs of vector keys that are taken over from files. Proves GRF1, GRF2, KGR1. */
import { expect } from 'chai';
import {
  type CommandSpec,
  findCommand,
  KvEngine,
  type Reply,
  type StorableContents,
} from '../../../../src/domain/kv/index.js';
import { GRAPH_FROM } from '../../../../src/domain/vector-graph/index.js';
import { seededRandom } from '../../../support/kv-bench.js';

const CHANGED = 'e5';
const TAKEN_OVER_AT_LEAST = GRAPH_FROM - 500;

function numbersOf(at: number): string[] {
  return [Math.sin(at), Math.cos(3 * at), Math.sin(7 * at) / 2].map(String);
}

class Partition {
  readonly engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });

  constructor(hasFiles = true) {
    this.engine.graphs.hasFiles = hasFiles;
  }

  run(...words: string[]): Reply {
    const reply = this.engine.execute(findCommand(words) as CommandSpec, words, 1) as Reply;
    this.engine.effects.take();
    return reply;
  }

  fill(key: string, count = GRAPH_FROM): void {
    for (let at = 0; at < count; at += 1) this.run('VADD', key, 'VALUES', '3', ...numbersOf(at), `e${at}`, 'NOQUANT');
  }

  /** Vectors in the graph. */
  linked(key: string): number {
    const value = this.engine.keyspace.stored(key);
    return typeof value === 'object' ? (value.graphFile?.items ?? 0) : 0;
  }

  nearest(key: string, ...options: string[]): Reply {
    return this.run('VSIM', key, 'VALUES', '3', '0.3', '0.4', '0.1', 'COUNT', '5', ...options);
  }

  get files(): StorableContents[] {
    return [...this.engine.graphs.all()];
  }

  get texts(): string[] {
    return this.files.map(({ text }) => text);
  }

  takeOver(): void {
    this.engine.graphs.workUntil(() => false);
  }
}

function bytesOf(contents: StorableContents): Buffer {
  return Buffer.concat([...contents.pieces()].filter((piece) => piece !== undefined));
}

describe('graphs of vector keys in files', function () {
  this.timeout(60_000);
  let stored: Buffer;

  before(() => {
    const built = new Partition();
    built.fill('v');
    for (const contents of built.files) contents.begin(undefined);
    while (built.linked('v') < GRAPH_FROM - 100) built.nearest('v');
    const [contents] = built.files as [StorableContents];
    expect(contents.unstored).to.be.at.least(GRAPH_FROM - 100);
    stored = bytesOf(contents);
    expect(contents.unstored, 'after it was stored').to.equal(0);
    expect(built.nearest('v')).to.deep.equal(built.nearest('v', 'TRUTH'));
  });

  it('are taken over without the vectors that have changed; until then queries compare all vectors and build no graph', () => {
    const started = new Partition();
    started.fill('v');
    started.run('VADD', 'v', 'VALUES', '3', '0.3', '0.4', '0.1', CHANGED, 'NOQUANT');
    started.run('VREM', 'v', 'e7');
    const [contents] = started.files as [StorableContents];
    expect(contents.wantsFile).to.equal(true);
    expect(started.nearest('v')).to.deep.equal(started.nearest('v', 'TRUTH')).and.include(CHANGED);
    expect(started.linked('v')).to.equal(0);
    contents.begin(stored);
    started.engine.graphs.workUntil(() => started.linked('v') > 0);
    expect(started.engine.graphs.hasWork).to.equal(true);
    expect(contents.unstored, 'while it is taken over').to.equal(undefined);
    expect(started.nearest('v')).to.deep.equal(started.nearest('v', 'TRUTH'));
    started.takeOver();
    expect(started.linked('v')).to.be.within(TAKEN_OVER_AT_LEAST, GRAPH_FROM - 2);
    expect(started.nearest('v')).to.deep.equal(started.nearest('v', 'TRUTH')).and.include(CHANGED);
    expect(contents.unstored).to.be.below(1000);
  });

  it('are built by queries if the file is missing or damaged', () => {
    for (const bytes of [undefined, Buffer.from('damaged'), stored.subarray(0, stored.length / 2)]) {
      const started = new Partition();
      started.fill('v');
      started.files[0]?.begin(bytes);
      started.takeOver();
      expect(started.linked('v')).to.equal(0);
      started.nearest('v');
      expect(started.linked('v')).to.be.above(0);
    }
  });

  it('are built without a wait by a process without files', () => {
    const plain = new Partition(false);
    plain.fill('v');
    expect(plain.files).to.deep.equal([]);
    plain.nearest('v');
    expect(plain.linked('v')).to.be.above(0);
  });

  it('are stored between two insertions, and are not built during that, also after an abandoned writing', () => {
    const built = new Partition();
    built.fill('v');
    const [contents] = built.files as [StorableContents];
    contents.begin(undefined);
    built.nearest('v');
    const pieces = contents.pieces();
    pieces.next();
    const linked = built.linked('v');
    built.nearest('v');
    expect(built.linked('v')).to.be.within(linked, linked + 1);
    expect(contents.unstored).to.equal(undefined);
    pieces.return();
    built.nearest('v');
    expect(built.linked('v')).to.be.above(linked + 1);
  });

  it('have files named by key and kind of vectors: RENAME has another one, DEL, SET, expiry and FLUSHALL have none', () => {
    const { engine, run, texts } = (() => {
      const partition = new Partition();
      partition.fill('small', GRAPH_FROM / 2 - 1);
      for (const key of ['a', 'b', 'c', 'd']) partition.fill(key, GRAPH_FROM / 2);
      return { engine: partition.engine, run: partition.run.bind(partition), texts: () => partition.texts };
    })();
    const named = (...keys: string[]) => keys.map((key) => `graph COSINE F32 3 ${key}`);
    expect(texts()).to.deep.equal(named('a', 'b', 'c', 'd'));
    const { generation } = engine.graphs;
    run('VADD', 'a', 'VALUES', '3', '1', '2', '3', 'more', 'NOQUANT');
    engine.graphs.sync();
    expect(engine.graphs.generation, 'after a change of vectors').to.equal(generation);
    run('RENAME', 'a', 'e');
    run('COPY', 'b', 'f');
    expect(texts()).to.have.members(named('b', 'c', 'd', 'e', 'f'));
    run('DEL', 'b');
    run('SET', 'c', 'x');
    run('PEXPIRE', 'd', '1');
    engine.removal.expireDue(2, 10);
    expect(texts()).to.have.members(named('e', 'f'));
    run('FLUSHALL');
    expect(texts()).to.deep.equal([]);
    expect(engine.graphs.size).to.equal(0);
  });

  it('are read one after the other', () => {
    const started = new Partition();
    for (const key of ['a', 'b']) started.fill(key);
    const wanting = () => started.files.map(({ wantsFile }) => wantsFile);
    expect(wanting()).to.deep.equal([true, false]);
    started.files[0]?.begin(stored);
    expect(wanting(), 'while the first is taken over').to.deep.equal([false, false]);
    started.takeOver();
    expect(wanting()).to.deep.equal([false, true]);
    started.run('DEL', 'b');
    started.run('RENAME', 'a', 'c');
    expect(wanting()).to.deep.equal([false]);
    expect(started.linked('c')).to.be.at.least(TAKEN_OVER_AT_LEAST);
    expect(started.files[0]?.unstored, 'under the new name').to.equal(Number.POSITIVE_INFINITY);
  });
});
