/** Decisions are numbered without holes, and each page bears the number of its file. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

describe('records of decisions', () => {
  const pages = readdirSync('docs/adr').sort();

  it('are numbered from 1 on, none left out', () => {
    const numbers = pages.map((page) => Number(page.slice(0, 4)));
    expect(numbers).to.deep.equal(pages.map((_, at) => at + 1));
  });

  for (const [at, page] of pages.entries()) {
    it(`${page} begins with its number`, () => {
      const [title] = readFileSync(`docs/adr/${page}`, 'utf8').split('\n');
      expect(title).to.match(new RegExp(`^# ${at + 1}\\. `));
    });
  }
});
