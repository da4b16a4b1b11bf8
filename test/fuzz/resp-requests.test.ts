/** Requests that a client may send over TCP: well formed, damaged, or random. */
import { expect } from 'chai';
import { encodeCommand, ProtocolError, RequestParser, RespCommandReader } from '../../src/codec/resp/index.js';
import { type FuzzRandom, itHolds } from './fuzz-run.js';

const LIMITS = { maxWords: 100, maxWordBytes: 10_000, maxCommandBytes: 20_000, isUnauthenticated: false };
/** The longest line, and the longest word with its end: all that may be waiting. */
const MAX_BUFFERED_BYTES = 64 * 1024 + LIMITS.maxWordBytes + 100;

type Item = readonly string[] | { readonly bytes: number } | string;

/** Commands, and the error that ends them. @throws what is no ProtocolError */
function parse(pieces: readonly string[], limits = LIMITS): Item[] {
  const parser = new RequestParser(limits);
  const items: Item[] = [];
  try {
    for (const piece of pieces) {
      parser.feed(Buffer.from(piece, 'latin1'));
      for (let item = parser.next(); item !== undefined; item = parser.next()) {
        if (Array.isArray(item)) expect(item.length, 'words').to.be.within(1, limits.maxWords);
        items.push(item);
      }
      expect(parser.bufferedBytes, 'bytes that wait').to.be.at.most(MAX_BUFFERED_BYTES + piece.length);
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    items.push(error.text);
  }
  return items;
}

function command(random: FuzzRandom): string[] {
  const words = [random.bytes(random.below(20)), ...random.list(8, () => random.bytes(random.below(40)))];
  if (random.chance(0.1)) words.push(random.bytes(1).repeat(random.below(LIMITS.maxWordBytes)));
  return words;
}

describe('fuzz: requests over RESP', () => {
  itHolds('give the same words for every division into pieces', 150, (random) => {
    const commands = random.list(8, () => command(random));
    const text = commands.map(encodeCommand).join('');
    expect(parse(random.pieces(text))).to.deep.equal(commands);
    expect(parse([...text.slice(0, 3000)])).to.deep.equal(parse([text.slice(0, 3000)]));
  });

  itHolds(
    'that are damaged end in a protocol error at worst, at the same place for every division into pieces',
    2000,
    (random) => {
      const text = random.damaged(random.list(4, () => encodeCommand(command(random))).join(''));
      expect(parse(random.pieces(text))).to.deep.equal(parse([text]));
    },
  );

  itHolds('of random bytes that resemble RESP end at the same place for every division into pieces', 2000, (random) => {
    const text = random.bytes(random.below(300), '*$0123456789-\r\n\r\n\r\n"\'\\xab \x00\xff');
    expect(parse(random.pieces(text))).to.deep.equal(parse([text]));
  });

  itHolds('that claim a huge size are refused or discarded, and never kept', 200, (random) => {
    const claim = random.pick([`*${10 ** random.below(20)}\r\n`, `*3\r\n$${10 ** random.below(20)}\r\n`]);
    const pieces = [claim, ...Array.from({ length: 30 }, () => '$9000\r\n'.padEnd(9000 + 7, 'x').concat('\r\n'))];
    expect(parse(pieces)).to.deep.equal(parse([pieces.join('')]));
  });

  itHolds('of damaged journaled effects are refused, and never read beyond their end', 1000, (random) => {
    const text = random.damaged(random.list(4, () => encodeCommand(command(random))).join(''));
    let bytes = 0;
    try {
      for (const words of new RespCommandReader(Buffer.from(text, 'latin1'))) for (const w of words) bytes += w.length;
    } catch (error) {
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(RangeError);
      expect(error).not.to.be.instanceOf(TypeError);
    }
    expect(bytes).to.be.at.most(text.length);
  });
});
