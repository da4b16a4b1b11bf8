/** Queries to one namespace of vectors. Proves VN1, VN2, VR1, VR2, VR3. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { StoredVector, VectorShape } from '../../../../../src/domain/search/index.js';
import type { VectorHits, VectorQuery } from '../../../../../src/ports/index.js';
import { rankVectors, VectorNamespace } from '../../../../../src/projections/search-index/index.js';
import { repetitions } from '../../../../support/depth.js';

const DENSE: VectorShape = { kind: 'DENSE', metric: 'EUCLIDEAN', dimension: 2, denseModel: '', sparseModel: '' };
const HYBRID: VectorShape = { ...DENSE, kind: 'HYBRID' };
const PLAIN: VectorQuery = { topK: 10, filter: '', weighsByRarity: false, fusion: 'RRF' };

function run(namespace: VectorNamespace, query: VectorQuery, betweenSlices: () => void = () => {}): VectorHits {
  const work = rankVectors(namespace, query);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    betweenSlices();
  }
}

const at = (x: number, y = 0): StoredVector => ({ dense: Float32Array.from([x, y]) });
const sparse = (...pairs: readonly (readonly [number, number])[]): StoredVector => ({
  sparse: {
    indices: Int32Array.from(pairs, ([index]) => index),
    values: Float32Array.from(pairs, ([, value]) => value),
  },
});

function line(count: number, vectorOf: (number: number) => StoredVector = (number) => at(number)): VectorNamespace {
  const namespace = new VectorNamespace(DENSE);
  for (let number = 0; number < count; number += 1) namespace.put(`v${number}`, vectorOf(number), 10);
  return namespace;
}

describe('a query to vectors', () => {
  it('orders equal scores by id', () => {
    const namespace = new VectorNamespace(DENSE);
    for (const id of ['c', 'a', 'd', 'b']) namespace.put(id, at(1), 1);
    expect(run(namespace, { ...PLAIN, dense: [1, 0], topK: 3 }).hits.map(({ id }) => id)).to.deep.equal([
      'a',
      'b',
      'c',
    ]);
  });

  it('finds as many as exist with a selective filter', () => {
    const namespace = line(5000, (number) => ({ ...at(number), metadata: { part: number % 500 } }));
    const { hits } = run(namespace, { ...PLAIN, dense: [0, 0], filter: 'part = 499' });
    expect(hits.map(({ id }) => id)).to.deep.equal(Array.from({ length: 10 }, (_, place) => `v${499 + 500 * place}`));
  });

  it('pauses after each document whose comparison with a pattern takes long', () => {
    const text = 'a'.repeat(10_000);
    const namespace = line(20, (number) => ({ ...at(number), metadata: { text } }));
    let slices = 0;
    const filter = `text GLOB '*${'a'.repeat(500)}b'`;
    run(namespace, { ...PLAIN, dense: [0, 0], filter }, () => {
      slices += 1;
    });
    expect(slices).to.be.at.least(20);
  });

  it('continues after a place, without repeating or leaving out any result', () => {
    const namespace = line(100);
    const all = run(namespace, { ...PLAIN, dense: [0, 0], topK: 100 }).hits;
    const parts: string[] = [];
    let denseAfter: VectorHits['denseLast'];
    for (let count = 0; count < 20; count += 1) {
      const part = run(namespace, { ...PLAIN, dense: [0, 0], topK: 7, denseAfter });
      parts.push(...part.hits.map(({ id }) => id));
      denseAfter = part.denseLast ?? denseAfter;
    }
    expect(parts).to.deep.equal(all.map(({ id }) => id));
  });

  it('sees a vector that is replaced during the query, in one of its forms', () => {
    const long = (first: number): StoredVector => ({ dense: Float32Array.from({ length: 4096 }, () => first) });
    const namespace = new VectorNamespace({ ...DENSE, dimension: 4096 });
    for (let number = 0; number < 300; number += 1) namespace.put(`v${number}`, long(number), 10);
    let slices = 0;
    const { hits } = run(namespace, { ...PLAIN, dense: Array(4096).fill(0), topK: 1 }, () => {
      slices += 1;
      if (slices === 1) namespace.put('v0', long(0.25), 10);
    });
    expect(slices).to.be.greaterThan(1);
    expect(hits.map(({ id }) => id)).to.deep.equal(['v0']);
  });

  it('leaves out documents without a common dimension, and removed ones before and after a sweep', () => {
    const namespace = new VectorNamespace({ ...DENSE, kind: 'SPARSE', dimension: 0 });
    for (let number = 0; number < 3000; number += 1)
      namespace.put(`s${number}`, sparse([number % 3, 1], [9, number]), 10);
    const found = () => run(namespace, { ...PLAIN, sparse: { indices: [9], values: [1] }, topK: 2 }).hits;
    for (let number = 0; number < 2990; number += 1) namespace.remove(`s${number}`);
    expect(found()).to.deep.equal([
      { id: 's2999', score: 2999 },
      { id: 's2998', score: 2998 },
    ]);
    expect(namespace.needsSweep).to.equal(true);
    for (const _ of namespace.sweep());
    expect(namespace.needsSweep).to.equal(false);
    expect(found().map(({ id }) => id)).to.deep.equal(['s2999', 's2998']);
    namespace.put('new', sparse([9, 5000]), 10);
    expect(found()[0]).to.deep.equal({ id: 'new', score: 5000 });
    expect(run(namespace, { ...PLAIN, sparse: { indices: [77], values: [1] } }).hits).to.deep.equal([]);
  });

  it('fuses the two lists of a hybrid index, and resumes each of them', () => {
    const namespace = new VectorNamespace(HYBRID);
    for (let number = 0; number < 6; number += 1)
      namespace.put(`h${number}`, { ...at(number), ...sparse([1, number + 1]) }, 10);
    const query = { ...PLAIN, dense: [0, 0], sparse: { indices: [1], values: [1] }, topK: 2 };
    const first = run(namespace, query);
    expect(first.hits.map(({ id }) => id)).to.deep.equal(['h0', 'h5']);
    expect([first.denseLast?.id, first.sparseLast?.id]).to.deep.equal(['h1', 'h4']);
    const next = run(namespace, { ...query, denseAfter: first.denseLast, sparseAfter: first.sparseLast });
    expect([next.denseLast?.id, next.sparseLast?.id]).to.deep.equal(['h3', 'h2']);
  });

  it('agrees with a sort of all vectors, after any writes', () => {
    const change = fc.tuple(
      fc.integer({ min: 0, max: 30 }),
      fc.option(fc.tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -5, max: 5 }))),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 120 }), fc.integer({ min: 1, max: 40 }), (changes, topK) => {
        const namespace = new VectorNamespace(DENSE);
        const model = new Map<string, readonly [number, number]>();
        for (const [id, point] of changes) {
          if (point === null) {
            expect(namespace.remove(`p${id}`)).to.equal(model.delete(`p${id}`));
          } else {
            namespace.put(`p${id}`, at(...point), 10);
            model.set(`p${id}`, point);
          }
        }
        const expected = [...model]
          .map(([id, [x, y]]) => ({ id, distance: (x - 1) ** 2 + (y - 2) ** 2 }))
          .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1));
        const { hits } = run(namespace, { ...PLAIN, dense: [1, 2], topK });
        expect(hits.map(({ id }) => id)).to.deep.equal(expected.slice(0, topK).map(({ id }) => id));
        expect(namespace.size).to.equal(model.size);
      }),
      { numRuns: repetitions(100) },
    );
  });
});
