/**
 * The code that one start has compiled is used by the next, in a folder with the form of a bundle. Proves PCE1 and
 * PCE2.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const RUNNER = fileURLToPath(new URL('../../../../src/adapters/node/pieces.js', import.meta.url));
const WRITER = new URL('../../../../../infra/pieces.mjs', import.meta.url).href;

interface Writer {
  pieceOf(text: string, output: object): string;
  stubOf(piece: string): string;
}

describe('the pieces of a bundle', () => {
  let writer: Writer;
  let root: string;
  before(async () => {
    writer = await import(WRITER);
  });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'millrace-pieces-'));
    mkdirSync(join(root, 'bundle'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    copyFileSync(RUNNER, join(root, 'bundle/pieces.js'));
    write(
      'main.js',
      'import"./said.js";import{said as words}from"./said.js";console.log(words(),import.meta.url.length>0);',
    );
    write('said.js', 'const said=()=>"one";export{said};');
    writeFileSync(join(root, 'bundle/begin.js'), `${writer.stubOf('main.js')}`);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** A module in the form of esbuild; its last step caches the compiled code. */
  function write(name: string, module: string): void {
    const isMain = name === 'main.js';
    const text = isMain ? `${module}(await import("./pieces.js")).keepCompiled();` : module;
    const needed = isMain ? ['import-statement', 'import-statement'].map((kind) => ({ kind, path: 'x/said.js' })) : [];
    const imports = [...needed, ...(isMain ? [{ kind: 'dynamic-import', path: './pieces.js' }] : [])];
    const defined = text.replaceAll('import.meta.url', '__url');
    writeFileSync(join(root, 'bundle', name), writer.pieceOf(defined, { imports }));
  }

  function start(...flags: string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(root, 'bundle/begin.js')], {
      encoding: 'utf8',
    });
    expect(status, stderr).to.equal(0);
    return stdout.trim();
  }

  /** V8's number for its version, the processor's features and the flags that affect compiled code. */
  const tagUnder = (flags: string[]): string =>
    spawnSync(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'], { encoding: 'utf8' }).stdout;
  const keptFiles = () => readdirSync(join(root, 'compiled')).map((name) => join(root, 'compiled', name));
  const onlyFile = () => {
    const files = keptFiles();
    expect(files).to.have.lengthOf(1);
    return files[0] as string;
  };
  /** The inode changes when the cache is written again: it is first written under another name. */
  const identity = (file: string) => statSync(file).ino;

  it('run in the order of their dependencies, and use each other’s exports', () => {
    expect(start()).to.equal('one true');
  });

  it('are not compiled again (PCE1)', () => {
    start();
    const first = identity(onlyFile());
    expect(start()).to.equal('one true');
    // What was refused, or is missing, would have been kept anew.
    expect(identity(onlyFile())).to.equal(first);
  });

  it('are compiled again where one has changed, even with the same length (PCE1)', () => {
    start();
    const first = identity(onlyFile());
    write('said.js', 'const said=()=>"two";export{said};');
    expect(start()).to.equal('two true');
    expect(identity(onlyFile())).not.to.equal(first);
    const second = identity(onlyFile());
    expect(start()).to.equal('two true');
    expect(identity(onlyFile())).to.equal(second);
  });

  it('are cached once for engine flags with the same compiled code, and separately for others (PCE1)', () => {
    // Since V8 13 a size of the heap makes no difference to compiled code; before, it does.
    const sets = [[], ['--max-old-space-size=300'], ['--stack-size=900'], ['--no-opt']];
    for (const flags of sets) expect(start(...flags)).to.equal('one true');
    const tags = new Set(sets.map(tagUnder));
    expect(tags.size).to.be.at.least(3);
    expect(keptFiles()).to.have.lengthOf(tags.size);
    const kept = keptFiles().map(identity);
    for (const flags of sets) expect(start(...flags)).to.equal('one true');
    expect(keptFiles().map(identity), 'used by all of them').to.have.members(kept);
  });

  it('run although the cache is truncated, empty or of another kind, and the cache is restored (PCE2)', () => {
    start();
    const { size } = statSync(onlyFile());
    for (const spoil of [
      () => truncateSync(onlyFile(), size - 8),
      () => truncateSync(onlyFile(), 0),
      () => writeFileSync(onlyFile(), Buffer.alloc(size)),
      () => writeFileSync(onlyFile(), 'something else'),
    ]) {
      spoil();
      expect(start()).to.equal('one true');
      expect(statSync(onlyFile()).size).to.equal(size);
    }
  });

  it('are compiled again where the cache has wrong bytes that the engine would fail on (PCE2)', () => {
    start();
    const whole = readFileSync(onlyFile());
    const damaged = Buffer.from(whole);
    damaged.fill(0x5a, whole.length - 400, whole.length - 100);
    writeFileSync(onlyFile(), damaged);
    expect(start()).to.equal('one true');
    expect(readFileSync(onlyFile()).equals(damaged)).to.equal(false);
    const again = identity(onlyFile());
    expect(start()).to.equal('one true');
    expect(identity(onlyFile()), 'whole by now').to.equal(again);
  });

  it('run where the cache cannot be written (PCE2)', () => {
    writeFileSync(join(root, 'compiled'), 'a file in the place of the folder');
    expect(start()).to.equal('one true');
    expect(readFileSync(join(root, 'compiled'), 'utf8')).to.equal('a file in the place of the folder');
  });

  it('leave a handful of cache files for any flags, and no drafts of killed processes', () => {
    mkdirSync(join(root, 'compiled'));
    writeFileSync(join(root, 'compiled/main-1.4711'), 'half of');
    for (let kilobytes = 800; kilobytes < 810; kilobytes += 1) start(`--stack-size=${kilobytes}`);
    expect(keptFiles()).to.have.lengthOf(8);
    expect(existsSync(join(root, 'compiled/main-1.4711'))).to.equal(false);
  });

  it('cannot be made of code that imports an external name, or one that is defined later', () => {
    const outside = { imports: [{ kind: 'import-statement', path: 'node:fs', external: true }] };
    expect(() => writer.pieceOf('import{readFile}from"node:fs";', outside)).to.throw('imports node:fs');
    expect(() => writer.pieceOf('var init_a=()=>{};export{init_a};', { imports: [] })).to.throw('made later');
  });
});
