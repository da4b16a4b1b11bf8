/** Proves VX1, VX2, NV1. */
import { expect } from 'chai';
import { type CommandSpec, findCommand, KvEngine, MAX_RECORD_BYTES, type Reply } from '../../../src/domain/kv/index.js';
import { MAX_QUERY_MS } from '../../../src/domain/kv/limits.js';
import { inOneStep } from '../../../src/domain/kv/steps.js';
import { NamedVectors } from '../../../src/domain/kv/types/named-vectors.js';
import { VectorIndex } from '../../../src/domain/kv/types/vector-index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { kvCase, NOW } from '../../support/kv-case.js';
import { KvEventsBench } from '../../support/kv-events.js';
import { VECTOR_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: vector indexes', VECTOR_CASES);

const TWO = ['VECTOR.CREATE k DIM 2 METRIC DOT', 'VECTOR.ADD k a VALUES 2 1 0'];

/** Not among all cases, because a server without vector indexes gives these commands another answer, not an error. */
describeCases('key-value commands: vector indexes, as keys', [
  kvCase(
    'VECTOR.ADD repeats the expiry of the key',
    [...TWO, 'PEXPIREAT k @+100000'],
    'VECTOR.ADD k a VALUES 2 1 0',
    0,
    ['VECTOR.ADD k a FP32 \\x00\\x00\\x80\\x3f\\x00\\x00\\x00\\x00', 'PEXPIREAT k @+100000'],
  ),
  kvCase('TYPE of a vector index', TWO, 'TYPE k', '+vector'),
  kvCase('OBJECT ENCODING of a vector index', TWO, 'OBJECT ENCODING k', 'float32'),
  kvCase('MEMORY USAGE of a vector index', TWO, 'MEMORY USAGE k', (reply) => Number(reply) > 400),
  kvCase('SCAN TYPE vector', [...TWO, 'SET s x'], 'SCAN 0 TYPE vector', ['0', ['k']]),
  kvCase('RENAME of a vector index', [...TWO, 'RENAME k l'], 'VECTOR.GET l a', ['1', '0']),
  kvCase('COPY of a vector index is independent', [...TWO, 'COPY k l', 'VECTOR.DEL k a'], 'VECTOR.COUNT l', 1),
]);

const IDS = 3000;
const DIMENSION = 64;

function filled(metric: string): { readonly bench: KvBench; readonly vectors: ReadonlyMap<string, number[]> } {
  const bench = new KvBench();
  const random = seededRandom(7);
  const vectors = new Map<string, number[]>();
  bench.line(`VECTOR.CREATE k DIM ${DIMENSION} METRIC ${metric}`);
  for (let i = 0; i < IDS; i += 1) {
    const vector = Array.from({ length: DIMENSION }, () => Math.fround(random.float() * 2 - 1));
    vectors.set(`v${i}`, vector);
    bench.run(['VECTOR.ADD', 'k', `v${i}`, 'VALUES', String(DIMENSION), ...vector.map(String)]);
  }
  return { bench, vectors };
}

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
/** The documented scores, computed plainly. */
const SCORES: Readonly<Record<string, (a: readonly number[], b: readonly number[]) => number>> = {
  COSINE: (a, b) => (1 + dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))) / 2,
  EUCLIDEAN: (a, b) => 1 / (1 + a.reduce((sum, x, i) => sum + (x - (b[i] as number)) ** 2, 0)),
};

