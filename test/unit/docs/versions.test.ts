/** The pages about versions match package.json. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FORMAT_LEVEL } from '../../../src/kernel/index.js';

const { version, engines, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
};
const INSTALLING = ['docs/operations/installing.md', 'docs/operations/cluster.md'];
/** The kinds of https://keepachangelog.com. */
const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

describe('the changelog', () => {
  const text = readFileSync('CHANGELOG.md', 'utf8');
  const sections = [...text.matchAll(/^## \[(\S+)\](?: - (.+))?$/gm)].map(([, name, day]) => ({ name, day }));

  it('starts with the version of the package', () => {
    const released = sections.filter(({ name }) => name !== 'Unreleased');
    expect(released[0]?.name).to.equal(version);
  });

  it('has a date and known kinds of changes for each version', () => {
    for (const { name, day } of sections)
      if (name !== 'Unreleased') expect(day, name).to.match(/^(\d{4}-\d\d-\d\d|Unreleased)$/);
    const kinds = [...text.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind);
    expect(kinds).to.have.length.above(0);
    expect(KINDS).to.include.members([...new Set(kinds)]);
  });
});

describe('the page about versions', () => {
  const page = readFileSync('docs/operations/versions.md', 'utf8');

  it('names the Node.js releases of the package, like all other pages and CI', () => {
    const [, from, below] = /^>=(\d+\.\d+)\.0 <(\d+)$/.exec(engines.node) ?? [];
    const newest = Number(below) - 1;
    expect(page).to.contain(`| Node.js | 24 is recommended; ${from}, 22 and ${newest} are supported`);
    for (const path of ['README.md', 'CONTRIBUTING.md', ...INSTALLING]) {
      const text = readFileSync(path, 'utf8').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
      expect(text, path).to.match(new RegExp(`Node\\.js 24\\b[^(]*\\(${from}, 22 and ${newest} are supported too\\)`));
    }
    const [, lines = ''] = /^readonly NODE_LINES="(.*)"$/m.exec(readFileSync('.ci/run', 'utf8')) ?? [];
    expect(lines.split(' ')).to.deep.equal([String(Number.parseInt(from ?? '', 10)), '22', '24', String(newest)]);
  });

  it('names the client packages in the versions that tests install', () => {
    const named = [...page.matchAll(/^\| `([a-z]+)` \(npm\) \| (\S+) \|$/gm)].map(([, name = '', at]) => ({
      name,
      at,
    }));
    expect(named.map(({ name }) => name)).to.deep.equal(['redis', 'ioredis', 'bullmq']);
    for (const { name, at } of named) expect(at, name).to.equal(devDependencies[name]);
  });

  it('shows the refusal of an existing format level', () => {
    expect(page).to.contain(
      `newer release (level ${FORMAT_LEVEL}, this program reads up to ${FORMAT_LEVEL - 1}): install`,
    );
    const levels = readFileSync('docs/operations/upgrades.md', 'utf8').matchAll(/^\| (\d+) \| /gm);
    expect([...levels].map(([, level]) => Number(level))).to.deep.equal(
      Array.from({ length: FORMAT_LEVEL }, (_, at) => at + 1),
    );
  });
});
