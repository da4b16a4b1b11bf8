/**
 * Packs the npm package from the built tree: node infra/package.mjs [folder for the .tgz, default: here]
 *
 * The program is published as a bundle, so the published manifest depends only on the packages that the bundle loads by
 * name. The repository's package.json lists every package that runs in production, so that `npm audit` covers them all.
 * Prints the report of `npm pack --json`.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Both packages load a WebAssembly file from their own folder, so they cannot be bundled. */
const LOADED_BY_NAME = ['@evolu/sqlite-wasm', 'node-sqlite3-wasm', 'wasmoon-lua5.1'];
/** Fields that describe the repository and its build. */
const { private: _, devDependencies, scripts, overrides, dependencies, ...published } = readManifest();

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const destination = resolve(process.argv[2] ?? '.');
const staging = mkdtempSync(join(tmpdir(), 'millrace-package-'));
try {
  const [listed] = Object.values(JSON.parse(npm(['pack', '--dry-run', '--json'], root)));
  for (const { path } of listed.files) cpSync(join(root, path), join(staging, path));
  const needed = Object.fromEntries(LOADED_BY_NAME.map((name) => [name, dependencies[name]]));
  writeFileSync(join(staging, 'package.json'), `${JSON.stringify({ ...published, dependencies: needed }, null, 2)}\n`);
  process.stdout.write(npm(['pack', '--json', '--pack-destination', destination], staging));
} finally {
  rmSync(staging, { recursive: true });
}

function readManifest() {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
}

function npm(args, cwd) {
  return execFileSync('npm', [...args, '--ignore-scripts'], { cwd, encoding: 'utf8' });
}
