/** Patterns of KEYS, SCAN, PSUBSCRIBE and ACL: their matches, and their longest time. */
import { expect } from 'chai';
import { compileGlob, MAX_GLOB_BYTES } from '../../src/domain/kv/index.js';
import { KvBench, readable } from '../support/kv-bench.js';
import { itHolds } from './fuzz-run.js';

/** The meaning of a pattern, by trying everything: for short ones only. */
function reference(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const [first, rest] = [pattern[0] as string, pattern.slice(1)];
  if (first === '*') {
    for (let i = 0; i <= text.length; i += 1) if (reference(rest, text.slice(i))) return true;
    return false;
  }
  if (text === '') return false;
  if (first === '?') return reference(rest, text.slice(1));
  if (first === '[') {
    const { members, length } = classOf(rest);
    return members(text.charCodeAt(0)) && reference(rest.slice(length), text.slice(1));
  }
  const literal = first === '\\' && rest !== '' ? (rest[0] as string) : first;
  return text[0] === literal && reference(first === '\\' && rest !== '' ? rest.slice(1) : rest, text.slice(1));
}

/** Of the text behind a bracket: which bytes it takes, and how long it is with what closes it. */
function classOf(text: string): { members: (byte: number) => boolean; length: number } {
  const isNegated = text[0] === '^';
  const ranges: [number, number][] = [];
  let at = isNegated ? 1 : 0;
  while (at < text.length && text[at] !== ']') {
    if (text[at] === '\\' && at + 1 < text.length) {
      at += 1;
      ranges.push([text.charCodeAt(at), text.charCodeAt(at)]);
    } else if (text[at + 1] === '-' && at + 2 < text.length) {
      ranges.push([text.charCodeAt(at), text.charCodeAt(at + 2)]);
      at += 2;
    } else ranges.push([text.charCodeAt(at), text.charCodeAt(at)]);
    at += 1;
  }
  const has = (byte: number) => ranges.some(([a, b]) => Math.min(a, b) <= byte && byte <= Math.max(a, b));
  return { members: (byte) => has(byte) !== isNegated, length: at + 1 };
}

describe('fuzz: glob patterns', () => {
  itHolds('match the same texts as an exhaustive reference', 20_000, (random) => {
    const pattern = random.bytes(random.below(9), 'ab**??[]^-\\\xff');
    const text = random.bytes(random.below(8), 'ab]-\\^\xff');
    expect(compileGlob(pattern)(text), JSON.stringify([pattern, text])).to.equal(reference(pattern, text));
  });

  itHolds('with long rows match the same texts as an exhaustive reference', 2_000, (random) => {
    const row = random.bytes(17 + random.below(60), random.pick(['a?', 'ab?', 'aaaaaa?']));
    const pattern = `${random.pick(['', '*', 'a*', '?*'])}${row}${random.pick(['', '[ab]', '[^b]'])}${random.pick(['', '*', '*b'])}`;
    const fitting = row.replaceAll('?', () => random.bytes(1, 'ab'));
    const text =
      random.bytes(random.below(30), 'ab') + (random.chance(0.8) ? fitting : '') + random.bytes(random.below(30), 'ab');
    expect(compileGlob(pattern)(text), JSON.stringify([pattern, text])).to.equal(reference(pattern, text));
  });

  const LONG = 'a'.repeat(1024 * 1024);
  const half = MAX_GLOB_BYTES / 2;
  const HARD: readonly [string, string][] = [
    ['many stars', `${'a*'.repeat(half - 1)}b`],
    ['many stars and any bytes', `${'*a?'.repeat(half / 2)}b`],
    ['many stars and classes', `${'*[a-z]'.repeat(100)}b`],
    ['a long literal that nearly fits', `*${'a'.repeat(MAX_GLOB_BYTES - 3)}b*`],
    ['a long literal that nearly fits, from the end', `*b${'a'.repeat(MAX_GLOB_BYTES - 3)}*`],
    ['a long row with a class that nearly fits', `*${'a'.repeat(MAX_GLOB_BYTES - 5)}[b]*`],
  ];
  for (const [difficulty, pattern] of HARD) {
    it(`match a megabyte of text within 1.5 seconds with ${difficulty}`, () => {
      const start = process.cpuUsage();
      expect(compileGlob(pattern)(LONG)).to.equal(false);
      expect(process.cpuUsage(start).user / 1000, 'milliseconds').to.be.lessThan(1500);
    });
  }

  it('are refused one byte above their limit, except for plain words', () => {
    const longest = `${'a'.repeat(MAX_GLOB_BYTES - 1)}*`;
    expect(compileGlob(longest)(LONG)).to.equal(true);
    const { reply } = new KvBench().run(['KEYS', `a${longest}`]);
    expect(readable(reply)).to.equal('-ERR pattern is too long, at most 1024 bytes');
    expect(compileGlob(LONG)(LONG)).to.equal(true);
  });
});
