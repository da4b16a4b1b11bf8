/**
 * Builds the console's pages out of src/console: node infra/build-console.mjs
 *
 * Their names say what is in them, so browsers keep them for ever.
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
const out = join(root, 'dist/src/console');

/** The operations whose examples the overview's checklist shows: `src/console/files.d.ts` has the module's type. */
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

const { outputFiles, metafile } = await build({
  entryPoints: { main: join(source, 'main.tsx') },
  outdir: join(out, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.svg': 'file' },
  publicPath: '/console/assets',
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
files.set('index.html', Buffer.from(await page()));

await writeBuilt(out, files);
await writeLicenses('console.txt', [metafile]);

/** The page: what its first view needs is named in it, so that it is fetched at once. */
async function page() {
  const byName = Object.entries(metafile.outputs);
  const [entry, { imports, cssBundle }] = byName.find(([, { entryPoint }]) => entryPoint?.endsWith('src/console/main.tsx'));
  const at = (path) => `/console/${relative(out, join(root, path))}`;
  const loaded = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
  const parts = [
    `<link rel="icon" href="/console/${[...files.keys()].find((name) => name.endsWith('.svg'))}" type="image/svg+xml">`,
    `<link rel="stylesheet" href="${at(cssBundle)}">`,
    ...loaded.map((path) => `<link rel="modulepreload" href="${at(path)}">`),
    `<script type="module" src="${at(entry)}"></script>`,
  ];
  return (await readFile(join(source, 'index.html'), 'utf8')).replace('<!-- parts -->', parts.join('\n    '));
}