describe('key-value: vector indexes of many vectors', () => {
  for (const [metric, scoreOf] of Object.entries(SCORES)) {
    it(`answer the nearest of all by ${metric}, with the documented scores`, () => {
      const { bench, vectors } = filled(metric);
      const query = vectors.get('v5') as number[];
      const words = ['VECTOR.QUERY', 'k', 'TOPK', '20', 'VALUES', String(DIMENSION), ...query.map(String)];
      const found = readable(bench.run(words).reply) as [string, string][];
      const expected = [...vectors].map(([id, vector]) => [id, scoreOf(query, vector)] as const);
      expected.sort(([, a], [, b]) => b - a);
      expect(found.map(([id]) => id)).to.deep.equal(expected.slice(0, 20).map(([id]) => id));
      for (const [at, [, score]] of found.entries()) {
        expect(Number(score)).to.be.closeTo((expected[at] as readonly [string, number])[1], 1e-9);
        expect(Number(score)).to.be.within(0, 1);
      }
      expect(bench.engine.isLong(findCommand(words) as CommandSpec, words, NOW)).to.equal(false);
      bench.expectReplayed();
      bench.expectRebuilt();
    });
  }

  it('are searched in slices above a million products', () => {
    const index = new VectorIndex(1000, 'DOT');
    for (let i = 0; i < 1500; i += 1) index.set(`v${i}`, new Float32Array(1000));
    const steps = index.nearest(new Float32Array(1000), { count: 3 });
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses += 1;
    expect(pauses).to.be.greaterThan(5);
    expect(step.value.map(({ id }) => id)).to.deep.equal(['v0', 'v1', 'v10']);
  });

  it('have a graph that queries build, and PRECISE compares all of them', () => {
    const index = new NamedVectors(8, 'EUCLIDEAN', 'F32', 2000);
    const at = (seed: number) => Float32Array.from({ length: 8 }, (_, place) => Math.sin(seed * (place + 1.37)));
    for (let i = 0; i < 3000; i += 1) index.set(`v${i}`, at(i));
    const ask = (query: Float32Array, isExact: boolean) => inOneStep(index.nearest(query, { count: 10, isExact }));
    while (index.graph.linked < 3000) ask(at(0.5), false);
    let found = 0;
    for (let i = 0; i < 50; i += 1) {
      const exact = ask(at(i + 0.3), true).map(({ name }) => name);
      found += ask(at(i + 0.3), false).filter(({ name }) => exact.includes(name)).length;
    }
    expect(found).to.be.at.least(0.97 * 50 * 10);
    expect(index.linksOf('v7')?.[0]).to.have.lengthOf.within(1, 32);
  });

  for (const [command, words, reply] of [
    ['VECTOR.QUERY', ['VECTOR.QUERY', 'k', 'TOPK', '1', 'VALUES', '1', '2'], [['v', '1']]],
    ['VSIM', ['VSIM', 's', 'VALUES', '1', '2'], ['v']],
  ] as const) {
    it(`${command} is refused above 250 ms of work, also in a script`, () => {
      for (const ask of [words, ['EVAL', `return redis.call('${words.join("','")}')`, '0']]) {
        let [nowMicros, sliceMs] = [0, 0];
        const clock = { nowMicros: () => (nowMicros += 1000 * sliceMs), info: () => new Map() };
        const engine = new KvEngine(seededRandom(1), clock);
        const run = (line: readonly string[]) =>
          readable(engine.execute(findCommand(line) as CommandSpec, line, NOW) as Reply);
        run(['VECTOR.CREATE', 'k', 'DIM', '1', 'METRIC', 'COSINE']);
        run(['VECTOR.ADD', 'k', 'v', 'VALUES', '1', '1']);
        run(['VADD', 's', 'VALUES', '1', '1', 'v']);
        sliceMs = MAX_QUERY_MS + 1;
        expect(run(ask)).to.match(/^-ERR The query took more than 250 ms of work: /);
        sliceMs = MAX_QUERY_MS - 1;
        if (ask === words) expect(run(ask)).to.deep.equal(reply);
      }
    });
  }

  it('survive DUMP and RESTORE', () => {
    const { bench } = filled('COSINE');
    const payload = bench.line('DUMP k').reply as string;
    expect(readable(bench.run(['RESTORE', 'l', '0', payload]).reply)).to.equal('+OK');
    expect(readable(bench.line('VECTOR.GET l v9').reply)).to.deep.equal(readable(bench.line('VECTOR.GET k v9').reply));
    expect(bench.line('DUMP l').reply).to.equal(payload);
    bench.expectReplayed();
  });

  it('end at the largest record', () => {
    const bench = new KvBench();
    bench.line('VECTOR.CREATE k DIM 1 METRIC DOT');
    const id = 'x'.repeat(MAX_RECORD_BYTES);
    expect(readable(bench.run(['VECTOR.ADD', 'k', id, 'VALUES', '1', '1']).reply)).to.equal(
      '-ERR max single record size exceeded',
    );
  });

  it('take back the changes of a stopped transaction', () => {
    const index = new VectorIndex(1, 'DOT');
    index.set('a', Float32Array.of(1));
    const opposites: (() => void)[] = [];
    const log = { push: (opposite: () => void) => opposites.push(opposite) };
    index.undo = log;
    index.keepState(log);
    index.set('a', Float32Array.of(2));
    index.set('b', Float32Array.of(3));
    index.delete('a');
    index.undo = undefined;
    for (const opposite of opposites.reverse()) opposite();
    expect([...index.entries()].map(([id]) => id)).to.deep.equal(['a']);
    expect(index.get('a')).to.deep.equal(Float32Array.of(1));
    expect(index.bytes).to.equal(200 + 4 + 218 + 1);
  });

  it('publish keyspace events', () => {
    const bench = new KvEventsBench();
    const lines = [...TWO, 'VECTOR.DEL k a', 'VECTOR.DROP k'];
    expect(lines.flatMap((line) => bench.line(line))).to.deep.equal([
      'vector.create k',
      'vector.add k',
      'vector.del k',
      'del k',
    ]);
  });
});
