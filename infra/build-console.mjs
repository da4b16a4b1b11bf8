/**
 * Builds the pages of src/console, that is the console and the portal: node infra/build-console.mjs
 *
 * File names contain a hash of the content, so browsers keep them for ever.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { apiDocument } from './api-document.mjs';
import { writeBuilt } from './built-files.mjs';
import { writeLicenses } from './licenses.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src/console');

/** The operations with examples in the overview's checklist: `src/console/files.d.ts` has the module's type. */
const FIRST_CALLS = [
  ['get', '/{command}'],
  ['post', '/'],
  ['post', '/v2/publish/{destination}'],
  ['post', '/v2/trigger/{destination}'],
  ['post', '/v2/schedules/{id}'],
];
const firstCalls = {
  name: 'first-calls',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#first-calls$/ }, ({ path }) => ({ path, namespace: 'first-calls' }));
    onLoad({ filter: /.*/, namespace: 'first-calls' }, async () => {
      const { paths } = await apiDocument('0');
      const calls = FIRST_CALLS.map(([method, path]) => [
        `${method.toUpperCase()} ${path}`,
        paths[path][method]['x-codeSamples'].map(({ label, source }) => ({ label, source })),
      ]);
      return { contents: JSON.stringify(Object.fromEntries(calls)), loader: 'json' };
    });
  },
};

await writePages({ entry: 'main.tsx', at: '/console/', base: '/console/', out: join(root, 'dist/src/console'), licenses: 'console.txt' });
// A proxy may serve the portal below another path, so its addresses are relative to the page.
await writePages({ entry: 'portal/portal.tsx', at: '/portal/', base: '', out: join(root, 'dist/src/portal'), licenses: 'portal.txt' });

/** @param at where the files are served. @param base the same as the page names it */
async function writePages({ entry, at, base, out, licenses }) {
  const { outputFiles, metafile } = await build({
    entryPoints: { main: join(source, entry) },
    outdir: join(out, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
    publicPath: `${at}assets`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [firstCalls],
    tsconfig: join(source, 'tsconfig.json'),
    legalComments: 'none',
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'warning',
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [relative(out, path), Buffer.from(contents)]));
  files.set('index.html', Buffer.from(await page({ entry, base, out, metafile, names: [...files.keys()] })));
  await writeBuilt(out, files);
  await writeLicenses(licenses, [metafile]);
}

/** The HTML page: it names the files of its first view, so that the browser fetches them immediately. */
async function page({ entry, base, out, metafile, names }) {
  const byName = Object.entries(metafile.outputs);
  const [script, { imports, cssBundle }] = byName.find(([, { entryPoint }]) => entryPoint?.endsWith(`src/console/${entry}`));
  const addressOf = (path) => base + relative(out, join(root, path));
  const loaded = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
  const icon = names.find((name) => name.endsWith('.svg'));
  const parts = [
    ...(icon === undefined ? [] : [`<link rel="icon" href="${base}${icon}" type="image/svg+xml">`]),
    `<link rel="stylesheet" href="${addressOf(cssBundle)}">`,
    ...loaded.map((path) => `<link rel="modulepreload" href="${addressOf(path)}">`),
    `<script type="module" src="${addressOf(script)}"></script>`,
  ];
  const title = entry === 'main.tsx' ? 'Millrace' : 'Webhooks';
  const text = await readFile(join(source, 'index.html'), 'utf8');
  return text.replace('<!-- parts -->', parts.join('\n    ')).replace('<title>Millrace', `<title>${title}`);
}
