/** Keeps the import rules of folders: data moves one way, and only ports reach the world. Proves LD1, SPR5. */
import { dirname } from 'node:path';
import { expect } from 'chai';
import { COUNTERS, GAUGE_HELP, HISTOGRAMS } from '../../src/ports/metrics.js';
import { functionLengths, parameterCounts } from '../support/function-lengths.js';
import { circles, importsIn, importsOf, mutualPairs, sources, textOf } from '../support/import-graph.js';
import { unusedExports } from '../support/unused-exports.js';

/** Folder → the folders of ours that it may import. `kernel` and itself are always allowed. */
const ALLOWED: Record<string, readonly string[]> = {
  kernel: [],
  domain: [],
  protocol: ['domain'],
  ports: ['domain', 'protocol'],
  codec: ['domain', 'protocol'],
  config: [],
  journal: ['ports', 'codec', 'protocol'],
  actors: ['domain', 'journal', 'ports', 'protocol', 'codec'],
  edge: ['ports', 'protocol', 'codec', 'domain'],
  projections: ['ports', 'protocol', 'domain', 'codec', 'journal'],
  replay: ['actors', 'codec', 'domain', 'edge', 'journal', 'protocol', 'ports'],
  query: ['ports', 'projections', 'codec', 'protocol', 'domain'],
  adapters: ['ports', 'protocol', 'codec', 'config'],
  // Runs in a browser: it uses the API and imports no other folder.
  console: [],
};
const MOST_LINES_OF_WIRING = 2220;
const ANYTHING = ['composition', 'cli'];

/** Folders that answer on a port or a part of one; they do not know each other. */
const ENDPOINTS = ['admin', 'console', 'kv', 'management', 'mcp', 'monitoring', 'queue', 'resp', 'search'];

/**
 * The folders of `domain/queue` in layers: a folder imports only folders of the layers before its own. So `delivery`
 * and `runs` do not know each other, and no two folders import each other. The last layer is the files of the folder
 * itself: the engine and the index.
 */
const QUEUE_LAYERS = [
  ['collections'],
  ['model'],
  ['model/settings'],
  ['model/messages'],
  ['model/runs'],
  ['model/state'],
  ['messages'],
  ['delivery', 'runs'],
  ['commands'],
  [''],
];
const QUEUE = 'domain/queue';

