/** package.json lists the packages that run in production apart from those that only build and test. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
  'dependencies' | 'devDependencies',
  Readonly<Record<string, string>>
>;
/** Commands, and packages that another package loads: never imported. */
const COMMANDS = ['@biomejs/biome', 'mocha', 'typescript'];
const LOADED_FROM_A_PATH = ['wasmoon-lua5.1'];
/** Packages in the examples for client programs that the console shows. */
const SNIPPETS = /console\/.*snippet/;

function sourcesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return entries.filter((name) => /\.(m?[tj]sx?|md)$/.test(name)).map((name) => join(folder, name));
}

/** A package's name and every path below it, in quotes. */
function isNamedIn(texts: readonly string[], name: string): boolean {
  const quoted = new RegExp(`['"\`(/]${name.replaceAll('/', '\\/')}(?:[/'"\`\\s)]|$)`, 'm');
  return texts.some((text) => quoted.test(text));
}

describe('package.json', () => {
  const read = (files: readonly string[]) => files.map((file) => readFileSync(file, 'utf8'));
  const source = read(sourcesBelow('src').filter((file) => !SNIPPETS.test(file)));
  const tools = read([
    ...sourcesBelow('test'),
    ...sourcesBelow('bench'),
    ...sourcesBelow('infra'),
    ...sourcesBelow('docs/guide'),
  ]);

  it('lists a package under dependencies when src imports it or the program loads it', () => {
    const unused = Object.keys(dependencies).filter((name) => !isNamedIn(source, name));
    expect(unused).to.have.members(LOADED_FROM_A_PATH.filter((name) => unused.includes(name)));
    const imports = source.flatMap((text) => [...text.matchAll(/^(?:import|export)\b.* from '([^.'#][^']*)';$/gm)]);
    const imported = imports.map(([, path = '']) => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
    const outside = new Set(imported.filter((name) => !name.startsWith('node:')));
    expect([...outside].filter((name) => !(name in dependencies))).to.deep.equal([]);
  });

  it('lists a package under devDependencies when a test, a bench, the build or a page of the guide names it', () => {
    const unused = Object.keys(devDependencies).filter((name) => !isNamedIn(tools, name));
    expect(unused.filter((name) => !name.startsWith('@types/') && !COMMANDS.includes(name))).to.deep.equal([]);
  });
});

describe('the bundle of the SDK for buckets', () => {
  it('has each name that src/adapters/s3 imports', () => {
    const namesIn = (file: string) => {
      const [, names = ''] = /[{]([^}]*)[}] from '@aws-sdk\/client-s3'/.exec(readFileSync(file, 'utf8')) ?? [];
      return names.split(',').flatMap((name) => (/^\s*(type .*)?$/.test(name) ? [] : [name.trim()]));
    };
    const imported = namesIn('src/adapters/s3/s3-bucket.ts');
    expect(imported).to.include('S3Client');
    expect(namesIn('infra/s3-sdk.mjs')).to.deep.equal(imported);
  });
});
