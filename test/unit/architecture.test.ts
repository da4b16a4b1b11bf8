/** Keeps the folders' import rules: data moves one way, and the world is reached through ports alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';

const SRC = resolve('src');

/** Folder → the folders of ours that it may import. `kernel` and itself are always allowed. */
const ALLOWED: Record<string, readonly string[]> = {
  kernel: [],
  domain: [],
  messages: ['domain'],
  ports: ['domain', 'messages'],
  codec: ['domain', 'messages'],
  config: [],
  journal: ['ports', 'codec', 'messages'],
  actors: ['domain', 'journal', 'ports', 'messages', 'codec'],
  edge: ['ports', 'messages', 'codec', 'domain'],
  projections: ['ports', 'messages', 'domain', 'codec', 'journal'],
  query: ['ports', 'projections', 'codec', 'messages', 'domain'],
  adapters: ['ports', 'messages', 'codec', 'config'],
};
const ANYTHING = ['composition', 'cli'];

/** What answers on a port or a part of one; of each other they know nothing. */
const FACES = ['admin', 'kv', 'management', 'monitoring', 'queue', 'resp', 'search'];
/** The same commands for both: routing to partitions, rights, and what a batch is. */
const RESP_MAY_IMPORT = 'edge/kv/';

/** The world's own functions, and the folders that may call them. */
const WORLD =
  /\bDate\.now\(|\bMath\.random\(|\bprocess\.env\b|\bperformance\.now\(|(?<!\.)\bsetTimeout\(|\bsetInterval\(|\bsetImmediate\(|\brandomBytes\(|\brandomUUID\(/;
const AT_HOME_IN_THE_WORLD = ['adapters', 'cli', 'composition'];

interface Import {
  readonly file: string;
  readonly from: string;
  readonly specifier: string;
  readonly target: string | undefined;
}

function sources(folder = SRC): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

function importsOf(path: string): Import[] {
  const file = relative(SRC, path);
  const matches = readFileSync(path, 'utf8').matchAll(/(?:from|import)\s+'([^']+)'/g);
  return [...matches].map(([, specifier = '']) => {
    const isOurs = specifier.startsWith('.');
    const target = isOurs ? relative(SRC, resolve(dirname(path), specifier)) : undefined;
    return { file, from: topOf(file), specifier, target };
  });
}

function topOf(path: string): string {
  return path.split('/')[0] ?? '';
}

describe('architecture', () => {
  const files = sources();
  const imports = files.flatMap(importsOf);

  it('has a rule for every folder', () => {
    const folders = new Set(files.map((file) => topOf(relative(SRC, file))));
    expect([...folders].filter((folder) => ALLOWED[folder] === undefined && !ANYTHING.includes(folder))).to.deep.equal(
      [],
    );
  });

  it('lets folders import inward only', () => {
    const outward = imports.filter(({ from, target }) => {
      if (target === undefined || ANYTHING.includes(from)) return false;
      const to = topOf(target);
      return to !== from && to !== 'kernel' && !ALLOWED[from]?.includes(to);
    });
    expect(outward.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('lets folders reach each other through their public face', () => {
    const deep = imports.filter(({ from, target }) => {
      if (target === undefined || topOf(target) === from) return false;
      return !target.endsWith('index.js') && target !== 'kernel/deliberate-bugs.js';
    });
    expect(deep.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('keeps faces apart: what two of them need is nobody’s', () => {
    const faceOf = (path: string) => FACES.find((face) => path.startsWith(`edge/${face}/`));
    const strays = imports.filter(({ file, target = '' }) => {
      const [from, to] = [faceOf(file), faceOf(target)];
      const mayImport = file.startsWith('edge/resp/') && target.startsWith(RESP_MAY_IMPORT);
      const isShared = /^edge\/(http|records)\//.test(file);
      return to !== undefined && (isShared || (from !== undefined && from !== to && !mayImport));
    });
    expect(strays.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('keeps the NATS packages in their adapter', () => {
    const strays = imports.filter(
      ({ file, specifier }) => /^(nats|@nats-io\/.*)$/.test(specifier) && !file.startsWith('adapters/nats/'),
    );
    expect(strays.map(({ file }) => file)).to.deep.equal([]);
  });

  it('reads clocks, dice and the environment in adapters, the command line and composition alone', () => {
    const strays = files
      .map((file) => relative(SRC, file))
      .filter((file) => !AT_HOME_IN_THE_WORLD.includes(topOf(file)) && file !== 'config/write-settings-page.ts')
      .filter((file) => WORLD.test(withoutComments(readFileSync(join(SRC, file), 'utf8'))));
    expect(strays).to.deep.equal([]);
  });
});

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');
}
