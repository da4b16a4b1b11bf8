import http from 'node:http';
import { expect } from 'chai';
import { AllowedNetworks } from '../../../src/actors/control/allowed-networks.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvGrant, KvLimits } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/manual-time.js';
import { PASSWORD, type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';

const SUSPENDED = 'NOPERM this database is suspended, nothing was executed';
const NOT_FROM_HERE = 'NOPERM this database may not be used from 127.0.0.1, nothing was executed';
const LIMITS: KvLimits = { maxCommandBytes: 10_000, maxRequestsPerDay: 0 };
const OPEN: KvGrant = {
  database: 'db-first' as DatabaseId,
  partitions: ['kv:db-first:0' as PartitionName],
  role: 'standard',
  user: 'default',
  limits: LIMITS,
};
const onlyFrom = (...list: string[]): Partial<KvGrant> => ({ networks: new AllowedNetworks(list) });
const WORK: Readonly<Record<string, Partial<KvGrant>>> = {
  [SUSPENDED]: { isSuspended: true },
  [NOT_FROM_HERE]: onlyFrom('10.0.0.0/8'),
};

/** The state of the database in the control view, for REST and RESP. */
class Grants {
  current = OPEN;
  version = 1;

  set(change: Partial<KvGrant>): void {
    this.current = { ...OPEN, ...change };
    this.version += 1;
  }

  grantFor = () => this.current;
  grantForLogin = (_user: string | undefined, password: string) => (password === PASSWORD ? this.current : undefined);
  isCurrent = (grant: KvGrant) => grant === this.current;
  renewed = () => this.current;
}

describe('a closed database over REST', () => {
  let grants: Grants;
  let time: ManualTime;
  let face: KvEndpointHarness;

  beforeEach(async () => {
    grants = new Grants();
    time = new ManualTime();
    const trustedProxies = [{ address: '127.0.0.0', prefixBits: 8 }];
    face = await new KvEndpointHarness({ access: grants, trustedProxies, timers: time }).start();
  });
  afterEach(() => face.stop());

  for (const [text, change] of Object.entries(WORK)) {
    it(`refuses every request with 403: ${text}`, async () => {
      grants.set(change);
      const answers = await Promise.all([
        face.get('/get/a'),
        face.post('/', ['SET', 'a', '1']),
        face.post('/pipeline', [['SET', 'a', '1']]),
        face.post('/multi-exec', [['SET', 'a', '1']]),
        face.post('/subscribe/news', '', { headers: { accept: 'text/event-stream' } }),
      ]);
      for (const { status, text: body } of answers) {
        expect(status).to.equal(403);
        expect(JSON.parse(body)).to.deep.equal({ error: text });
      }
      expect(face.usages).to.deep.equal([]);
      grants.set({});
      expect((await face.get('/get/a')).text).to.equal('{"result":null}');
    });

    it(`refuses a request with a body that arrives after it was closed: ${text}`, async () => {
      const request = http.request({ host: '127.0.0.1', port: face.port, path: '/', method: 'POST' });
      request.setHeader('authorization', 'Bearer any');
      const answered = new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve));
      const body = JSON.stringify(['SET', 'a', '1']);
      request.setHeader('content-length', body.length);
      request.setHeader('expect', '100-continue');
      const asked = new Promise<void>((resolve) => request.on('continue', resolve));
      request.flushHeaders();
      await asked;
      request.write(body.slice(0, 5));
      grants.set(change);
      request.end(body.slice(5));
      expect((await answered).statusCode).to.equal(403);
      grants.set({});
      expect((await face.get('/get/a')).text).to.equal('{"result":null}');
    });

    it(`ends streams within a second: ${text}`, async () => {
      let isEnded = false;
      const request = http.request({ host: '127.0.0.1', port: face.port, path: '/subscribe/news', method: 'POST' });
      request.setHeader('accept', 'text/event-stream');
      request.setHeader('authorization', 'Bearer any');
      const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve).end());
      response.on('end', () => {
        isEnded = true;
      });
      response.resume();
      grants.set(change);
      await time.advance(1000);
      await eventually(() => expect(isEnded).to.equal(true));
    });
  }

  it('is open to allowed addresses, also as reported by known proxies', async () => {
    grants.set(onlyFrom('127.0.0.1'));
    expect((await face.get('/get/a')).status).to.equal(200);
    grants.set(onlyFrom('203.0.113.0/24'));
    const from = (client: string) => face.get('/get/a', { headers: { 'x-forwarded-for': client } });
    expect((await from('203.0.113.9')).status).to.equal(200);
    expect((await from('203.0.114.9')).text).to.contain('may not be used from 203.0.114.9');
    expect((await face.get('/get/a')).status).to.equal(403);
  });

  it('answers 401 without a token, and does not reveal that it is closed', async () => {
    grants.set({ isSuspended: true });
    expect((await face.get('/get/a', { token: null })).status).to.equal(401);
  });
});

