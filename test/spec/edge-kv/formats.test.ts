/** Proves RJ1–RJ3, EX2. */
import { expect } from 'chai';
import { type Answer, KvEndpointHarness } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const BASE64 = { 'Svc-Encoding': 'base64' };
const RESP2 = { 'Svc-Response-Format': 'resp2' };

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('edge/kv: response formats', () => {
  const face = standOfAllTests(() => new KvEndpointHarness().start());
  before(async () => {
    await face.post('/pipeline', [
      ['SET', 's', 'bar'],
      ['SET', 'ok', 'OK'],
      ['SET', 'big', '9223372036854775806'],
      ['SET', 'text', 'é€😀 "\\'],
    ]);
    await face.post('/set/bytes', Buffer.from([0x61, 0xff, 0xfe, 0xe2, 0x82]));
  });

  function result(answer: Answer): unknown {
    return JSON.parse(answer.text).result;
  }

  describe('JSON', () => {
    it('writes nil, integers, strings, statuses and arrays', async () => {
      expect((await face.get('/get/missing')).text).to.equal('{"result":null}');
      expect((await face.get('/strlen/s')).text).to.equal('{"result":3}');
      expect((await face.get('/get/s')).text).to.equal('{"result":"bar"}');
      expect((await face.get('/ping')).text).to.equal('{"result":"PONG"}');
      expect((await face.get('/type/s')).text).to.equal('{"result":"string"}');
      expect((await face.get('/mget/s/missing')).text).to.equal('{"result":["bar",null]}');
      expect((await face.get('/keys/nothing*')).text).to.equal('{"result":[]}');
    });

    it('writes integers above 2^53 with all their digits', async () => {
      expect((await face.get('/incr/big')).text).to.equal('{"result":9223372036854775807}');
    });

    it('writes floats as strings', async () => {
      expect((await face.get('/incrbyfloat/float/1.5')).text).to.equal('{"result":"1.5"}');
    });

    it('writes text unchanged, and each invalid byte as one U+FFFD', async () => {
      expect(result(await face.get('/get/text'))).to.equal('é€😀 "\\');
      expect(result(await face.get('/get/bytes'))).to.equal('a\ufffd\ufffd\ufffd\ufffd');
    });

    it('nests arrays', async () => {
      const [cursor, keys] = result(await face.get('/scan/0/match/s')) as [string, string[]];
      expect([typeof cursor, keys]).to.deep.equal(['string', ['s']]);
    });

    it('ignores unknown encodings', async () => {
      expect((await face.get('/get/s', { headers: { 'Svc-Encoding': 'BASE64' } })).text).to.equal('{"result":"bar"}');
      const json = await face.get('/get/s', { headers: { 'Svc-Response-Format': 'json' } });
      expect(json.text).to.equal('{"result":"bar"}');
    });
  });

  describe('base64', () => {
    it('encodes bulk strings and statuses other than OK', async () => {
      const get = (path: string) => face.get(path, { headers: BASE64 });
      expect((await get('/get/s')).text).to.equal(`{"result":"${base64('bar')}"}`);
      expect((await get('/ping')).text).to.equal(`{"result":"${base64('PONG')}"}`);
      expect((await get('/type/s')).text).to.equal(`{"result":"${base64('string')}"}`);
      expect((await get('/get/ok')).text).to.equal('{"result":"T0s="}');
      expect((await get('/set/x/')).status).to.equal(400);
      expect((await get('/set/x/1')).text).to.equal('{"result":"OK"}');
      expect((await get('/strlen/s')).text).to.equal('{"result":3}');
      expect((await get('/get/missing')).text).to.equal('{"result":null}');
      expect((await get('/mget/ok/missing')).text).to.equal('{"result":["T0s=",null]}');
      expect(result(await get('/get/bytes'))).to.equal('Yf/+4oI=');
    });

    it('keeps errors plain, also as items', async () => {
      const answer = await face.post('/pipeline', [['GET'], ['SET', 'x', '1'], ['GET', 'x']], { headers: BASE64 });
      expect(JSON.parse(answer.text)).to.deep.equal([
        { error: "ERR wrong number of arguments for 'get' command" },
        { result: 'OK' },
        { result: 'MQ==' },
      ]);
      expect((await face.get('/get', { headers: BASE64 })).text).to.equal(
        `{"error":"ERR wrong number of arguments for 'get' command"}`,
      );
    });

    it('applies to transactions', async () => {
      const answer = await face.post(
        '/multi-exec',
        [
          ['SET', 'x', 'y'],
          ['GET', 'x'],
        ],
        { headers: BASE64 },
      );
      expect(answer.text).to.equal('[{"result":"OK"},{"result":"eQ=="}]');
    });
  });

  describe('RESP2', () => {
    it('is the same as on a TCP connection', async () => {
      const cases: readonly [string, string][] = [
        ['/set/r/bar', '+OK\r\n'],
        ['/get/r', '$3\r\nbar\r\n'],
        ['/get/missing', '$-1\r\n'],
        ['/strlen/r', ':3\r\n'],
        ['/mget/r/missing', '*2\r\n$3\r\nbar\r\n$-1\r\n'],
      ];
      for (const [path, resp] of cases) {
        const answer = await face.get(path, { headers: RESP2 });
        expect([answer.status, answer.text], path).to.deep.equal([200, resp]);
        expect(answer.headers['content-type']).to.equal('application/octet-stream');
        expect(answer.headers).to.have.property('svc-sync-token');
      }
    });

    it('carries any bytes', async () => {
      const { body } = await face.get('/get/bytes', { headers: RESP2 });
      expect(body).to.deep.equal(Buffer.from('$5\r\na\xff\xfe\xe2\x82\r\n', 'latin1'));
    });

    it('answers an error of a command with 400', async () => {
      const answer = await face.get('/get', { headers: RESP2 });
      expect([answer.status, answer.text]).to.deep.equal([400, "-ERR wrong number of arguments for 'get' command\r\n"]);
      expect(answer.headers['content-type']).to.equal('application/octet-stream');
    });

    it('joins the replies of a pipeline', async () => {
      const answer = await face.post('/pipeline', [['SET', 'r', '1'], ['NOPE'], ['GET', 'r']], { headers: RESP2 });
      expect(answer.status).to.equal(200);
      expect(answer.text).to.equal("+OK\r\n-ERR Command is not available: 'NOPE'\r\n$1\r\n1\r\n");
    });

    it('does not apply to transactions', async () => {
      const answer = await face.post('/multi-exec', [['GET', 's']], { headers: RESP2 });
      expect([answer.status, answer.text]).to.deep.equal([200, '[{"result":"bar"}]']);
      expect(answer.headers['content-type']).to.equal('application/json');
    });

    it('keeps errors from before a command runs in JSON', async () => {
      const unauthorized = await face.get('/get/s', { headers: RESP2, token: 'wrong' });
      expect([unauthorized.status, unauthorized.headers['content-type']]).to.deep.equal([401, 'application/json']);
      const broken = await face.post('/', '[', { headers: RESP2 });
      expect([broken.status, broken.text]).to.deep.equal([400, '{"error":"ERR failed to parse request body"}']);
    });
  });

  it('refuses other formats, on every route', async () => {
    for (const path of ['/get/s', '/pipeline', '/multi-exec', '/']) {
      const answer = await face.post(path, '[]', { headers: { 'Svc-Response-Format': 'resp3' } });
      expect([answer.status, answer.text], path).to.deep.equal([
        400,
        '{"error":"ERR invalid Svc-Response-Format: resp3"}',
      ]);
    }
  });

  it('refuses RESP2 together with base64, on every route', async () => {
    for (const path of ['/get/s', '/pipeline', '/multi-exec', '/']) {
      const answer = await face.post(path, '[]', { headers: { ...RESP2, ...BASE64 } });
      expect(answer.status, path).to.equal(400);
      expect(JSON.parse(answer.text).error, path).to.match(/^ERR Svc-Encoding/);
    }
  });
});
