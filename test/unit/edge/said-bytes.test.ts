/** Proves SY1, SY2. */
import { expect } from 'chai';
import { SaidBytes, shareable, WRITE_BYTES } from '../../../src/edge/said-bytes.js';

describe('what waits to be written to a client', () => {
  const all = (said: SaidBytes): (string | Buffer)[] => {
    const taken: (string | Buffer)[] = [];
    while (said.bytes > 0) taken.push(said.take());
    return taken;
  };

  it('leaves in its order, what is short together', () => {
    const said = new SaidBytes();
    for (const text of ['a', 'b', 'c']) said.add(text);
    expect(said.bytes).to.equal(3);
    expect(all(said)).to.deep.equal(['abc']);
    said.add('d');
    expect(all(said)).to.deep.equal(['d']);
  });

  it('leaves in writes of some 64 KiB, however long or many it is', () => {
    const said = new SaidBytes();
    const long = 'x'.repeat(5 * WRITE_BYTES + 100);
    for (const text of ['a', long, 'b', 'c'.repeat(WRITE_BYTES), 'd']) said.add(shareable(text));
    for (let i = 0; i < 100; i += 1) said.add('e'.repeat(10_000));
    const taken = all(said);
    for (const { length } of taken) expect(length).to.be.at.most(WRITE_BYTES * 1.25);
    expect(taken.length).to.be.below(30);
    const whole = `a${long}b${'c'.repeat(WRITE_BYTES)}d${'e'.repeat(1_000_000)}`;
    expect(taken.map(String).join('') === whole).to.equal(true);
  });

  it('shares what is long with all who are told, and copies none of it', () => {
    const message = shareable('m'.repeat(3 * WRITE_BYTES)) as Buffer;
    const [one, two] = [new SaidBytes(), new SaidBytes()];
    one.add(message);
    two.add(message);
    for (const piece of [...all(one), ...all(two)]) expect((piece as Buffer).buffer).to.equal(message.buffer);
  });

  it('can be added to while a part of it has been taken', () => {
    const said = new SaidBytes();
    const long = 'x'.repeat(3 * WRITE_BYTES);
    said.add(long);
    const first = said.take();
    said.add('y');
    expect(said.bytes).to.equal(2 * WRITE_BYTES + 1);
    expect([first, ...all(said)].join('') === `${long}y`).to.equal(true);
  });
});
