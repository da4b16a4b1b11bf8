/** Proves SY1, SY2. */
import { expect } from 'chai';
import { OutboundBuffer, sharedChunk, WRITE_BYTES } from '../../../src/edge/outbound-buffer.js';

describe('the outbound buffer of a client', () => {
  const all = (buffer: OutboundBuffer): (string | Buffer)[] => {
    const taken: (string | Buffer)[] = [];
    while (buffer.bytes > 0) taken.push(buffer.take());
    return taken;
  };

  it('keeps the order, and joins short pieces', () => {
    const buffer = new OutboundBuffer();
    for (const text of ['a', 'b', 'c']) buffer.add(text);
    expect(buffer.bytes).to.equal(3);
    expect(all(buffer)).to.deep.equal(['abc']);
    buffer.add('d');
    expect(all(buffer)).to.deep.equal(['d']);
  });

  it('writes about 64 KiB at a time, for any number and length of pieces', () => {
    const buffer = new OutboundBuffer();
    const long = 'x'.repeat(5 * WRITE_BYTES + 100);
    for (const text of ['a', long, 'b', 'c'.repeat(WRITE_BYTES), 'd']) buffer.add(sharedChunk(text));
    for (let i = 0; i < 100; i += 1) buffer.add('e'.repeat(10_000));
    const taken = all(buffer);
    for (const { length } of taken) expect(length).to.be.at.most(WRITE_BYTES * 1.25);
    expect(taken.length).to.be.below(30);
    const whole = `a${long}b${'c'.repeat(WRITE_BYTES)}d${'e'.repeat(1_000_000)}`;
    expect(taken.map(String).join('') === whole).to.equal(true);
  });

  it('shares long pieces between all receivers, without a copy', () => {
    const message = sharedChunk('m'.repeat(3 * WRITE_BYTES)) as Buffer;
    const [one, two] = [new OutboundBuffer(), new OutboundBuffer()];
    one.add(message);
    two.add(message);
    for (const piece of [...all(one), ...all(two)]) expect((piece as Buffer).buffer).to.equal(message.buffer);
  });

  it('accepts more after a part of it has been taken', () => {
    const buffer = new OutboundBuffer();
    const long = 'x'.repeat(3 * WRITE_BYTES);
    buffer.add(long);
    const first = buffer.take();
    buffer.add('y');
    expect(buffer.bytes).to.equal(2 * WRITE_BYTES + 1);
    expect([first, ...all(buffer)].join('') === `${long}y`).to.equal(true);
  });
});
