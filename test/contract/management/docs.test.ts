/** `/docs`: the documentation's site, which is public, served from any build. */
import { expect } from 'chai';
import { createDocsHandler } from '../../../src/edge/openapi/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManagementHarness } from '../../support/management-endpoint.js';

const FILES: Readonly<Record<string, string>> = {
  'manifest.json':
    '{"files":{"index.html":[],"404.html":[],"guide/first-hour.html":[],"assets/script-1234.js":[],"assets/search-1234.json":[]}}',
  'index.html': '<!doctype html>',
  '404.html': '<!doctype html>not found',
  'guide/first-hour.html': '<!doctype html>the first hour',
  'assets/script-1234.js': 'start()',
  'assets/search-1234.json': '{}',
  secret: 'none of the site',
};

describe('GET /docs', () => {
  let face: ManagementHarness;
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(face.url + path, { headers, redirect: 'manual' });

  before(async () => {
    const readFile = async (path: string) => {
      const text = FILES[path];
      return text === undefined ? undefined : Buffer.from(text);
    };
    const docs = createDocsHandler({ log: new MemoryLog(), isDraining: () => false, readFile });
    face = await new ManagementHarness({ mount: [docs] }).start();
  });
  after(() => face.stop());

  it('redirects to /docs/, because the addresses in the site are relative', async () => {
    const response = await get('/docs');
    expect([response.status, response.headers.get('location')]).to.deep.equal([302, '/docs/']);
  });

  it('serves the pages without credentials, with a policy that allows only their own scripts', async () => {
    const response = await get('/docs/');
    expect(response.status).to.equal(200);
    expect(await response.text()).to.equal('<!doctype html>');
    expect(response.headers.get('content-security-policy')).to.include("default-src 'none'; script-src 'self';");
    expect(response.headers.get('cache-control')).to.equal('no-cache');
    const part = await get('/docs/assets/script-1234.js');
    expect(part.headers.get('content-type')).to.include('javascript');
    expect(part.headers.get('cache-control')).to.include('immutable');
    expect((await get('/docs/assets/search-1234.json')).headers.get('content-type')).to.include('json');
  });

  it('serves a page with and without .html, and 304 to a browser that has it', async () => {
    const response = await get('/docs/guide/first-hour.html');
    expect(await response.text()).to.equal('<!doctype html>the first hour');
    const again = await get('/docs/guide/first-hour', { 'if-none-match': response.headers.get('etag') ?? '' });
    expect(again.status).to.equal(304);
  });

  it('shows a page with status 404 to browsers at an unknown address, and the error to programs', async () => {
    const response = await get('/docs/guide/none', { accept: 'text/html,*/*' });
    expect([response.status, await response.text()]).to.deep.equal([404, '<!doctype html>not found']);
    const { headers } = response;
    expect(
      (await get('/docs/none', { accept: 'text/html', 'if-none-match': headers.get('etag') ?? '' })).status,
    ).to.equal(404);
    const plain = await get('/docs/guide/none');
    expect([plain.status, plain.headers.get('content-type')]).to.deep.equal([404, 'application/json']);
  });

  it('serves only files of the build', async () => {
    for (const path of ['/docs/secret', '/docs/assets/secret', '/docs/assets/%2e%2e%2fsecret', '/docsearch']) {
      expect((await face.call('GET', path, { as: null })).status, path).to.equal(404);
    }
    expect((await face.call('POST', '/docs', { as: null })).status).to.equal(405);
  });
});
