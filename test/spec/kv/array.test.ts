/** Proves ARR1, ARR2, ARR3. */
import { expect } from 'chai';
import { type CommandSpec, findCommand, MAX_RECORD_BYTES, sealPayload } from '../../../src/domain/kv/index.js';
import { inOneStep } from '../../../src/domain/kv/steps.js';
import { ArrayValue } from '../../../src/domain/kv/types/array-value.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { kvCase, NOW } from '../../support/kv-case.js';
import { KvEventsBench } from '../../support/kv-events.js';
import { ARRAY_KEYS, arrayProgram } from '../../support/random-programs/array.js';
import { Dice } from '../../support/random-programs/index.js';
import { ARRAY_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: arrays', ARRAY_CASES);

const ABC = ['ARSET k 0 a b c'];

/** Not among all cases, because a server without arrays gives these commands another answer, not an error. */
describeCases('key-value commands: arrays, as keys', [
  kvCase('ARSET repeats the expiry of the key', ['ARSET k 1 a', 'PEXPIREAT k @+100000'], 'ARSET k 0 x', 1, [
    'ARSET k 0 x',
    'PEXPIREAT k @+100000',
  ]),
  kvCase('TYPE of an array', ABC, 'TYPE k', '+array'),
  kvCase('OBJECT ENCODING of an array', ABC, 'OBJECT ENCODING k', 'sliced-array'),
  kvCase('MEMORY USAGE of an array', ABC, 'MEMORY USAGE k', (reply) => Number(reply) > 200),
  kvCase('SCAN TYPE array', [...ABC, 'SET s x'], 'SCAN 0 TYPE array', ['0', ['k']]),
  kvCase('COPY of an array with its cursor', ['ARINSERT k a b', 'COPY k l', 'ARINSERT k c'], 'ARNEXT l', 2),
  kvCase('RENAME of an array', [...ABC, 'RENAME k l'], 'ARGET l 2', 'c'),
]);

function benchWith(count: number, step = 1): KvBench {
  const bench = new KvBench();
  const words = ['ARMSET', 'k'];
  for (let i = 0; i < count; i += 1) words.push(String(i * step), `v${i}`);
  bench.run(words);
  return bench;
}

describe('key-value: large arrays', () => {
  it('are rebuilt by commands of bounded size, with their cursor', () => {
    const bench = benchWith(20_000, 3);
    bench.line('ARSEEK k 77');
    const value = bench.engine.keyspace.stored('k') as ArrayValue;
    const commands = [...value.rebuild('k')];
    expect(commands.length).to.be.greaterThan(5);
    expect(commands.at(-1)).to.deep.equal(['ARSEEK', 'k', '77']);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('survive DUMP and RESTORE', () => {
    const bench = benchWith(5000, 7);
    bench.line('ARSEEK k 18446744073709551615');
    const payload = bench.line('DUMP k').reply as string;
    expect(bench.run(['RESTORE', 'l', '0', payload]).reply).to.have.property('text', 'OK');
    expect(bench.line('ARNEXT l').reply).to.equal(null);
    expect(bench.line('ARLEN l').reply).to.equal(4999 * 7 + 1);
    expect(bench.line('DUMP l').reply).to.equal(payload);
    bench.expectReplayed();
  });

  it('read numbers in the compact forms of a Redis payload', () => {
    const bench = new KvBench();
    const payload = REDIS_PAYLOAD.map((byte) => String.fromCharCode(byte)).join('');
    expect(readable(bench.run(['RESTORE', 'k', '0', sealPayload(payload, 14)]).reply)).to.equal('+OK');
    expect(bench.line('ARSCAN k 0 100').reply).to.deep.equal([
      [0, '-2'],
      [1, '1.5'],
      [70, 'abc'],
    ]);
    expect(bench.line('ARNEXT k').reply).to.equal(6);
  });

  it('take slices where many values are visited, with the same answer', () => {
    const bench = benchWith(10_000);
    for (const line of [
      'ARGETRANGE k 0 9999',
      'ARSCAN k 0 9999',
      'ARGREP k - + RE v.*7$',
      'AROP k 0 9999 MATCH v3',
      'ARLASTITEMS k 9000',
      'ARRING k 5000 x',
      'ARDELRANGE k 0 9000',
    ]) {
      const words = line.split(' ');
      const spec = findCommand(words) as CommandSpec;
      expect(bench.engine.isLong(spec, words, NOW), line).to.equal(true);
    }
  });

  it('end at the largest record', () => {
    const bench = new KvBench();
    const half = 'x'.repeat(MAX_RECORD_BYTES / 2);
    expect(bench.run(['ARSET', 'k', '0', half, half]).reply).to.equal(2);
    expect(readable(bench.run(['ARINSERT', 'k', 'x']).reply)).to.equal('-ERR max single record size exceeded');
  });

  it('count values and pages, and as many bytes for a page of many values as for lists of few', () => {
    const dense = new ArrayValue();
    for (let i = 0; i < 4096; i += 1) dense.set(i, 'v');
    for (let i = 300; i < 4096; i += 1) dense.delete(i);
    const sparse = new ArrayValue();
    for (let i = 299; i >= 0; i -= 1) sparse.set(i, 'v');
    expect(dense.bytes).to.equal(sparse.bytes);
    expect([...dense.entries(0, 4095)]).to.deep.equal([...sparse.entries(0, 4095)]);
    expect(inOneStep(dense.countPages())).to.include({ dense: 1, sparse: 0 });
    for (let i = 299; i >= 200; i -= 1) dense.delete(i);
    expect(inOneStep(dense.countPages())).to.include({ dense: 0, sparse: 1, sparseValues: 200 });
    expect(dense.get(199)).to.equal('v');
    expect(dense.length).to.equal(200);
  });

  it('publish keyspace events of the class `a`', () => {
    const bench = new KvEventsBench('Ea');
    const events = ['ARSET k 0 a b', 'ARDEL k 1', 'ARSEEK k 5', 'ARDELRANGE k 0 9'].flatMap((line) => bench.line(line));
    expect(events).to.deep.equal(['arset k', 'ardel k', 'arseek k', 'ardelrange k']);
    expect(new KvEventsBench().line('ARINSERT k a')).to.deep.equal(['arinsert k']);
  });
});

const SEEDS = Number(process.env.ARRAY_SEEDS ?? 8);
const STEPS = 600;

/** A plain model: a map of all values, and the next index. */
class Model {
  readonly values = new Map<bigint, string>();
  next = 0n;
}

describe('key-value: random programs of the Array family', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    it(`replay, are rebuilt, and have the contents of a plain model (seed ${seed})`, () => {
      const bench = new KvBench(seed);
      const dice = new Dice(seed);
      const shapes = arrayProgram(dice, 8);
      const models = new Map<string, Model>();
      for (let step = 0; step < STEPS; step += 1) {
        const words = dice.pick(shapes)();
        const { reply } = bench.run(words);
        if (!String(readable(reply)).startsWith('-')) follow(models, words);
        if (step % 20 === 0) expectAlike(bench, models, words.join(' '));
      }
      bench.expectReplayed();
      bench.expectRebuilt();
    });
  }
});

function follow(models: Map<string, Model>, [name, key = '', ...rest]: readonly string[]): void {
  const model = models.get(key) ?? new Model();
  switch (name) {
    case 'ARSET':
      for (const [at, value] of rest.slice(1).entries())
        model.values.set(BigInt(rest[0] as string) + BigInt(at), value);
      break;
    case 'ARMSET':
      for (let at = 0; at < rest.length; at += 2) model.values.set(BigInt(rest[at] as string), rest[at + 1] as string);
      break;
    case 'ARINSERT':
      for (const value of rest) {
        model.values.set(model.next, value);
        model.next += 1n;
      }
      break;
    case 'ARRING':
      modelRing(model, BigInt(rest[0] as string), rest.slice(1));
      break;
    case 'ARSEEK':
      if (models.has(key)) model.next = BigInt(rest[0] as string);
      break;
    case 'ARDEL':
      for (const index of rest) model.values.delete(BigInt(index));
      break;
    case 'ARDELRANGE':
      for (let at = 0; at < rest.length; at += 2) {
        const [one, other] = [BigInt(rest[at] as string), BigInt(rest[at + 1] as string)];
        for (const index of model.values.keys())
          if (index >= (one < other ? one : other) && index <= (one < other ? other : one)) model.values.delete(index);
      }
      break;
    case 'COPY': {
      const source = models.get(key);
      const target = rest[0] as string;
      if (source === undefined || key === target) return;
      const copy = new Model();
      for (const [index, value] of source.values) copy.values.set(index, value);
      copy.next = source.next;
      models.set(target, copy);
      return;
    }
    case 'DEL':
      models.delete(key);
      return;
    default:
      return;
  }
  if (model.values.size > 0) models.set(key, model);
  else models.delete(key);
}

function modelRing(model: Model, size: bigint, values: readonly string[]): void {
  const span = lengthOf(model);
  if (span > size || (span < size && model.next > 0n && model.next < span)) {
    const kept: string[] = [];
    let at = model.next === 0n ? span - 1n : (model.next - 1n) % span;
    for (let value = model.values.get(at); value !== undefined && kept.length < (size < span ? size : span); ) {
      kept.unshift(value);
      at = at === 0n ? span - 1n : at - 1n;
      value = model.values.get(at);
    }
    model.values.clear();
    for (const [index, value] of kept.entries()) model.values.set(BigInt(index), value);
    model.next = BigInt(kept.length);
  }
  for (const value of values) {
    const index = model.next % size;
    model.values.set(index, value);
    model.next = index + 1n;
  }
}

function lengthOf({ values }: Model): bigint {
  let highest = -1n;
  for (const index of values.keys()) if (index > highest) highest = index;
  return highest + 1n;
}

function expectAlike(bench: KvBench, models: ReadonlyMap<string, Model>, after: string): void {
  for (const key of ARRAY_KEYS) {
    const model = models.get(key);
    const expected = [...(model?.values ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    const found = readable(bench.line(`ARSCAN ${key} 0 18446744073709551614`).reply) as [number | bigint, string][];
    expect(
      found.map(([index, value]) => [String(index), value]),
      `${key} after ${after}`,
    ).to.deep.equal(expected.map(([index, value]) => [String(index), value]));
    expect(String(readable(bench.line(`ARLEN ${key}`).reply))).to.equal(
      String(model === undefined ? 0n : lengthOf(model)),
    );
    const next = readable(bench.line(`ARNEXT ${key}`).reply) ?? 18446744073709551615n;
    expect(String(next), `cursor of ${key} after ${after}`).to.equal(String(model?.next ?? 0n));
  }
}

/** Three values with the marks of an integer, a double and a text; the last insert was at index 5. */
const REDIS_PAYLOAD = [
  ...[28, 3, 1, 5],
  ...[0, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  ...[1, 2, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
  ...[0x40, 70, 3, 3, 0x61, 0x62, 0x63],
];
