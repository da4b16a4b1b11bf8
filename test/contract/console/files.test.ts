/** The console's pages as files. Proves CSF1, CSF2. */
import { expect } from 'chai';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { ConsoleStand } from './console-stand.js';

describe('GET /console: files', () => {
  const stand = standOfAllTests(() => new ConsoleStand().start());

  before(async () => {
    const files = { 'index.html': ['br', 'gzip'], 'assets/main-AB12.js': ['br'], 'assets/small-CD34.svg': [] };
    stand.files.set('manifest.json', Buffer.from(JSON.stringify({ files })));
    stand.files.set('index.html', Buffer.from('<title>page</title>'));
    stand.files.set('index.html.br', Buffer.from('brotli'));
    stand.files.set('index.html.gz', Buffer.from('gzip'));
    stand.files.set('assets/main-AB12.js', Buffer.from('js'));
    stand.files.set('assets/main-AB12.js.br', Buffer.from('js in brotli'));
    stand.files.set('assets/small-CD34.svg', Buffer.from('<svg/>'));
    stand.files.set('secret.txt', Buffer.from('not listed'));
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(stand.url + path, { method, headers: { 'accept-encoding': 'identity', ...headers } });

  it('answers with the page for every path of the console', async () => {
    for (const path of ['/console', '/console/', '/console/databases/abc?tab=connect']) {
      const answer = await get(path);
      expect([answer.status, await answer.text()], path).to.deep.equal([200, '<title>page</title>']);
      expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    }
  });

  it('sets a policy that allows only content of this server, and no frames', async () => {
    const policy = (await get('/console')).headers.get('content-security-policy') as string;
    expect(policy)
      .to.include("default-src 'none'")
      .and.include("frame-ancestors 'none'")
      .and.include("base-uri 'none'");
    expect(policy).not.to.match(/unsafe|https?:|\*/);
  });

  it('revalidates the page each time, and answers 304 when it has not changed (CSF2)', async () => {
    const first = await get('/console');
    expect(first.headers.get('cache-control')).to.equal('no-cache');
    const again = await get('/console', { 'if-none-match': first.headers.get('etag') as string });
    expect([again.status, await again.text()]).to.deep.equal([304, '']);
  });

  it('caches files with a hash in their name for a year (CSF2)', async () => {
    const answer = await get('/console/assets/small-CD34.svg');
    expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect([answer.headers.get('content-type'), await answer.text()]).to.deep.equal(['image/svg+xml', '<svg/>']);
  });

  it('compresses with the best encoding the client accepts', async () => {
    const encodingOf = async (accepted: string) =>
      (await get('/console', { 'accept-encoding': accepted }, 'HEAD')).headers.get('content-encoding');
    expect(await encodingOf('gzip, deflate, br')).to.equal('br');
    expect(await encodingOf('gzip')).to.equal('gzip');
    expect(await encodingOf('identity')).to.equal(null);
  });

  it('serves only files that the build has listed (CSF1)', async () => {
    for (const path of [
      '/console/assets/none.js',
      '/console/assets/..%2f..%2fsecret.txt',
      '/console/assets/../secret.txt',
    ]) {
      expect((await get(path)).status, path).to.be.oneOf([404, 200]);
      expect(await (await get(path)).text(), path).not.to.include('not listed');
    }
    expect((await get('/consoles')).status).to.equal(404);
    expect((await get('/console', {}, 'POST')).status).to.equal(405);
  });
});
