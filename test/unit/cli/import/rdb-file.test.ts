/**
 * RDB files byte by byte: forms that no current server writes, and invalid ones. Proves RDF1, RDF2, RDF3, FBY1, FBY2.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DamagedFile, EndsTooSoon, FileBytes } from '../../../../src/cli/import/file-bytes.js';
import { type RdbPart, readRdb } from '../../../../src/cli/import/rdb/rdb-file.js';
import { RdbSource } from '../../../../src/cli/import/rdb/rdb-source.js';
import { encodeListpack } from '../../../../src/domain/kv/types/rdb/listpack.js';
import { KvBench, readable } from '../../../support/kv-bench.js';
import { instant, keyOf, moduleName, rdbFile, size, text, ziplist, zipmap } from '../../../support/rdb-writer.js';
import { directoryOf } from '../../../support/stand-hooks.js';

const MOST = 1024 * 1024;
const FAR_MS = 4_102_444_800_000;
const raw = (...bytes: number[]) => String.fromCharCode(...bytes);
const rawId = (ms: number, seq: number) => {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64BE(BigInt(ms), 0);
  bytes.writeBigUInt64BE(BigInt(seq), 8);
  return bytes.toString('latin1');
};
/** An entry 5-1 of a field, pending with a consumer that has two more instants since the third version. */
const streamOf = (version: 1 | 2 | 3 | 4) => {
  const node = encodeListpack([1, 0, 1, 'f', 0, 2, 0, 0, 'v', 4]);
  const counters = version >= 2 ? size(5) + size(1) + size(0) + size(0) + size(1) : '';
  const pending = size(1) + rawId(5, 1) + instant(1000) + size(2);
  const seen = version >= 3 ? instant(1000) + instant(1000) : instant(1000);
  const consumers = size(1) + text('c') + seen + size(1) + rawId(5, 1);
  const group = text('g') + size(5) + size(1) + (version >= 2 ? size(1) : '') + pending + consumers;
  const producer = size(1) + text('p') + size(1) + text('id') + size(5) + size(1);
  const producers = version >= 4 ? size(100) + size(100) + producer + size(1) + size(0) : '';
  return (
    size(1) + text(rawId(5, 1)) + text(node) + size(1) + size(5) + size(1) + counters + size(1) + group + producers
  );
};

