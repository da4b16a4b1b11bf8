/**
 * Applications on a real process: events are fanned out and signed as Standard Webhooks has it, retried under the same
 * id, replayed from the DLQ and from the log; a link to the portal opens one application, until its end or
 * until it is revoked. Proves PTL1–PTL4.
 */
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../../support/eventually.js';
import { QueueProcess, type RawAnswer } from '../../support/queue-process.js';
import type { SinkCall } from '../../support/queue-sink.js';

interface Sent {
  readonly eventId: string;
  readonly messages: readonly {
    readonly endpointId: string;
    readonly messageId: string;
    readonly deduplicated?: true;
  }[];
}
interface Listed {
  readonly messages: readonly {
    readonly messageId: string;
    readonly state: string;
    readonly body: string;
    readonly eventId: string;
    readonly endpointId: string;
    readonly attempts: readonly {
      readonly outcome: string;
      readonly responseStatus?: number;
      readonly responseBody?: string;
    }[];
  }[];
}
interface Secret {
  readonly version: string;
  readonly key: string;
  readonly expiresAt?: number;
}

const TIMEOUT = { timeoutMs: 30_000 };
const FAST = { 'Svc-Retry-Delay': '10', 'Svc-Retries': '1' };

describe('applications', function () {
  this.timeout(120_000);
  let queue: QueueProcess;
  let app: string;
  let path: string;

  const ok = (answer: RawAnswer): unknown => {
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  };
  const post = async (at: string, body: object = {}, headers = {}) => ok(await queue.post(at, { body, headers }));
  const add = async (members: object = {}) =>
    ((await post(`/v2/apps/${app}/endpoints`, { url: queue.sink.url(path), ...members })) as { id: string }).id;
  const send = async (members: object = {}, headers = {}) =>
    (await post(
      `/v2/apps/${app}/messages`,
      { eventType: 'order.paid', payload: { total: 7 }, ...members },
      headers,
    )) as Sent;
  const secretsOf = async (endpoint: string) =>
    ok(await queue.get(`/v2/apps/${app}/endpoints/${endpoint}/secrets`)) as Secret[];
  const messages = async (query: string) =>
    (ok(await queue.get(`/v2/apps/${app}/messages?${query}`)) as Listed).messages;
  const verified = ({ headers, body }: SinkCall, key: string) =>
    new Webhook(key).verify(body, headers as Record<string, string>);

  before(async () => {
    queue = await QueueProcess.start();
    const schema = { type: 'object', required: ['total'], properties: { total: { type: 'integer' } } };
    await post('/v2/event-types', { name: 'order.paid', schema, examples: [{ total: 1 }] });
    await post('/v2/event-types', { name: 'order.lost' });
  });
  beforeEach(async () => {
    path = queue.sink.path('hook');
    app = ((await post('/v2/apps', { name: 'Customer' })) as { id: string }).id;
  });
  after(() => queue.stop());

  it('POST /v2/apps/<id>/messages delivers to endpoints that take the type and pass the filter, signed', async () => {
    const all = await add();
    const lost = queue.sink.path('lost');
    await add({ url: queue.sink.url(lost), eventTypes: ['order.lost'] });
    await add({ url: queue.sink.url(lost), filter: 'total > 100' });
    await add({ url: queue.sink.url(lost), disabled: true });
    const { eventId, messages: made } = await send({}, FAST);
    expect(made.map(({ endpointId }) => endpointId)).to.deep.equal([all]);
    const call = await queue.sink.call(path);
    const [secret] = await secretsOf(all);
    expect(verified(call, secret?.key ?? '')).to.deep.equal({ total: 7 });
    expect(call.headers['webhook-id']).to.equal(eventId);
    expect(Object.keys(call.headers).filter((name) => name.includes('svc') || name.includes('acme'))).to.deep.equal([]);
    expect(queue.sink.calls(lost)).to.deep.equal([]);
  });

  it('a payload outside of the schema, an unknown type and a large payload are refused', async () => {
    const refused = async (members: object) => {
      const body = { eventType: 'order.paid', payload: { total: 1 }, ...members };
      const answer = await queue.post(`/v2/apps/${app}/messages`, { body });
      return [answer.status, (answer.json as { error: string }).error];
    };
    expect(await refused({ payload: { total: 'x' } })).to.deep.equal([
      400,
      'payload.total is not of a type(s) integer',
    ]);
    expect(await refused({ eventType: 'order.none' })).to.deep.equal([400, 'there is no event type order.none']);
    const large = { total: 1, note: 'x'.repeat(256 * 1024) };
    expect(await refused({ payload: large })).to.deep.equal([400, 'payload is longer than 262144 bytes']);
    expect((await refused({ eventId: 'a.b' }))[1]).to.include('eventId may have letters');
  });

  it('an event with the same eventId is accepted once', async () => {
    await add();
    const [first, second] = [await send({ eventId: `e-${app}` }), await send({ eventId: `e-${app}` })];
    expect(second.messages[0]).to.deep.equal({ ...first.messages[0], deduplicated: true });
    await queue.sink.call(path);
    expect(queue.sink.calls(path)).to.have.length(1);
  });

  it('each attempt is signed again with the same webhook-id, with both secrets after a rotation', async () => {
    const endpoint = await add({ signatures: ['v1', 'v1a'] });
    const before = await secretsOf(endpoint);
    const after = (await post(`/v2/apps/${app}/endpoints/${endpoint}/secrets/rotate`, {
      keepSeconds: 600,
    })) as Secret[];
    expect(after.map(({ version }) => version)).to.deep.equal(['v1', 'v1', 'v1a']);
    queue.sink.answer(path, { status: 500 });
    await send({}, FAST);
    const calls = await queue.sink.arrived(path, 2);
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    for (const call of calls) {
      for (const { key } of [after[0], before.find(({ version }) => version === 'v1')] as Secret[]) verified(call, key);
      expect(String(call.headers['webhook-signature']).split(' ')).to.have.length(3);
    }
  });

  it('failed messages are listed with their attempts, and replayed to the present address of the endpoint', async () => {
    const endpoint = await add();
    queue.sink.answer(path, { status: 503, body: 'closed' }, { status: 503, body: 'closed' });
    const { eventId } = await send({}, FAST);
    const failed = await eventually(async () => {
      const [message] = await messages(`endpointId=${endpoint}`);
      expect(message?.state).to.equal('FAILED');
      return message;
    }, TIMEOUT);
    expect(failed).to.deep.include({ eventId, body: '{"total":7}' });
    expect(failed?.attempts.map(({ outcome, responseStatus }) => [outcome, responseStatus])).to.deep.equal([
      ['ERROR', 503],
      ['ERROR', 503],
    ]);
    const moved = queue.sink.path('moved');
    const at = `/v2/apps/${app}/endpoints/${endpoint}`;
    ok(await queue.patch(at, { body: { url: queue.sink.url(moved) } }));
    const replay = (await post(`/v2/apps/${app}/replay`, { which: 'failed' })) as { replayed: { replayOf: string }[] };
    expect(replay.replayed.map(({ replayOf }) => replayOf)).to.deep.equal([failed?.messageId]);
    expect((await queue.sink.call(moved)).headers['webhook-id']).to.equal(eventId);
    expect(await post(`/v2/apps/${app}/replay`, { which: 'failed' })).to.deep.equal({ replayed: [], skipped: 0 });
  });

  it('all messages since an instant, or named ones, are sent again; replays are not replayed', async () => {
    await add();
    const { messages: made } = await send();
    await queue.sink.call(path);
    const all = { which: 'all', from: Date.now() - 60_000 };
    const once = (await post(`/v2/apps/${app}/replay`, all)) as { replayed: object[] };
    expect(once.replayed).to.have.length(1);
    await queue.sink.arrived(path, 2);
    expect(((await post(`/v2/apps/${app}/replay`, all)) as { replayed: object[] }).replayed).to.have.length(1);
    await post(`/v2/apps/${app}/replay`, { messageIds: made.map(({ messageId }) => messageId) });
    const calls = await queue.sink.arrived(path, 4);
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
  });

  it('a test event has the first example of its type; a deleted endpoint gets no more', async () => {
    const endpoint = await add();
    const at = `/v2/apps/${app}/endpoints/${endpoint}`;
    await post(`${at}/test`, { eventType: 'order.paid' });
    expect((await queue.sink.call(path)).body).to.equal('{"total":1}');
    ok(await queue.delete(at));
    expect((await queue.post(`${at}/test`)).status).to.equal(404);
    expect((await send()).messages).to.deep.equal([]);
  });

  it('a link to the portal opens its application only, until its end, and no other text opens one', async () => {
    const endpoint = await add();
    const link = (await post(`/v2/apps/${app}/portal`, { expiresIn: 2 })) as {
      url: string;
      token: string;
      expiresAt: number;
    };
    // PTL3 (the token is after the number sign).
    expect(link.url).to.equal(`${queue.url}/portal/${app}#${link.token}`);
    const other = ((await post('/v2/apps', { name: 'Other' })) as { id: string }).id;
    const status = async (method: string, at: string, token = link.token) =>
      (await queue.request(method, at, { token, ...(method === 'POST' && { body: {} }) })).status;
    expect(await status('GET', `/v2/apps/${app}/endpoints/${endpoint}/secrets`)).to.equal(200);
    for (const [method, at] of [
      ['GET', `/v2/apps/${other}/endpoints`],
      ['GET', `/v2/apps/${app}/../${other}/endpoints`],
      ['GET', '/v2/apps'],
      ['PATCH', `/v2/apps/${app}`],
      ['POST', `/v2/apps/${app}/messages`],
      ['POST', `/v2/apps/${app}/portal`],
      ['GET', '/v2/keys'],
      ['POST', `/v2/publish/${queue.sink.url(path)}`],
      ['POST', '/v2/batch'],
    ] as const) {
      expect([at, await status(method, at)]).to.satisfy(
        ([, code]: [string, number]) => code === 403 || code === 404,
        at,
      );
    }
    const changed = link.token.slice(0, -3) + (link.token.endsWith('AAA') ? 'BBB' : 'AAA');
    for (const forged of [changed, 'mpt_', `mpt_${Buffer.from('["portal"]').toString('base64url')}`]) {
      expect(await status('GET', `/v2/apps/${app}/endpoints`, forged)).to.equal(401);
    }
    await eventually(async () => expect(await status('GET', `/v2/apps/${app}/endpoints`)).to.equal(401), TIMEOUT);
    expect(Date.now()).to.be.at.least(link.expiresAt);
    const reader = (await post(`/v2/apps/${app}/portal`, { readOnly: true })) as { token: string };
    expect(await status('GET', `/v2/apps/${app}/endpoints`, reader.token)).to.equal(200);
    expect(await status('GET', `/v2/apps/${app}/endpoints/${endpoint}/secrets`, reader.token)).to.equal(403);
    expect(await status('POST', `/v2/apps/${app}/replay`, reader.token)).to.equal(403);
  });

  describe('a revoked link', () => {
    const made = async (at = app) =>
      (await post(`/v2/apps/${at}/portal`)) as { id: string; token: string; url: string };
    const statusOf = async (token: string, at = `/v2/apps/${app}/endpoints`) => (await queue.get(at, { token })).status;

    it('POST /v2/apps/<id>/portal/revoke ends one link by id, token or URL, and no other (PTL4)', async () => {
      const [byId, byToken, byUrl, other] = [await made(), await made(), await made(), await made()];
      for (const { token } of [byId, byToken, byUrl]) expect(await statusOf(token)).to.equal(200);
      for (const link of [byId.id, byToken.token, byUrl.url]) await post(`/v2/apps/${app}/portal/revoke`, { link });
      for (const { token } of [byId, byToken, byUrl]) {
        expect(await statusOf(token)).to.equal(401);
        expect(await statusOf(token, `/v2/apps/${app}/portal`)).to.equal(401);
      }
      expect(await statusOf(other.token)).to.equal(200);
    });

    it('without a link all links of the application end, and later ones are valid', async () => {
      const neighbour = ((await post('/v2/apps', { name: 'Neighbour' })) as { id: string }).id;
      const [first, second, ofNeighbour] = [await made(), await made(), await made(neighbour)];
      await post(`/v2/apps/${app}/portal/revoke`);
      for (const { token } of [first, second]) expect(await statusOf(token)).to.equal(401);
      expect(await statusOf(ofNeighbour.token, `/v2/apps/${neighbour}/endpoints`)).to.equal(200);
      expect(await statusOf((await made()).token)).to.equal(200);
    });

    it('the holder of a link revokes none, and a link of another application is refused', async () => {
      const { token } = await made();
      const neighbour = ((await post('/v2/apps', { name: 'Neighbour' })) as { id: string }).id;
      expect((await queue.post(`/v2/apps/${app}/portal/revoke`, { token, body: {} })).status).to.equal(403);
      for (const link of [token, 'plk_', 'mpt_forged']) {
        expect((await queue.post(`/v2/apps/${neighbour}/portal/revoke`, { body: { link } })).status).to.equal(400);
      }
      expect(await statusOf(token)).to.equal(200);
      ok(await queue.delete(`/v2/apps/${app}`));
      expect(await statusOf(token)).to.equal(404);
    });
  });

  describe('a stopped endpoint', () => {
    interface Shown {
      readonly breaker?: { readonly state: string; readonly reason?: string; readonly error?: string };
    }
    const shown = async (endpoint: string) => ok(await queue.get(`/v2/apps/${app}/endpoints/${endpoint}`)) as Shown;
    let owner: string;

    before(async () => {
      owner = queue.sink.path('owner');
      await post('/v2/destinations/rules', { notifyUrl: queue.sink.url(owner), messages: 'dlq' });
    });
    after(async () => ok(await queue.delete('/v2/destinations/rules')));

    it('is shown and reported to owner and customer, and the customer enables it with its missed messages', async () => {
      const customer = queue.sink.path('customer');
      ok(await queue.patch(`/v2/apps/${app}`, { body: { notifyUrl: queue.sink.url(customer) } }));
      const endpoint = await add();
      const [secret] = await secretsOf(endpoint);
      queue.sink.answer(path, { status: 410 }, { status: 200 });
      await send({}, { 'Svc-Retries': '0' });
      await eventually(async () => {
        expect((await shown(endpoint)).breaker).to.include({
          state: 'disabled',
          reason: 'gone',
          error: 'HTTP status 410',
        });
      }, TIMEOUT);
      const about = { type: 'endpoint.disabled', applicationId: app, endpointId: endpoint };
      const told = async (at: string) => {
        const call = await queue.sink.call(at);
        const { type, data } = JSON.parse(call.body) as { type: string; data: Record<string, string> };
        return { call, about: { type, applicationId: data.applicationId, endpointId: data.endpointId } };
      };
      expect((await told(owner)).about).to.deep.equal(about);
      const ofCustomer = await told(customer);
      expect(ofCustomer.about).to.deep.equal(about);
      verified(ofCustomer.call, secret?.key ?? '');
      // The message goes to the DLQ without an attempt.
      await send({}, { 'Svc-Retries': '0' });
      const { token } = (await post(`/v2/apps/${app}/portal`)) as { token: string };
      const at = `/v2/apps/${app}/endpoints/${endpoint}/enable`;
      const answer = await eventually(async () => {
        const both = await messages(`endpointId=${endpoint}&state=FAILED`);
        expect(both.length).to.be.at.least(2);
        return ok(await queue.post(at, { token, body: { replay: true } })) as { replayed: object[] };
      }, TIMEOUT);
      expect(answer.replayed).to.have.length(2);
      await queue.sink.arrived(path, 3);
      await eventually(async () => expect(await shown(endpoint)).not.to.have.property('breaker'), TIMEOUT);
    });

    it('a customer cannot enable an address that the owner has disabled', async () => {
      const endpoint = await add();
      const { token } = (await post(`/v2/apps/${app}/portal`)) as { token: string };
      await post('/v2/destinations/disable', { url: queue.sink.url(path) });
      const at = `/v2/apps/${app}/endpoints/${endpoint}/enable`;
      const refused = await queue.post(at, { token, body: {} });
      expect([refused.status, refused.json]).to.deep.equal([
        403,
        { error: 'the sender of the webhooks has disabled this address' },
      ]);
      const other = ((await post('/v2/apps', { name: 'Other' })) as { id: string }).id;
      expect((await queue.post(`/v2/apps/${other}/endpoints/${endpoint}/enable`, { token, body: {} })).status).to.equal(
        403,
      );
      expect((await shown(endpoint)).breaker).to.include({ state: 'disabled' });
      await post(at);
      expect(await shown(endpoint)).not.to.have.property('breaker');
    });
  });

  it('the rate of an application bounds the deliveries of all its endpoints', async () => {
    ok(await queue.patch(`/v2/apps/${app}`, { body: { rate: 2, ratePeriodSeconds: 2 } }));
    await add();
    await add();
    const sentAtMs = Date.now();
    for (let at = 0; at < 3; at += 1) await send();
    const calls = await queue.sink.arrived(path, 6);
    // Three periods with two starts each: the last start is at least two periods after the first.
    expect(calls).to.have.length(6);
    expect(Date.now() - sentAtMs).to.be.at.least(2_000);
  });

  it('a kill -9 between commands loses no acknowledged application, endpoint, secret, type or revoked link', async () => {
    const acknowledged: { app: string; endpoint: string; key: string | undefined; type: string; token: string }[] = [];
    let isKilled = false;
    // The kill cuts off a round.
    const rounds = async () => {
      for (let at = 0; !isKilled; at += 1) {
        const type = `kill.${at}`;
        await post('/v2/event-types', { name: type });
        const { id } = (await post('/v2/apps', { name: `Kill ${at}` })) as { id: string };
        const made = (await post(`/v2/apps/${id}/endpoints`, { url: queue.sink.url(path) })) as { id: string };
        const [first] = (await post(`/v2/apps/${id}/endpoints/${made.id}/secrets/rotate`)) as Secret[];
        const { token } = (await post(`/v2/apps/${id}/portal`)) as { token: string };
        await post(`/v2/apps/${id}/portal/revoke`);
        acknowledged.push({ app: id, endpoint: made.id, key: first?.key, type, token });
      }
    };
    const ended = rounds().catch(() => undefined);
    await eventually(() => expect(acknowledged).to.have.length.at.least(3), TIMEOUT);
    await queue.restart('SIGKILL');
    isKilled = true;
    await ended;
    for (const { app: id, endpoint, key, type, token } of acknowledged) {
      const [secret] = ok(await queue.get(`/v2/apps/${id}/endpoints/${endpoint}/secrets`)) as Secret[];
      expect(secret?.key).to.equal(key);
      ok(await queue.get(`/v2/event-types/${type}`));
      expect((await queue.get(`/v2/apps/${id}/endpoints`, { token })).status).to.equal(401);
    }
  });
});
