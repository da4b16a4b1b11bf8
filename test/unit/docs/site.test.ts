/** The documentation's site as the build has written it: its pages, its links, and the limits of its parts. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

const SITE = 'dist/src/site';
/** Size of the index that the browser's first search loads, compressed. */
const MAX_COMPRESSED_INDEX_BYTES = 300_000;
/** Size of a page's style and script, compressed. */
const MAX_ASSET_BYTES = 12_000;

const files = readdirSync(SITE, { recursive: true, encoding: 'utf8' });
const pages = files.filter((name) => name.endsWith('.html'));
const textOf = (name: string) => readFileSync(join(SITE, name), 'utf8');

describe("the documentation's site", () => {
  it('has a page for each page of docs and of the root, and for each area of the API', () => {
    const sources = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    const missing = sources.filter((name) => name !== 'README.md' && !pages.includes(name.replace(/md$/, 'html')));
    expect(missing).to.deep.equal([]);
    const others = [
      'index',
      '404',
      'about',
      'changelog',
      'contributing',
      'security',
      'all-pages',
      'api/queue',
      'api/kv',
    ];
    expect(pages).to.include.members(others.map((name) => `${name}.html`));
  });

  it('has only links and files that exist, with their headings', () => {
    const ids = new Map(pages.map((name) => [name, idsIn(textOf(name))]));
    const broken = pages.flatMap((name) =>
      [...textOf(name).matchAll(/(?:href|src|data-index)="([^"]*)"/g)]
        .map(([, target = '']) => target.replace(/^\/docs\/$/, 'index.html').replace(/^\/docs\//, './'))
        .filter((target) => !/^(?:\w+:|\/console\/|\/openapi\.json)/.test(target))
        .filter((target) => {
          const [path = '', id] = target.split('#');
          const file = path === '' ? name : normalize(join(name === '404.html' ? '' : dirname(name), path));
          if (!existsSync(join(SITE, file))) return true;
          return id !== undefined && id !== 'main' && ids.get(file)?.has(id) === false;
        })
        .map((target) => `${name}: ${target}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('has no inline style or program, which the content security policy refuses', () => {
    const wrong = pages.filter((name) =>
      /<style|\sstyle="|\son\w+="|<script(?![^>]* src=)/.test(markupOf(textOf(name))),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('shows the version of the package on each page', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    for (const name of pages) expect(textOf(name), name).to.include(`<span class="version">${version}</span>`);
  });

  it('has the drawing of each concept in the colours of the page', () => {
    for (const name of ['databases', 'messages', 'workflows', 'search', 'journal']) {
      expect(textOf(`concepts/${name}.html`)).to.match(/class="drawing"[^>]*><svg/);
    }
  });

  it('has tabs for the languages of a page', () => {
    const labels = [...textOf('concepts/databases.html').matchAll(/data-label="([^"]+)"/g)].map(([, label]) => label);
    expect(labels).to.include.members(['JavaScript', 'Python', 'Go', 'Shell']);
  });

  it('stays below its limits', () => {
    const sizeOf = (pattern: RegExp) => statSync(join(SITE, files.find((name) => pattern.test(name)) ?? '')).size;
    expect(sizeOf(/search-.*\.json\.gz$/)).to.be.below(MAX_COMPRESSED_INDEX_BYTES);
    expect(sizeOf(/script-.*\.js\.gz$/)).to.be.below(MAX_ASSET_BYTES);
    expect(sizeOf(/style-.*\.css\.gz$/)).to.be.below(MAX_ASSET_BYTES);
  });
});

function idsIn(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
}

/** Without the texts of code blocks. */
function markupOf(html: string): string {
  return html.replaceAll(/<pre[\s\S]*?<\/pre>/g, '').replaceAll(/<code>[\s\S]*?<\/code>/g, '');
}
