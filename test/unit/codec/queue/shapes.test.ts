import { decode } from '@msgpack/msgpack';
import { expect } from 'chai';
import { Packer } from '../../../../src/codec/queue/packer.js';
import { fields, record, text, trailing, union, whole } from '../../../../src/codec/queue/shapes.js';
import { Unpacker } from '../../../../src/codec/queue/unpacker.js';
import { MillraceError } from '../../../../src/kernel/index.js';

describe('trailing fields', () => {
  interface Row {
    readonly name: string;
    readonly size?: number | undefined;
    readonly word?: string | undefined;
  }
  const packer = new Packer();
  const row = record<Row>({ name: text(), size: trailing(whole), word: trailing(text()) });
  const member = union<{ readonly kind: 'row' } & Row, 'kind'>('kind', {
    row: [1, fields<Row>({ name: text(), size: trailing(whole), word: trailing(text()) })],
  });
  const write = (value: Row) => packer.pack((out) => row.write(out, value));

  it('leave nothing behind the last one that is there', () => {
    expect(decode(write({ name: 'a' }))).to.deep.equal(['a']);
    expect(decode(write({ name: 'a', size: 0 }))).to.deep.equal(['a', 0]);
    expect(decode(write({ name: 'a', word: '' }))).to.deep.equal(['a', null, '']);
    expect(decode(packer.pack((out) => member.write(out, { kind: 'row', name: 'a' })))).to.deep.equal([1, 'a']);
  });

  it('that are not there read as a record from before they came', () => {
    const before = record<{ readonly name: string }>({ name: text() });
    const bytes = packer.pack((out) => before.write(out, { name: 'a' }));
    expect(row.read(new Unpacker(bytes))).to.deep.equal({ name: 'a' });
    expect(before.read(new Unpacker(write({ name: 'a' })))).to.deep.equal({ name: 'a' });
    expect(() => before.read(new Unpacker(write({ name: 'a', size: 1 }))))
      .to.throw(MillraceError)
      .with.property('code', 'JOURNAL_DAMAGED');
  });

  it('come back as properties only where they are there', () => {
    for (const value of [
      { name: 'a' },
      { name: 'a', size: 0 },
      { name: 'a', word: 'b' },
      { name: 'a', size: 1, word: '' },
    ]) {
      expect(row.read(new Unpacker(write(value)))).to.deep.equal(value);
    }
  });
});