/** Calls of the clock, timers, randomness and the environment, and the folders that may make them. */
const WORLD =
  /\bDate\.now\(|\bMath\.random\(|\bprocess\.env\b|\bperformance\.now\(|(?<!\.)\bsetTimeout\(|\bsetInterval\(|\bsetImmediate\(|\brandomBytes\(|\brandomUUID\(/;
const HAND_MADE_WAIT = /new Promise(?:<void>)?\(\((\w+)\) => [\w.#]+\.(?:soon\(\1\)|after\([^;]*, \1\))/;
const AT_HOME_IN_THE_WORLD = ['adapters', 'cli', 'composition', 'console'];

/** A longer function is split into parts with names; with more parameters than this, callers confuse them. */
const MAX_FUNCTION_LINES = 60;
const MAX_PARAMETERS = 5;

/**
 * A file below this length with one importer is merged into it. The exceptions at most: ports (one interface each), index files of
 * folders, pages, modules of roles, and files that only the index of their folder imports. The number only falls.
 */
const SHORT_LINES = 40;
const MAX_SHORT_FILES = 58;

/** A registry that calls one method. */
const CASTS_THROUGH_UNKNOWN = ['adapters/node/prom-metrics.ts'];

function topOf(path: string): string {
  return path.split('/')[0] ?? '';
}

describe('architecture', () => {
  const files = sources();
  const imports = files.flatMap(importsOf);

  it('has a rule for every folder', () => {
    const folders = new Set(files.map(topOf));
    expect([...folders].filter((folder) => ALLOWED[folder] === undefined && !ANYTHING.includes(folder))).to.deep.equal(
      [],
    );
  });

  it('lets folders import inward only', () => {
    const outward = imports.filter(({ file, target }) => {
      const from = topOf(file);
      if (target === undefined || ANYTHING.includes(from)) return false;
      const to = topOf(target);
      return to !== from && to !== 'kernel' && !ALLOWED[from]?.includes(to);
    });
    expect(outward.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('lets folders reach each other through their index', () => {
    const deep = imports.filter(({ file, target }) => {
      if (target === undefined || topOf(target) === topOf(file)) return false;
      return !target.endsWith('index.ts');
    });
    expect(deep.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('has the container in composition alone, which is short and only connects parts', () => {
    const strays = imports.filter(({ file, specifier }) => specifier === 'tsyringe' && topOf(file) !== 'composition');
    expect(strays.map(({ file }) => file)).to.deep.equal([]);
    const texts = files.filter((file) => topOf(file) === 'composition').map(textOf);
    expect(texts.join('').split('\n')).to.have.length.at.most(MOST_LINES_OF_WIRING);
  });

  it('lets only the command line import composition', () => {
    const upward = imports.filter(({ file, target }) => topOf(file) !== 'cli' && target?.startsWith('cli/'));
    expect(upward.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('starts the embedded server from no thread but the main one (SPR5)', () => {
    const ENTRY = /new URL\('\.\/([\w-]+)\.js', import\.meta\.url\)/g;
    const files = sources();
    // The program's main file is not the entry of a thread.
    const entries = files
      .filter((file) => file !== 'cli/main.ts')
      .flatMap((file) => {
        const folder = file.slice(0, file.lastIndexOf('/') + 1);
        return [...textOf(file).matchAll(ENTRY)].map(([, name]) => `${folder}${name}.ts`);
      });
    expect(new Set(entries).size).to.be.greaterThan(4);
    const loads = (file: string) =>
      importsOf(file).flatMap(({ target, isOfType }) => (target === undefined || isOfType ? [] : [target]));
    const inThreads = new Set<string>(entries);
    for (const file of inThreads) for (const target of loads(file)) inThreads.add(target);
    expect([...inThreads].filter((file) => file.startsWith('adapters/nats/embedded/server-process'))).to.deep.equal([]);
    expect(files).to.include('adapters/nats/embedded/server-process.ts');
  });

  it('has no circle of imports at run time', () => {
    const loaded = circles(imports.filter(({ isOfType }) => !isOfType));
    expect(loaded).to.deep.equal([]);
  });

  it('has no circle of imports, not even of types alone', () => {
    expect(circles(imports)).to.deep.equal([]);
  });

  it('has no circle of folders, nor of the folders in them', () => {
    const roomOf = (file: string, depth: number) => {
      const folders = dirname(file).split('/');
      return folders.length < depth ? undefined : folders.slice(0, depth).join('/');
    };
    const between = (depth: number) =>
      imports.flatMap(({ target = '', ...others }) => {
        const [from, to] = [roomOf(others.file, depth), roomOf(target, depth)];
        return from === undefined || to === undefined || from === to ? [] : [{ ...others, file: from, target: to }];
      });
    expect(circles(between(1))).to.deep.equal([]);
    expect(circles(between(2))).to.deep.equal([]);
  });

  it('has domain/queue in layers that import only the layers before them', () => {
    const folderOf = (file: string) => dirname(file).slice(QUEUE.length + 1);
    const layerOf = (file: string) => QUEUE_LAYERS.findIndex((folders) => folders.includes(folderOf(file)));
    const rooms = files.filter((file) => file.startsWith(`${QUEUE}/`));
    expect(rooms.filter((file) => layerOf(file) === -1)).to.deep.equal([]);
    const upward = imports.filter(({ file, target }) => {
      if (!file.startsWith(`${QUEUE}/`) || !target?.startsWith(`${QUEUE}/`)) return false;
      return folderOf(file) !== folderOf(target) && layerOf(target) >= layerOf(file);
    });
    expect(upward.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('has no two folders and no two files of domain/queue that import each other', () => {
    const inQueue = imports.filter((each) => each.file.startsWith(QUEUE) && each.target?.startsWith(QUEUE));
    expect(mutualPairs(inQueue, (file) => file)).to.deep.equal([]);
    expect(mutualPairs(inQueue, dirname)).to.deep.equal([]);
  });

  it('keeps endpoints apart: code that two of them need is in a shared folder', () => {
    const endpointOf = (path: string) => ENDPOINTS.find((each) => path.startsWith(`edge/${each}/`));
    const strays = imports.filter(({ file, target = '' }) => {
      const [from, to] = [endpointOf(file), endpointOf(target)];
      const isShared = /^edge\/(commands|http|records)\//.test(file);
      return to !== undefined && (isShared || (from !== undefined && from !== to));
    });
    expect(strays.map(({ file, specifier }) => `${file} imports ${specifier}`)).to.deep.equal([]);
  });

  it('keeps the NATS packages in their adapter', () => {
    const strays = imports.filter(
      ({ file, specifier }) => /^(nats|@nats-io\/.*)$/.test(specifier) && !file.startsWith('adapters/nats/'),
    );
    expect(strays.map(({ file }) => file)).to.deep.equal([]);
  });

  it('keeps the packages for traces in their adapter, which is loaded only when traces are enabled', () => {
    const strays = imports.filter(
      ({ file, specifier }) => specifier.startsWith('@opentelemetry/') && !file.startsWith('adapters/otlp/'),
    );
    expect(strays.map(({ file }) => file)).to.deep.equal([]);
    const loading = files.filter((file) => /(?:from|import) '[^']*adapters\/otlp\//.test(textOf(file)));
    expect(loading).to.deep.equal([]);
    expect(textOf('composition/tracing-module.ts')).to.contain("await import('../adapters/otlp/index.js')");
  });

  it('has no long functions, and no functions with many parameters', () => {
    const long = files.flatMap((file) =>
      functionLengths(textOf(file))
        .filter(({ lines }) => lines > MAX_FUNCTION_LINES)
        .map(({ line, name, lines }) => `${file}:${line} ${name} has ${lines} lines`),
    );
    const wide = files.flatMap((file) =>
      parameterCounts(textOf(file))
        .filter(({ parameters }) => parameters > MAX_PARAMETERS)
        .map(({ line, head, parameters }) => `${file}:${line} ${head} has ${parameters} parameters`),
    );
    expect([...long, ...wide]).to.deep.equal([]);
  });

  it('has few short files with one importer', () => {
    const importers = new Map(files.map((file) => [file, new Set<string>()]));
    for (const { file, target } of imports) if (target !== undefined) importers.get(target)?.add(file);
    const isShort = (file: string) => textOf(file).trimEnd().split('\n').length < SHORT_LINES;
    const short = files.filter((file) => importers.get(file)?.size === 1 && isShort(file));
    expect(short.length, short.sort().join('\n')).to.be.at.most(MAX_SHORT_FILES);
  });

  it('casts through `unknown` only where a comment gives the reason', () => {
    const casts = files.filter((file) => textOf(file).includes('as unknown as'));
    expect(casts.sort()).to.deep.equal(CASTS_THROUGH_UNKNOWN);
  });

  it('exports no name without an import', () => {
    const users = [...files, ...sources('test'), ...sources('bench')];
    expect(unusedExports(new Map(users.map((file) => [file, textOf(file)])), files)).to.deep.equal([]);
  });

  it('waits with `pause` and `yieldToEventLoop`, without hand-made promises around timers', () => {
    const handMade = files.filter((file) => file !== 'ports/timers.ts' && HAND_MADE_WAIT.test(textOf(file)));
    expect(handMade).to.deep.equal([]);
  });

  it('declares no metric without a source', () => {
    const feeding = files
      .filter((file) => file !== 'ports/metrics.ts')
      .map(textOf)
      .join('\n');
    const declared = [COUNTERS, GAUGE_HELP, HISTOGRAMS].flatMap((metrics) => Object.keys(metrics));
    expect(declared.filter((name) => !feeding.includes(`'${name}'`))).to.deep.equal([]);
  });

  it('reads clocks, random numbers and the environment only in adapters, the command line and composition', () => {
    const strays = files
      .filter((file) => !AT_HOME_IN_THE_WORLD.includes(topOf(file)) && file !== 'config/write-settings-page.ts')
      .filter((file) => WORLD.test(withoutComments(textOf(file))));
    expect(strays).to.deep.equal([]);
  });
});

describe('the finder of long functions', () => {
  const text = [
    'export class Some<T> {',
    '  constructor(private readonly a: Map<string, (b: number, c: number) => void>, { d, e }: Parts) {',
    '    if (a) {',
    '    }',
    '  }',
    '',
    '  async *#many(',
    '    a: A,',
    '  ): B {',
    '    const each = (item) => {',
    '    };',
    '  }',
    '}',
  ].join('\n');

  it('measures functions, methods and arrows, from their names to their closing braces', () => {
    expect(functionLengths(text).map(({ line, name, lines }) => [line, name, lines])).to.deep.equal([
      [2, 'constructor', 4],
      [7, 'many', 6],
      [10, 'const each = (item) => {', 2],
    ]);
  });

  it('counts the parameters of declarations, with any brackets inside them, and no arguments of calls', () => {
    const more = [
      'type Call = (a: A, b?: B) => void;',
      "const by = (a = [1, 2], { b, c } = D, ...rest: E[]) => call(a, '(x: X, y: Y)', b < c, rest, a > b);",
      'const each = list.map((a, b) => /[(]/.test(a));',
    ].join('\n');
    const counted = (source: string) => parameterCounts(source).map(({ line, parameters }) => [line, parameters]);
    expect(counted(text)).to.deep.equal([
      [2, 2],
      [2, 2],
      [7, 1],
      [10, 1],
    ]);
    expect(counted(more)).to.deep.equal([
      [1, 2],
      [2, 3],
      [3, 2],
    ]);
  });
});

describe('the finder of unused exports', () => {
  it('finds names without an import, and re-exports without an import from outside', () => {
    const texts = new Map([
      ['a/index.ts', "export { inner, Outer } from './one.js';"],
      ['a/one.ts', 'export const inner = 1;\nexport class Outer {}\nexport async function alone() {}'],
      ['a/two.ts', "import { inner } from './one.js';"],
      ['b.ts', "import { Outer } from './a/index.js';"],
    ]);
    expect(unusedExports(texts, [...texts.keys()])).to.deep.equal(['a/index.ts inner', 'a/one.ts alone']);
  });
});

describe('the finder of import circles', () => {
  const found = (...texts: [file: string, text: string][]) =>
    texts.flatMap(([file, text]) => importsIn(file, text)).filter(({ target }) => target !== undefined);
  const there = "import { There } from './there.js';";

  it('finds files that reach each other, over any number of files', () => {
    const imports = found(
      ['a.ts', "export * from './b.js';"],
      ['b.ts', "import './c.js';"],
      ['c.ts', "import('./a.js')"],
    );
    expect(circles([...imports, ...found(['d.ts', "import { a } from './a.js';"])])).to.deep.equal([
      ['a.ts', 'b.ts', 'c.ts'],
    ]);
  });

  it('finds none where two ways lead to the same file', () => {
    const imports = found(['a.ts', `import './b.js';\n${there}`], ['b.ts', there], ['there.ts', "import 'node:fs';"]);
    expect(circles(imports)).to.deep.equal([]);
  });

  it('finds the folders that import each other', () => {
    const imports = found(
      ['a/one.ts', "import type { B } from '../b/two.js';"],
      ['b/three.ts', "import { A } from '../a/four.js';"],
      ['c.ts', "import { A } from './a/one.js';"],
    );
    expect(mutualPairs(imports, dirname)).to.deep.equal(['a and b']);
    expect(mutualPairs(imports, (file) => file)).to.deep.equal([]);
  });

  it('distinguishes an import of types alone from one that exists at run time', () => {
    const text = `import type {\n  A,\n} from './a.js';\nexport type * from './b.js';\nimport { type C } from './c.js';\n${there}`;
    expect(found(['here.ts', text]).map(({ target, isOfType }) => [target, isOfType])).to.deep.equal([
      ['a.ts', true],
      ['b.ts', true],
      ['c.ts', false],
      ['there.ts', false],
    ]);
  });
});

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');
}
