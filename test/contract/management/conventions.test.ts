/** Rules for every call of the management API: bodies, methods, errors, limits and aliased paths. Proves KOA1, KOA2. */
import { request } from 'node:http';
import { expect } from 'chai';
import { basic, MANAGEMENT_ALIAS, ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

describe('management API: conventions', () => {
  const face = standOfAllTests(() => new ManagementHarness().start());

  const errorOf = ({ json }: { json: unknown }) => (json as { error: string }).error;

  it('any body is accepted when none is needed', async () => {
    const id = await face.newDatabase();
    for (const body of [undefined, '', '{}', '[]', 'null', '{"unknown": 1}']) {
      const { status, text } = await face.call('POST', `/v2/kv/enable-eviction/${id}`, { body });
      expect([status, text]).to.deep.equal([200, '"OK"']);
    }
  });

  it('a request target that is not a path gets 404', async () => {
    for (const target of ['http://[', 'http://example.com/v2/kv/databases', '*']) {
      const { hostname, port } = new URL(face.url);
      const headers = { authorization: basic(face.owner.email, face.owner.key) };
      const status = await new Promise((resolve, reject) => {
        request({ hostname, port, path: target, headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end();
      });
      expect([target, status]).to.deep.equal([target, 404]);
    }
  });

  it('a missing body counts as an empty one', async () => {
    for (const body of [undefined, '{}', '[]', 'null']) {
      const answer = await face.call('POST', '/v2/search', { body });
      expect(answer.status).to.equal(400);
      expect(errorOf(answer)).to.equal('name: is required');
    }
  });

  it('a body that is not JSON gets 400', async () => {
    const answer = await face.call('POST', '/v2/search', { body: '{"name":' });
    expect([answer.status, errorOf(answer)]).to.deep.equal([400, 'the body is not valid JSON']);
  });

  it('a body is accepted with any content type', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = JSON.stringify({ name: 'forms', region: 'eu-west-1', type: 'payg' });
    expect((await face.call('POST', '/v2/search', { body, headers })).status).to.equal(200);
  });

  it('unknown fields are ignored, also names of Object.prototype', async () => {
    const body = '{"name":"odd","region":"eu-west-1","type":"payg","__proto__":{"x":1},"constructor":1,"extra":[1]}';
    expect((await face.call('POST', '/v2/search', { body })).status).to.equal(200);
  });

  it('null counts as an absent field', async () => {
    const body = {
      database_name: 'nulls',
      primary_region: 'us-east-1',
      platform: null,
      plan: null,
      read_regions: null,
    };
    expect((await face.call('POST', '/v2/kv/database', { body })).status).to.equal(200);
  });

  it('HEAD answers as GET, without a body', async () => {
    const { status, text, headers } = await face.call('HEAD', '/v2/kv/databases');
    expect([status, text]).to.deep.equal([200, '']);
    expect(headers.get('content-type')).to.include('application/json');
  });

  it('an unknown path gets 404 with a JSON error', async () => {
    for (const path of ['/', '/v2', '/v2/nothing', '/v3/search', '/v2/KV/databases', '/v2/kv/%zz/change-plan']) {
      const answer = await face.call('GET', path);
      expect([404, 405], path).to.include(answer.status);
      expect(errorOf(answer), path).to.be.a('string');
    }
  });

  it('fixed parts of a path take precedence over ids', async () => {
    expect((await face.call('DELETE', '/v2/search/stats')).status).to.equal(405);
    expect((await face.call('GET', '/v2/teams/member')).status).to.equal(405);
    expect((await face.call('GET', '/v2/search/stats')).status).to.equal(200);
    expect((await face.call('DELETE', '/v2/search/stats')).headers.get('allow')).to.equal('HEAD, GET');
  });

  it('an Accept header without JSON gets 406', async () => {
    const refused = await face.call('GET', '/v2/search', { headers: { accept: 'text/html' } });
    expect(refused.status).to.equal(406);
    expect(errorOf(refused)).to.include('application/json');
    for (const accept of ['*/*', 'application/*', 'application/json', 'text/html, application/json;q=0.1']) {
      expect((await face.call('GET', '/v2/search', { headers: { accept } })).status).to.equal(200);
    }
  });

  it('a body above 64 KiB gets 413', async () => {
    const answer = await face.call('POST', '/v2/search', { body: { name: 'x'.repeat(64 * 1024) } });
    expect([answer.status, errorOf(answer)]).to.deep.equal([413, 'body is too large, current limit: 65536 bytes']);
  });

  it('credentials are split at the first colon, and e-mail addresses are case-insensitive', async () => {
    const { email, key } = face.owner;
    const status = async (authorization: string) =>
      (await face.call('GET', '/v2/teams', { as: null, headers: { authorization } })).status;
    expect(await status(basic(email.toUpperCase(), key))).to.equal(200);
    expect(await status(basic(email, key).replace('Basic', 'bAsIc'))).to.equal(200);
    const encoded = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    for (const wrong of [
      basic(email, `${key}x`),
      basic('other@example.com', key),
      basic(email, ''),
      basic('', key),
      encoded(email + key),
      `Bearer ${key}`,
      'Basic',
      'Basic ???',
      encoded(`${email}:${'x'.repeat(4096)}`),
    ]) {
      expect(await status(wrong), wrong).to.equal(401);
    }
  });

  it('a wrong key gets 401 with a challenge, and appears in no answer or log', async () => {
    const { headers, text } = await face.call('GET', '/v2/teams', {
      as: { email: 'e@example.com', key: 'very-secret' },
    });
    expect(headers.get('www-authenticate')).to.match(/^Basic /);
    expect(text).to.not.include('very-secret');
    expect(JSON.stringify(face.log.lines)).to.not.include('very-secret');
  });

  it('a change from a page of another site gets 403', async () => {
    const id = await face.newDatabase();
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site };
      expect((await face.call('DELETE', `/v2/kv/database/${id}`, { headers })).status).to.equal(403);
      expect((await face.call('GET', `/v2/kv/database/${id}`, { headers })).status).to.equal(200);
    }
    for (const site of ['same-origin', 'none']) {
      const headers = { 'sec-fetch-site': site };
      expect((await face.call('POST', `/v2/kv/enable-tls/${id}`, { headers })).status).to.equal(200);
    }
  });

  it('answers have Cache-Control: no-store', async () => {
    for (const as of [face.owner, null]) {
      expect((await face.call('GET', '/v2/kv/databases', { as })).headers.get('cache-control')).to.equal('no-store');
    }
  });

  it('calls get 503 while permissions cannot be checked', async () => {
    face.isControlStale = true;
    const { status, headers } = await face.call('GET', '/v2/teams');
    face.isControlStale = false;
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '1']);
  });
});

