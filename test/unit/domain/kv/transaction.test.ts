import { expect } from 'chai';
import {
  admit,
  type CommandSpec,
  ErrorReply,
  findCommand,
  keysOf,
  restRefusal,
} from '../../../../src/domain/kv/index.js';

function problemOf(words: readonly string[]): ErrorReply | undefined {
  const admitted = admit(words);
  return admitted instanceof ErrorReply ? admitted : restRefusal(admitted, words);
}

describe('queueing a transaction', () => {
  it('accepts commands that may run, for any later answer', () => {
    const commands = [
      ['SET', 'k', 'v'],
      ['INCR', 'k'],
      ['get', 'k'],
    ];
    expect(commands.map(problemOf)).to.deep.equal([undefined, undefined, undefined]);
  });

  const problems: [string, string[], string][] = [
    ['an empty command', [], 'ERR empty command'],
    ['an unknown command', ['FOO'], "ERR Command is not available: 'FOO'"],
    ['a wrong arity', ['GET'], "ERR wrong number of arguments for 'get' command"],
    [
      'a command refused over REST',
      ['WATCH', 'k'],
      'ERR Command "WATCH" is not allowed in REST or it has a special context path',
    ],
    [
      'a command of another route',
      ['MULTI'],
      'ERR Command "MULTI" is not allowed in REST or it has a special context path',
    ],
    ['a blocking command', ['BLPOP', 'k', '0'], "ERR Command is not available: 'BLPOP'"],
  ];
  for (const [fault, words, text] of problems) {
    it(`refuses ${fault}`, () => {
      expect(problemOf(words)?.restText).to.equal(text);
    });
  }
});

describe('the keys of a command', () => {
  const rows: [string, string[]][] = [
    ['GET k', ['k']],
    ['MGET a b c', ['a', 'b', 'c']],
    ['MSET a 1 b 2', ['a', 'b']],
    ['MSETEX 2 a 1 b 2 EX 10', ['a', 'b']],
    ['MSETEX x a 1', []],
    ['MSETEX 9 a 1', ['a']],
    ['RENAME a b', ['a', 'b']],
    ['COPY a b DB 0', ['a', 'b']],
    ['OBJECT ENCODING k', ['k']],
    ['MEMORY USAGE k', ['k']],
    ['UNLINK', []],
    ['DBSIZE', []],
  ];
  for (const [line, keys] of rows) {
    it(`of ${line}`, () => {
      const words = line.split(' ');
      expect(keysOf(findCommand(words) as CommandSpec, words)).to.deep.equal(keys);
    });
  }
});
