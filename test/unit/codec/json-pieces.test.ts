import { expect } from 'chai';
import { isLongReply, replyInPieces, replyToBase64Json, replyToJson } from '../../../src/codec/json/index.js';
import { DoubleReply, MapReply, OK, type Reply } from '../../../src/domain/kv/index.js';

/** Bytes as characters. */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

const many = (count: number): Reply[] => Array.from({ length: count }, (_, i) => (i % 7 === 0 ? null : `item "${i}"`));

describe('JSON in pieces', () => {
  for (const [title, reply] of [
    ['a long list', many(5000)],
    ['a list that ends with a piece', many(4000)],
    ['a long map', new MapReply(many(6000))],
    ['a long list within a short one', ['cursor', many(3000), 'end']],
    ['a long text', 'plain '.repeat(50_000)],
    ['a long text in a short list', ['cursor', 'plain "\n'.repeat(50_000), 'end']],
    ['long lists within a long one', [...many(2500), many(2500), new DoubleReply(1.5)]],
  ] as [string, Reply][]) {
    it(`of ${title} is the same text`, () => {
      expect(isLongReply(reply)).to.equal(true);
      const pieces = [...replyInPieces(reply, false)];
      expect(pieces.length).to.be.greaterThan(2);
      expect(pieces.join('')).to.equal(replyToJson(reply));
      expect([...replyInPieces(reply, true)].join('')).to.equal(replyToBase64Json(reply));
    });
  }

  // Pieces must end between characters at any offset; invalid bytes are replaced as in a single piece.
  const characters = ['ü', '€', '𝄞', 'a€𝄞ü'].map(bytesOf);
  const broken = ['\xc3', '\x80', '\xe2\x82', '\xf0\x9d\x84', '\xed\xa0\x80', '\xff\x80\x80\x80\x80\x80'];
  for (const bytes of [...characters, ...broken]) {
    it(`of many ${JSON.stringify(bytes)} is the same text, at any offset`, () => {
      for (const front of ['', 'a', 'ab', 'abc', 'abcd']) {
        const reply = front + bytes.repeat(Math.ceil(300_000 / bytes.length));
        expect([...replyInPieces(reply, false)].join('')).to.equal(replyToJson(reply));
        expect([...replyInPieces(reply, true)].join('')).to.equal(replyToBase64Json(reply));
      }
    });
  }

  for (const reply of [OK, 'text', 1, null, ['a', ['b']], []] as Reply[]) {
    it(`of ${replyToJson(reply)} is one piece`, () => {
      expect(isLongReply(reply)).to.equal(false);
      expect([...replyInPieces(reply, false)]).to.deep.equal([replyToJson(reply)]);
    });
  }
});
