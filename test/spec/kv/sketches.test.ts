/** Proves SKE1, SKE2, TPK1, TDG1, TDG2. */
import { expect } from 'chai';
import { type CommandSpec, digestOf, ErrorReply, findCommand, keysOf } from '../../../src/domain/kv/index.js';
import { TDigest } from '../../../src/domain/kv/types/sketch/t-digest.js';
import { repetitions } from '../../support/depth.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { kvCase } from '../../support/kv-case.js';
import { Dice } from '../../support/random-programs/index.js';
import { SKETCH_KEYS, sketchProgram } from '../../support/random-programs/sketches.js';
import { SKETCH_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: filters and sketches', SKETCH_CASES);

/** A key of each type, with the name that TYPE has for it. */
const KINDS: readonly (readonly [type: string, given: readonly string[], read: string])[] = [
  ['MBbloom--', ['BF.RESERVE k 0.001 50', 'BF.MADD k a b c'], 'BF.MEXISTS k a b c d e f'],
  ['MBbloomCF', ['CF.RESERVE k 50', 'CF.INSERT k ITEMS a b c a'], 'CF.MEXISTS k a b c d e f'],
  ['CMSk-TYPE', ['CMS.INITBYDIM k 50 5', 'CMS.INCRBY k a 3 b 4'], 'CMS.QUERY k a b c'],
  ['TopK-TYPE', ['TOPK.RESERVE k 3 50 5 0.9', 'TOPK.INCRBY k a 3 b 4'], 'TOPK.LIST k WITHCOUNT'],
  ['TDIS-TYPE', ['TDIGEST.CREATE k', 'TDIGEST.ADD k 1 2 3 4 5 6 7'], 'TDIGEST.QUANTILE k 0.1 0.5 0.9'],
];

for (const [type, given, read] of KINDS) {
  describe(`key-value: a key of type ${type}`, () => {
    let bench: KvBench;
    const ask = (line: string): unknown => readable(bench.line(line).reply);
    const readOf = (key: string): unknown => ask(read.replace(' k', ` ${key}`));
    beforeEach(() => {
      bench = new KvBench();
      for (const line of given) bench.line(line);
    });
    afterEach(() => {
      bench.expectReplayed();
      bench.expectRebuilt();
    });

    it('is shown by TYPE, OBJECT ENCODING, MEMORY USAGE and SCAN', () => {
      expect(ask('TYPE k')).to.equal(`+${type}`);
      expect(ask('OBJECT ENCODING k')).to.equal('raw');
      expect(ask('MEMORY USAGE k')).to.be.greaterThan(100);
      expect(ask(`SCAN 0 TYPE ${type}`)).to.deep.equal(['0', ['k']]);
    });

    it('is the same after RENAME, COPY, and DUMP with RESTORE', () => {
      const before = readOf('k');
      const payload = bench.line('DUMP k').reply as string;
      expect(readable(bench.run(['RESTORE', 'restored', '0', payload]).reply)).to.equal('+OK');
      bench.line('COPY k copied');
      bench.line('RENAME k renamed');
      for (const key of ['restored', 'copied', 'renamed']) expect(readOf(key), key).to.deep.equal(before);
    });

    it('is refused by RESTORE when any byte of the payload is another one', () => {
      const payload = bench.line('DUMP k').reply as string;
      for (let at = 0; at < payload.length; at += 7) {
        const byte = String.fromCharCode(payload.charCodeAt(at) ^ 0x11);
        const { reply } = bench.run(['RESTORE', 'x', '0', payload.slice(0, at) + byte + payload.slice(at + 1)]);
        expect(reply).to.be.instanceOf(ErrorReply);
      }
    });

    it('is as before a transaction that was undone', () => {
      const { engine } = bench;
      const before = [digestOf(engine), engine.keyspace.bytes];
      engine.run.begin();
      for (const words of [
        ['BF.MADD', 'k', ...Array.from({ length: 200 }, (_, i) => `n${i}`)],
        ['CF.INSERT', 'k', 'ITEMS', ...Array.from({ length: 200 }, (_, i) => `n${i}`)],
        ['CF.DEL', 'k', 'a'],
        ['CF.COMPACT', 'k'],
        ['CMS.INCRBY', 'k', 'a', '9', 'z', '1'],
        ['TOPK.ADD', 'k', 'a', 'x', 'y', 'z', 'x', 'x', 'x', 'x', 'y', 'y', 'y'],
        ['TDIGEST.ADD', 'k', ...Array.from({ length: 2000 }, (_, i) => String(i))],
      ]) {
        engine.execute(specOf(words), words, bench.nowMs);
      }
      expect(engine.run.undo()).to.equal(true);
      expect([digestOf(engine), engine.keyspace.bytes]).to.deep.equal(before);
    });
  });
}

function specOf(words: readonly string[]): CommandSpec {
  const spec = findCommand(words);
  if (spec === undefined) throw new Error(`no command ${words[0]}`);
  return spec;
}

describe('key-value: filters of many items', () => {
  const items = Array.from({ length: 3000 }, (_, i) => `item ${i}`);
  const others = Array.from({ length: 3000 }, (_, i) => `other ${i}`);

  it('BF.RESERVE: a filter that grows keeps its error rate and every item', () => {
    const bench = new KvBench();
    bench.line('BF.RESERVE k 0.01 100');
    bench.run(['BF.MADD', 'k', ...items]);
    expect(readable(bench.line('BF.INFO k FILTERS').reply)).to.deep.equal([5]);
    expect(new Set(readable(bench.run(['BF.MEXISTS', 'k', ...items]).reply) as number[])).to.deep.equal(new Set([1]));
    const wrong = (readable(bench.run(['BF.MEXISTS', 'k', ...others]).reply) as number[]).filter(
      (found) => found === 1,
    );
    expect(wrong.length).to.be.below(60);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('CF.RESERVE: a filter grows, and compacts after deletions', () => {
    const bench = new KvBench();
    bench.line('CF.RESERVE k 500 EXPANSION 2');
    bench.run(['CF.INSERT', 'k', 'ITEMS', ...items]);
    const filters = (): unknown => (readable(bench.line('CF.INFO k').reply) as unknown[])[5];
    const grown = filters() as number;
    expect(grown).to.be.greaterThan(2);
    for (const item of items.slice(0, 2800)) expect(readable(bench.run(['CF.DEL', 'k', item]).reply)).to.equal(1);
    expect(filters()).to.be.below(grown);
    const compacted = filters() as number;
    bench.line('CF.COMPACT k');
    expect(filters()).to.be.at.most(compacted);
    const left = readable(bench.run(['CF.MEXISTS', 'k', ...items.slice(2800)]).reply) as number[];
    expect(left.every((found) => found === 1)).to.equal(true);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('BF.SCANDUMP and BF.LOADCHUNK, CF.SCANDUMP and CF.LOADCHUNK move a filter', () => {
    const bench = new KvBench();
    bench.run(['BF.MADD', 'bf', ...items]);
    bench.run(['CF.INSERT', 'cf', 'CAPACITY', '100', 'ITEMS', ...items.slice(0, 1500)]);
    for (const [family, key] of [
      ['BF', 'bf'],
      ['CF', 'cf'],
    ] as const) {
      let iterator = 0;
      do {
        const [next, part] = readable(bench.run([`${family}.SCANDUMP`, key, String(iterator)]).reply) as [
          number,
          string,
        ];
        iterator = next;
        if (next !== 0) {
          expect(readable(bench.run([`${family}.LOADCHUNK`, `${key}2`, String(next), part]).reply)).to.equal('+OK');
        }
      } while (iterator !== 0);
      const ask = (name: string): unknown =>
        readable(bench.run([`${family}.MEXISTS`, name, ...items, ...others]).reply);
      expect(ask(`${key}2`)).to.deep.equal(ask(key));
    }
    bench.expectReplayed();
    bench.expectRebuilt();
  });
});

describe('key-value: sketches of many values', () => {
  const random = seededRandom(3);

  it('CMS.QUERY is never below the true count, and rarely far above', () => {
    const bench = new KvBench();
    bench.line('CMS.INITBYPROB k 0.002 0.01');
    const counts = new Map<string, number>();
    for (let i = 0; i < 3000; i += 1) {
      const item = `i${Math.floor(random.float() ** 3 * 500)}`;
      counts.set(item, (counts.get(item) ?? 0) + 1);
      bench.run(['CMS.INCRBY', 'k', item, '1']);
    }
    for (const [item, count] of counts) {
      const [shown = 0] = readable(bench.run(['CMS.QUERY', 'k', item]).reply) as number[];
      expect(shown).to.be.within(count, count + 6);
    }
  });

  it('TOPK.LIST finds the most frequent items among many', () => {
    const bench = new KvBench();
    bench.line('TOPK.RESERVE k 5 500 5 0.9');
    for (let i = 0; i < 4000; i += 1) {
      bench.run(['TOPK.ADD', 'k', i % 4 === 0 ? `often${(i / 4) % 5}` : `rare${Math.floor(random.float() * 2000)}`]);
    }
    const listed = readable(bench.line('TOPK.LIST k').reply) as string[];
    expect([...listed].sort()).to.deep.equal(['often0', 'often1', 'often2', 'often3', 'often4']);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('TDIGEST.QUANTILE, CDF and RANK are within one per cent of the exact answers, and closer at the ends', () => {
    const bench = new KvBench();
    const values = Array.from({ length: 20_000 }, () => random.float() ** 2 * 1000);
    bench.line('TDIGEST.CREATE k COMPRESSION 100');
    for (let at = 0; at < values.length; at += 500)
      bench.run(['TDIGEST.ADD', 'k', ...values.slice(at, at + 500).map(String)]);
    const sorted = [...values].sort((a, b) => a - b);
    for (const [q, most] of [
      [0.001, 0.002],
      [0.01, 0.005],
      [0.25, 0.01],
      [0.5, 0.01],
      [0.9, 0.01],
      [0.999, 0.002],
    ] as const) {
      const [shown = ''] = readable(bench.line(`TDIGEST.QUANTILE k ${q}`).reply) as string[];
      const rank = sorted.findIndex((value) => value >= Number(shown)) / sorted.length;
      expect(Math.abs(rank - q), `quantile ${q}`).to.be.below(most);
      const [share = ''] = readable(bench.line(`TDIGEST.CDF k ${shown}`).reply) as string[];
      expect(Math.abs(Number(share) - q), `share at ${shown}`).to.be.below(0.002);
    }
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('questions to a digest do not change it (TDG1), and merged centroids are in order (TDG2)', () => {
    const digest = new TDigest(10);
    for (let i = 0; i < 500; i += 1) digest.add(random.float(), 1);
    const before = [...digest.contents()];
    const { means, count } = digest.centroids();
    expect([...digest.contents()]).to.deep.equal(before);
    expect([...means.subarray(0, count)]).to.deep.equal([...means.subarray(0, count)].sort((a, b) => a - b));
  });
});

describe('key-value: random programs of filters and sketches', () => {
  it('replay and rebuild to the same bytes (SKE1, TPK1)', () => {
    for (let seed = 1; seed <= repetitions(8, 2); seed += 1) {
      const bench = new KvBench(seed);
      const dice = new Dice(seed);
      const shapes = sketchProgram(dice, 8);
      for (let i = 0; i < 400; i += 1) bench.run(dice.pick(shapes)());
      bench.expectReplayed();
      bench.expectRebuilt();
      for (const key of SKETCH_KEYS) {
        const payload = bench.run(['DUMP', key]).reply;
        if (typeof payload !== 'string') continue;
        expect(readable(bench.run(['RESTORE', `${key}!`, '0', payload, 'REPLACE']).reply), key).to.equal('+OK');
      }
      bench.expectReplayed();
    }
  });
});

/** Not among all cases, because a server without the module gives these commands another answer. */
describeCases('key-value commands: filters and sketches, as keys', [
  kvCase('BF.ADD keeps the expiry', ['BF.ADD k a', 'PEXPIREAT k @+100000'], 'BF.ADD k c', 1, [
    'BF.MADD k c',
    'PEXPIREAT k @+100000',
  ]),
  kvCase('SKETCH.BEGIN is no command for clients', [], 'SKETCH.BEGIN k CMSk-TYPE 1 1', (reply) =>
    String(reply).startsWith('-ERR unknown command'),
  ),
]);

describe('key-value: effects that only replays run', () => {
  it('name their key, so that the history of a key has them', () => {
    for (const words of [
      ['SKETCH.BEGIN', 'k', 'CMSk-TYPE', '1', '1'],
      ['SKETCH.LOAD', 'k', '0', '0', 'bytes'],
      ['XIDMPRECORD', 'k', 'p', 'm', '1-1'],
    ]) {
      expect(keysOf(specOf(words), words)).to.deep.equal(['k']);
    }
  });
});
