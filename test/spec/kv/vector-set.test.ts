/** Vector sets of Redis 8. Proves VS1, VS2. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { encodeReply3 } from '../../../src/codec/resp/index.js';
import { FilterExpression } from '../../../src/domain/kv/families/vector-set/filter-expression.js';
import { type CommandSpec, findCommand } from '../../../src/domain/kv/index.js';
import { ErrorReply } from '../../../src/domain/kv/reply.js';
import { projected, VectorSet } from '../../../src/domain/kv/types/vector-set.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { kvCase } from '../../support/kv-case.js';
import { processorMsOf } from '../../support/processor-time.js';
import { VECTOR_SET_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: vector sets', VECTOR_SET_CASES);

const ONE = ['VADD k VALUES 1 1 a NOQUANT'];

/** Not among all cases, because a server without vector sets gives these commands another answer, not an error. */
describeCases('key-value commands: vector sets, as keys', [
  kvCase('TYPE of a vector set', ONE, 'TYPE k', '+vectorset'),
  kvCase('COPY copies a vector set', [...ONE, 'COPY k l'], 'VEMB l a', ['1']),
  kvCase('RENAME moves a vector set', [...ONE, 'RENAME k l'], 'VCARD l', 1),
  kvCase(
    'VREM repeats the expiry of the key',
    [...ONE, 'VADD k VALUES 1 2 b NOQUANT', 'PEXPIREAT k @+100000'],
    'VREM k a',
    1,
    ['VREM k a', 'PEXPIREAT k @+100000'],
  ),
]);

/** The words of each effect as bytes in hexadecimal; the file is added to, never edited. */
const RECORDED = JSON.parse(readFileSync(`${process.cwd()}/test/fixtures/journals/vector-sets.json`, 'utf8')) as Record<
  string,
  readonly string[]
>;

describe('key-value: recorded effects of vector sets', () => {
  for (const [name, effects] of Object.entries(RECORDED)) {
    it(`replay in every release: ${name}`, () => {
      const { engine } = new KvBench();
      const words = effects.map((line) => line.split(' ').map((word) => Buffer.from(word, 'hex').toString('latin1')));
      for (const each of words) engine.replay(each);
      const rebuilt = [...(engine.keyspace.stored('k') as VectorSet).rebuild('k')];
      expect(rebuilt).to.deep.equal(name === 'changes' ? [[...(words[1] as string[]).slice(0, -1), '{"n":1}']] : words);
    });
  }
});

describe('key-value: slices of queries to many short vectors', () => {
  /** Processor time, including garbage collection. */
  const LONGEST_MS = 120;
  const VECTORS = 40_000;
  const { engine } = new KvBench();

  before(() => {
    engine.replay(['VECTOR.CREATE', 'v', 'DIM', '1', 'METRIC', 'EUCLIDEAN']);
    for (let number = 0; number < VECTORS; number += 1) {
      const words = ['VALUES', '1', String(((number * 7919) % VECTORS) + 1)];
      for (const command of [
        ['VADD', 's', ...words, `e${number}`],
        ['VECTOR.ADD', 'v', `e${number}`, ...words],
      ]) {
        engine.execute(findCommand(command) as CommandSpec, command, 1);
      }
    }
  });

  for (const words of [
    ['VSIM', 's', 'VALUES', '1', '2', 'COUNT', String(VECTORS)],
    ['VSIM', 's', 'VALUES', '1', '2', 'COUNT', String(VECTORS), 'TRUTH', 'WITHSCORES'],
    ['VECTOR.QUERY', 'v', 'TOPK', '1000', 'VALUES', '1', '3.5'],
  ]) {
    it(`are short for ${words.join(' ')}`, () => {
      const spec = findCommand(words) as CommandSpec;
      expect(engine.isLong(spec, words, 1)).to.equal(true);
      const longestMs: number[] = [];
      for (let tries = 0; tries < 3; tries += 1) {
        const query = engine.begin(spec, words);
        const slicesMs: number[] = [];
        for (let isOver = false; !isOver; ) {
          slicesMs.push(
            processorMsOf(() => {
              isOver = query.next(1) !== undefined;
            }),
          );
        }
        expect(slicesMs.length).to.be.above(10);
        longestMs.push(Math.max(...slicesMs));
      }
      // A collection of all garbage falls into any slice.
      expect(Math.min(...longestMs)).to.be.below(LONGEST_MS);
    });
  }
});

const QUANTIZATIONS = ['NOQUANT', 'Q8', 'BIN'];

function filled(quantization: string, count = 300): KvBench {
  const bench = new KvBench();
  const random = seededRandom(5);
  for (let number = 0; number < count; number += 1) {
    const numbers = Array.from({ length: 20 }, () => String(random.float() * 10 ** ((number % 9) - 4) - 0.5));
    const attributes = number % 3 === 0 ? ['SETATTR', `{"number":${number}}`] : [];
    bench.run(['VADD', 'k', 'VALUES', '20', ...numbers, `e${number}`, quantization, ...attributes]);
  }
  return bench;
}

