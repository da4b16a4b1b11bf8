/** The built pages of the console: the bytes that the first view needs, and no address of another server. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const BUILT = fileURLToPath(new URL('../../../src/console/', import.meta.url));
/** The bytes of a slow line in a second and a bit. */
const MAX_FIRST_VIEW_BYTES = 150 * 1024;

const built = (name: string) => readFileSync(BUILT + name);
const page = built('index.html').toString('utf8');
const { files } = JSON.parse(built('manifest.json').toString('utf8')) as { files: Record<string, string[]> };

describe('console: the build', () => {
  it('lists every file, and each file name has a hash of the contents', () => {
    const assets = readdirSync(`${BUILT}assets`).filter((name) => !/\.(br|gz)$/.test(name));
    expect(Object.keys(files).sort()).to.deep.equal([...assets.map((name) => `assets/${name}`), 'index.html'].sort());
    for (const name of assets) expect(name).to.match(/-[A-Z0-9]{8}\.(js|css|svg)$/);
  });

  it('loads few compressed bytes before the first view, which includes the first page', () => {
    const named = [...page.matchAll(/"\/console\/(assets\/[^"]+)"/g)].map(([, name = '']) => name);
    expect(named.length).to.be.greaterThan(2);
    const overview = Object.keys(files).filter((name) => name.startsWith('assets/overview-'));
    const sizes = ['index.html', ...named, ...overview].map((name) =>
      files[name]?.includes('br') ? built(`${name}.br`).length : built(name).length,
    );
    expect(sizes.reduce((sum, size) => sum + size)).to.be.below(MAX_FIRST_VIEW_BYTES);
  });

  it('has no inline code in the page, and no address of another server', () => {
    expect(page).not.to.match(/<script(?![^>]* src=)|<style|\son\w+=|https?:/);
  });
});