describe('an RDB file', () => {
  const dir = directoryOf('all tests');

  function partsOf(file: Buffer, most = MOST): RdbPart[] {
    const path = join(dir.path, 'file.rdb');
    writeFileSync(path, file);
    const open = openSync(path, 'r');
    try {
      return [...readRdb(new FileBytes(open), most)];
    } finally {
      closeSync(open);
    }
  }

  function onlyKey(file: Buffer) {
    const [part] = partsOf(file);
    if (part?.kind !== 'key') throw new Error(`${part?.kind} is no key`);
    return part.key;
  }

  const listpack = encodeListpack(['f', 'v', FAR_MS, 'g', 'w', 0]);
  const FORMS: readonly (readonly [title: string, form: number, bytes: string, read: string, answer: unknown])[] = [
    ['a string', 0, text('v'), 'GET k', 'v'],
    ['an integer of a byte', 0, raw(0xc0, 0xfe), 'GET k', '-2'],
    ['an integer of two bytes', 0, raw(0xc1, 0x00, 0x80), 'GET k', '-32768'],
    ['an integer of four bytes', 0, raw(0xc2, 0xff, 0xff, 0xff, 0x7f), 'GET k', '2147483647'],
    ['a compressed string', 0, `${raw(0xc3, 7, 12, 2)}abc${raw(0xe0, 0, 2)}`, 'GET k', 'abcabcabcabc'],
    ['a list', 1, size(2) + text('a') + text('b'), 'LRANGE k 0 -1', ['a', 'b']],
    ['a set', 2, size(1) + text('a'), 'SMEMBERS k', ['a']],
    [
      'a sorted set with scores as text',
      3,
      `${size(3) + text('a') + raw(3)}1.5${text('b')}${raw(254)}${text('c')}${raw(255)}`,
      'ZRANGE k 0 -1 WITHSCORES',
      ['c', '-inf', 'a', '1.5', 'b', 'inf'],
    ],
    ['a hash', 4, size(1) + text('f') + text('v'), 'HGETALL k', ['f', 'v']],
    ['a sorted set', 5, size(1) + text('a') + raw(0, 0, 0, 0, 0, 0, 0xf8, 0x3f), 'ZSCORE k a', '1.5'],
    [
      'a hash as a zipmap',
      9,
      text(zipmap(['f', 'v', 'g', 'w'.repeat(300)], 3)),
      'HGETALL k',
      ['f', 'v', 'g', 'w'.repeat(300)],
    ],
    ['a list as a ziplist', 10, text(ziplist(['a', 'b'])), 'LRANGE k 0 -1', ['a', 'b']],
    ['a set as an intset', 11, text(raw(2, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 1, 0)), 'SMEMBERS k', ['-1', '1']],
    [
      'a sorted set as a ziplist',
      12,
      text(ziplist(['a', '1', 'b', '2.5'])),
      'ZRANGE k 0 -1 WITHSCORES',
      ['a', '1', 'b', '2.5'],
    ],
    ['a hash as a ziplist', 13, text(ziplist(['f', 'v'])), 'HGETALL k', ['f', 'v']],
    ['a list of ziplists', 14, size(2) + text(ziplist(['a'])) + text(ziplist(['b'])), 'LRANGE k 0 -1', ['a', 'b']],
    ['a stream', 15, streamOf(1), 'XPENDING k g', [1, '5-1', '5-1', [['c', '1']]]],
    ['a hash as a listpack', 16, text(encodeListpack(['f', 'v'])), 'HGETALL k', ['f', 'v']],
    ['a sorted set as a listpack', 17, text(encodeListpack(['a', 1])), 'ZSCORE k a', '1'],
    [
      'a list of listpacks and plain nodes',
      18,
      size(2) + size(2) + text(encodeListpack(['a'])) + size(1) + text('b'),
      'LRANGE k 0 -1',
      ['a', 'b'],
    ],
    ['a stream with counters', 19, streamOf(2), 'XPENDING k g', [1, '5-1', '5-1', [['c', '1']]]],
    ['a set as a listpack', 20, text(encodeListpack(['a'])), 'SMEMBERS k', ['a']],
    [
      'a stream that knows when consumers were active',
      21,
      streamOf(3),
      'XPENDING k g',
      [1, '5-1', '5-1', [['c', '1']]],
    ],
    [
      'a hash with expiries of a release candidate',
      22,
      size(2) + size(FAR_MS) + text('f') + text('v') + size(0) + text('g') + text('w'),
      'HPEXPIRETIME k FIELDS 2 f g',
      [FAR_MS, -1],
    ],
    [
      'a packed hash with expiries of a release candidate',
      23,
      text(listpack),
      'HPEXPIRETIME k FIELDS 2 f g',
      [FAR_MS, -1],
    ],
    [
      'a hash with expiries',
      24,
      instant(FAR_MS) + size(2) + size(1) + text('f') + text('v') + size(0) + text('g') + text('w'),
      'HPEXPIRETIME k FIELDS 2 f g',
      [FAR_MS, -1],
    ],
    ['a packed hash with expiries', 25, instant(FAR_MS) + text(listpack), 'HPEXPIRETIME k FIELDS 2 f g', [FAR_MS, -1]],
    ['a stream with producers', 26, streamOf(4), 'XPENDING k g', [1, '5-1', '5-1', [['c', '1']]]],
  ];

  for (const [title, form, bytes, read, answer] of FORMS) {
    it(`has ${title} (form ${form}), which RESTORE accepts`, () => {
      const { name, payload } = onlyKey(rdbFile([keyOf(form, 'k', bytes)]));
      expect(name).to.equal('k');
      const bench = new KvBench();
      expect(readable(bench.run(['RESTORE', 'k', '0', payload as string]).reply)).to.equal('+OK');
      const reply = readable(bench.line(read).reply);
      expect(JSON.parse(JSON.stringify(reply))).to.deep.equal(answer);
    });

    it(`that ends within ${title} (form ${form}) is refused with the position`, () => {
      const file = rdbFile([keyOf(form, 'k', bytes)]);
      for (let length = 9; length < file.length; length += 1) {
        expect(() => partsOf(file.subarray(0, length)), String(length))
          .to.throw(EndsTooSoon, 'the file ends too soon, at byte')
          .with.property('offset', length);
      }
    });
  }

  it('has metadata with its values: facts, sizes, slots, databases, expiries, age and use', () => {
    const beside = [
      raw(250) + text('redis-ver') + text('8.0.0'),
      raw(254) + size(3),
      raw(251) + size(2) + size(1),
      raw(244) + size(1) + size(2) + size(3),
      raw(252) + instant(FAR_MS) + raw(248) + size(70) + keyOf(0, 'a', text('1')),
      raw(253) + raw(0x00, 0xf1, 0x53, 0x65) + raw(249, 7) + keyOf(0, 'b', text('2')),
      keyOf(0, 'c', text('3')),
    ];
    const keys = partsOf(rdbFile(beside)).map(
      (part) => part.kind === 'key' && { ...part.key, database: part.database },
    );
    expect(
      keys.map((key) => key && [key.name, key.database, key.expireAtMs, key.idleSeconds, key.frequency]),
    ).to.deep.equal([
      ['a', 3, FAR_MS, 70, undefined],
      ['b', 3, 1_700_000_000_000, undefined, 7],
      ['c', 3, undefined, undefined, undefined],
    ]);
  });

  it('has function libraries, and module data is reported', () => {
    const written =
      size(2) +
      size(7) +
      size(1) +
      size(9) +
      size(3) +
      raw(0, 0, 0, 0) +
      size(4) +
      instant(0) +
      size(5) +
      text('x') +
      size(0);
    const parts = partsOf(
      rdbFile([
        raw(245) + text('#!lua name=lib'),
        raw(246) + text('old') + text('lua') + size(1) + text('about') + text('code'),
        raw(247) + moduleName('example-a', 1) + size(2) + size(2) + written,
        raw(243) + size(1) + raw(1, 2, 3, 4) + written,
        keyOf(7, 'm', moduleName('example-a', 1) + written),
        keyOf(0, 'k', text('v')),
      ]),
    );
    const shown = parts.map((part) =>
      part.kind === 'key' ? part.key.name : part.kind === 'library' ? part.source : part.item,
    );
    expect(shown).to.deep.equal([
      '#!lua name=lib',
      'a library of functions of a release candidate',
      'data of the module example-a',
      'module data of the next key',
      'm',
      'k',
    ]);
  });

  it('omits a value above the bound, and continues after it', () => {
    const [large, fits] = partsOf(
      rdbFile([keyOf(0, 'l', text('x'.repeat(101))), keyOf(0, 'k', text('x'.repeat(99)))]),
      101,
    );
    expect(large).to.deep.include({ kind: 'key' }).and.have.nested.property('key.payload', undefined);
    expect(large).to.have.nested.property('key.bytes', 105);
    expect(fits)
      .to.have.nested.property('key.payload')
      .that.has.lengthOf(1 + 2 + 99 + 10);
  });

  it('is read in batches, and can be continued from each of them', () => {
    const path = join(dir.path, 'batches.rdb');
    const keys = Array.from({ length: 10 }, (_, at) => keyOf(0, `k${at}`, text('v')));
    writeFileSync(
      path,
      rdbFile([raw(245) + text('library'), ...keys, raw(254) + size(1), keyOf(0, 'other', text('v'))]),
    );
    const bounds = { batchKeys: 4, batchBytes: MOST, mostValueBytes: MOST };
    const source = new RdbSource(path, bounds, undefined);
    const named = (from?: string) =>
      [...source.batches(from)].map(({ keys }) => keys.map(({ name }) => name).join(' '));
    expect(named()).to.deep.equal(['k0 k1 k2', 'k3 k4 k5 k6', 'k7 k8 k9']);
    const [first, second, last] = [...source.batches(undefined)];
    expect(first?.libraries).to.deep.equal(['library']);
    expect(last?.left).to.deep.equal([['database 1', 'its 1 keys are not imported: run again with --database 1']]);
    expect(named(first?.next)).to.deep.equal(['k3 k4 k5 k6', 'k7 k8 k9']);
    expect(named(second?.next)).to.deep.equal(['k7 k8 k9']);
    expect([...new RdbSource(path, { ...bounds, batchBytes: 1 }, 1).batches(undefined)]).to.have.lengthOf(2);
    expect(source.identity).to.match(/^file of \d+ bytes, changed at 20/);
  });

  it('may be longer than the read buffer', () => {
    const values = Array.from({ length: 40 }, (_, at) => keyOf(0, `k${at}`, text(String(at % 10).repeat(40_000))));
    expect(partsOf(rdbFile(values))).to.have.lengthOf(40);
  });

  it('with a wrong checksum is refused after its last key; without a checksum it is read', () => {
    const file = rdbFile([keyOf(0, 'k', text('v'))]);
    file[file.length - 1] = (file.at(-1) as number) ^ 1;
    expect(() => partsOf(file)).to.throw(DamagedFile, /^checksum mismatch at byte 15/);
    expect(partsOf(rdbFile([keyOf(0, 'k', text('v'))], { checksum: false }))).to.have.lengthOf(1);
    expect(partsOf(rdbFile([keyOf(0, 'k', text('v'))], { version: 4 }))).to.have.lengthOf(1);
  });

  const DAMAGES: readonly (readonly [title: string, file: Buffer, error: RegExp])[] = [
    [
      'of a newer version',
      rdbFile([], { version: 15 }),
      /^the file has RDB version 15; supported are 1 to 14, at byte 9$/,
    ],
    ['without a version', Buffer.from('REDIS00x3'), /^the file does not start like an RDB file/],
    ['with an unknown value type', rdbFile([keyOf(27, 'k', '')]), /^a value of the unknown type 27, at byte 10$/],
    ['with a module value of an old format', rdbFile([keyOf(6, 'k', '')]), /^a value of the unknown type 6/],
    ['with an unknown opcode', rdbFile([raw(242)]), /^a value of the unknown type 242/],
    ['with an invalid length', rdbFile([keyOf(1, 'k', raw(0xc4))]), /^byte 196 does not start a length, at byte 13$/],
    [
      'with a name that cannot be decompressed',
      rdbFile([raw(0, 0xc3, 1, 5, 0)]),
      /^a compressed name or text from byte 10 cannot be decompressed/,
    ],
    [
      'with an invalid module opcode',
      rdbFile([keyOf(7, 'k', moduleName('example-a', 1) + size(6))]),
      /^6 is not a valid type of module data/,
    ],
    [
      'with a length beyond the file',
      rdbFile([keyOf(0, 'k', raw(0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))]),
      /^the file ends too soon/,
    ],
    [
      'with more items than the file can hold',
      rdbFile([keyOf(2, 'k', raw(0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))]),
      /^the file ends too soon|does not start a length/,
    ],
  ];
  for (const [title, file, error] of DAMAGES) {
    it(`${title} is refused with the position`, () => {
      expect(() => partsOf(file)).to.throw(DamagedFile, error);
    });
  }
});
