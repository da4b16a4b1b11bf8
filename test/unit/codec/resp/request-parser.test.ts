/** Proves RPA1–RPA5. */
import { expect } from 'chai';
import fc from 'fast-check';
import { encodeCommand, ProtocolError, RequestParser, splitInlineWords } from '../../../../src/codec/resp/index.js';
import { repetitions } from '../../../support/depth.js';
import { bytesHeldBy } from '../../../support/held-memory.js';

const LIMITS = { maxWords: 1_000, maxWordBytes: 100_000, maxCommandBytes: 1_000_000, isUnauthenticated: false };

const feedAll = (parser: RequestParser, text: string) => {
  parser.feed(Buffer.from(text, 'latin1'));
  while (parser.next() !== undefined);
};

type Item = readonly string[] | { readonly bytes: number } | string;

/** Everything the parser makes of the bytes, given in these pieces; an error is the last. */
function parse(pieces: readonly string[], limits = LIMITS): Item[] {
  const parser = new RequestParser({ ...limits });
  const items: Item[] = [];
  try {
    for (const piece of pieces) {
      parser.feed(Buffer.from(piece, 'latin1'));
      for (let item = parser.next(); item !== undefined; item = parser.next()) items.push(item);
    }
  } catch (error) {
    items.push((error as ProtocolError).text);
  }
  return items;
}

/** A simple reference parser: all bytes in one piece, a line at a time. */
function reference(text: string): Item[] {
  const items: Item[] = [];
  let at = 0;
  const fail = (problem: string): Item[] => [...items, `ERR Protocol error: ${problem}`];
  const integer = (digits: string) => (/^(0|-?[1-9][0-9]{0,18})$/.test(digits) ? Number(digits) : Number.NaN);
  while (at < text.length) {
    if (text[at] !== '*') {
      const end = text.indexOf('\n', at);
      if (end < 0) return items;
      const words = splitInlineWords(text.slice(at, end).replace(/\r$/, ''));
      if (words === undefined) return fail('unbalanced quotes in request');
      if (words.length > 0) items.push(words);
      at = end + 1;
      continue;
    }
    let cr = text.indexOf('\r', at);
    if (cr < 0 || cr + 1 >= text.length) return items;
    const count = integer(text.slice(at + 1, cr));
    if (Number.isNaN(count) || count > LIMITS.maxWords) return fail('invalid multibulk length');
    at = cr + 2;
    const words: string[] = [];
    for (let i = 0; i < count; i += 1) {
      cr = text.indexOf('\r', at);
      if (cr < 0 || cr + 1 >= text.length) return items;
      if (text[at] !== '$') return fail(`expected '$', got '${text[at]}'`);
      const length = integer(text.slice(at + 1, cr));
      if (Number.isNaN(length) || length < 0 || length > LIMITS.maxWordBytes) return fail('invalid bulk length');
      if (cr + 4 + length > text.length) return items;
      words.push(text.slice(cr + 2, cr + 2 + length));
      at = cr + 4 + length;
    }
    if (count > 0) items.push(words);
  }
  return items;
}

function cut(text: string, places: readonly number[]): string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  const pieces: string[] = [];
  let from = 0;
  for (const place of [...sorted, text.length]) {
    pieces.push(text.slice(from, place));
    from = place;
  }
  return pieces;
}

const places = fc.array(fc.nat(), { maxLength: 12 });
const word = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array).toString('latin1'));

