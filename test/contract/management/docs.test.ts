/** `/docs`: the built pages of the API, which are public, served from any build. */
import { expect } from 'chai';
import { createDocsHandler } from '../../../src/edge/openapi/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManagementHarness } from '../../support/management-endpoint.js';

const FILES: Readonly<Record<string, string>> = {
  'manifest.json': '{"files":{"index.html":[],"assets/start-1234.js":[]}}',
  'index.html': '<!doctype html>',
  'assets/start-1234.js': 'start()',
  secret: 'none of theirs',
};

describe('GET /docs', () => {
  let face: ManagementHarness;

  before(async () => {
    const readFile = async (path: string) => {
      const text = FILES[path];
      return text === undefined ? undefined : Buffer.from(text);
    };
    const docs = createDocsHandler({ log: new MemoryLog(), isDraining: () => false, readFile });
    face = await new ManagementHarness({ mount: [docs] }).start();
  });
  after(() => face.stop());

  it('serves the pages without credentials, with a policy that allows only their own scripts', async () => {
    const response = await fetch(`${face.url}/docs`);
    expect(response.status).to.equal(200);
    expect(await response.text()).to.equal('<!doctype html>');
    expect(response.headers.get('content-security-policy')).to.include("default-src 'none'; script-src 'self';");
    const part = await fetch(`${face.url}/docs/assets/start-1234.js`);
    expect(part.headers.get('content-type')).to.include('javascript');
    expect(part.headers.get('cache-control')).to.include('immutable');
  });

  it('serves only files of the build', async () => {
    for (const path of ['/docs/assets/secret', '/docs/assets/%2e%2e%2fsecret', '/docsearch']) {
      expect((await face.call('GET', path, { as: null })).status, path).to.equal(404);
    }
    expect((await face.call('POST', '/docs', { as: null })).status).to.equal(405);
  });
});
