import { expect } from 'chai';
import { type Answer, KvEndpointHarness } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const ORIGIN = 'https://page.example';

function syncToken(answer: Answer): string {
  return String(answer.headers['svc-sync-token']);
}

describe('edge/kv: sync token', () => {
  const face = standOfAllTests(() =>
    new KvEndpointHarness({
      aliases: [{ headerWord: 'Acme', queueWord: 'acmeq', kvWord: 'store' }],
    }).start(),
  );

  it('comes with every answer of a single command, a pipeline and a transaction', async () => {
    const answers = [
      await face.get('/get/a'),
      await face.post('/', ['GET', 'a']),
      await face.post('/pipeline', [['GET', 'a']]),
      await face.post('/multi-exec', [['GET', 'a']]),
    ];
    for (const answer of answers) expect(syncToken(answer)).to.match(/^\S+$/).and.not.equal('undefined');
  });

  it('changes with every write and stays the same with reads', async () => {
    const seen = [
      syncToken(await face.get('/set/a/1')),
      syncToken(await face.post('/pipeline', [['SET', 'a', '2']])),
      syncToken(await face.post('/multi-exec', [['SET', 'a', '3']])),
    ];
    const concurrent = await Promise.all([1, 2, 3].map((i) => face.get(`/set/c${i}/1`)));
    seen.push(...concurrent.map(syncToken));
    expect(new Set(seen).size).to.equal(6);
    const read = syncToken(await face.get('/get/a'));
    expect(syncToken(await face.get('/get/a'))).to.equal(read);
  });

  it('is accepted with any value', async () => {
    for (const token of ['', 'my-new-sync-token', '9999999-0', '\xff']) {
      expect((await face.get('/get/a', { headers: { 'Svc-Sync-Token': token } })).status, token).to.equal(200);
    }
  });

  it('has the alias spelling, and only that, in answers to a request with any alias header', async () => {
    for (const headers of [{ 'acme-sync-token': '' }, { 'Acme-Encoding': 'base64' }, { 'acme-telemetry-sdk': 'x' }]) {
      const answer = await face.get('/get/a', { headers });
      expect(answer.headers).to.have.property('acme-sync-token');
      expect(answer.headers).to.not.have.property('svc-sync-token');
    }
    const neutral = await face.get('/get/a', { headers: { 'Svc-Encoding': 'base64' } });
    expect(neutral.headers).to.have.property('svc-sync-token').and.not.equal('');
    expect(neutral.headers).to.not.have.property('acme-sync-token');
  });

  it('has the options encoding and response format in the alias spelling too', async () => {
    await face.get('/set/a/x');
    expect((await face.get('/get/a', { headers: { 'Acme-Encoding': 'base64' } })).text).to.equal('{"result":"eA=="}');
    const resp = await face.get('/get/a', { headers: { 'Acme-Response-Format': 'resp2' } });
    expect(resp.text).to.equal('$1\r\nx\r\n');
    const wrong = await face.get('/get/a', { headers: { 'Acme-Response-Format': 'xml' } });
    expect(wrong.text).to.equal('{"error":"ERR invalid Acme-Response-Format: xml"}');
    const both = await face.get('/get/a', { headers: { 'Acme-Encoding': 'base64', 'Svc-Encoding': 'none' } });
    expect(both.text).to.equal('{"result":"x"}');
  });

  describe('CORS', () => {
    it('answers a preflight without a token, with the origin, methods and headers of both spellings', async () => {
      const answer = await face.request('/get/a', {
        method: 'OPTIONS',
        token: null,
        headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
      });
      expect([answer.status, answer.body.length]).to.deep.equal([200, 0]);
      expect(answer.headers['access-control-allow-origin']).to.equal(ORIGIN);
      expect(answer.headers['access-control-allow-methods']).to.equal('HEAD, GET, POST, PUT');
      expect(answer.headers.vary).to.equal('Origin');
      const allowed = String(answer.headers['access-control-allow-headers']).toLowerCase().split(', ');
      const wanted = ['authorization', 'content-type', 'svc-encoding', 'svc-response-format', 'svc-sync-token'];
      expect(allowed).to.include.members([...wanted, 'svc-telemetry-runtime', 'acme-encoding', 'acme-sync-token']);
    });

    it('refuses OPTIONS that is no preflight with 405', async () => {
      expect((await face.request('/', { method: 'OPTIONS', headers: { origin: ORIGIN } })).status).to.equal(405);
    });

    it('names the origin in every answer and exposes the sync token', async () => {
      const headers = { origin: ORIGIN };
      const answers = [
        await face.get('/get/a', { headers }),
        await face.get('/get/a', { headers, token: null }),
        await face.get('/nope', { headers }),
        await face.request('/get/a', { headers, method: 'DELETE' }),
        await face.get('/monitor', { headers }),
      ];
      for (const answer of answers) {
        expect(answer.headers['access-control-allow-origin'], answer.text).to.equal(ORIGIN);
        expect(answer.headers['access-control-expose-headers']).to.include('Svc-Sync-Token, Acme-Sync-Token');
      }
    });

    it('adds no header without an origin', async () => {
      expect((await face.get('/get/a')).headers).to.not.have.property('access-control-allow-origin');
    });
  });
});
