/** Proves SHP4. */
import { decode, encode } from '@msgpack/msgpack';
import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../src/kernel/index.js';
import {
  absent,
  bothWays,
  bytes,
  decoded,
  either,
  encoded,
  fields,
  flag,
  inline,
  integer,
  kind,
  listOf,
  looseNumber,
  looseText,
  named,
  nullable,
  opaque,
  openFields,
  openKind,
  openRecord,
  optional,
  orElse,
  orNil,
  record,
  type Shape,
  text,
  trailing,
  Unpacker,
  union,
  versioned,
  whole,
} from '../../../../src/kernel/schema/index.js';

const plain = <T>(shape: Shape<T>, value: T) => decode(encoded(shape, value));
const read = <T>(shape: Shape<T>, value: unknown) => decoded(shape, encode(value), 'it');
const refuses = (shape: Shape<unknown>, value: unknown) =>
  expect(() => read(shape, value))
    .to.throw(MillraceError)
    .with.property('code')
    .that.is.oneOf(['JOURNAL_DAMAGED', 'NEWER_FORMAT']);

describe('open records', () => {
  const row = openRecord({ name: text(), size: optional(whole), word: absent(text()) });

  it('write no trailing values that are absent', () => {
    expect(plain(row, { name: 'a', size: undefined })).to.deep.equal(['a']);
    expect(plain(row, { name: 'a', size: 1 })).to.deep.equal(['a', 1]);
    expect(plain(row, { name: 'a', size: undefined, word: 'b' })).to.deep.equal(['a', null, 'b']);
  });

  it('are read with missing trailing values, and with values of a later release', () => {
    expect(read(row, ['a'])).to.deep.equal({ name: 'a', size: undefined });
    const more = ['a', 1, 'b', { x: [1, 'y', 2.5, null, new Uint8Array(300), -1, -200, 70_000] }, 'z'.repeat(300)];
    expect(read(listOf(row), [more, more])).to.deep.equal(Array(2).fill({ name: 'a', size: 1, word: 'b' }));
    refuses(row, []);
    refuses(record({ name: text() }), ['a', 1]);
  });

  it('name the field that cannot be read', () => {
    const nested = record({ rows: listOf(row) });
    expect(() => nested.read(new Unpacker(encode([[['a', 'b']]])))).to.throw(
      'a record cannot be read: an integer is expected, in size, in rows',
    );
  });
});

describe('fields', () => {
  it('that are newer and always written have a default where they are missing', () => {
    const row = record({ name: text(), isSure: orElse(flag, true) });
    expect(read(row, ['a'])).to.deep.equal({ name: 'a', isSure: true });
    expect(read(row, ['a', false])).to.deep.equal({ name: 'a', isSure: false });
    expect(plain(row, { name: 'a', isSure: true })).to.deep.equal(['a', true]);
  });

  it('with a fixed place are nil without a value', () => {
    const row = openRecord({ name: text(), by: orNil(text()) });
    expect(plain(row, { name: 'a', by: undefined })).to.deep.equal(['a', null]);
    expect(read(row, ['a', null])).to.deep.equal({ name: 'a', by: undefined });
    refuses(row, ['a']);
  });

  it('of an inner record can be stored inline', () => {
    const row = record({ a: whole, in: inline({ b: whole, c: optional(whole) }), d: trailing(whole) });
    expect(plain(row, { a: 1, in: { b: 2, c: undefined } })).to.deep.equal([1, 2, null]);
    expect(read(row, [1, 2, 3, 4])).to.deep.equal({ a: 1, in: { b: 2, c: 3 }, d: 4 });
    refuses(row, [1, 2]);
  });

  it('by name are those with a value; names of a later release are skipped', () => {
    const change = named({ size: whole, token: nullable(text()) });
    expect(plain(change, {})).to.deep.equal({});
    expect(plain(change, { token: null })).to.deep.equal({ token: null });
    expect(read(change, { more: [1, { x: 2 }], size: 3 })).to.deep.equal({ size: 3 });
    refuses(change, { size: null });
    refuses(change, ['size']);
  });
});