describe('management API: calls a second', () => {
  it('are limited for each key, with Retry-After', async () => {
    const face = await new ManagementHarness({ limits: { maxCallsPerSecond: 3 } }).start();
    try {
      const other = await face.newPerson('other@example.com');
      const answers = [];
      for (let at = 0; at < 4; at += 1) answers.push(await face.call('GET', '/v2/teams'));
      const refused = answers.find(({ status }) => status === 429);
      expect(refused?.headers.get('retry-after')).to.equal('1');
      expect(refused?.json).to.deep.equal({ error: 'too many requests with this key' });
      expect((await face.call('GET', '/v2/teams', { as: other.caller })).status).to.equal(200);
    } finally {
      await face.stop();
    }
  });
});

describe('management API: aliases', () => {
  const face = standOfAllTests(() => new ManagementHarness({ aliases: [MANAGEMENT_ALIAS] }).start());

  it('has aliased paths', async () => {
    const { json } = await face.call('GET', '/v2/store/databases');
    expect(json).to.deep.equal([]);
    const users = (await face.call('GET', '/v2/acmeq/users')).json as { id: string }[];
    expect(users[0]?.id).to.equal(face.queue);
  });

  it('uses aliased names of fields in answers', async () => {
    const stats = (await face.call('GET', `/v2/acmeq/stats/${face.queue}`)).json as Record<string, unknown>;
    expect(stats).to.have.property('daily_acmeq_messages');
    expect(stats).to.not.have.property('daily_msgq_messages');
    const neutral = (await face.call('GET', `/v2/msgq/stats/${face.queue}`)).json as Record<string, unknown>;
    expect(neutral).to.have.property('daily_msgq_messages');
    expect(neutral).to.not.have.property('daily_acmeq_messages');
  });

  it('uses aliased names of plans, in both directions', async () => {
    await face.ok('POST', `/v2/acmeq/set-plan/${face.queue}`, { body: { plan_name: 'acmeq_fixed_10m' } });
    const spelled = (await face.call('GET', `/v2/acmeq/user/${face.queue}`)).json as Record<string, unknown>;
    const neutral = (await face.call('GET', `/v2/msgq/user/${face.queue}`)).json as Record<string, unknown>;
    expect([spelled.reserved_type, neutral.reserved_type]).to.deep.equal(['acmeq_fixed_10m', 'msgq_fixed_10m']);
  });

  it('uses aliased names of fields in bodies and errors', async () => {
    const wrong = await face.call('POST', '/v2/acmeq/move-to-team', { body: { acmeq_id: 7, target_team_id: 'x' } });
    expect(wrong.json).to.deep.equal({ error: 'acmeq_id: must be a string' });
    const team = await face.newTeam();
    const body = { acmeq_id: face.queue, target_team_id: team };
    expect((await face.call('POST', '/v2/acmeq/move-to-team', { body })).status).to.equal(200);
  });

  it("shows the partner's e-mail under both names when the caller is unknown", async () => {
    const body = { name: 'papers', region: 'eu-west-1', type: 'payg' };
    const { json } = await face.call('POST', '/v2/search', { body });
    expect(json).to.include({ partner_email: '', host_email: '' });
    const headers = { 'acme-telemetry-sdk': 'x' };
    const [spelled] = (await face.call('GET', '/v2/search', { headers })).json as object[];
    expect(spelled).to.have.property('host_email');
    expect(spelled).to.not.have.property('partner_email');
  });

  it('answers 404 to aliased paths without an alias', async () => {
    const plain = await new ManagementHarness().start();
    try {
      expect((await plain.call('GET', '/v2/store/databases')).status).to.equal(404);
    } finally {
      await plain.stop();
    }
  });
});
