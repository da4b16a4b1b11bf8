/** The npm package: packed from this tree, installed in an empty folder, started there. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { KvClient } from '../../support/kv-client.js';
import { embeddedEnvironment, endEverything, TOKEN, temporaryDirectory } from '../../support/millrace-process.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const INSTALL = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
/**
 * An installation takes a few seconds of a slow line. It is 7.6 MB packed, 25 MB unpacked: three workers that replay
 * journals have the engine of a partition each, the site of the documentation has 3 MB, and the SDK of buckets 120 KB packed.
 */
const MAX_PACKED_BYTES = 7_900_000;
const MAX_UNPACKED_BYTES = 26_000_000;
/** The package and those that it needs. */
const MAX_INSTALLED_PACKAGES = 8;

const run = promisify(execFile);
const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly bin: { readonly millrace: string };
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

describe('the npm package', function () {
  this.timeout(180_000);
  let packed: Packed;
  let tarball: string;
  let folder: string;
  let served: ChildProcess | undefined;

  /** Without the variables that npm sets for the scripts of this tree. */
  const environment = (more: NodeJS.ProcessEnv = {}) => ({
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    ...more,
  });

  before(async () => {
    const place = await temporaryDirectory();
    const { stdout } = await run(process.execPath, ['infra/package.mjs', place], { cwd: ROOT, env: environment() });
    const report: unknown = JSON.parse(stdout);
    // A list, or by name: that depends on the npm.
    packed = Object.values(report as object)[0] as Packed;
    tarball = join(place, packed.filename);
    folder = join(place, 'empty');
    await mkdir(folder);
    await run('npm', [...INSTALL, tarball], { cwd: folder, env: environment() });
  });
  after(async () => {
    if (served?.exitCode === null && served.pid !== undefined) process.kill(-served.pid, 'SIGKILL');
    await endEverything();
  });

  describe('packed', () => {
    const paths = () => packed.files.map(({ path }) => path);

    it('contains the program, its threads, the pages, and files for deployment', () => {
      expect(paths()).to.include.members([
        'LICENSE',
        'README.md',
        'package.json',
        manifest.bin.millrace,
        ...['program', 'read-models-worker', 'search-worker', 'compactor-worker', 'audit-worker'].map(
          (name) => `dist/src/cli/bundle/${name}.js`,
        ),
        'dist/src/console/index.html',
        'dist/src/portal/index.html',
        'dist/src/site/index.html',
        'dist/src/site/guide/first-hour.html',
        'dist/licenses/program.txt',
        'infra/systemd/millrace.service',
        'infra/dashboards/overview.json',
        'infra/kubernetes/millrace.yaml',
        'nats.conf',
      ]);
    });

    it('contains every file that package.json exports', () => {
      const promised = Object.values(manifest.exports).map((one) => (typeof one === 'string' ? one : one.types));
      for (const path of promised) expect(paths()).to.include(path.replace(/^\.\//, ''));
    });

    it('contains no test, source, source map or build file', () => {
      const wrong = /(^|\/)(test|bench|node_modules)\/|\.map$|(?<!\.d)\.tsx?$|\.mjs$|tsbuildinfo|(^|\/)\.(?!$)/;
      expect(paths().filter((path) => wrong.test(path))).to.deep.equal([]);
      const separate = paths().filter((path) => /^dist\/src\/.*\.js$/.test(path));
      expect(
        separate.filter((path) => !/^dist\/src\/(cli\/(bundle\/|main\.js)|console\/|portal\/|site\/)/.test(path)),
      ).to.deep.equal([]);
    });

    it('stays below its maximum size', () => {
      expect(packed.size).to.be.below(MAX_PACKED_BYTES);
      expect(packed.unpackedSize).to.be.below(MAX_UNPACKED_BYTES);
    });

    it('names the license of every package that is bundled in it', async () => {
      const text = await readFile(join(ROOT, 'dist/licenses/program.txt'), 'utf8');
      for (const name of ['@nats-io/transport-node', '@nats-io/jetstream', 'koa', 'class-validator', 'tsyringe']) {
        expect(text).to.match(new RegExp(`^${name} \\d\\S+ \\((MIT|Apache-2.0)\\)$`, 'm'));
      }
    });

    it('can be published without a warning of npm', async () => {
      const { stderr } = await run('npm', ['publish', '--dry-run', tarball], { cwd: folder, env: environment() });
      const warnings = stderr.split('\n').filter((line) => /npm (warn|error)/i.test(line));
      // No user of the registry is signed in here.
      expect(warnings.filter((line) => !line.includes('requires you to be logged in'))).to.deep.equal([]);
    });
  });

  describe('installed in an empty folder', () => {
    it('installs at most 8 packages, none of them with an install script', async () => {
      const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
        packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
      };
      const installed = Object.keys(lock.packages).filter((path) => path !== '');
      expect(installed).to.include.members(['node_modules/node-sqlite3-wasm', 'node_modules/wasmoon-lua5.1']);
      expect(installed).to.have.length.below(MAX_INSTALLED_PACKAGES);
      expect(installed.filter((path) => lock.packages[path]?.hasInstallScript)).to.deep.equal([]);
    });

    it('runs under its name', async () => {
      const { stdout } = await run('npx', ['millrace', '--version'], { cwd: folder, env: environment() });
      expect(stdout).to.equal(`${manifest.version}\n`);
    });

    it('serves the API, the console and the documentation, and exits with 0', async () => {
      const dataDir = await temporaryDirectory();
      const env = environment(await embeddedEnvironment(dataDir));
      const child = spawn('npx', ['millrace', 'serve'], { cwd: folder, env, detached: true });
      served = child;
      let said = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
      }
      const ended = new Promise((done) => child.once('exit', (code, signal) => done(code ?? signal)));
      await eventually(() => expect(said).to.match(/^ready .*$/m), { timeoutMs: 60_000 });
      const address = (name: string) => new RegExp(` ${name}=(\\S+)`).exec(said)?.[1] ?? '';

      const kv = new KvClient({ url: address('kv'), token: TOKEN });
      expect(await kv.command('SET', 'greeting', 'hello')).to.include({ result: 'OK' });
      expect(await kv.command('GET', 'greeting')).to.include({ result: 'hello' });
      // Lua and SQLite are separate packages.
      const script = 'return redis.call("GET", KEYS[1])';
      expect(await kv.command('EVAL', script, '1', 'greeting')).to.include({ result: 'hello' });
      kv.close();
      for (const page of ['/console', '/docs', '/openapi.json']) {
        const { status } = await fetch(`${address('mgmt')}${page}`);
        expect(status, page).to.equal(200);
      }

      // npx passes a signal to its shell only, so a service is stopped with a signal to the process.
      process.kill(Number(await readFile(join(dataDir, 'lock'), 'utf8')), 'SIGTERM');
      expect(await ended, said).to.equal(0);
    });

    it('exports the types of the API and no code', async () => {
      const program = `
        import type { paths } from 'millrace/api';
        type Answer = paths['/v2/kv/databases']['get']['responses'][200]['content']['application/json'];
        export const nameOf = ([first]: Answer): string => first?.database_name ?? '';
      `;
      await writeFile(join(folder, 'program.mts'), program);
      const tsc = join(ROOT, 'node_modules/typescript/lib/tsc.js');
      for (const module of [
        ['--module', 'nodenext'],
        ['--module', 'esnext', '--moduleResolution', 'bundler'],
      ]) {
        const options = ['--noEmit', '--strict', '--ignoreConfig', '--types', '', ...module, 'program.mts'];
        const said = await run(process.execPath, [tsc, ...options], { cwd: folder }).catch((failure) => failure);
        expect(said.stdout).to.equal('');
      }
      const imports = `await import('millrace').then(() => console.log('it has a face'), ({ code }) => console.log(code))`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', imports], { cwd: folder });
      expect(stdout).to.equal('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
    });
  });
});
