/**
 * Builds the documentation's site out of docs, the pages of the repository's root and the OpenAPI document:
 * node infra/build-site.mjs [folder, default dist/src/site]
 *
 * Eleventy renders the pages. Their addresses are relative, so the site works below any address, and from a folder.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import Eleventy from '@11ty/eleventy';
import { build } from 'esbuild';
import MiniSearch from 'minisearch';
import { apiDocument } from './api-document.mjs';
import { writeBuilt } from './built-files.mjs';
import { writeLicenses } from './licenses.mjs';
import { ApiPages } from './site/api-pages.mjs';
import { Pages } from './site/markdown.mjs';
import { PAGES, pageOf, RENAMED } from './site/navigation.mjs';
import { framed, homeContent } from './site/page.mjs';
import { INDEX_OPTIONS } from './site/search-options.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The program serves the site next to the console and the OpenAPI document; a copy in another folder has neither. */
const isServed = process.argv[2] === undefined;
const out = resolve(process.argv[2] ?? join(root, 'dist/src/site'));
/** The browser loads the index with the first search. */
const MAX_INDEX_BYTES = 1_500_000;
/** Where the program serves the site: the page for unknown addresses is shown at any depth. */
const SERVED_AT = '/docs/';
const NOT_FOUND = '<h1>Page not found</h1><p>There is no page at this address. <a href="/docs/">All sections</a>, or search with Ctrl K.</p>';

process.chdir(root);
const { version } = JSON.parse(await readFile('package.json', 'utf8'));
const pages = new Pages();
const document = await apiDocument(version);
const api = new ApiPages(document, isServed ? '/openapi.json' : '../openapi.json');
const files = new Map();
const assets = await builtAssets();
const rendered = await renderedPages();
for (const { path } of PAGES) {
  if (!rendered.has(path)) throw new Error(`infra/site/navigation.mjs lists ${path}, which has no page`);
}
const site = { version, isServed, assets: { ...assets, index: asset('search.json', searchIndex()) }, titleOf };
for (const [path, content] of rendered) {
  if (!PAGES.some((page) => page.path === path)) throw new Error(`infra/site/navigation.mjs does not list ${path}`);
  const { title, outline } = knownPage(path);
  put(`${path}.html`, framed(site, { path, title, outline, content }));
}
put('index.html', framed(site, { path: 'index', title: '', outline: [], content: homeContent(site) }));
put('404.html', framed(site, { path: '404', title: 'Page not found', outline: [], content: NOT_FOUND, root: SERVED_AT }));
if (!isServed) put('openapi.json', JSON.stringify(document));
for (const [path, bytes] of pages.files) files.set(path, bytes);
// Brotli copies would add a megabyte to the npm package.
await writeBuilt(out, files, false);

/** The content of each page by its path. */
async function renderedPages() {
  const sources = Object.keys(RENAMED).filter((name) => !name.includes('/'));
  const ofRoot = await Promise.all(sources.map(async (source) => [source, await readFile(source, 'utf8')]));
  const eleventy = new Eleventy('docs', '.cache/site', {
    quietMode: true,
    configPath: false,
    config(settings) {
      settings.setLibrary('md', pages.markdown);
      settings.setTemplateFormats(['md']);
      settings.addGlobalData('eleventyComputed.permalink', () => ({ page }) => `${pathOf(page)}.html`);
      for (const [source, text] of ofRoot) settings.addTemplate(`${RENAMED[source]}.md`, text, { source });
      return { markdownTemplateEngine: false };
    },
  });
  const made = await eleventy.toJSON();
  const ofFiles = made.map((page) => [pathOf(page), page.content]);
  return new Map([...ofFiles, ...api.rendered()]);
}

function pathOf({ inputPath }) {
  return pageOf(inputPath.replace(/^\.\//, ''));
}

/** Styles and scripts, with a hash of the content in their names. */
async function builtAssets() {
  const { outputFiles, metafile } = await build({
    entryPoints: ['script', 'theme', 'style'].map((name) => join(root, 'infra/site', `${name}.${name === 'style' ? 'css' : 'js'}`)),
    outdir: out,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'warning',
  });
  await writeLicenses('site.txt', [metafile]);
  const built = outputFiles.map(({ path, contents }) => [basename(path, extname(path)), asset(basename(path), Buffer.from(contents))]);
  return { ...Object.fromEntries(built), icon: asset('icon.svg', await readFile('src/console/icon.svg')) };
}

/** @returns its path in the site */
function asset(name, bytes) {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 8);
  const path = `assets/${basename(name, extname(name))}-${hash}${extname(name)}`;
  files.set(path, bytes);
  return path;
}

/** An entry for each section of each page. */
function searchIndex() {
  const index = new MiniSearch(INDEX_OPTIONS);
  for (const { path } of PAGES) {
    const { title, sections } = knownPage(path);
    for (const { id, heading, text } of sections) {
      const words = text.join(' ');
      if (heading === '' && words === '') continue;
      index.add({ id: `${path}.html${id === '' ? '' : `#${id}`}`, title, heading, text: words });
    }
  }
  const bytes = Buffer.from(JSON.stringify(index));
  if (bytes.length > MAX_INDEX_BYTES) throw new Error(`the search index has ${bytes.length} bytes, and may have ${MAX_INDEX_BYTES}`);
  return bytes;
}

function knownPage(path) {
  const page = pages.known.get(path) ?? api.known.get(path);
  if (page === undefined) throw new Error(`there is no page ${path}`);
  return page;
}

function titleOf(path) {
  return knownPage(path).title;
}

function put(path, text) {
  files.set(path, Buffer.from(text));
}
