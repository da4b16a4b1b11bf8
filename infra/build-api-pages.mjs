/**
 * Builds the pages of the API's description out of infra/api-pages and swagger-ui-dist: node infra/build-api-pages.mjs
 *
 * Names of their parts say what is in them, so browsers keep them for ever. The packages' licenses lie beside them.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBuilt } from './built-files.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), 'api-pages');
const viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const out = join(source, '../../dist/src/api-pages');

const PARTS = [
  [viewer, 'swagger-ui.css'],
  [viewer, 'swagger-ui-bundle.js'],
  [source, 'start.css'],
  [source, 'start.js'],
];
const LICENSES = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];

const files = new Map();
let page = await readFile(join(source, 'index.html'), 'utf8');
for (const [folder, name] of PARTS) {
  const bytes = await readFile(join(folder, name));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 8);
  const asset = `assets/${name.slice(0, -extname(name).length)}-${hash}${extname(name)}`;
  files.set(asset, bytes);
  page = page.replace(`/docs/${name}`, `/docs/${asset}`);
}
files.set('index.html', Buffer.from(page));
for (const name of LICENSES) files.set(`licenses/${name}`, await readFile(join(viewer, name)));
await writeBuilt(out, files);
