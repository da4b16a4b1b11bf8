/** The ways of signing in to an operator's NATS, each against a real server. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { nkeys } from 'nats';
import { connect, type NatsOptions } from '../../../src/adapters/nats/index.js';
import { missingProgram } from '../../support/installed.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

describe('signing in to a NATS server', () => {
  let dir: string;
  let server: NatsServer | undefined;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'millrace-signing-in-'));
  });

  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  after(() => rm(dir, { recursive: true, force: true }));

  async function versionSeen(options: Omit<NatsOptions, 'servers'>, scheme = 'nats'): Promise<string> {
    const connections = await connect({ servers: [`${scheme}://localhost:${server?.port}`], ...options });
    try {
      return connections.serverVersions()[0] ?? '';
    } finally {
      await connections.close();
    }
  }

  it('accepts a token', async () => {
    server = await startNatsServer({ config: 'authorization { token: "of-the-test" }' });
    expect(await versionSeen({ token: 'of-the-test' })).to.match(/^\d+\.\d+\.\d+/);
  });

  it('accepts the seed of an nkey in a file, with surrounding white space', async () => {
    const pair = nkeys.createUser();
    const seedFile = join(dir, 'user.nk');
    await writeFile(seedFile, `${Buffer.from(pair.getSeed()).toString()}\n`);
    server = await startNatsServer({ config: `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }` });
    expect(await versionSeen({ nkeyFile: seedFile })).to.match(/^\d+\.\d+\.\d+/);
  });

  it('accepts a client certificate over TLS', async function () {
    this.timeout(30_000);
    if (missingProgram('openssl') !== undefined) this.skip();
    certificates(dir);
    const at = (name: string) => JSON.stringify(join(dir, name));
    const files = `cert_file: ${at('server.pem')}, key_file: ${at('server.key')}, ca_file: ${at('ca.pem')}`;
    server = await startNatsServer({ config: `tls { ${files}, verify: true }` });
    const tls = {
      caFile: join(dir, 'ca.pem'),
      certFile: join(dir, 'client.pem'),
      keyFile: join(dir, 'client.key'),
    };
    expect(await versionSeen({ tls }, 'tls')).to.match(/^\d+\.\d+\.\d+/);
  });

  it('is refused in one line that names the seed file when it cannot be read', async () => {
    server = await startNatsServer();
    const nkeyFile = join(dir, 'nobody.nk');
    const refusal = await versionSeen({ nkeyFile }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(refusal).to.include({ code: 'BAD_CONFIG', message: `cannot read ${nkeyFile}` });
  });
});

/** An authority, and a certificate of it for the server and for the client. */
function certificates(dir: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const subject = (name: string) => ['-subj', `/CN=${name}`];
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', ...subject('authority'));
  for (const name of ['server', 'client']) {
    const extension = ['-addext', 'subjectAltName=DNS:localhost'];
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, ...subject(name), ...extension);
    const signed = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-CA', 'ca.pem', '-CAkey', 'ca.key'];
    openssl('x509', '-req', ...signed, '-CAcreateserial', '-days', '2', '-copy_extensions', 'copy');
  }
}
