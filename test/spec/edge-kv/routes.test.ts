import { expect } from 'chai';
import { KvEndpointHarness, READ_ONLY_TOKEN } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const STREAM = { accept: 'text/event-stream' };

describe('edge/kv: routes', () => {
  const face = standOfAllTests(() => new KvEndpointHarness().start());

  describe('the path form', () => {
    it('runs a command with GET, POST and PUT', async () => {
      for (const method of ['GET', 'POST', 'PUT']) {
        const set = await face.request(`/set/path-${method}/v`, { method });
        expect([set.status, set.text]).to.deep.equal([200, '{"result":"OK"}']);
        const get = await face.request(`/get/path-${method}`, { method });
        expect([get.status, get.text]).to.deep.equal([200, '{"result":"v"}']);
        expect(get.headers['content-type']).to.equal('application/json');
        expect(get.headers['content-length']).to.equal(String(get.body.length));
      }
    });

    it('runs a command with HEAD and sends its headers without a body', async () => {
      const set = await face.request('/set/head/value', { method: 'HEAD' });
      expect([set.status, set.body.length]).to.deep.equal([200, 0]);
      const get = await face.request('/get/head', { method: 'HEAD' });
      const same = await face.get('/get/head');
      expect(get.body.length).to.equal(0);
      expect(get.headers['content-length']).to.equal(String('{"result":"value"}'.length));
      expect(get.headers['svc-sync-token']).to.equal(same.headers['svc-sync-token']);
      expect((await face.request('/get', { method: 'HEAD' })).status).to.equal(400);
    });

    it('accepts command names in any case, and route words as arguments', async () => {
      expect((await face.get('/SeT/pipeline/v')).text).to.equal('{"result":"OK"}');
      expect((await face.request('/get/pipeline', { method: 'POST' })).text).to.equal('{"result":"v"}');
    });

    it('drops exactly one empty segment at the end, and reads the others as empty arguments', async () => {
      expect((await face.get('/set//empty-key')).text).to.equal('{"result":"OK"}');
      expect((await face.get('/get//')).text).to.equal('{"result":"empty-key"}');
      expect((await face.get('/set/k//')).text).to.equal('{"result":"OK"}');
      expect((await face.get('/get/k/')).text).to.equal('{"result":""}');
    });

    it('keeps // , . and .. as arguments', async () => {
      expect((await face.get('/set/../dots')).text).to.equal('{"result":"OK"}');
      expect((await face.get('/get/..')).text).to.equal('{"result":"dots"}');
      expect((await face.get('/mget/./../%2e%2e')).text).to.equal('{"result":[null,"dots","dots"]}');
      expect((await face.get('//get/k')).text).to.equal(`{"error":"ERR Command is not available: ''"}`);
    });

    it('decodes percent escapes byte by byte, once', async () => {
      await face.get('/set/a%2Fb/%00%ff%25');
      expect((await face.get('/get/a%2Fb', { headers: { 'svc-encoding': 'base64' } })).text).to.equal(
        `{"result":"${Buffer.from([0, 0xff, 0x25]).toString('base64')}"}`,
      );
      expect((await face.get('/echo/a+b')).text).to.equal('{"result":"a+b"}');
    });

    it('refuses a malformed escape, in path and query', async () => {
      for (const path of ['/get/%zz', '/get/%4', '/set/a/b?EX=%q0']) {
        const answer = await face.get(path);
        expect([answer.status, answer.headers['content-type']], path).to.deep.equal([400, 'application/json']);
        expect(JSON.parse(answer.text).error, path).to.match(/^ERR /);
      }
    });

    it('appends query options after the body, and drops _token', async () => {
      const set = await face.post('/set/options?EX=100&_token=standard-token&NX', 'V', { token: null });
      expect(set.text).to.equal('{"result":"OK"}');
      expect(face.gateway.requests.at(-1)?.commands).to.deep.equal([['set', 'options', 'V', 'EX', '100', 'NX']]);
      expect((await face.get('/ttl/options')).text).to.equal('{"result":100}');
      expect((await face.get('/echo?a+b%20c')).text).to.equal('{"result":"a b c"}');
    });

    it('reads the body of POST and PUT as one argument, byte for byte, for any content type', async () => {
      const bytes = Buffer.from([0, 1, 0xff, 0xfe, 0x22, 0x5c, 0x0a]);
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      for (const method of ['POST', 'PUT']) {
        expect((await face.request('/set/bytes', { method, headers, body: bytes })).text).to.equal('{"result":"OK"}');
        const { body } = await face.get('/get/bytes', { headers: { 'svc-response-format': 'resp2' } });
        expect(body).to.deep.equal(Buffer.concat([Buffer.from('$7\r\n'), bytes, Buffer.from('\r\n')]));
      }
      await face.post('/set/form', 'a=b+c&d=%41', { headers });
      expect((await face.get('/get/form')).text).to.equal('{"result":"a=b+c&d=%41"}');
    });

    it('adds no argument for an empty body, and ignores the body of a GET', async () => {
      expect((await face.post('/echo/x', '')).text).to.equal('{"result":"x"}');
      expect((await face.request('/echo/x', { method: 'GET', body: 'ignored' })).text).to.equal('{"result":"x"}');
    });
  });

  describe('/', () => {
    it('runs the JSON array of its body, by POST and PUT', async () => {
      expect((await face.post('/', ['SET', 'whole', 1.5])).text).to.equal('{"result":"OK"}');
      expect((await face.post('/', ['get', 'whole'], { method: 'PUT' })).text).to.equal('{"result":"1.5"}');
      expect((await face.post('/?ignored=1', ['get', 'whole'])).text).to.equal('{"result":"1.5"}');
    });

    it('refuses bodies that are no command', async () => {
      const cases: readonly [string, string][] = [
        ['', 'EOF'],
        ['[]', 'ERR empty command'],
        ['{"a":1}', 'expected JSON array'],
        ['["GET","a"] x', 'ERR failed to parse request body'],
        ['not json', 'ERR failed to parse request body'],
        ['[["GET","a"]]', 'ERR unsupported arg type: "[": json.Delim'],
        ['["GET",{}]', 'ERR unsupported arg type: "{": json.Delim'],
        ['["GET",null]', 'ERR null args are not supported'],
      ];
      for (const [body, error] of cases) {
        const answer = await face.post('/', body);
        expect([answer.status, JSON.parse(answer.text)], body).to.deep.equal([400, { error }]);
      }
    });

    it('is refused without a body', async () => {
      const answer = await face.get('/');
      expect([answer.status, answer.text]).to.deep.equal([400, '{"error":"ERR empty command"}']);
    });
  });

  describe('/pipeline', () => {
    it('runs commands in order and answers one item each, with status 200 also for errors', async () => {
      const commands = [['SET', 'p', 'x'], ['INCR', 'p'], ['GET'], ['NOPE', 1], [], ['GET', 'p'], ['GET', null]];
      const answer = await face.post('/pipeline', commands);
      expect(answer.status).to.equal(200);
      expect(JSON.parse(answer.text)).to.deep.equal([
        { result: 'OK' },
        { error: 'ERR value is not an int or out of range' },
        { error: "ERR wrong number of arguments for 'get' command" },
        { error: "ERR Command is not available: 'NOPE'" },
        { error: 'ERR empty command' },
        { result: 'x' },
        { error: 'ERR null args are not supported' },
      ]);
    });

    it('answers an empty array to an empty array', async () => {
      const answer = await face.post('/pipeline', []);
      expect([answer.status, answer.text]).to.deep.equal([200, '[]']);
    });

    it('refuses a body that is not an array of arrays', async () => {
      for (const body of ['["GET","a"]', '{}', '[["GET","a"],"x"]']) {
        const answer = await face.post('/pipeline', body);
        expect([answer.status, answer.text], body).to.deep.equal([400, '{"error":"expected JSON array"}']);
      }
      expect((await face.post('/pipeline', '')).text).to.equal('{"error":"EOF"}');
    });

    it('accepts more than a thousand commands', async () => {
      const commands = Array.from({ length: 2500 }, (_, i) => ['SET', `many-${i}`, i]);
      const answer = await face.post('/pipeline', commands);
      expect(JSON.parse(answer.text)).to.have.length(2500);
      expect((await face.get('/get/many-2499')).text).to.equal('{"result":"2499"}');
    });
  });

  describe('/multi-exec', () => {
    it('runs commands as one transaction, and continues after a command that fails', async () => {
      const answer = await face.post('/multi-exec', [
        ['SET', 'm', 'x'],
        ['INCR', 'm'],
        ['GET', 'm'],
      ]);
      expect(answer.status).to.equal(200);
      expect(JSON.parse(answer.text)).to.deep.equal([
        { result: 'OK' },
        { error: 'ERR value is not an int or out of range' },
        { result: 'x' },
      ]);
      expect(face.gateway.requests.at(-1)?.mode).to.equal('transaction');
    });

    it('is discarded as a whole, with the first error, when a command cannot be queued', async () => {
      const cases: readonly [unknown[], string][] = [
        [[['SET', 'd', '1'], ['NOPE']], "ERR Command is not available: 'NOPE'"],
        [[['SET', 'd', '1'], ['GET'], ['NOPE']], "ERR wrong number of arguments for 'get' command"],
        [[['SET', 'd', '1'], []], 'ERR empty command'],
        [[['SET', 'd', null]], 'ERR null args are not supported'],
        [[['SET', 'd', '1'], ['MULTI']], 'ERR Command "MULTI" is not allowed in REST or it has a special context path'],
      ];
      for (const [commands, error] of cases) {
        const answer = await face.post('/multi-exec', commands);
        expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([400, { error }]);
      }
      expect((await face.post('/multi-exec', '[["SET","d","1"]')).status).to.equal(400);
      expect((await face.get('/exists/d')).text).to.equal('{"result":0}');
    });
  });

  describe('event streams', () => {
    it('name their context when requested without an Accept header for one', async () => {
      const answer = await face.get('/Subscribe/ch');
      expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([
        400,
        { error: 'ERR Command "SUBSCRIBE" is not allowed in REST or it has a special context path' },
      ]);
    });

    it('require a token, and refuse the read-only one', async () => {
      expect((await face.post('/monitor', '[]', { headers: STREAM, token: null })).status).to.equal(401);
      const answer = await face.post('/monitor', '[]', { headers: STREAM, token: READ_ONLY_TOKEN });
      expect([answer.status, answer.text]).to.deep.equal([
        400,
        `{"error":"NOPERM this user has no permissions to run the 'monitor' command or its subcommand"}`,
      ]);
    });
  });

  describe('methods', () => {
    it('other than the four are refused before the token is checked', async () => {
      for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        const answer = await face.request('/get/a', { method, token: null });
        expect([answer.status, answer.headers.allow], method).to.deep.equal([405, 'HEAD, GET, POST, PUT']);
        expect(JSON.parse(answer.text), method).to.have.property('error');
      }
    });

    it('do not include CONNECT', async () => {
      expect(await face.raw('CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n')).to.match(/^HTTP\/1\.1 405 /);
    });
  });
});
