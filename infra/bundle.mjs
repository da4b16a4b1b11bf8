/**
 * Bundles the compiled program with esbuild: node infra/bundle.mjs
 *
 * A start of the separate files would spend its time on finding, opening and linking two thousand of them, in the process
 * and in each of its threads. The program is split where it imports a command's modules, so `help` and `completion` load a
 * fortieth of it, and commands that ask a running process a fifth (direct-imports.mjs). Each thread is a bundle by itself, so it has only its own code; `sideEffects` in package.json lets esbuild
 * drop our unused files. Names stay for the stack of an error, without `keepNames`, which would cost each closure a property.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { directImports } from './direct-imports.mjs';
import { writeLicenses } from './licenses.mjs';

const infra = dirname(fileURLToPath(import.meta.url));
const compiled = join(infra, '../dist/src');
const threads = (await readdir(join(compiled, 'composition'))).filter((name) => name.endsWith('-worker.js'));
// As deep below the root as every file that reads a file relative to itself.
const outdir = join(compiled, 'cli/bundle');
// One file for the program and for the process that copies, loaded only when a bucket is used. No line of it is ours, so names
// are shortened too: 330 KB.
const s3Sdk = join(infra, 's3-sdk.mjs');
const allOfClassValidator = fileURLToPath(import.meta.resolve('class-validator'));

const options = {
  outdir,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Unused code can only be dropped from a package's ES modules.
  mainFields: ['module', 'main'],
  legalComments: 'none',
  // The engine keeps the text in memory while the process runs.
  minifyWhitespace: true,
  minifySyntax: true,
  // Short enough for the line number in a stack to show the place.
  lineLimit: 120,
  // CommonJS packages require modules of Node.js.
  banner: { js: "import{createRequire as __requireOf}from'node:module';const require=__requireOf(import.meta.url);" },
  alias: {
    // The tables of `IsPhoneNumber`, a rule that no class here has: 250 KB, 12 ms of a start.
    'libphonenumber-js/max': join(infra, 'left-out.mjs'),
    // The media types that answers of Koa have, of two tables of 2,000: 290 KB, 20 ms of a start.
    'mime-db': join(infra, 'media-types.json'),
  },
  // These packages load their WebAssembly from their own folders.
  external: ['node-sqlite3-wasm', '@evolu/sqlite-wasm'],
  plugins: [directImports(compiled), { name: 'less to load', setup: loadLess }],
  metafile: true,
  logLevel: 'warning',
};

await rm(outdir, { recursive: true, force: true });
// The compile cache of an earlier build (src/cli/main.ts).
await rm(join(compiled, 'cli/compiled'), { recursive: true, force: true });
await mkdir(outdir);
const [program, workers, sdk] = await Promise.all([
  build({ ...options, entryPoints: [join(compiled, 'cli/program.js')], splitting: true }),
  build({ ...options, entryPoints: threads.map((name) => join(compiled, 'composition', name)) }),
  build({ ...options, entryPoints: { 's3-sdk': s3Sdk }, minify: true, plugins: [{ name: 'no sign-in', setup: leaveOutSignIns }] }),
]);
await writeLicenses('program.txt', [program.metafile, workers.metafile, sdk.metafile]);

/** Sign-ins of a person at a machine, with a browser: a server has keys, a role of its machine, or a web identity. */
function leaveOutSignIns({ onResolve }) {
  onResolve({ filter: /^@aws-sdk\/credential-provider-(sso|login)$|^@aws-sdk\/token-providers$/ }, () => ({
    path: join(infra, 'left-out.mjs'),
  }));
}

function loadLess({ onResolve }) {
  // A module of Node.js is not loaded if the bundle uses none of its names.
  onResolve({ filter: /^[\w:/-]+$/ }, ({ path }) => (isBuiltin(path) ? { path, external: true, sideEffects: false } : undefined));
  onResolve({ filter: /^@aws-sdk\/client-s3$/ }, () => ({ path: './s3-sdk.js', external: true }));
  // This package uses all rules, and is loaded when a client asks for the OpenAPI document. It gets its own copy, so the other
  // chunks have only the rules of our classes. Both copies store their metadata in one global place.
  onResolve({ filter: /^class-validator$/ }, ({ importer }) =>
    importer.includes('/class-validator-jsonschema/') ? { path: allOfClassValidator } : undefined,
  );
  // The types of attachments, which mails here do not have: 77 KB.
  onResolve({ filter: /\/mime-types\.js$/ }, ({ importer }) =>
    importer.includes('/nodemailer/') ? { path: join(infra, 'left-out.mjs') } : undefined,
  );
}
