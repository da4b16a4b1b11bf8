/** Proves MC1, MC2. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  compileFilterParts,
  type FilterCondition,
  FilterMeter,
  type FilterParts,
  type JsonObject,
  predicateOf,
} from '../../../../../src/domain/search/index.js';
import { MetadataColumns } from '../../../../../src/projections/search-index/index.js';
import { repetitions } from '../../../../support/depth.js';

class Documents {
  readonly #metadata: ({ metadata: JsonObject | undefined } | undefined)[] = [];
  readonly columns = new MetadataColumns(this);
  #size = 0;

  get ordinals(): number {
    return this.#metadata.length;
  }

  get size(): number {
    return this.#size;
  }

  documentAt(ordinal: number): { metadata: JsonObject | undefined } | undefined {
    return this.#metadata[ordinal];
  }

  put(ordinal: number, metadata: JsonObject | undefined): void {
    if (this.#metadata[ordinal] === undefined) this.#size += 1;
    this.#metadata[ordinal] = { metadata };
    this.columns.put(ordinal, metadata);
  }

  remove(ordinal: number): void {
    if (this.#metadata[ordinal] !== undefined) this.#size -= 1;
    this.#metadata[ordinal] = undefined;
    this.columns.remove(ordinal);
  }

  /** The marked ordinals. @param betweenSlices runs at each pause */
  marked(filter: string, betweenSlices: () => void = () => {}): number[] | undefined {
    const work = this.columns.marks(compileFilterParts(filter) as FilterParts, new FilterMeter());
    for (;;) {
      const step = work.next();
      if (step.done !== true) betweenSlices();
      else if (step.value === undefined) return undefined;
      else {
        const { marks, count, few } = step.value;
        const ordinals = [...marks.keys()].filter((ordinal) => marks[ordinal] === 1);
        expect(count).to.equal(ordinals.length);
        if (few !== undefined) expect([...few]).to.deep.equal(ordinals);
        else expect(count).to.be.above(10_000);
        return ordinals;
      }
    }
  }

  /** The same, one document after the other. */
  matching(filter: string): number[] {
    const fits = predicateOf(compileFilterParts(filter) as FilterParts);
    return [...this.#metadata.keys()].filter((ordinal) => {
      const held = this.#metadata[ordinal];
      return held !== undefined && fits({ content: held.metadata ?? {} });
    });
  }
}

const FILTERS = [
  ...['a = 1', "a = '1'", 'a != 1', 'a > 1', 'a <= 2', "a GLOB '*1*'", 'a IN (1, 2)', 'a NOT IN ()'],
  ...['a CONTAINS 1', 'a NOT CONTAINS 1', 'HAS FIELD a', 'HAS NOT FIELD a', 'a.b = 1', 'a[0] = 1'],
  ...['a = 1 AND b = 2', 'a = 1 OR b = 2', 'HAS NOT FIELD a AND (b = 1 OR b = 2)', 'a = true', '@metadata.a = 1'],
];

describe('columns of metadata', () => {
  it('mark the documents that each filter matches one by one, also after changes', () => {
    const value = fc.oneof(
      fc.constantFrom<unknown>(1, 2, 0, -0, '1', 'x1', true, false, null),
      fc.array(fc.constantFrom(1, '1', 2), { maxLength: 2 }),
      fc.record({ b: fc.constantFrom(1, 2) }),
    );
    const metadata = fc.option(fc.record({ a: value, b: value }, { requiredKeys: [] }), { nil: undefined });
    const change = fc.tuple(fc.nat(15), fc.oneof({ weight: 4, arbitrary: metadata }, fc.constant('removed' as const)));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), fc.array(change, { maxLength: 20 }), (first, second) => {
        const documents = new Documents();
        for (const changes of [first, second]) {
          for (const [ordinal, held] of changes) {
            if (held === 'removed') documents.remove(ordinal);
            else documents.put(ordinal, held as JsonObject | undefined);
          }
          for (const filter of FILTERS)
            expect(documents.marked(filter), filter).to.deep.equal(documents.matching(filter));
        }
      }),
      { numRuns: repetitions(50) },
    );
  });

  it('list the documents that match if they are few, and are evaluated in slices', () => {
    const documents = new Documents();
    for (let ordinal = 0; ordinal < 100_000; ordinal += 1) documents.put(ordinal, { kind: ordinal % 100, even: 1 });
    for (const filter of [
      'kind = 7',
      'kind = 7 AND even = 1',
      'kind = 7 OR kind = 8',
      'even = 1',
      'kind < 90 OR even = 0',
    ]) {
      documents.marked(filter);
      let slices = 0;
      const marked = documents.marked(filter, () => {
        slices += 1;
      });
      expect(slices, filter).to.be.at.least(2);
      expect(marked, filter).to.deep.equal(documents.matching(filter));
    }
  });

  it('are filled in slices, between which documents change', () => {
    const documents = new Documents();
    for (let ordinal = 0; ordinal < 20_000; ordinal += 1) documents.put(ordinal, { kind: ordinal % 2 });
    let slices = 0;
    documents.marked('kind = 1', () => {
      slices += 1;
      documents.put(slices, { kind: 7 });
      documents.remove(19_999 - slices);
    });
    expect(slices).to.be.greaterThan(2);
    expect(documents.marked('kind = 7')).to.deep.equal(documents.matching('kind = 7'));
    expect(documents.marked('kind = 1')).to.deep.equal(documents.matching('kind = 1'));
  });

  it('do not keep the values of documents that are gone for ever', () => {
    const documents = new Documents();
    documents.put(0, { serial: 0 });
    expect(documents.marked('serial >= 0')).to.deep.equal([0]);
    for (let serial = 1; serial < 30_000; serial += 1) documents.put(0, { serial });
    const seen: unknown[] = [];
    const condition = compileFilterParts('serial > 0') as FilterCondition;
    for (const _ of documents.columns.marks(
      { ...condition, fits: (value) => seen.push(value) > 0 },
      new FilterMeter(),
    ));
    expect(seen.length).to.be.at.most(10_002);
    expect(documents.marked('serial = 29999')).to.deep.equal([0]);
  });

  it('end when the arrays and objects of a field need too much memory', () => {
    const documents = new Documents();
    const long = 'x'.repeat(1024 * 1024);
    for (let ordinal = 0; ordinal < 20; ordinal += 1) documents.put(ordinal, { list: [ordinal, long], kind: 1 });
    expect(documents.marked('list CONTAINS 3')).to.equal(undefined);
    expect(documents.marked('kind = 1 AND list CONTAINS 3')).to.equal(undefined);
    expect(documents.marked('kind = 1')).to.have.length(20);
  });
});