describe('key-value: vector sets of many elements', () => {
  for (const quantization of QUANTIZATIONS) {
    it(`with ${quantization} are equal after a replay, a rebuild, DUMP and RESTORE`, () => {
      const bench = filled(quantization);
      bench.expectReplayed();
      bench.expectRebuilt();
      const payload = bench.line('DUMP k').reply as string;
      expect(readable(bench.run(['RESTORE', 'l', '0', payload]).reply)).to.equal('+OK');
      expect(bench.line('DUMP l').reply).to.equal(payload);
      const found = readable(bench.line('VSIM k ELE e7 COUNT 20 WITHSCORES WITHATTRIBS').reply);
      expect(readable(bench.line('VSIM l ELE e7 COUNT 20 WITHSCORES WITHATTRIBS').reply)).to.deep.equal(found);
    });
  }

  it('answer RESP3 with maps, and with both facts of an element as a list', () => {
    const bench = new KvBench();
    bench.line('VADD k VALUES 1 1 a NOQUANT SETATTR {}');
    bench.caller = { endpoint: 'resp', protocol: 3 };
    const ask = (line: string): string => encodeReply3(bench.line(line).reply);
    expect(ask('VSIM k ELE a')).to.equal('*1\r\n$1\r\na\r\n');
    expect(ask('VSIM k ELE a WITHSCORES')).to.equal('%1\r\n$1\r\na\r\n,1\r\n');
    expect(ask('VSIM k ELE a WITHATTRIBS')).to.equal('%1\r\n$1\r\na\r\n$2\r\n{}\r\n');
    expect(ask('VSIM k ELE a WITHATTRIBS WITHSCORES')).to.equal('%1\r\n$1\r\na\r\n*2\r\n,1\r\n$2\r\n{}\r\n');
    expect(ask('VISMEMBER k a')).to.equal('#t\r\n');
  });

  it('take back the changes of a stopped transaction', () => {
    const set = new VectorSet({ precision: 'I8', dimension: 2, inputDimension: 0, links: 16 });
    set.set('a', Float32Array.of(1, 0.3));
    set.setAttributes('a', '{"x":1}');
    const before = [[...set.contents()], set.bytes];
    const opposites: (() => void)[] = [];
    set.undo = { push: (opposite: () => void) => opposites.push(opposite) };
    set.set('a', Float32Array.of(2, 5));
    set.setAttributes('a', '');
    set.set('b', Float32Array.of(3, 1));
    set.delete('a');
    set.undo = undefined;
    for (const opposite of opposites.reverse()) opposite();
    expect([[...set.contents()], set.bytes]).to.deep.equal(before);
  });

  it('keep angles about the same with REDUCE, equally in every process', () => {
    const [a, b] = [1, 2].map((seed) => Float32Array.from({ length: 400 }, (_, at) => Math.sin(seed * 0.1 + at)));
    const cosine = (x: Float32Array, y: Float32Array) => {
      const dot = (p: Float32Array, q: Float32Array) =>
        p.reduce((sum, value, at) => sum + value * (q[at] as number), 0);
      return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
    };
    const exact = cosine(a as Float32Array, b as Float32Array);
    expect(cosine(projected(a as Float32Array, 100), projected(b as Float32Array, 100))).to.be.closeTo(exact, 0.15);
    expect(projected(Float32Array.of(1, 0, 0), 2)).to.deep.equal(projected(Float32Array.of(1, 0, 0), 2));
  });
});

describe('FILTER expressions of VSIM', () => {
  const movie =
    '{"year":1984,"title":"The \\u00c4lf","rating":8.5,"isNew":false,"tags":["a",2],"cast":{"x":1},"none":null}';
  for (const [expression, expected] of [
    ['.year == 1984', true],
    ['.year >= 1980 and .year < 1990', true],
    ['.year < 1980 or .rating > 8', true],
    ['not .isNew', true],
    ['!(.year > 2000) && .rating / 2 > 4', true],
    ['(.year - 2000) ** 2 < 300', true],
    ['2 ** 3 ** 2 == 512', true],
    ['.year - 4 - 80 == 1900', true],
    ['.year % 10 == 4', true],
    ['-1 < .rating', true],
    ['"a" in .tags', true],
    ['2 in .tags', true],
    ['.year in [1983, 1984]', true],
    ["'Älf' in .title", true],
    ['.title == "The \\Älf"', true],
    ['.none == null', true],
    ['.missing == 1', false],
    ['.missing != 1', false],
    ['.cast == 1', false],
    ['.year in []', false],
    ['"b" in .tags', false],
  ] as const) {
    it(`${expression} is ${expected}`, () =>
      expect(
        FilterExpression.compile(Buffer.from(expression).toString('latin1')).matches(
          Buffer.from(movie).toString('latin1'),
        ),
      ).to.equal(expected));
  }

  it('match no element without attributes, or with other contents than an object', () => {
    for (const attributes of ['', 'x', '1', 'null', '"text"'])
      expect(FilterExpression.compile('.a == 1 or 1').matches(attributes), attributes).to.equal(false);
  });

  for (const bad of ['', '(', '1 2', '1 +', '.a >', ')', '[1', '"a', '.a = 1', '.', 'foo', '1.2.3']) {
    it(`refuses ${JSON.stringify(bad)}`, () =>
      expect(refusalOf(bad)).to.match(/^ERR syntax error in FILTER expression near: /));
  }

  it('refuse more than 500 parts', () => {
    const long = Array.from({ length: 300 }, () => '1').join(' + ');
    expect(refusalOf(long)).to.equal('ERR a FILTER expression has at most 500 parts');
  });
});

function refusalOf(expression: string): string | undefined {
  try {
    FilterExpression.compile(expression);
    return undefined;
  } catch (error) {
    return error instanceof ErrorReply ? error.text : String(error);
  }
}
