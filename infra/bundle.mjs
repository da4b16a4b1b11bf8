/**
 * Makes a few files of the program, and one of each thread, out of what tsc wrote: node infra/bundle.mjs
 *
 * A start of the separate files goes by into finding, opening and linking them, in the process and in each of its
 * threads. Each entry is bundled by itself, so that a thread loads what it needs and nothing else; that our own files
 * may be left out where nobody takes anything from them, package.json says (`sideEffects`). What esbuild writes are
 * modules; infra/pieces.mjs makes scripts of them. The program is split where it imports what a command needs when that is
 * asked for: `help` and `completion` load a thirtieth of it. Names stay, for the stack of an error, without esbuild's
 * `keepNames`, which would cost each closure a property.
 */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { pastTheFaces } from './homes.mjs';
import { writeLicenses } from './licenses.mjs';
import { DEFINED, namesOfOthers, OUTSIDE, pieceOf, stubOf } from './pieces.mjs';

const compiled = join(dirname(fileURLToPath(import.meta.url)), '../dist/src');
const threads = (await readdir(join(compiled, 'composition'))).filter((name) => name.endsWith('-worker.js'));
const BEGINNINGS = ['program.js', ...threads];
/** Short enough for the line in a stack to say where, beside the function's name. */
const MAX_LINE = 120;
/**
 * What commands need is loaded with them, in few pieces: whatever two pieces share becomes one of its own, for every set of
 * those who share it, and a start would open fifty files.
 */
const COMMANDS = [
  ['./admin-commands.js', './backup-command.js', './cluster-command.js', './import/import-command.js', './dev/dev-command.js', './dev/demo.js'],
  ['./config-command.js', './tools-command.js', './doctor/doctor-command.js'],
];
/** What an answer of Koa, or a request to it, can be of, of the two tables of 2,000 kinds that it carries. */
const MEDIA_TYPES = ['application/json', 'application/octet-stream', 'text/html', 'text/plain'];
// As deep below the root as every file that reads something relative to itself.
const outdir = join(compiled, 'cli/bundle');
const wholeValidator = fileURLToPath(import.meta.resolve('class-validator'));
const leftOut = join(dirname(fileURLToPath(import.meta.url)), 'left-out.mjs');

const options = {
  outdir,
  entryNames: '[name]-[hash]',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Of a package that is there in both forms the one of which what nobody uses is left out.
  mainFields: ['module', 'main'],
  legalComments: 'none',
  // The engine keeps the text for as long as the process lives. Names stay.
  minifyWhitespace: true,
  lineLimit: MAX_LINE,
  write: false,
  // The tables behind `IsPhoneNumber`, which no rule here has: a twentieth of the text.
  alias: { 'libphonenumber-js/max': leftOut },
  define: DEFINED,
  external: OUTSIDE,
  plugins: [pastTheFaces(compiled), namesOfOthers, { name: 'commands', setup: commandsTogether }, { name: 'less of packages', setup: lessOfPackages }],
  metafile: true,
  logLevel: 'warning',
};
const [program, entries] = await Promise.all([
  // All pieces lie in one folder, as deep as the rest.
  build({ ...options, entryPoints: [join(compiled, 'cli/program.js')], splitting: true, chunkNames: '[name]-[hash]' }),
  build({ ...options, entryPoints: threads.map((name) => join(compiled, 'composition', name)) }),
]);

await rm(outdir, { recursive: true, force: true });
await mkdir(outdir);
for (const { outputFiles, metafile } of [program, entries]) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  for (const { path, text } of outputFiles) {
    const name = basename(path);
    await writeFile(path, pieceOf(inAscii(text), outputs.get(name)));
    const entry = basename(outputs.get(name).entryPoint ?? '');
    if (BEGINNINGS.includes(entry)) await writeFile(join(outdir, entry), stubOf(name));
  }
}
await copyFile(join(compiled, 'adapters/node/pieces.js'), join(outdir, 'pieces.js'));
await writeLicenses('program.txt', [program.metafile, entries.metafile]);

function commandsTogether({ onLoad, onResolve }) {
  const asOne = (files) => ({ path: files[0], namespace: 'commands' });
  onResolve({ filter: /^\./ }, ({ kind, importer, path }) => {
    const files = COMMANDS.find((each) => each.includes(path));
    return kind === 'dynamic-import' && files && importer.endsWith('/cli/program.js') ? asOne(files) : undefined;
  });
  onLoad({ filter: /./, namespace: 'commands' }, ({ path }) => ({
    contents: COMMANDS.find(([first]) => first === path).map((file) => `export * from '${file}';`).join('\n'),
    resolveDir: join(compiled, 'cli'),
  }));
}

function lessOfPackages({ onLoad, onResolve }) {
  onLoad({ filter: /mime-db\/db\.json$/ }, fewMediaTypes);
  // All of it, for the sake of `IsStrongPassword`. An alias would have what is imported from its folders too.
  onResolve({ filter: /^validator$/ }, () => ({ path: leftOut }));
  // Five ways to tell one machine from another, each of them a piece, with all that they share with what sends traces.
  onResolve({ filter: /\/getMachineId$/ }, () => ({ path: leftOut }));
  // For examples beside a count, which are not asked for.
  onResolve({ filter: /^@opentelemetry\/api$/ }, ({ importer }) =>
    importer.includes('/prom-client/') ? { path: 'nothing', namespace: 'nothing' } : undefined,
  );
  onLoad({ filter: /./, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};' }));
  // What makes schemas asks for all of it, and is loaded when somebody reads the document: a copy of its own, or all of it
  // would be loaded with the few rules that settings have. Both keep what they note in one place.
  onResolve({ filter: /^class-validator$/ }, ({ importer }) =>
    importer.includes('/class-validator-jsonschema/') ? { path: wholeValidator } : undefined,
  );
}

/** Reading, sorting and keeping both tables would be a twentieth of the main thread's start. */
async function fewMediaTypes({ path }) {
  const all = JSON.parse(await readFile(path, 'utf8'));
  return { loader: 'json', contents: JSON.stringify(Object.fromEntries(MEDIA_TYPES.map((type) => [type, all[type]]))) };
}

/**
 * One character beyond ASCII has the engine keep the whole text in twice the memory. Strings have none any more; what is
 * left is in comments and regular expressions, where an escape is the same.
 */
function inAscii(text) {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
