/**
 * Queries to 200,000 vectors of 384 numbers in clusters, kept with 16 bits for a number, as the thread answers them, and a
 * plain loop over the same numbers with 32 bits, in turn. Times are those of the processor, so other work on the machine
 * changes them little.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { VectorShape } from '../src/domain/search/index.js';
import type { VectorQuery } from '../src/ports/index.js';
import { rankVectors, VectorNamespace } from '../src/projections/index.js';
import { atLeast, atMost, type Bench, type Figure, median, percentile } from './figures.js';
import { sized } from './sizes.js';

const VECTORS = sized(200_000, 10_000);
const QUERIES = sized(100, 20);
/** Before those that are measured: their code is compiled then. */
const WARM_UP = 20;
const DIMENSION = 384;
const CLUSTERS = 500;
const TOP = 10;
const KINDS = 100;
const TENTH = 10;
const SEED = 12_345;
const PRECISION = 'F16';
const SHAPE: VectorShape = { kind: 'DENSE', metric: 'COSINE', dimension: DIMENSION, denseModel: '', sparseModel: '' };
const PLAIN: Omit<VectorQuery, 'dense'> = { topK: TOP, filter: '', weighsByRarity: false, fusion: 'RRF' };

export const vectors: Bench = {
  name: 'vectors',
  summary: `queries to ${VECTORS} vectors of ${DIMENSION} numbers, beside a plain loop`,
  async run(progress) {
    const made = new Clusters();
    const before = held();
    const namespace = new VectorNamespace(SHAPE, PRECISION);
    const numbers = new Float32Array(VECTORS * DIMENSION);
    const put = spent(() => {
      for (let at = 0; at < VECTORS; at += 1) {
        const dense = made.vector();
        numbers.set(dense, at * DIMENSION);
        namespace.put(`v${at}`, { dense, metadata: { kind: at % KINDS, tenth: at % TENTH } }, DIMENSION * 4);
      }
    });
    progress(`${VECTORS} vectors are indexed`);
    const first = spent(() => ask(namespace, made.vector(), 'kind = 0'));
    /** Queries with a filter, and a comparison with every `step`-th vector, in turn. */
    const measured = (filter: string, step: number): Measured => {
      const found: Measured = { times: [], loopTimes: [], shared: 0 };
      for (let count = -WARM_UP; count < QUERIES; count += 1) {
        const query = made.vector();
        const ours = spent(() => ask(namespace, query, filter));
        if (count < 0) continue;
        const exact = spent(() => nearest(numbers, query, step));
        found.shared += shared(exact.result, ours.result);
        found.times.push(ours.ms);
        found.loopTimes.push(exact.ms);
      }
      progress(`${QUERIES} queries ${filter}: p99 ${percentile(found.times, 99).toFixed(1)} ms, ${found.shared} found`);
      return found;
    };
    // The graph is not used for it.
    const few = measured('kind = 0', KINDS);
    const built = spent(() => {
      while (namespace.dense.needsBuild) namespace.dense.build();
    });
    const bytes = (held() - before - numbers.byteLength) / VECTORS;
    const ours = measured('', 1);
    const tenth = measured('tenth = 0', TENTH);
    const recall = (found: Measured) => found.shared / (QUERIES * TOP);
    const ms = 'ms';
    const figures: Figure[] = [
      { name: 'recall@10', value: recall(ours), unit: 'ratio', target: atLeast(0.97) },
      { name: 'recall@10, filter of 1 %', value: recall(few), unit: 'ratio', target: atLeast(0.95) },
      { name: 'recall@10, filter of 10 %', value: recall(tenth), unit: 'ratio', target: atLeast(0.95) },
      { name: 'query, median', value: median(ours.times), unit: ms },
      { name: 'query, p99', value: percentile(ours.times, 99), unit: ms, target: atMost(10) },
      { name: 'query, filter of 1 %, median', value: median(few.times), unit: ms },
      { name: 'query, filter of 1 %, p99', value: percentile(few.times, 99), unit: ms, target: atMost(10) },
      { name: 'query, filter of 10 %, p99', value: percentile(tenth.times, 99), unit: ms },
      { name: 'first query with a filter of a field', value: first.ms, unit: ms },
      { name: 'query / plain loop, medians', value: median(ours.times) / median(ours.loopTimes), unit: 'ratio' },
      { name: 'bytes of a vector', value: bytes, unit: 'bytes', target: atMost(1400) },
      { name: 'indexing of a vector', value: (1000 * put.ms) / VECTORS, unit: 'µs', note: 'with making it' },
      { name: 'linking of a vector into the graph', value: (1000 * built.ms) / VECTORS, unit: 'µs' },
    ];
    return { figures, skipped: [] };
  },
};

interface Measured {
  readonly times: number[];
  readonly loopTimes: number[];
  /** Results that the loop has too. */
  shared: number;
}

function ask(namespace: VectorNamespace, dense: Float32Array, filter: string): string[] {
  const work = rankVectors(namespace, { ...PLAIN, dense: [...dense], filter });
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value.hits.map(({ id }) => id);
  }
}

/** The ids of the nearest among every `step`-th vector, by a plain loop. */
function nearest(numbers: Float32Array, query: Float32Array, step: number): string[] {
  const scored: (readonly [number, number])[] = [];
  let floor = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < VECTORS; at += step) {
    let product = 0;
    let squared = 0;
    for (let place = 0, from = at * DIMENSION; place < DIMENSION; place += 1) {
      const value = numbers[from + place] as number;
      product += value * (query[place] as number);
      squared += value * value;
    }
    const score = product / Math.sqrt(squared);
    if (score <= floor && scored.length >= TOP) continue;
    scored.push([score, at]);
    scored.sort(([a], [b]) => b - a);
    if (scored.length > TOP) scored.pop();
    floor = scored.at(-1)?.[0] ?? floor;
  }
  return scored.map(([, at]) => `v${at}`);
}

function shared(expected: readonly string[], found: readonly string[]): number {
  return found.filter((id) => expected.includes(id)).length;
}

/** The result, and the milliseconds of the processor. */
function spent<T>(work: () => T): { readonly result: T; readonly ms: number } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { result, ms: (user + system) / 1000 };
}

/** Bytes in use, after a collection. */
function held(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Vectors around random centres, the same in each run. */
class Clusters {
  #state = SEED;
  readonly #centres = Array.from({ length: CLUSTERS }, () =>
    Float32Array.from({ length: DIMENSION }, () => this.#normal()),
  );

  vector(): Float32Array {
    const centre = this.#centres[Math.floor(this.#next() * CLUSTERS)] as Float32Array;
    return centre.map((value) => value + 0.7 * this.#normal());
  }

  /** About normal: the sum of uniform numbers. */
  #normal(): number {
    return 2 * (this.#next() + this.#next() + this.#next()) - 3;
  }

  #next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }
}
