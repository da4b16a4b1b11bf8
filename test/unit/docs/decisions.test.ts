/** The pages about decisions: few, listed for readers, and dated. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const FOLDER = 'docs/decisions';
/** More pages than this are read as records one by one, not as topics. */
const MAX_PAGES = 26;

describe('docs/decisions', () => {
  const pages = readdirSync(FOLDER);

  it(`has at most ${MAX_PAGES} pages, each listed in docs/README.md`, () => {
    const links = readFileSync('docs/README.md', 'utf8').matchAll(/\]\(decisions\/([\w-]+\.md)\)/g);
    const listed = new Set([...links].map(([, page]) => page));
    expect(pages).to.have.length.at.most(MAX_PAGES);
    expect(pages.filter((page) => !listed.has(page))).to.deep.equal([]);
  });

  for (const page of pages) {
    it(`${page} dates every decision`, () => {
      const [, ...sections] = readFileSync(`${FOLDER}/${page}`, 'utf8').split(/^## /m);
      const undated = sections.filter(
        (text) => !text.startsWith('Open cases') && !/^.*\n\nDecided \d{4}-\d{2}-\d{2}/.test(text),
      );
      expect(undated.map((text) => text.split('\n')[0])).to.deep.equal([]);
    });

    it(`${page} names existing files`, () => {
      const named = readFileSync(`${FOLDER}/${page}`, 'utf8').matchAll(/`((?:src|test|infra|bench)\/[\w./-]+)`/g);
      expect([...named].map(([, path = '']) => path).filter((path) => !existsSync(path))).to.deep.equal([]);
    });
  }
});
