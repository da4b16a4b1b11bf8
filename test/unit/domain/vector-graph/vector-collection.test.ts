/** The nearest of many vectors by the graph, against a comparison with all of them. Proves NG1, NG2, NG3, VC1, VC2, VC3, SGR1. */
import { expect } from 'chai';
import { type Likeness, type Precision, VectorCollection } from '../../../../src/domain/vector-graph/index.js';

const DIMENSION = 32;
const VECTORS = 10_000;
const FEW = 2000;
const WANTED = 10;
const QUERIES = 40;

/** Vectors around 100 centres, the same in each run. */
class Clusters {
  #state = 7;
  readonly #centres = Array.from({ length: 100 }, () => this.#numbers(1));

  vector(): Float32Array {
    const centre = this.#centres[Math.floor(this.#next() * this.#centres.length)] as Float32Array;
    const around = this.#numbers(0.8);
    return centre.map((value, at) => value + (around[at] as number));
  }

  #numbers(width: number): Float32Array {
    return Float32Array.from({ length: DIMENSION }, () => width * (this.#next() + this.#next() - 1));
  }

  #next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }
}

function filled(likeness: Likeness, precision: Precision = 'F32', count = VECTORS) {
  const made = new Clusters();
  const collection = new VectorCollection(DIMENSION, likeness, precision, Math.min(count, VECTORS));
  const numbers = Array.from({ length: count }, () => made.vector());
  for (const vector of numbers) collection.add(vector);
  return { made, collection, numbers };
}

function build(collection: VectorCollection): void {
  while (collection.needsBuild) collection.build();
}

function finished<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** The nearest ordinals by their distance to the numbers as they were added. */
function nearest(numbers: readonly Float32Array[], query: Float32Array, likeness: Likeness, among: number[]): number[] {
  const exact = new VectorCollection(DIMENSION, likeness);
  for (const ordinal of among) exact.add(numbers[ordinal] as Float32Array);
  const asked = exact.vectors.query(query);
  const scored = among.map((ordinal, at) => [exact.distance(asked, at), ordinal] as const);
  return scored
    .sort(([a], [b]) => a - b)
    .slice(0, WANTED)
    .map(([, ordinal]) => ordinal);
}

type Accepts = (ordinal: number) => boolean;

function recall(
  { made, collection, numbers }: ReturnType<typeof filled>,
  likeness: Likeness,
  accepts?: Accepts,
): number {
  const among = numbers.map((_, at) => at).filter((at) => collection.has(at) && (accepts === undefined || accepts(at)));
  let found = 0;
  for (let count = 0; count < QUERIES; count += 1) {
    const query = made.vector();
    const asked = collection.vectors.query(query);
    const near = finished(collection.near(asked, { count: WANTED, accepts, acceptWork: 300 })) ?? among;
    const best = near
      .filter((ordinal) => accepts === undefined || accepts(ordinal))
      .map((ordinal) => [collection.distance(asked, ordinal), ordinal] as const)
      .sort(([a], [b]) => a - b)
      .slice(0, WANTED);
    const expected = nearest(numbers, query, likeness, among);
    found += best.filter(([, ordinal]) => expected.includes(ordinal)).length;
  }
  return found / (QUERIES * WANTED);
}

describe('a collection of vectors with a graph', () => {
  for (const [likeness, count] of [
    ['COSINE', VECTORS],
    ['EUCLIDEAN', FEW],
    ['DOT', FEW],
  ] as const) {
    it(`finds at least 97 % of the ten nearest of ${count} by ${likeness}`, () => {
      const all = filled(likeness, 'F32', count);
      build(all.collection);
      expect(all.collection.linked).to.equal(count);
      expect(
        finished(all.collection.near(all.collection.vectors.query(all.made.vector()), { count: 1 }))?.length,
      ).below(300);
      expect(recall(all, likeness)).to.be.at.least(0.97);
    });
  }

  it('finds at least 95 % of those that a condition accepts, one in ten and one in a hundred', () => {
    const all = filled('COSINE', 'F32', FEW);
    build(all.collection);
    expect(recall(all, 'COSINE', (ordinal) => ordinal % 10 === 3)).to.be.at.least(0.95);
    expect(recall(all, 'COSINE', (ordinal) => ordinal % 100 === 3)).to.be.at.least(0.95);
  });

  it('finds at least 97 % with numbers of 16 bits and 90 % with bytes', () => {
    for (const [precision, least] of [
      ['F16', 0.97],
      ['I8', 0.9],
    ] as const) {
      const all = filled('COSINE', precision, FEW);
      build(all.collection);
      expect(recall(all, 'COSINE'), precision).to.be.at.least(least);
    }
  });

  it('finds vectors that the graph does not have yet', () => {
    const { made, collection } = filled('EUCLIDEAN', 'F32', FEW);
    build(collection);
    const vector = made.vector();
    const ordinal = collection.add(vector);
    expect(collection.linksOf(ordinal)).to.equal(undefined);
    expect(finished(collection.near(collection.vectors.query(vector), { count: 1 }))).to.include(ordinal);
    build(collection);
    expect(collection.linksOf(ordinal)?.[0]).to.have.lengthOf.above(0);
    expect(finished(collection.near(collection.vectors.query(vector), { count: 1 }))).to.include(ordinal);
  });

  it('never finds removed vectors, uses their ordinals again, and keeps its recall', () => {
    const count = 3000;
    const all = filled('COSINE', 'F32', count);
    const { made, collection, numbers } = all;
    build(collection);
    for (let ordinal = 0; ordinal < count; ordinal += 1) if (ordinal % 3 > 0) collection.remove(ordinal);
    expect(recall(all, 'COSINE')).to.be.at.least(0.97);
    build(collection);
    expect(recall(all, 'COSINE')).to.be.at.least(0.97);
    for (let added = 0; added < count / 2; added += 1) {
      const vector = made.vector();
      numbers[collection.add(vector)] = vector;
    }
    expect(collection.ordinals).to.equal(count);
    build(collection);
    expect(recall(all, 'COSINE')).to.be.at.least(0.97);
  });

  it('gives equal results in the middle of its building, with removals between its slices', () => {
    const { made, collection, numbers } = filled('EUCLIDEAN', 'F32', FEW);
    for (let slice = 0; collection.needsBuild; slice += 1) {
      collection.build();
      if (slice % 20 === 10) collection.remove(slice % numbers.length);
    }
    for (let count = 0; count < 20; count += 1) {
      const near = finished(collection.near(collection.vectors.query(made.vector()), { count: WANTED }));
      expect(near?.every((ordinal) => collection.has(ordinal))).to.equal(true);
    }
  });

  it('is equal after equal histories', () => {
    const [one, other] = [filled('COSINE', 'F32', FEW), filled('COSINE', 'F32', FEW)];
    for (const { collection } of [one, other]) build(collection);
    for (const ordinal of [0, 17, FEW - 1]) {
      expect(one.collection.linksOf(ordinal)).to.deep.equal(other.collection.linksOf(ordinal));
    }
  });

  it('is compared completely without a graph, while it has fewer vectors', () => {
    const { made, collection } = filled('COSINE', 'F32', VECTORS);
    collection.remove(0);
    expect(collection.needsBuild).to.equal(false);
    expect(finished(collection.near(collection.vectors.query(made.vector()), { count: WANTED }))).to.equal(undefined);
  });

  it('is stored and restored for the vectors that are still the same, and linked to the others', () => {
    const { made, collection, numbers } = filled('COSINE', 'F16', FEW);
    build(collection);
    for (let ordinal = 0; ordinal < 100; ordinal += 1) collection.remove(ordinal);
    const bytes = bytesOf(collection);
    const other = new VectorCollection(DIMENSION, 'COSINE', 'F16', FEW);
    const held: Float32Array[] = [];
    const ordinals = new Map<string, number>();
    const put = (name: string, vector: Float32Array) => {
      ordinals.set(name, other.add(vector));
      held[ordinals.get(name) as number] = vector;
    };
    // Another order; some vectors are removed, some are replaced, some are added.
    for (let at = FEW - 1; at >= 200; at -= 1) put(`v${at}`, at < 300 ? made.vector() : (numbers[at] as Float32Array));
    for (let at = 0; at < 300; at += 1) put(`n${at}`, made.vector());
    const work = other.restore(bytes, (name) => ordinals.get(name));
    expect(work.next().done).to.equal(false);
    expect(finished(other.near(other.vectors.query(made.vector()), { count: 1 })), 'while it is restored').to.equal(
      undefined,
    );
    other.remove(ordinals.get('v1999') as number);
    expect(finished(work)).to.be.within(FEW - 301, FEW - 300);
    const restored = { made, collection: other, numbers: held };
    expect(recall(restored, 'COSINE'), 'before it is complete').to.be.at.least(0.97);
    build(other);
    expect(other.linked).to.equal(other.size);
    expect(recall(restored, 'COSINE')).to.be.at.least(0.97);
  });

  it('is not restored from damaged bytes, of which no part is taken', () => {
    const { collection, numbers } = filled('COSINE', 'F32', FEW);
    build(collection);
    const bytes = bytesOf(collection);
    const other = new VectorCollection(DIMENSION, 'COSINE', 'F32', FEW);
    for (const vector of numbers) other.add(vector);
    const version = Uint8Array.from(bytes);
    version[0] = 9;
    const places = Uint8Array.from(bytes);
    places.fill(255, bytes.length - 4);
    for (const damaged of [bytes.subarray(0, 3), bytes.subarray(0, bytes.length - 1), version, places]) {
      expect(finished(other.restore(damaged, (name) => Number(name.slice(1))))).to.equal(0);
    }
    expect(finished(other.restore(bytes, (name) => Number(name.slice(1))))).to.equal(FEW);
    expect(other.linksOf(7)).to.deep.equal(collection.linksOf(7));
    expect(finished(other.restore(bytes, (name) => Number(name.slice(1)))), 'only once').to.equal(0);
  });
});

/** The stored graph; the names of its vectors are their ordinals. */
function bytesOf(collection: VectorCollection): Uint8Array {
  const pieces = [...collection.pieces((ordinal) => `v${ordinal}`)];
  expect(pieces).to.include(undefined);
  return Buffer.concat(pieces.filter((piece) => piece !== undefined));
}