describe('unions', () => {
  it('have the fields of a member after its number, or in a separate list', () => {
    const both = union('type', {
      flat: kind(1, { a: whole }),
      nested: openKind(2, { a: whole }),
    });
    expect(plain(both, { type: 'flat', a: 5 })).to.deep.equal([1, 5]);
    expect(plain(both, { type: 'nested', a: 5 })).to.deep.equal([2, [5]]);
    expect(read(both, [2, [5, 6], 7])).to.deep.equal({ type: 'nested', a: 5 });
    for (const damaged of [[], [1], [2], [3, 5], ['flat', 5]]) refuses(both, damaged);
  });

  it('may have names in place of numbers', () => {
    const named = union('type', { a: ['A', fields({ x: whole })], b: ['B', fields({})] });
    expect(plain(named, { type: 'a', x: 1 })).to.deep.equal(['A', 1]);
    expect(read(named, ['B'])).to.deep.equal({ type: 'b' });
    refuses(named, ['C']);
  });

  it('refuse a repeated number', () => {
    expect(() => union('type', { a: kind(1, {}), b: kind(1, {}) })).to.throw(MillraceError, 'twice');
  });

  it('of two members may use a boolean', () => {
    const answer = versioned(
      1,
      either('isDone', openFields({ a: whole }), openFields({ b: text(), c: absent(whole) })),
    );
    expect(plain(answer, { isDone: true, a: 2 })).to.deep.equal([1, true, 2]);
    expect(plain(answer, { isDone: false, b: 'x' })).to.deep.equal([1, false, 'x']);
    expect(read(answer, [1, false, 'x', 3, 4])).to.deep.equal({ isDone: false, b: 'x', c: 3 });
  });

  it('of versions write the newest and read all', () => {
    const [write, read] = bothWays(versioned(2, fields({ a: text() }), { 1: fields({ a: text() }) }), 'it', 'INVALID');
    expect(decode(write({ a: 'x' }))).to.deep.equal([2, 'x']);
    expect(read(encode([1, 'y']))).to.deep.equal({ a: 'y' });
    expect(() => read(encode([3, 'y'])))
      .to.throw(MillraceError)
      .with.property('code', 'INVALID');
  });
});

describe('values with the bytes of a general encoder', () => {
  const sameBytes = <T>(shape: Shape<T>, value: T) => {
    expect(Buffer.from(encoded(shape, value)).toString('hex')).to.equal(Buffer.from(encode(value)).toString('hex'));
    expect(read(shape, value)).to.deep.equal(decode(encode(value)));
  };
  const edges = [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1].flatMap((n) => [
    n,
    -n - 1 >= Number.MIN_SAFE_INTEGER ? -n - 1 : n,
    -n + 0,
  ]);

  it('are integers in as few bytes as possible', () => {
    for (const value of edges) sameBytes(integer, value === 0 ? 0 : value);
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => sameBytes(integer, value)));
    expect(() => encoded(integer, 1.5)).to.throw(MillraceError);
    expect(() => encoded(integer, -1.5)).to.throw(MillraceError);
  });

  it('are numbers of any kind', () => {
    fc.assert(fc.property(fc.oneof(fc.double(), fc.maxSafeInteger()), (value) => sameBytes(looseNumber, value)));
  });

  it('are texts, also with unpaired surrogates', () => {
    const halves = fc.array(fc.constantFrom('\ud800', '\udfff', 'a', 'ä', '😀', '\ufffd'), { maxLength: 90 });
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      halves.map((parts) => parts.join('')),
    );
    fc.assert(fc.property(texts, (value) => sameBytes(looseText(), value)));
  });

  it('are any JSON values without a property named __proto__, which the decoder refuses', () => {
    const values = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__":'));
    fc.assert(fc.property(values, (value) => sameBytes(opaque(), value)));
    expect(() => sameBytes(opaque(), JSON.parse('{"__proto__":1}'))).to.throw(MillraceError);
  });
});

it('bytes after a value are damage', () => {
  expect(() => decoded(bytes, Buffer.concat([encode(new Uint8Array(2)), Buffer.from([0])]), 'it'))
    .to.throw(MillraceError)
    .with.property('code', 'JOURNAL_DAMAGED');
});