describe('the RESP request parser', () => {
  it('returns a word of many pieces completely, and the next command', () => {
    const limits = { ...LIMITS, maxWordBytes: 2_000_000, maxCommandBytes: 2_000_000 };
    const word = 'long word, '.repeat(90_000);
    const commands = [['SET', 'k', word], ['PING'], ['SET', word, 'v']];
    const text = commands.map((words) => encodeCommand(words).toString()).join('');
    for (const bytes of [1_000, 64 * 1024, 65_537, 400_000]) {
      const pieces = Array.from({ length: Math.ceil(text.length / bytes) }, (_, i) =>
        text.slice(i * bytes, (i + 1) * bytes),
      );
      expect(parse(pieces, limits)).to.deep.equal(commands);
    }
  });

  it('returns the same commands for any split into pieces', () => {
    const commands = fc.array(fc.array(word, { minLength: 1, maxLength: 5 }), { maxLength: 8 });
    fc.assert(
      fc.property(commands, places, (given, cuts) => {
        expect(parse(cut(given.map(encodeCommand).join(''), cuts))).to.deep.equal(given);
      }),
    );
  });

  it('agrees with a reference parser, for any bytes', () => {
    const part = fc.constantFrom(
      ...[
        '*1\r\n',
        '*2\r\n',
        '$1\r\n',
        '$0\r\n',
        '$3\r\n',
        'a',
        'bc',
        '\r\n',
        '\n',
        '\r',
        '"',
        "'",
        '\\',
        ' ',
        '*',
        '$',
      ],
      ...['-', '0', '1', '9', '\x00', '*-1\r\n', '$-1\r\n', '*0\r\n', 'GET x\r\n', '*1001\r\n', '$100001\r\n', '\xff'],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), places, (parts, cuts) => {
        const text = parts.join('');
        expect(parse(cut(text, cuts))).to.deep.equal(reference(text));
      }),
      { numRuns: repetitions(20_000) },
    );
  });

  const problems: [string, string, string][] = [
    ['a count beyond the limit', '*3000000000\r\n', 'invalid multibulk length'],
    ['a count that is no number', '*1x\r\n', 'invalid multibulk length'],
    ['another type than a bulk string', '*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n', "expected '$', got 'f'"],
    ['a negative length', '*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$-10\r\n', 'invalid bulk length'],
    ['a length beyond the limit', '*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$2000000000\r\n', 'invalid bulk length'],
    ['quotes that do not close', 'set """test-key""" test-value\r\n', 'unbalanced quotes in request'],
    ['an inline command without an end', 'x'.repeat(70_000), 'too big inline request'],
    ['a count without an end', `*${'1'.repeat(70_000)}`, 'too big mbulk count string'],
    ['a length without an end', `*1\r\n$${'1'.repeat(70_000)}`, 'too big bulk count string'],
  ];
  for (const [fault, bytes, problem] of problems) {
    it(`refuses ${fault}, with the text of Redis`, () => {
      expect(parse([bytes]).at(-1)).to.equal(`ERR Protocol error: ${problem}`);
    });
  }

  it('repeats its error after an error', () => {
    const parser = new RequestParser({ ...LIMITS });
    parser.feed(Buffer.from('*1\r\n+x\r\n'));
    expect(() => parser.next()).to.throw(ProtocolError);
    expect(() => parser.next()).to.throw(ProtocolError);
  });

  it('accepts only small commands before sign-in', () => {
    const limits = { ...LIMITS, isUnauthenticated: true };
    expect(parse(['*11\r\n'], limits)).to.deep.equal(['ERR Protocol error: unauthenticated multibulk length']);
    expect(parse(['*1\r\n$16385\r\n'], limits)).to.deep.equal(['ERR Protocol error: unauthenticated bulk length']);
    expect(parse([encodeCommand(['x'.repeat(16_384)])], limits)).to.have.length(1);
  });

  it('reads a too large command to its end and discards it', () => {
    const limits = { ...LIMITS, maxCommandBytes: 100 };
    const large = encodeCommand(['SET', 'k', 'v'.repeat(97)]);
    const exact = ['SET', 'k', 'v'.repeat(96)];
    for (const pieces of [[large], cut(large, [5, 20, 40, 41]), [...large]]) {
      expect(parse([...pieces, encodeCommand(exact)], limits)).to.deep.equal([{ bytes: 101 }, exact]);
    }
  });

  it('reads a large word without scanning it again for every piece', () => {
    const limits = { ...LIMITS, maxWordBytes: 1e9, maxCommandBytes: 1e9 };
    const pieces = Array.from({ length: 512 }, () => Buffer.alloc(64 * 1024, 0x61));
    const length = pieces.length * 64 * 1024;
    const leastMs = (work: () => void): number => {
      const once = (): number => {
        const before = process.cpuUsage();
        work();
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1000;
      };
      return Math.min(once(), once(), once());
    };
    const parsed = leastMs(() => {
      const parser = new RequestParser(limits);
      parser.feed(Buffer.from(`*1\r\n$${length}\r\n`));
      for (const piece of pieces) {
        expect(parser.next()).to.equal(undefined);
        parser.feed(piece);
      }
      parser.feed(Buffer.from('\r\n'));
      expect((parser.next() as string[])[0]).to.have.length(length);
    });
    const joined = leastMs(() => expect(Buffer.concat(pieces).toString('utf8')).to.have.length(length));
    // Scanning again would read half of the word for each of its 512 pieces.
    expect(parsed / joined).to.be.below(40);
  });

  it('skips empty commands', () => {
    expect(parse(['\r\n\n*0\r\n*-1\r\n  \r\nPING\r\n'])).to.deep.equal([['PING']]);
  });

  it('reads quotes and escapes of inline commands', () => {
    expect(splitInlineWords('SET  k "a b\\x41\\n\\"" \'it\\\'s\'')).to.deep.equal(['SET', 'k', 'a bA\n"', "it's"]);
    expect(splitInlineWords('a"b"c')).to.equal(undefined);
    expect(splitInlineWords('"a"b')).to.equal(undefined);
    expect(splitInlineWords('""')).to.deep.equal(['']);
  });

  it('counts the bytes that it holds: pending pieces and the words of an incomplete command', () => {
    const parser = new RequestParser({ ...LIMITS });
    feedAll(parser, encodeCommand(['SET', 'k', 'x'.repeat(50_000)]));
    expect(parser.heldBytes).to.equal(0);
    feedAll(parser, '*3\r\n$3\r\nSET\r\n$10000\r\n');
    expect(parser.heldBytes).to.be.within(30, 100);
    feedAll(parser, `${'k'.repeat(10_000)}\r\n$50000\r\n`);
    expect(parser.heldBytes).to.be.within(10_003, 10_200);
    feedAll(parser, 'x'.repeat(40_000));
    expect(parser.heldBytes).to.be.within(50_003, 50_600);
    for (let i = 0; i < 100; i += 1) feedAll(parser, 'x');
    expect(parser.heldBytes).to.be.above(50_003 + 100 * 200);
    parser.clear();
    expect(parser.heldBytes).to.equal(0);
  });

  it('returns words that do not keep the received buffers in memory (RPA4)', () => {
    const count = 50;
    const small = ['SET', 'key', 'a value that is no short word'];
    const held = bytesHeldBy(() =>
      Array.from({ length: count }, () => {
        const parser = new RequestParser({ ...LIMITS, maxWordBytes: 2e6, maxCommandBytes: 1e7 });
        parser.feed(Buffer.from(`${encodeCommand(small)}${encodeCommand(['ECHO', 'x'.repeat(1e6)])}`, 'latin1'));
        const words = parser.next();
        parser.next();
        parser.feed(Buffer.from(`SET typed ${'by-hand '.repeat(900)}\n`));
        return [words, (parser.next() as string[])[1]];
      }),
    );
    expect(held).to.be.below(count * 4096);
  });

  it('holds no bytes of a command that is too large', () => {
    const parser = new RequestParser({ ...LIMITS, maxCommandBytes: 10_000 });
    feedAll(parser, `*3\r\n$3\r\nSET\r\n$20000\r\n${'k'.repeat(15_000)}`);
    expect(parser.heldBytes).to.equal(0);
  });
});
