/** The examples of the guide's page about filters have the documented results. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  compileFilter,
  MAX_FILTER_CHARACTERS,
  MAX_FILTER_COMPARISONS,
  MAX_FILTER_DEPTH,
  MAX_FILTER_PATH_STEPS,
  MAX_FILTER_PATTERN_CHARACTERS,
  MAX_FILTER_VALUES,
} from '../../../src/domain/search/index.js';

describe('the guide’s page about filters', () => {
  const page = readFileSync('docs/guide/search-filters.md', 'utf8');
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block = '']) =>
      block.trim(),
    );
  const document = JSON.parse(blocks('json')[0] ?? '');
  const [fitting = '', unfitting = '', negated = ''] = blocks('text');

  for (const [filters, fits] of [
    [fitting, true],
    [unfitting, false],
    [negated, true],
  ] as const) {
    for (const filter of filters.split('\n')) {
      it(`${fits ? 'lets' : 'does not let'} its document through ${filter}`, () => {
        expect(compileFilter(filter)?.(document)).to.equal(fits);
      });
    }
  }

  it('names the position of an error like the parser', () => {
    expect(() => compileFilter('year >= ')).to.throw(
      /^invalid filter at character 9: expected a value, found the end$/,
    );
    expect(page).to.contain('invalid filter at character 9: expected a value, found the end');
  });

  it('names the current limits', () => {
    expect(page.replaceAll(/\s+/g, ' ')).to.contain(
      `more than ${MAX_FILTER_CHARACTERS.toLocaleString('en')} characters or ${MAX_FILTER_COMPARISONS} comparisons, ` +
        `patterns of more than ${MAX_FILTER_PATTERN_CHARACTERS} characters together, lists of more than ${MAX_FILTER_VALUES} values, parentheses more than ${MAX_FILTER_DEPTH} deep, ` +
        `and paths of more than ${MAX_FILTER_PATH_STEPS} steps`,
    );
  });
});
