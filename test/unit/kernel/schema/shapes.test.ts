/** Proves SHP1, SHP3. */
import { decode } from '@msgpack/msgpack';
import { expect } from 'chai';
import { MillraceError } from '../../../../src/kernel/index.js';
import {
  kind,
  Packer,
  record,
  type TypeOf,
  text,
  trailing,
  Unpacker,
  union,
  whole,
} from '../../../../src/kernel/schema/index.js';

describe('trailing fields', () => {
  const packer = new Packer();
  const shapes = { name: text(), size: trailing(whole), word: trailing(text()) };
  const row = record(shapes);
  type Row = TypeOf<typeof row>;
  const member = union('kind', { row: kind(1, shapes) });
  const write = (value: Row) => packer.pack((out) => row.write(out, value));

  it('write no value after the last one that is present', () => {
    expect(decode(write({ name: 'a' }))).to.deep.equal(['a']);
    expect(decode(write({ name: 'a', size: 0 }))).to.deep.equal(['a', 0]);
    expect(decode(write({ name: 'a', word: '' }))).to.deep.equal(['a', null, '']);
    expect(decode(packer.pack((out) => member.write(out, { kind: 'row', name: 'a' })))).to.deep.equal([1, 'a']);
  });

  it('that are missing are read like a record from before they existed', () => {
    const before = record({ name: text() });
    const bytes = packer.pack((out) => before.write(out, { name: 'a' }));
    expect(row.read(new Unpacker(bytes))).to.deep.equal({ name: 'a' });
    expect(before.read(new Unpacker(write({ name: 'a' })))).to.deep.equal({ name: 'a' });
    expect(() => before.read(new Unpacker(write({ name: 'a', size: 1 }))))
      .to.throw(MillraceError)
      .with.property('code', 'NEWER_FORMAT');
  });

  it('are read back as properties only where they are present', () => {
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
