/** What is written about versions is what the package says of itself. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FORMAT_LEVEL } from '../../../src/kernel/index.js';

const { version, engines, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
};
/** By https://keepachangelog.com. */
const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

describe('the changelog', () => {
  const text = readFileSync('CHANGELOG.md', 'utf8');
  const sections = [...text.matchAll(/^## \[(\S+)\](?: - (.+))?$/gm)].map(([, name, day]) => ({ name, day }));

  it('begins with the version of the package', () => {
    const released = sections.filter(({ name }) => name !== 'Unreleased');
    expect(released[0]?.name).to.equal(version);
  });

  it('says of each version when it was released, and what for', () => {
    for (const { name, day } of sections)
      if (name !== 'Unreleased') expect(day, name).to.match(/^(\d{4}-\d\d-\d\d|Unreleased)$/);
    const kinds = [...text.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind);
    expect(kinds).to.have.length.above(0);
    expect(KINDS).to.include.members([...new Set(kinds)]);
  });
});

describe('the page about versions', () => {
  const page = readFileSync('docs/operations/versions.md', 'utf8');

  it('names the Node.js that the package asks for', () => {
    const [, from, below] = /^>=(\d+\.\d+)\.0 <(\d+)$/.exec(engines.node) ?? [];
    expect(page).to.contain(`| Node.js | ${from} to ${Number(below) - 1} `);
  });

  it('names the client packages in the versions that tests install', () => {
    const named = [...page.matchAll(/^\| `([a-z]+)` \(npm\) \| (\S+) \|$/gm)].map(([, name = '', at]) => ({
      name,
      at,
    }));
    expect(named.map(({ name }) => name)).to.deep.equal(['redis', 'ioredis', 'bullmq']);
    for (const { name, at } of named) expect(at, name).to.equal(devDependencies[name]);
  });

  it('shows the refusal of a level that there is', () => {
    expect(page).to.contain(
      `this installation has format level ${FORMAT_LEVEL}, and this program reads up to ${FORMAT_LEVEL - 1}:`,
    );
    const levels = readFileSync('docs/operations/upgrades.md', 'utf8').matchAll(/^\| (\d+) \| /gm);
    expect([...levels].map(([, level]) => Number(level))).to.deep.equal(
      Array.from({ length: FORMAT_LEVEL }, (_, at) => at + 1),
    );
  });
});
