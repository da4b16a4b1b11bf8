/** Proves OBN1, OBN2, and IXC3, HD3, NV2, which follow from them. */
import { expect } from 'chai';
import fc from 'fast-check';
import { hashKey, OrdinalsByName } from '../../../../src/domain/collections/index.js';
import { IndexContents } from '../../../../src/domain/full-text/index.js';
import { inOneStep } from '../../../../src/domain/kv/steps.js';
import { VectorSet } from '../../../../src/domain/kv/types/vector-set.js';
import { HashedNgrams } from '../../../../src/domain/search/index.js';
import { NamedIndex } from '../../../../src/projections/search-index/named-index.js';
import { VectorNamespace } from '../../../../src/projections/search-index/vectors/vector-namespace.js';
import { repetitions } from '../../../support/depth.js';
import { processorMicros } from '../../../support/processor-time.js';

/** Names in one Map while they are few. */
const FIRST_NAMES = 1024;

/** Names with equal edges, so that all of them have one hash. */
function collidingNames(count: number): string[] {
  const edge = 'e'.repeat(512);
  return Array.from({ length: count }, (_, index) => edge + String(index).padStart(8, '0') + edge);
}

class Stand {
  readonly names: string[] = [];
  compared = 0;
  readonly ordinals = new OrdinalsByName((ordinal) => {
    this.compared += 1;
    return this.names[ordinal];
  });

  add(name: string): void {
    this.names.push(name);
    this.ordinals.add(name, this.names.length - 1);
  }
}

describe('ordinals by name', () => {
  it('behave as a Map does, for few and many names, colliding ones among them', () => {
    const pool = [...Array.from({ length: 3000 }, (_, at) => `n${at}`), ...collidingNames(600)];
    const steps = fc.array(fc.nat(pool.length - 1), { minLength: 100, maxLength: 4000 });
    fc.assert(
      fc.property(fc.constantFrom(0, 1000, pool.length), steps, (filled, toggled) => {
        const stand = new Stand();
        const model = new Map<string, number>();
        const add = (name: string) => {
          model.set(name, stand.names.length);
          stand.add(name);
        };
        for (const name of pool.slice(pool.length - filled)) add(name);
        for (const at of toggled) {
          const name = pool[at] as string;
          if (!model.has(name)) add(name);
          else {
            expect(stand.ordinals.delete(name)).to.equal(model.get(name));
            model.delete(name);
          }
        }
        for (const name of pool) expect(stand.ordinals.get(name)).to.equal(model.get(name));
        expect(stand.ordinals.size).to.equal(model.size);
        expect(stand.ordinals.delete('absent')).to.equal(undefined);
      }),
      { numRuns: repetitions(20) },
    );
  });

  it('compare a limited number of names in a look-up, for any number with one hash (OBN2)', () => {
    const stand = new Stand();
    const names = collidingNames(3000);
    expect(new Set(names.map(hashKey)).size).to.equal(1);
    for (const name of names) stand.add(name);
    stand.compared = 0;
    for (const [ordinal, name] of names.entries()) expect(stand.ordinals.get(name)).to.equal(ordinal);
    expect(stand.compared / names.length).to.be.below(FIRST_NAMES);
  });

  it('take for a hundred names at most half of the longest processor time that a Map takes, up to 300,000 names (OBN1)', () => {
    const names = Array.from({ length: 300_000 }, (_, at) => `document:${at}`);
    const longest = (add: (name: string) => void) => {
      let most = 0;
      for (let from = 0; from < names.length; from += 100) {
        const before = processorMicros();
        for (let at = from; at < from + 100; at += 1) add(names[at] as string);
        most = Math.max(most, processorMicros() - before);
      }
      return most;
    };
    // A garbage collection falls into any step, so the shortest of several tries is judged.
    let [ours, ofMap] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let tries = 0; tries < 10 && (tries < 2 || ours > ofMap / 2); tries += 1) {
      const [stand, map] = [new Stand(), new Map<string, number>()];
      ours = Math.min(
        ours,
        longest((name) => stand.add(name)),
      );
      ofMap = Math.min(
        ofMap,
        longest((name) => map.set(name, map.size)),
      );
    }
    expect(ours).to.be.at.most(ofMap / 2);
  });
});

describe('names and ids', () => {
  const kinds: readonly (readonly [string, () => (name: string) => void])[] = [
    [
      'of a full-text index',
      () => {
        const source = { source: 'HASH', prefixes: [''], stream: undefined, language: 'english', fields: [] } as const;
        const contents = new IndexContents(source);
        return (name) => inOneStep(contents.put(name, []));
      },
    ],
    [
      'of a search index',
      () => {
        const index = new NamedIndex(new HashedNgrams());
        return (name) => index.put(name, { content: {} }, 10);
      },
    ],
    [
      'of a namespace of vectors',
      () => {
        const namespace = new VectorNamespace({
          kind: 'DENSE',
          dimension: 1,
          metric: 'COSINE',
          denseModel: '',
          sparseModel: '',
        });
        const vector = { dense: Float32Array.of(1) };
        return (name) => namespace.put(name, vector, 10);
      },
    ],
    [
      'of a vector set and its attributes',
      () => {
        const vectors = new VectorSet({ precision: 'F32', dimension: 1, inputDimension: 0, links: 16 });
        return (name) => {
          vectors.set(name, Float32Array.of(1));
          vectors.setAttributes(name, '{}');
        };
      },
    ],
  ];
  for (const [kind, create] of kinds) {
    it(`${kind} are in no Map that grows with them (IXC3, HD3, NV2)`, () => {
      const set = Map.prototype.set;
      let largest = 0;
      Map.prototype.set = function (name, value) {
        largest = Math.max(largest, this.size);
        return set.call(this, name, value);
      };
      try {
        const put = create();
        for (let at = 0; at < 5000; at += 1) put(`e${at}`);
      } finally {
        Map.prototype.set = set;
      }
      expect(largest).to.be.within(1, FIRST_NAMES);
    });
  }

  it('of terms in a full-text index are in no array that grows with them (IXC3)', () => {
    const plain = { isFast: true, isWhole: false, keepsForms: true, from: undefined };
    const contents = new IndexContents({
      source: 'HASH',
      prefixes: [''],
      stream: undefined,
      language: 'english',
      fields: [{ path: 't', type: 'TEXT', ...plain }],
    });
    const text = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    const set = Uint32Array.prototype.set;
    let largest = 0;
    Uint32Array.prototype.set = function (source, at) {
      largest = Math.max(largest, source.length);
      set.call(this, source, at);
    };
    try {
      for (let at = 0; at < 5000; at += 1) inOneStep(contents.put(`e${at}`, [[text]]));
    } finally {
      Uint32Array.prototype.set = set;
    }
    // The 300,000 terms are in chunks of 65,536.
    expect(largest).to.be.within(1, 65_536);
  });
});
