/** Compiled code that one start stores for the next, in a folder with the form of an installation. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
/** A program with a thread; both print whether the cache is enabled. */
const PROGRAM = `
import module from 'node:module';
import { isMainThread, Worker } from 'node:worker_threads';
console.log(isMainThread, module.getCompileCacheDir?.() !== undefined);
if (isMainThread) new Worker(new URL(import.meta.url));
`;
const hasCache = 'enableCompileCache' in module;

describe('the compile cache', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'millrace-compiled-'));
    mkdirSync(join(root, 'dist/src/cli/bundle'), { recursive: true });
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    writeFileSync(join(root, 'dist/src/cli/bundle/program.js'), PROGRAM);
    copyFileSync(MAIN, join(root, 'dist/src/cli/main.js'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  function start(env: NodeJS.ProcessEnv = {}) {
    const { NODE_COMPILE_CACHE: _, ...others } = process.env;
    const { stdout, stderr } = spawnSync(process.execPath, [join(root, 'dist/src/cli/main.js')], {
      env: { ...others, ...env },
      encoding: 'utf8',
    });
    return { lines: stdout.trim().split('\n'), stderr };
  }

  it('is in the folder of the program, for its threads too, if Node.js has one', () => {
    for (const _ of ['stores', 'uses']) {
      expect(start()).to.deep.equal({ lines: [`true ${hasCache}`, `false ${hasCache}`], stderr: '' });
      expect(existsSync(join(root, 'dist/src/cli/compiled'))).to.equal(hasCache);
    }
  });

  it('is in the directory of NODE_COMPILE_CACHE if an operator sets it', () => {
    const directory = join(root, 'elsewhere');
    expect(start({ NODE_COMPILE_CACHE: directory }).lines).to.deep.equal([`true ${hasCache}`, `false ${hasCache}`]);
    expect(existsSync(directory)).to.equal(hasCache);
    expect(existsSync(join(root, 'dist/src/cli/compiled'))).to.equal(false);
  });

  it('is left out without a message if its directory cannot be made', () => {
    writeFileSync(join(root, 'dist/src/cli/compiled'), 'a file');
    expect(start()).to.deep.equal({ lines: ['true false', 'false false'], stderr: '' });
  });
});
