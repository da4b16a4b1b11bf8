/** The command line as typed: help and version everywhere, and the nearest word for a wrong one. Proves PAR2. */
import { expect } from 'chai';
import type { Command } from 'commander';
import { VERSION } from '../../../src/adapters/node/index.js';
import { type ParsedArguments, type RunVerb, UsageError } from '../../../src/cli/parser.js';
import { treeOf, typed } from '../../support/command-lines.js';

const TREE = treeOf();

/** Every command by its words, the program itself first. */
function paths(command: Command = TREE, words: readonly string[] = []): [string[], Command][] {
  return [[[...words], command], ...command.commands.flatMap((below) => paths(below, [...words, below.name()]))];
}

describe('the command line', () => {
  for (const [words, command] of paths()) {
    it(`has --help and --version at "millrace ${words.join(' ')}"`, async () => {
      for (const flag of ['--help', '-h']) {
        const { code, out, err } = await typed([...words, flag]);
        expect([code, err]).to.deep.equal([0, '']);
        expect(out)
          .to.match(new RegExp(`^usage: ${['millrace', ...words].join(' ')}`))
          .and.contain('--version');
        expect(command.description()).not.to.equal('');
      }
      for (const flag of ['--version', '-V']) {
        expect(await typed([...words, flag])).to.deep.equal({ code: 0, out: `${VERSION}\n`, err: '' });
      }
    });

    it(`refuses an unknown option at "millrace ${words.join(' ')}", with exit code 2 and its usage`, async () => {
      const mandatory = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [`${long}`, 'x']);
      const { code, out, err } = await typed([...words, ...mandatory, '--bogus']);
      expect([code, out]).to.deep.equal([2, '']);
      expect(err).to.match(/^millrace[a-z ]*: unknown option '--bogus'\nusage: millrace/);
      expect(err).to.contain(`usage: ${['millrace', ...words].join(' ')}`);
      expect(err.trimEnd().split('\n')).to.have.length(2);
    });
  }

  it('suggests the nearest command, verb and option', async () => {
    const nearest: [string[], string][] = [
      [['sevre'], "millrace: unknown command 'sevre' (Did you mean serve?)"],
      [['db', 'craete'], "millrace db: unknown command 'craete' (Did you mean create?)"],
      [['db', 'list', '--show-secret'], "millrace db: unknown option '--show-secret' (Did you mean --show-secrets?)"],
    ];
    for (const [words, line] of nearest) {
      const { code, err } = await typed(words);
      expect(code).to.equal(2);
      expect(err.split('\n')[0]).to.equal(line);
    }
  });

  it('refuses missing and surplus words, and invalid numbers', async () => {
    const wrong: [string[], string][] = [
      [[], 'millrace: no command was given: see --help'],
      [['db'], 'millrace db: no command was given: see --help'],
      [['serve', 'now'], 'too many arguments'],
      [['db', 'delete'], "missing required argument 'database'"],
      [['db', 'create', '--name', 'x', '--partitions', 'two'], 'It must be a whole number'],
      [['cluster', 'drain', 'a', '--wait', '-1'], 'It must be a whole number'],
      [['cluster', 'move', 'KV_0'], "missing required argument 'process'"],
    ];
    for (const [words, text] of wrong) {
      const { code, out, err } = await typed(words);
      expect([code, out], words.join(' ')).to.deep.equal([2, '']);
      expect(err.split('\n')[0], words.join(' ')).to.contain(text);
    }
  });

  it('passes a verb its words, options and flags, and exits with its code', async () => {
    let got: [string, ParsedArguments] | undefined;
    const db: RunVerb = async (verb, asked) => {
      got = [verb, asked];
      return 1;
    };
    const { code } = await typed(['db', 'delete', 'shop', '--yes', '--json'], { db });
    expect(code).to.equal(1);
    expect(got).to.deep.equal(['delete', { words: ['shop'], options: {}, flags: new Set(['yes', 'json']) }]);
    await typed(['db', 'limits', 'shop', '--max-command-bytes=70'], { db });
    expect(got?.[1].options).to.deep.equal({ 'max-command-bytes': '70' });
  });

  it('prints a failure in one line that starts with the command, and usage only for wrong arguments', async () => {
    const failing = (error: Error) => ({
      process: (async () => Promise.reject(error)) as RunVerb,
      db: (async () => Promise.reject(error)) as RunVerb,
    });
    const cause = new Error('two\n  lines');
    expect(await typed(['db', 'list'], failing(new Error('outer', { cause })))).to.deep.equal({
      code: 1,
      out: '',
      err: 'millrace db: outer: two lines\n',
    });
    expect((await typed(['config'], failing(cause))).err).to.equal('millrace: two lines\n');
    const { code, err } = await typed(['db', 'list'], failing(new UsageError('not so')));
    expect(code).to.equal(2);
    expect(err).to.match(/^millrace db: not so\nusage: millrace db list /);
  });

  it('has --json at every verb that prints data', () => {
    const without = paths()
      .filter(([, { commands, options }]) => commands.length === 0 && !options.some(({ long }) => long === '--json'))
      .map(([words]) => words.join(' '));
    expect(without).to.deep.equal(['serve', 'dev', 'demo', 'mcp', 'reload', 'completion', 'complete']);
  });
});