describe('a closed database over RESP', () => {
  let grants: Grants;
  let time: ManualTime;
  let face: RespEndpointHarness;

  beforeEach(async () => {
    grants = new Grants();
    time = new ManualTime();
    face = await new RespEndpointHarness({ access: grants, timers: time }).start();
  });
  afterEach(() => face.stop());

  /** The last bytes that the connection receives. */
  async function untilClosed(client: RawClient): Promise<readonly string[]> {
    await client.closed();
    return client.unread;
  }

  for (const [text, change] of Object.entries(WORK)) {
    it(`refuses sign-ins: ${text}`, async () => {
      grants.set(change);
      const client = await face.connect();
      expect(await client.call('AUTH', PASSWORD)).to.equal(`-${text}\r\n`);
      expect(await client.call('HELLO', '3', 'AUTH', 'default', PASSWORD)).to.equal(`-${text}\r\n`);
      expect(await client.call('GET', 'a')).to.match(/^-NOAUTH/);
      grants.set({});
      expect(await client.call('AUTH', PASSWORD)).to.equal('+OK\r\n');
      expect(await client.call('SET', 'a', '1')).to.equal('+OK\r\n');
    });

    it(`refuses commands of signed-in clients, and ends their connections: ${text}`, async () => {
      const client = await face.client();
      expect(await client.call('SET', 'a', '1')).to.equal('+OK\r\n');
      grants.set(change);
      expect(await client.call('GET', 'a')).to.equal(`-${text}\r\n`);
      await time.advance(1000);
      expect(await untilClosed(client)).to.deep.equal([]);
    });

    it(`ends connections that only listen or wait within a second: ${text}`, async () => {
      const listening = await face.client();
      await listening.call('SUBSCRIBE', 'news');
      const waiting = await face.client();
      waiting.send('*3\r\n$5\r\nBLPOP\r\n$4\r\nlist\r\n$1\r\n0\r\n');
      const idle = await face.client();
      grants.set(change);
      await time.advance(1000);
      await Promise.all([listening, waiting, idle].map((client) => client.closed()));
    });
  }

  it('serves a client that is still connected when it is opened again in time', async () => {
    const client = await face.client();
    grants.set({ isSuspended: true });
    expect(await client.call('GET', 'a')).to.equal(`-${SUSPENDED}\r\n`);
    grants.set({});
    expect(await client.call('GET', 'a')).to.equal('$-1\r\n');
  });

  it('discards an open transaction', async () => {
    const client = await face.client();
    await client.call('MULTI');
    await client.call('SET', 'a', '1');
    grants.set({ isSuspended: true });
    expect(await client.call('EXEC')).to.equal(`-${SUSPENDED}\r\n`);
    grants.set({});
    const other = await face.client();
    expect(await other.call('GET', 'a')).to.equal('$-1\r\n');
  });
});

describe('the connections of one database', () => {
  let grants: Grants;
  let face: RespEndpointHarness;

  beforeEach(async () => {
    grants = new Grants();
    face = await new RespEndpointHarness({ access: grants }).start();
  });
  afterEach(() => face.stop());

  it('are limited by its plan per process, and one more is refused with the reason', async () => {
    grants.set({ limits: { ...LIMITS, maxConnections: 2 } });
    const [first, second, third] = await Promise.all([face.connect(), face.connect(), face.connect()]);
    expect(await first.call('AUTH', PASSWORD)).to.equal('+OK\r\n');
    expect(await second.call('AUTH', PASSWORD)).to.equal('+OK\r\n');
    expect(await third.call('AUTH', PASSWORD)).to.equal('-ERR max number of clients reached\r\n');
    expect(await first.call('AUTH', PASSWORD), 'once more').to.equal('+OK\r\n');
    second.close();
    await eventually(async () => expect(await third.call('AUTH', PASSWORD)).to.equal('+OK\r\n'));
    expect(await first.call('RESET')).to.equal('+RESET\r\n');
    const fourth = await face.connect();
    expect(await fourth.call('AUTH', PASSWORD)).to.equal('+OK\r\n');
  });

  it('stay open when the plan allows fewer', async () => {
    const [first, second] = await Promise.all([face.client(), face.client()]);
    grants.set({ limits: { ...LIMITS, maxConnections: 1 } });
    expect(await first.call('PING')).to.equal('+PONG\r\n');
    expect(await second.call('PING')).to.equal('+PONG\r\n');
    const third = await face.connect();
    expect(await third.call('AUTH', PASSWORD)).to.equal('-ERR max number of clients reached\r\n');
  });
});
