import { expect } from 'chai';
import { KvEndpointHarness, READ_ONLY_TOKEN, TOKEN } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNAUTHORIZED = [401, '{"error":"WRONGPASS invalid or missing auth token"}'];

function noPermission(name: string) {
  return { error: `NOPERM this user has no permissions to run the '${name}' command or its subcommand` };
}

describe('edge/kv: access', () => {
  const face = standOfAllTests(() => new KvEndpointHarness().start());
  before(async () => {
    await face.get('/set/a/1');
  });

  describe('tokens', () => {
    it('are taken from the bearer header in any case, or without a scheme', async () => {
      for (const authorization of [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER  ${TOKEN}`, TOKEN]) {
        const answer = await face.get('/get/a', { token: null, headers: { authorization } });
        expect([answer.status, answer.text], authorization).to.deep.equal([200, '{"result":"1"}']);
      }
    });

    it('are taken from _token before the header', async () => {
      expect((await face.get(`/get/a?_token=${TOKEN}`, { token: null })).text).to.equal('{"result":"1"}');
      expect((await face.get(`/get/a?_token=${TOKEN}`, { token: 'wrong' })).status).to.equal(200);
      expect((await face.get('/get/a?_token=wrong')).status).to.equal(401);
      expect((await face.get('/get/a?_token=')).status).to.equal(401);
      const posted = await face.post(`/pipeline?_token=${TOKEN}`, [['GET', 'a']], { token: null });
      expect(posted.text).to.equal('[{"result":"1"}]');
    });

    it('that are missing or wrong are refused with 401 as plain JSON, for any requested format', async () => {
      const headers = [{}, { authorization: '' }, { authorization: 'Bearer' }, { authorization: `Basic ${TOKEN}` }];
      for (const each of headers) {
        const answer = await face.get('/get/a', { token: null, headers: { ...each, 'Svc-Encoding': 'base64' } });
        expect([answer.status, answer.text]).to.deep.equal(UNAUTHORIZED);
        expect(answer.headers).to.not.have.property('svc-sync-token');
      }
      for (const token of [`${TOKEN}x`, TOKEN.slice(1), '__proto__', 'constructor']) {
        const answer = await face.get('/get/a', { token });
        expect([answer.status, answer.text], token).to.deep.equal(UNAUTHORIZED);
      }
    });

    it('are checked before the body and the target', async () => {
      expect((await face.post('/', 'no json', { token: null })).status).to.equal(401);
      expect((await face.get('/get/%zz', { token: null })).status).to.equal(401);
      expect((await face.get('/get/a', { token: null, headers: { 'Svc-Response-Format': 'x' } })).status).to.equal(401);
    });

    it('are answered with 503 and Retry-After while the control state is stale', async () => {
      face.isControlStale = true;
      const answer = await face.get('/get/a');
      face.isControlStale = false;
      expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
      expect(JSON.parse(answer.text).error).to.match(/^ERR /);
    });
  });

  describe('the read-only token', () => {
    const options = { token: READ_ONLY_TOKEN };

    it('allows reads', async () => {
      const allowed = ['/get/a', '/mget/a', '/strlen/a', '/exists/a', '/ttl/a', '/type/a', '/dbsize', '/randomkey'];
      for (const path of [...allowed, '/ping', '/echo/x', '/time', '/touch/a', '/dump/a']) {
        const answer = await face.get(path, options);
        expect(answer.status, `${path} ${answer.text}`).to.equal(200);
      }
    });

    it('refuses writes and scans of the keyspace', async () => {
      const refused = ['set/a/2', 'del/a', 'incr/a', 'getdel/a', 'expire/a/1', 'flushall', 'flushdb', 'rename/a/b'];
      for (const path of [...refused, 'scan/0', 'keys/*', 'getex/a', 'info', 'command', 'copy/a/b', 'persist/a']) {
        const answer = await face.get(`/${path}`, options);
        const [name = ''] = path.split('/');
        expect([answer.status, JSON.parse(answer.text)], path).to.deep.equal([400, noPermission(name)]);
      }
      expect((await face.get('/get/a')).text).to.equal('{"result":"1"}');
    });

    it('gets an error for each refused command of a pipeline', async () => {
      const answer = await face.post(
        '/pipeline',
        [
          ['GET', 'a'],
          ['SET', 'a', '2'],
          ['GET', 'a'],
        ],
        options,
      );
      expect(answer.status).to.equal(200);
      expect(JSON.parse(answer.text)).to.deep.equal([{ result: '1' }, noPermission('set'), { result: '1' }]);
    });

    it('gets its transaction discarded for one refused command', async () => {
      const answer = await face.post(
        '/multi-exec',
        [
          ['GET', 'a'],
          ['SET', 'a', '2'],
        ],
        options,
      );
      expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([400, noPermission('set')]);
    });

    it('gets the errors of unknown commands and wrong arity first', async () => {
      expect((await face.get('/nope', options)).text).to.equal(`{"error":"ERR Command is not available: 'NOPE'"}`);
      expect((await face.get('/set', options)).text).to.include('wrong number of arguments');
    });
  });

  it('the log contains no token, argument or query', async () => {
    face.gateway.failures.push(new Error('boom'));
    await face.get(`/get/canary-key?_token=${TOKEN}`);
    const log = JSON.stringify(face.log.lines);
    expect(log).to.include('kv.request.failed').and.to.include('boom');
    expect(log).to.not.include('canary').and.not.include(TOKEN);
  });
});
