/**
 * The words after the fences of README and docs, so that `test/integration/docs` runs every block that a reader would
 * run: a block that is not run has a known reason, and the number of blocks per reason is bounded.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Language, Parser } from 'web-tree-sitter';
import { blocksOf, isRunnable, PROGRAMS, SHELL, takenBy } from '../../support/pages/page-blocks.js';

const require = createRequire(import.meta.url);

/** Why a block is not run, and the most blocks that may say so. */
const NOT_RUN: Record<string, { readonly why: string; readonly most: number }> = {
  tiers: { why: 'tests of this repository, which .ci/run runs: minutes each', most: 4 },
  installed: { why: 'the packages are among those of this repository, in the versions of package.json', most: 3 },
  package: { why: 'test/integration/package/package.test.ts installs it and runs it', most: 3 },
  'no-python-packages': { why: 'packages for Python are not to be had on every machine that tests', most: 3 },
  hosted: { why: 'it names an index of a hosted service; test/integration/search has the commands', most: 1 },
  'no-go': { why: 'nor is Go: its blocks are parsed', most: 1 },
  'other-shells': {
    why: 'zsh and fish are not on every machine; test/integration/cli asks them where they are',
    most: 1,
  },
};
/** Languages that are only shown and never typed. */
const SHOWN = ['', 'text', 'json', 'yaml', 'ebnf', 'go', 'php', 'ruby', 'ts'];
const WORDS = ['norun', 'terminal', 'name', 'part-of', 'printed-by'];

describe('the code blocks of the pages', () => {
  const pages = [
    'README.md',
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name)),
  ];
  const blocks = pages.flatMap(blocksOf);
  const places = (found: typeof blocks) => found.map(({ page, line }) => `${page}:${line}`);

  it('are in a language that is run, or that is only shown', () => {
    const known = [SHELL, ...PROGRAMS.keys(), ...SHOWN];
    expect(places(blocks.filter(({ language }) => !known.includes(language)))).to.deep.equal([]);
  });

  it('are all closed, and start at the margin', () => {
    for (const page of pages) {
      const fences = readFileSync(page, 'utf8').match(/^ *```/gm) ?? [];
      expect(fences, page).to.have.length(blocksOf(page).length * 2);
    }
  });

  it('have no unknown words after the language', () => {
    const odd = blocks.filter(({ words }) => [...words.keys()].some((word) => !WORDS.includes(word)));
    expect(places(odd)).to.deep.equal([]);
  });

  it('are not shell commands marked as output', () => {
    const hidden = blocks.filter(
      ({ language, text }) => SHOWN.includes(language) && /^(?:\$ |(?:millrace|make|npm|npx) \w+ |curl )/m.test(text),
    );
    expect(places(hidden)).to.deep.equal([]);
  });

  it('are not run only for a known reason, and no more than the allowed number', () => {
    const left = blocks.filter(({ words }) => words.has('norun'));
    const unknown = left.filter(({ words }) => NOT_RUN[words.get('norun') ?? ''] === undefined);
    expect(places(unknown)).to.deep.equal([]);
    for (const [reason, { most }] of Object.entries(NOT_RUN)) {
      expect(places(left.filter(({ words }) => words.get('norun') === reason)), reason).to.have.length(most);
    }
  });

  it('are mostly run', () => {
    expect(blocks.filter(isRunnable).length).to.be.above(120);
  });

  it('are parts of the files that they name', () => {
    const parts = blocks.filter(({ words }) => words.has('part-of'));
    expect(parts).not.to.be.empty;
    const bare = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
    for (const { page, line, words, text } of parts) {
      const file = readFileSync(join(dirname(page), words.get('part-of') as string), 'utf8');
      expect(bare(file), `${page}:${line}`).to.contain(bare(text).replace(/,$/, ''));
    }
  });

  it('are valid Go where they are marked as Go', async () => {
    await Parser.init();
    const parser = new Parser().setLanguage(await Language.load(require.resolve('tree-sitter-go/tree-sitter-go.wasm')));
    const isGo = (text: string) => parser.parse(text)?.rootNode.hasError === false;
    const programs = blocks.filter(({ language }) => language === 'go');
    expect(programs).not.to.be.empty;
    expect(places(programs.filter(({ text }) => !isGo(text)))).to.deep.equal([]);
    expect(isGo((programs[0]?.text ?? '').replace('{', '('))).to.equal(false);
  });

  it('take over only existing parts', () => {
    expect(pages.flatMap(takenBy)).not.to.be.empty;
  });
});
