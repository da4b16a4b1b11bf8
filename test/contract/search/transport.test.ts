/** The data plane of search indexes over HTTP: access, spelling of names, form of answers. Proves SC1. */
import { expect } from 'chai';
import { WRITTEN_DOCUMENTS } from '../../../src/edge/search/endpoint-limits.js';
import { ByteBudget, MillraceError } from '../../../src/kernel/index.js';
import { SEARCH_READ_TOKEN, SearchEndpointHarness } from '../../support/search-endpoint.js';

describe('search data plane: transport', () => {
  let face: SearchEndpointHarness;
  beforeEach(async () => {
    face = await new SearchEndpointHarness().start();
  });
  afterEach(() => face.stop());

  it('answers 401 to a missing or wrong token and to an unknown index', async () => {
    const other = '7b8cf45b-0000-8000-8000-000000000000';
    const cases = [
      { token: null },
      { token: 'wrong' },
      { id: other },
      { id: 'films' },
      { headers: { authorization: 'Basic eDp5' }, token: null },
    ];
    for (const options of cases) {
      const answer = await face.call('info', [], options);
      expect([answer.status, answer.body]).to.deep.equal([
        401,
        { error: 'Unauthorized: Invalid auth token', status: 401 },
      ]);
      expect(answer.headers['content-type']).to.equal('application/json');
    }
  });

  it('accepts the scheme of the token in any case', async () => {
    const answer = await face.call('info', [], { token: null, headers: { authorization: 'bEARER full-token' } });
    expect(answer.status).to.equal(200);
  });

  it('answers 404 to an unknown command, and 405 with the methods to a wrong one', async () => {
    expect((await face.call('query/films', {})).body).to.deep.equal({ error: 'no such command', status: 404 });
    const allowed: [string, string, string][] = [
      ['GET', 'upsert-data/films', 'POST'],
      ['PUT', 'search/films', 'POST'],
      ['DELETE', 'fetch/films', 'POST, GET'],
      ['DELETE', 'range/films', 'POST, GET'],
      ['HEAD', 'info', 'POST, GET'],
      ['GET', 'delete/films', 'POST, DELETE'],
      ['GET', 'reset/films', 'POST, DELETE'],
      ['PATCH', 'delete-namespace/films', 'POST, DELETE'],
      ['DELETE', 'list-namespaces', 'POST, GET'],
      ['OPTIONS', 'rename-namespace', 'POST'],
    ];
    for (const [method, command, allow] of allowed) {
      const answer = await face.call(command, undefined, { method });
      expect([answer.status, answer.headers.allow], `${method} ${command}`).to.deep.equal([405, allow]);
    }
  });

  it('has the length of every answer, also of one that is made in parts (SC1)', async () => {
    await face.fill('films', 2 * WRITTEN_DOCUMENTS + 50);
    face.limits = { ...face.limits, maxReadsPerRequest: 1000 };
    const answers = {
      range: await face.call('range/films', { cursor: '0', limit: 1000, includeData: true }),
      written: await face.call('upsert-data/films', { id: 'é', content: { title: 'žluťoučký' } }),
      fetched: await face.call('fetch/films', { ids: ['é'], includeData: true }),
      unknown: await face.call('query/films', {}),
      unauthorized: await face.call('info', [], { token: null }),
      method: await face.call('info', undefined, { method: 'PATCH' }),
      preflight: await face.call('info', undefined, {
        method: 'OPTIONS',
        headers: { origin: 'https://x.example', 'access-control-request-method': 'POST' },
      }),
    };
    for (const [what, { headers, text }] of Object.entries(answers)) {
      expect(headers['content-length'], what).to.equal(String(Buffer.byteLength(text)));
      expect(headers, what).not.to.have.property('transfer-encoding');
    }
    expect(answers.range.body.result.vectors).to.have.length(2 * WRITTEN_DOCUMENTS + 50);
  });

  it('leaves other paths to other handlers', async () => {
    const others = ['v2/search', 'search', 'searching/x'];
    for (const path of others) {
      const answer = await fetch(new URL(`/${path}`, face.url), { method: 'POST' });
      expect(answer.status, path).to.equal(418);
    }
  });

  it('takes the rest of the path after the command as the name', async () => {
    for (const name of ['a', 'a%20b', 'a!', 'a/b', 'a%2Fb', 'a//b/', '%C3%A9', 'a?x=1', '%25'])
      await face.fill(name, 1);
    expect(await face.result('list-namespaces')).to.deep.equal(['a', 'a b', 'a!', 'a/b', 'a//b/', 'é', '%']);
  });

  it('refuses invalid names', async () => {
    const wrong: [string, string][] = [
      ['upsert-data', 'index name is missing: it follows the command in the path'],
      ['search/', 'index name is missing: it follows the command in the path'],
      ['range/%', 'index name: malformed percent-encoding'],
      ['range/%FF', 'index name: malformed percent-encoding'],
      ['range/a%00b', 'index name must not have control characters'],
      [`range/${'x'.repeat(257)}`, 'index name has more than 256 characters'],
    ];
    for (const [command, text] of wrong) {
      const answer = await face.call(command, {});
      expect([answer.status, answer.body], command).to.deep.equal([400, { error: text, status: 400 }]);
    }
    expect((await face.call(`range/${'x'.repeat(256)}`, {})).status).to.equal(200);
  });

  it('ignores a name after a command that needs none, and reads the body of a GET', async () => {
    for (const command of ['info/films', 'info/', 'list-namespaces/a//b/%', 'list-namespaces?x=1'])
      expect((await face.call(command, [])).status, command).to.equal(command.includes('%') ? 400 : 200);
    await face.fill('films', 1);
    const { body } = await face.call('fetch/films', { ids: ['d0', 'd1'] }, { method: 'GET' });
    expect(body.result).to.have.length(2);
  });

  it('accepts any body when none is needed', async () => {
    for (const body of [undefined, '', '[]', '{}', 'null', 'nonsense'])
      for (const command of ['info', 'list-namespaces', 'reset/films', 'reset?all'])
        expect((await face.call(command, body)).status, `${command} ${body}`).to.equal(200);
  });

  it('answers 413 to a body above the limit of its command', async () => {
    const answer = await face.call('fetch/films', ' '.repeat(2 * 1024 * 1024 + 1));
    expect([answer.status, answer.body.error]).to.deep.equal([413, 'body is too large, current limit: 2097152 bytes']);
  });

  it('answers 503 to bodies above the memory budget', async () => {
    await face.stop();
    face = await new SearchEndpointHarness({ budget: new ByteBudget(40_000) }).start();
    const answer = await face.call('fetch/films', ' '.repeat(20_001));
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
  });

  describe('in browsers', () => {
    const origin = 'https://shop.example';

    it('answers a preflight for any origin, with the requested headers', async () => {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,some-telemetry-sdk',
      };
      const answer = await face.call('search/films', undefined, { method: 'OPTIONS', headers, token: null });
      expect(answer.status).to.equal(200);
      expect(answer.text).to.equal('');
      expect(answer.headers['access-control-allow-origin']).to.equal('*');
      expect(answer.headers['access-control-allow-methods']).to.equal('GET, POST, DELETE');
      expect(answer.headers['access-control-allow-headers']).to.equal(headers['access-control-request-headers']);
    });

    it('allows pages to read answers and refusals', async () => {
      const headers = { origin };
      const answer = await face.call('info', [], { token: SEARCH_READ_TOKEN, headers });
      expect(answer.headers['access-control-allow-origin']).to.equal('*');
      const refusal = await face.call('info', [], { token: 'wrong', headers });
      expect(refusal.headers['access-control-allow-origin']).to.equal('*');
      expect((await face.call('info', [])).headers).to.not.have.property('access-control-allow-origin');
    });

    it('names its usual headers when the requested ones are invalid', async () => {
      const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'a;b' };
      const answer = await face.call('info', undefined, { method: 'OPTIONS', headers, token: null });
      expect(answer.headers['access-control-allow-headers']).to.equal('Authorization, Content-Type');
    });
  });

  it('answers failures with a status, and a text that says whether a change was made', async () => {
    face.isControlStale = true;
    const stale = await face.call('info', []);
    expect([stale.status, stale.body.error]).to.deep.equal([
      503,
      'permissions cannot be checked right now, nothing was done',
    ]);
    face.isControlStale = false;
    const failures: [unknown, number, string][] = [
      [
        new MillraceError('SHARD_UNAVAILABLE', 'x'),
        503,
        'the search index is not available right now, nothing was done',
      ],
      [new MillraceError('STORAGE_FULL', 'x'), 503, 'storage is full, only reads and deletes are served'],
      [
        new MillraceError('OUTCOME_UNKNOWN', 'x'),
        503,
        'the call may or may not have been carried out, outcome=unknown',
      ],
    ];
    for (const [failure, status, text] of failures) {
      face.gateway.failures.push(failure);
      const answer = await face.call('upsert-data/films', { id: 'a', content: {} });
      expect([answer.status, answer.body]).to.deep.equal([status, { error: text, status }]);
    }
  });

  it('answers an internal error with the incident number of the log, and no details', async () => {
    face.gateway.failures.push(new Error('secret of the house'));
    const answer = await face.call('reset/films', []);
    expect(answer.status).to.equal(500);
    expect(answer.body.error).to.match(/^internal error, incident=/);
    const line = face.log.lines.find(({ event }) => event === 'search.request.failed');
    const { incident } = (line?.fields ?? {}) as { incident?: string };
    expect(answer.body.error).to.equal(`internal error, incident=${incident}`);
  });

  it('closes connections while the server stops', async () => {
    face.isDraining = true;
    expect((await face.call('info', [])).headers.connection).to.equal('close');
  });
});
