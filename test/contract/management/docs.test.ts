/** `/docs`: the documentation's site, which is public, served from any build. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createDocsHandler } from '../../../src/edge/openapi/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

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

describe('GET /openapi.json', () => {
  const face = standOfAllTests(() => new ManagementHarness().start());
  const get = (headers: Readonly<Record<string, string>>) => fetch(`${face.url}/openapi.json`, { headers });
  const raw = (encoding: string) =>
    new Promise<{ readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }>((resolve, reject) => {
      request(`${face.url}/openapi.json`, { headers: { 'accept-encoding': encoding } }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(pieces) }));
      })
        .on('error', reject)
        .end();
    });

  it('sends the same text each time, compressed for a client that accepts gzip', async () => {
    const plain = await raw('identity');
    const gzip = await raw('br;q=0, gzip');
    expect(plain.headers).to.include({ vary: 'Accept-Encoding' }).and.not.have.property('content-encoding');
    expect(gzip.headers).to.include({ vary: 'Accept-Encoding', 'content-encoding': 'gzip' });
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).to.equal(true);
    expect(gzip.bytes.length).to.be.lessThan(plain.bytes.length / 5);
    expect((await raw('identity')).bytes.equals(plain.bytes)).to.equal(true);
  });

  it('has the words of the spelling that a client uses', async () => {
    const neutral = await (await get({})).text();
    const alias = await (await get({ 'acme-telemetry': 'x' })).text();
    expect(JSON.parse(alias)).to.have.property('openapi', '3.1.0');
    expect(await (await get({})).text()).to.equal(neutral);
  });
});
