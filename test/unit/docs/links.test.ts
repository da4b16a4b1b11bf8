/** Every link of the pages, and every heading that a link names, exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import { ownVariables } from '../../../src/cli/client-variables.js';
import { SETTINGS } from '../../../src/config/index.js';
import { completeCredentials } from '../../../src/protocol/index.js';

const ROOT = resolve('.');
const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...pagesBelow('docs')];

describe('the pages', () => {
  for (const page of PAGES) {
    it(`${page}: links have a target`, () => {
      const missing = linksOf(page).filter((link) => !hasTarget(page, link));
      expect(missing).to.deep.equal([]);
    });
  }

  it('name existing settings, and variables that `millrace env` prints', () => {
    const addresses = { kv: '1', queue: '2', mgmt: '3', metrics: '4' };
    const printed = ownVariables(addresses, completeCredentials({}, new NodeRandom())).map(([name]) => name);
    const known = new Set([...SETTINGS.map(({ variable }) => variable), ...printed]);
    const named = PAGES.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\bMILLRACE_[A-Z][A-Z0-9_]*[A-Z0-9]\b(?!_)/g)].map(([name]) => name),
    );
    expect(named.filter((name) => !known.has(name))).to.deep.equal([]);
  });

  it('name existing files for every promise', () => {
    const named = readFileSync('docs/promises.md', 'utf8').matchAll(/^\|.*$/gm);
    const files = [...named].flatMap(([row]) => [...row.matchAll(/`([^`\s]+\/[^`\s]+\.ts)`/g)].map(([, file]) => file));
    const isThere = (file = '') => ['.', 'src', 'src/domain/queue'].some((folder) => existsSync(join(folder, file)));
    expect(files).to.have.length.above(100);
    expect(files.filter((file) => !isThere(file))).to.deep.equal([]);
  });

  it('are all reachable from the README', () => {
    const reached = new Set<string>();
    const follow = (page: string): void => {
      if (reached.has(page) || !page.endsWith('.md')) return;
      reached.add(page);
      for (const link of linksOf(page)) {
        const target = relative(ROOT, resolve(dirname(page), pathOf(link)));
        if (pathOf(link) !== '' && existsSync(target)) follow(target);
      }
    };
    follow('README.md');
    expect(PAGES.filter((page) => !reached.has(page))).to.deep.equal([]);
  });
});

function pagesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return pagesBelow(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Links within this repository, except those in code. */
function linksOf(page: string): string[] {
  const text = readFileSync(page, 'utf8')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '``');
  return [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^\w+:/.test(link));
}

function hasTarget(page: string, link: string): boolean {
  const path = pathOf(link);
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(target)) return false;
  const [, heading] = link.split('#');
  return heading === undefined || headingsOf(target).has(heading);
}

function pathOf(link: string): string {
  return link.split('#')[0] ?? '';
}

/** Names of headings in links, as code hosts derive them. */
function headingsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading.replaceAll(/[`*]/g, ''));
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-'),
    ),
  );
}
