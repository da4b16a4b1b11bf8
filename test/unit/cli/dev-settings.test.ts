/** The settings of `millrace dev`, and the lines that it prints for published clients. Proves DEV2. */
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { clientVariables, variableLine } from '../../../src/cli/client-variables.js';
import { devSettings } from '../../../src/cli/dev/dev-environment.js';
import { loadConfig } from '../../../src/config/index.js';

const USUAL_KV_PORT = 7100;

describe('millrace dev: its settings', () => {
  it('allow deliveries to this machine, enable the alias of published clients, and ignore persistent data settings', async () => {
    const given = {
      MILLRACE_NATS_URL: 'nats://127.0.0.1:4222',
      MILLRACE_SEAL_KEY_FILE: '/keep/me',
      MILLRACE_ROLES: 'kv',
      MILLRACE_WORKERS: '4',
    };
    const { env } = await devSettings({ ...given, MILLRACE_KV_PORT: '0' }, '/throw/away');
    const { storage, endpoints, isEmbedded, process } = loadConfig(env).config;
    expect(isEmbedded).to.equal(true);
    expect(process.workers).to.equal(1);
    expect(process.roles).to.include.members(['edge', 'kv', 'queue', 'projection']);
    expect([storage.dataDir, storage.sealKeyFile]).to.deep.equal(['/throw/away', '/throw/away/seal.key']);
    expect(endpoints.wireAlias).to.not.equal(undefined);
    expect(env.MILLRACE_ALLOW_PRIVATE_DESTINATIONS).to.equal('true');
  });

  it('use a free port when a default port is busy, and keep a given port', async () => {
    const busy = await busyAt(USUAL_KV_PORT);
    const { env } = await devSettings({}, '/throw/away');
    expect(Number(env.MILLRACE_KV_PORT)).to.be.greaterThan(0).and.not.equal(USUAL_KV_PORT);
    const asked = await devSettings({ MILLRACE_KV_PORT: String(USUAL_KV_PORT) }, '/throw/away');
    expect(asked.env.MILLRACE_KV_PORT).to.equal(String(USUAL_KV_PORT));
    busy?.close();
  });

  it('have credentials, including the given ones', async () => {
    const { env, credentials } = await devSettings({ MILLRACE_KV_TOKEN: 'given-by-the-operator' }, '/throw/away');
    expect(credentials.kvToken).to.equal('given-by-the-operator');
    expect(env.MILLRACE_QUEUE_TOKEN).to.equal(credentials.queueToken);
  });

  it('are printed under the names of the alias', async () => {
    const { credentials } = await devSettings({ MILLRACE_KV_PASSWORD: 'a/long-password' }, '/throw/away');
    const addresses = { kv: 'http://h:1', queue: 'http://h:2', resp: 'redis://h:3' };
    const given = { ...credentials, kvToken: "it's" };
    const lines = clientVariables('Acme:AcmeQ:store', addresses, given).map(variableLine);
    expect(lines.slice(0, 4)).to.deep.equal([
      'ACME_STORE_REST_URL=http://h:1',
      "ACME_STORE_REST_TOKEN='it'\\''s'",
      'REDIS_URL=redis://default:a%2Flong-password@h:3',
      'ACMEQ_URL=http://h:2',
    ]);
    expect(lines.map((line) => line.split('=')[0])).to.include.members([
      'ACMEQ_TOKEN',
      'ACMEQ_CURRENT_SIGNING_KEY',
      'ACMEQ_NEXT_SIGNING_KEY',
      'ACME_EMAIL',
      'ACME_API_KEY',
    ]);
  });
});

/** Undefined: another program listens there, which has the same effect. */
function busyAt(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
