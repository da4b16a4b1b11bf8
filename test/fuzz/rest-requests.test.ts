/** Requests that a client may send over HTTP: JSON bodies and paths. */
import { expect } from 'chai';
import { ErrorReply } from '../../src/domain/kv/index.js';
import { parseBatchBody, parseCommandBody } from '../../src/edge/kv/json-body.js';
import { parseRequestTarget } from '../../src/edge/kv/request-target.js';
import { bytesOfText } from '../../src/kernel/index.js';
import { type FuzzRandom, itHolds } from './fuzz-run.js';

/** Beyond it a body is not given to JSON.parse. */
const SLOW_PADDING = Buffer.alloc(64 * 1024 + 1, ' ');

const BLANKS = ['', ' ', '\n', '\t \r'];
const NUMBERS =
  '0 -0 1 10 1.0 0.10 1e5 1E+21 -1.5e-7 12345678901234567890 9007199254740993 1e400 01 +1 .5 1. 1e - NaN'.split(' ');
const LITERALS = ['true', 'false', 'null', 'True', 'nul', 'undefined', '{}', '{"a":1}', '[]', '[1]'];
const PARTS = [
  'a',
  'é',
  '😀',
  '\\n',
  '\\u0041',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\x',
  '\\',
  '\n',
  '\x7f',
  '\\u00ff',
  '__proto__',
  '"',
];

function value(random: FuzzRandom): string {
  const kind = random.below(10);
  if (kind === 0) return random.pick(LITERALS);
  if (kind < 4) return random.pick(NUMBERS);
  return `"${random.list(5, () => random.pick(random.chance(0.9) ? PARTS.slice(0, 7) : PARTS)).join('')}"`;
}

function array(random: FuzzRandom, item: () => string): string {
  const blank = () => random.pick(BLANKS);
  const text = random.list(4, () => `${blank()}${item()}${blank()}`).join(',');
  const end = random.chance(0.97) ? ']' : random.pick(['', ']]', ',]', '] x']);
  return `[${text}${end}`;
}

/** Words as the source has them: JSON.parse for all but numbers. Undefined: no JSON, or no command. */
function reference(text: string): string[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.some((item) => typeof item === 'object')) return undefined;
  const sources = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[^\s,[\]]+/gs)].map(([source]) => source);
  return parsed.map((item, i) => (typeof item === 'string' ? bytesOfText(item) : (sources[i] as string)));
}

function plainly(result: readonly unknown[] | ErrorReply): unknown {
  return result instanceof ErrorReply
    ? `-${result.text}`
    : result.map((item) => (item instanceof ErrorReply ? `-${item.text}` : item));
}

describe('fuzz: requests over REST', () => {
  itHolds('give the same words as JSON.parse, and numbers as written', 3000, (random) => {
    const text = array(random, () => value(random));
    const expected = reference(text);
    for (const body of [Buffer.from(text), Buffer.concat([SLOW_PADDING, Buffer.from(text)])]) {
      const words = parseCommandBody(body);
      if (expected === undefined) expect(words, text).to.be.instanceOf(ErrorReply);
      else expect(words, text).to.deep.equal(expected);
    }
  });

  itHolds('in batches are read alike at every size', 2000, (random) => {
    const text = array(random, () => (random.chance(0.95) ? array(random, () => value(random)) : value(random)));
    const small = parseBatchBody(Buffer.from(text));
    const large = parseBatchBody(Buffer.concat([SLOW_PADDING, Buffer.from(text)]));
    // Of two mistakes the readers may name different ones.
    if (small instanceof ErrorReply) expect(large, text).to.be.instanceOf(ErrorReply);
    else expect(plainly(large), text).to.deep.equal(plainly(small));
  });

  itHolds('of random bytes are read as a command or refused', 800, (random) => {
    const body = Buffer.from(
      random.chance(0.5) ? random.bytes(random.below(60)) : random.damaged(array(random, () => value(random))),
      'latin1',
    );
    for (const bytes of [body, Buffer.concat([SLOW_PADDING, body])]) {
      const words = parseCommandBody(bytes);
      if (!(words instanceof ErrorReply)) for (const word of words) expect(word).to.satisfy(isByteString);
      parseBatchBody(bytes);
    }
  });

  itHolds('have their path split first and then decoded once', 3000, (random) => {
    const words = random.list(5, () => random.bytes(random.below(20)));
    const path = words.map((word) => encodeByteString(word, random)).join('/');
    // One empty segment at the end is dropped: a last empty word needs a slash behind it.
    const target = parseRequestTarget(`/${path}${words.at(-1) === '' ? '/' : ''}`);
    expect(target.isMalformed).to.equal(false);
    expect(target.words).to.deep.equal(words);
    expect(target.token).to.equal(undefined);
  });

  itHolds('of a random target are words of bytes, no longer than the target', 3000, (random) => {
    const target = random.bytes(random.below(80), '/%?&=+_token0aF\xff.:#% /');
    const { words, options, token, isMalformed } = parseRequestTarget(target);
    if (isMalformed) return;
    for (const word of [...words, ...options, token ?? '']) expect(word).to.satisfy(isByteString);
    expect([...words, ...options].join('').length).to.be.at.most(target.length);
  });
});

function isByteString(word: unknown): boolean {
  return typeof word === 'string' && [...word].every((char) => char.charCodeAt(0) < 256);
}

function encodeByteString(word: string, random: FuzzRandom): string {
  return [...word]
    .map((char) => {
      const hex = char.charCodeAt(0).toString(16).padStart(2, '0');
      const mustEscape = '/?%#'.includes(char);
      return mustEscape || random.chance(0.3) ? `%${random.chance(0.5) ? hex.toUpperCase() : hex}` : char;
    })
    .join('');
}
