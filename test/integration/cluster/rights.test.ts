/**
 * Users of the nats-servers by role, and TLS on every connection: three nodes with the files of `infra/nats`, and a
 * process of each role that signs in as its user.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, rename, rm } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { connect, errors, type NatsConnection, nkeyAuthenticator } from 'nats';
import { connect as connectAs } from '../../../src/adapters/nats/index.js';
import { eventually } from '../../support/eventually.js';
import { basic } from '../../support/management-endpoint.js';
import { MillraceCluster } from '../../support/millrace-cluster.js';
import {
  type Environment,
  endEverything,
  type MillraceProcess,
  runMillrace,
  TOKEN,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { type NatsCluster, startNatsCluster } from '../../support/nats-cluster.js';
import { findNatsServer } from '../../support/nats-server.js';

const run = promisify(execFile);

const USERS = ['edge', 'owner', 'projection', 'process', 'operator', 'system'] as const;
type User = (typeof USERS)[number];

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';

const MEBIBYTE = 1024 * 1024;

/** Operations that only the operator of the nats-servers may do, with any tool. */
const DENIED = ['$JS.API.STREAM.DELETE.KV_0', '$JS.API.STREAM.UPDATE.KV_0', '$SYS.REQ.SERVER.N.RELOAD', 'elsewhere'];
const JOURNALS = ['millrace.log.KV_0', 'millrace.log.QUEUE_0', 'millrace.log.CONTROL'];
const PURGES = ['$JS.API.STREAM.PURGE.KV_0', '$JS.API.STREAM.PURGE.CONTROL', '$JS.API.STREAM.PURGE.KV_leases'];
const LEASES = ['$KV.leases.KV_0', '$KV.layout.cluster'];
const MAKING = '$JS.API.STREAM.CREATE.MORE';
const INBOX = '_INBOX.millrace.operator.control.x';

/** Subjects that a user may not publish to, though other users may. */
const UNPUBLISHED: Record<User, readonly string[]> = {
  edge: [...JOURNALS, ...PURGES, ...LEASES, MAKING, INBOX, 'millrace.edge.node-1', '$JS.API.STREAM.PURGE.METER'],
  owner: [MAKING, 'millrace.log.INTAKE_0', '$JS.API.STREAM.PURGE.KV_layout'],
  projection: [
    ...[...JOURNALS, ...PURGES, ...LEASES, MAKING, INBOX, 'millrace.log.INTAKE_0', 'millrace.log.METER'],
    ...['millrace.command.CONTROL', 'millrace.command.KV_0', 'millrace.edge.node-1', 'millrace.query'],
  ],
  process: [MAKING, '$JS.API.STREAM.PURGE.KV_layout'],
  operator: ['millrace.heartbeat', 'millrace.edge.node-1', INBOX],
  system: [...JOURNALS, '$JS.API.STREAM.INFO.KV_0', 'millrace.command.KV_0', '$SYS.REQ.SERVER.N.VARZ'],
};

/** Subjects that a user may not subscribe to, in addition to the inboxes of all other users. */
const UNHEARD: Record<User, readonly string[]> = {
  edge: ['>', '_INBOX.>', 'millrace.log.>', 'millrace.command.>', 'millrace.query', 'millrace.bulk.owner.*'],
  owner: ['>', '_INBOX.>', 'millrace.log.>', 'millrace.edge.*', 'millrace.query', 'millrace.bulk.edge.*'],
  projection: ['>', '_INBOX.>', 'millrace.log.>', 'millrace.command.>', 'millrace.edge.*', 'millrace.notice.>'],
  process: ['>', '_INBOX.>', 'millrace.log.>', '$JS.API.>'],
  operator: ['>', '_INBOX.>', 'millrace.log.>', 'millrace.command.>', 'millrace.notice.>'],
  system: ['>', '$SYS.>', '$SYS.ACCOUNT.>'],
};

describe('users of the nats-servers, one for each role', function () {
  this.timeout(120_000);
  let dir: string;
  let nats: NatsCluster;
  let cluster: MillraceCluster;
  let edge: MillraceProcess;
  const connections: NatsConnection[] = [];

  before(async function () {
    this.timeout(300_000);
    dir = await temporaryDirectory();
    await cp('infra/nats', dir, { recursive: true });
    await rename(join(dir, 'tls-required.conf'), join(dir, 'tls.conf'));
    await makeUsers();
    await makeCertificate('node', 'DNS:localhost,IP:127.0.0.1');
    await makeCertificate('process', 'DNS:millrace');
    nats = await startNatsCluster(findNatsServer(), {
      conf: dir,
      host: 'localhost',
      env: { NATS_TLS_CERT: file('node.crt'), NATS_TLS_KEY: file('node.key'), NATS_TLS_CA: file('ca.crt') },
      signIn: signInOf('operator'),
    });
    const url = nats.urls.join(',');
    cluster = await MillraceCluster.prepare({ ...nats, url }, { ...reaching(), ...signedInAs('operator') });
    const [, , asked] = await Promise.all([start('owner', 'kv,queue'), start('projection'), start('edge')]);
    edge = asked;
  });
  after(async () => {
    for (const connection of connections) await connection.close();
    await endEverything();
    await nats?.stop();
  });

  it('let an edge, an owner and a projection process work together without a refusal', async () => {
    await edge.kv.ask('SET', 'k', 'v');
    expect(await edge.kv.ask('GET', 'k')).to.equal('v');
    const large = Buffer.alloc(3 * MEBIBYTE, 'x');
    expect((await edge.kv.raw('/set/large', { method: 'POST', body: large })).status).to.equal(200);
    expect((await edge.kv.raw('/get/large')).body.byteLength).to.be.greaterThan(large.byteLength);
    const { messageId } = (await askQueue('/v2/enqueue/q/https://nobody.example', { method: 'POST', body: 'x' })) as {
      messageId: string;
    };
    await eventually(async () => {
      expect(JSON.stringify(await askQueue('/v2/logs'))).to.contain(messageId);
    });
    await keepMoment();
    expect(await violations()).to.deep.equal([]);
  });

  it('need no further rights while the control stream does not answer', async () => {
    const led = await Promise.all(nats.nodes.map((node) => node.streamsLed()));
    const leader = nats.nodes[led.findIndex((streams) => streams.includes('CONTROL'))];
    if (leader === undefined) throw new Error('no server leads the control stream');
    leader.freeze();
    // Shorter than the election of another leader, and longer than half the permitted age of a copy.
    await pause(2000);
    leader.thaw();
    await eventually(() => edge.kv.ask('INCR', 'counted'));
    expect(await violations()).to.deep.equal([]);
  });

  it('let a process with all roles and an edge start and stop', async () => {
    const coming = await Promise.all([start('process', 'edge,kv,queue,projection'), start('edge')]);
    for (const process of coming) {
      await process.kv.ask('INCR', 'counted');
      expect((await process.kill('SIGTERM')).code).to.equal(0);
    }
    await edge.kv.ask('INCR', 'counted');
    expect(await violations()).to.deep.equal([]);
  });

  it('let every command of the operator work', async () => {
    const commands = [
      ['cluster', 'verify'],
      ['db', 'list'],
      ['journal', 'verify', '--all'],
      ['cluster', 'adopt-key'],
    ];
    for (const command of [...commands, ['backup', 'create', '--to', join(dir, 'backup')]]) {
      const { code, stderr } = await cluster.run(command);
      expect(code, `${command.join(' ')}: ${stderr}`).to.equal(0);
    }
    expect(await violations()).to.deep.equal([]);
  });

  for (const user of USERS) {
    it(`refuse ${user} to publish on other roles' subjects (NRI1, NRI2)`, async () => {
      const connection = await connected(user);
      for (const subject of [...DENIED, ...UNPUBLISHED[user]]) {
        if (user === 'system' && subject.startsWith('$SYS')) continue;
        const refused = refusalOn(connection, 'publish', subject);
        connection.publish(subject, 'x');
        await refused;
      }
    });

    it(`refuse ${user} to subscribe to other roles' subjects (NRI3)`, async () => {
      const connection = await connected(user);
      const inboxes = USERS.filter((other) => other !== user).map((other) => `_INBOX.millrace.${other}.>`);
      for (const subject of [...inboxes, ...UNHEARD[user]]) {
        const refused = refusalOn(connection, 'subscription', subject);
        connection.subscribe(subject, { callback: () => {} });
        await refused;
      }
    });
  }

  it('make a command of the wrong user fail soon, with the subject that is refused', async () => {
    const env = await cluster.environment(await temporaryDirectory(), signedInAs('edge'));
    for (const verb of ['init', 'verify']) {
      const { code, stderr } = await runMillrace(['cluster', verb], env, { timeoutMs: 10_000 });
      expect(code, stderr).to.equal(1);
      expect(stderr).to.match(/the NATS user of this process may not listen to _INBOX\.millrace\.operator\.control\./);
    }
    const asEdge = await connectAs({
      servers: nats.urls,
      as: 'edge',
      nkeyFile: file('edge.nk'),
      tls: signInOf('edge').tls,
    });
    try {
      await asEdge.control.request('millrace.log.KV_0', 'x', { timeoutMs: 30_000 });
      expect.fail('it was not refused');
    } catch (error) {
      expect(String(error)).to.contain('the NATS user of this process may not publish to millrace.log.KV_0');
    } finally {
      await asEdge.close();
    }
  });

  it('refuse connections without a certificate of the authority, or to a server with another name', async () => {
    const { tls, ...signIn } = signInOf('edge');
    const other = { caFile: file('ca.crt'), certFile: file('other/process.crt'), keyFile: file('other/process.key') };
    await makeCertificate('process', 'DNS:millrace', file('other'));
    const tries: [object, RegExp][] = [
      [{ caFile: file('ca.crt') }, /certificate required|disconnect|ECONNRESET|socket|EPIPE|closed/i],
      [other, /unknown ca|bad certificate|disconnect|ECONNRESET|socket|EPIPE|closed|decrypt/i],
      [{ ...tls, caFile: file('other/ca.crt') }, /self.signed|unable to|certificate/i],
      [{ ...tls, servername: 'elsewhere.example' }, /altnames|match/i],
    ];
    for (const [given, why] of tries) {
      const refused = await connect({ ...signIn, servers: [...nats.urls], tls: given, reconnect: false }).then(
        (connection) => connection.close().then(() => 'let in'),
        String,
      );
      expect(refused).to.match(why);
    }
  });

  it('can have keys and certificates replaced without restarting a process or failing a request', async () => {
    const { pid } = edge;
    let isOver = false;
    const failures: string[] = [];
    const asking = (async () => {
      while (!isOver) {
        const outcome = await edge.kv.command('INCR', 'counted');
        if (outcome.kind !== 'done') failures.push(JSON.stringify(outcome));
      }
    })();
    const before = await certificateOfNode();
    await rename(file('edge.nk'), file('edge.former.nk'));
    await makeUsers();
    await makeCertificate('node', 'DNS:localhost,IP:127.0.0.1');
    await makeCertificate('process', 'DNS:millrace');
    await reloaded();
    await rm(file('edge.former.nk'));
    await makeUsers();
    await reloaded();
    await eventually(async () => expect(await certificateOfNode()).not.to.equal(before));
    const key = await readFile(file('edge.nk'), 'utf8');
    expect(key.trim()).to.match(/^SU/);
    await eventually(async () => expect(await edge.kv.ask('PING')).to.equal('PONG'));
    isOver = true;
    await asking;
    expect(failures).to.deep.equal([]);
    expect(edge.pid).to.equal(pid);
    const again = await connected('edge');
    expect(again.getServer()).to.contain('localhost');
  });

  async function start(user: User, roles: string = user): Promise<MillraceProcess> {
    return cluster.start({ ...signedInAs(user), MILLRACE_ROLES: roles, MILLRACE_QUEUE_TOKEN: TOKEN });
  }

  /** Makes a backup of the first database through the edge, where a thread writes the objects. */
  async function keepMoment(): Promise<void> {
    const [database] = (await manage('GET', 'databases')) as { database_id: string }[];
    const id = database?.database_id ?? '';
    await manage('POST', `create-backup/${id}`, { name: 'kept' });
    const moment = await eventually(
      async () => {
        const [found] = (await manage('GET', `list-backup/${id}`)) as { backup_id: string; state: string }[];
        expect(found?.state).to.equal('completed');
        return found?.backup_id ?? '';
      },
      { timeoutMs: 20_000 },
    );
    await manage('DELETE', `delete-backup/${id}/${moment}`);
  }

  async function manage(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${edge.addresses.mgmt}/v2/kv/${path}`, {
      method,
      headers: { authorization: basic(EMAIL, KEY) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.status, await answer.clone().text()).to.equal(200);
    return answer.json();
  }

  function file(name: string): string {
    return join(dir, name);
  }

  function reaching(): Environment {
    return {
      MILLRACE_NATS_TLS_CA: file('ca.crt'),
      MILLRACE_NATS_TLS_CERT: file('process.crt'),
      MILLRACE_NATS_TLS_KEY: file('process.key'),
      MILLRACE_NATS_SYS_USER: '',
      MILLRACE_NATS_SYS_PASSWORD: '',
      MILLRACE_NATS_SYS_NKEY: file('system.nk'),
      MILLRACE_REPLICAS: '3',
      MILLRACE_MGMT_EMAIL: EMAIL,
      MILLRACE_MGMT_KEY: KEY,
    };
  }

  function signedInAs(user: User): Environment {
    return { MILLRACE_NATS_USER: '', MILLRACE_NATS_PASSWORD: '', MILLRACE_NATS_NKEY: file(`${user}.nk`) };
  }

  function signInOf(user: User) {
    return {
      authenticator: nkeyAuthenticator(Buffer.from(seeds.get(user) ?? '')),
      inboxPrefix: `_INBOX.millrace.${user}.test`,
      tls: { caFile: file('ca.crt'), certFile: file('process.crt'), keyFile: file('process.key') },
    };
  }

  async function connected(user: User): Promise<NatsConnection> {
    const connection = await connect({ servers: [...nats.urls], ...signInOf(user) });
    connections.push(connection);
    return connection;
  }

  async function makeUsers(): Promise<void> {
    const env = { MILLRACE_NATS_URL: 'nats://localhost:1', MILLRACE_KV_SHARDS: '1', MILLRACE_QUEUE_SHARDS: '1' };
    const { code, stdout, stderr } = await runMillrace(['cluster', 'users', dir], env);
    expect(code, stderr).to.equal(0);
    expect(stdout.toString()).to.equal(`${file('accounts.conf')}\n`);
    for (const user of USERS) seeds.set(user, (await readFile(file(`${user}.nk`), 'utf8')).trim());
  }

  async function makeCertificate(name: string, alternatives: string, folder = dir): Promise<void> {
    await run('infra/certificates.sh', [folder, name, alternatives]);
  }

  async function reloaded(): Promise<void> {
    const times = (log: string) => log.split('Reloaded server configuration').length;
    for (const node of nats.nodes) {
      const before = times(await node.log());
      node.reload();
      await eventually(async () => expect(times(await node.log())).to.be.greaterThan(before));
    }
  }

  async function violations(): Promise<string[]> {
    const logs = await Promise.all(nats.nodes.map((node) => node.log()));
    return logs.flatMap((log) => log.split('\n').filter((line) => line.includes('Violation')));
  }

  /** The server sends the first line, and TLS begins after it. */
  async function certificateOfNode(): Promise<string> {
    const { hostname: host, port } = new URL(nats.nodes[0]!.url);
    const plain = connectSocket({ host, port: Number(port) });
    await once(plain, 'data');
    const secured = connectTls({ socket: plain, rejectUnauthorized: false });
    await once(secured, 'secureConnect');
    const { serialNumber } = secured.getPeerCertificate();
    secured.destroy();
    return serialNumber;
  }

  async function askQueue(path: string, init: RequestInit = {}): Promise<unknown> {
    const answer = await fetch(`${edge.addresses.queue}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(answer.status, await answer.clone().text()).to.be.lessThan(300);
    return answer.json();
  }
});

const seeds = new Map<User, string>();

/** Resolves when the server reports that it refused this operation. @throws when it does not */
async function refusalOn(connection: NatsConnection, operation: string, subject: string): Promise<void> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`${operation} of ${subject} was not refused`)), 3000).unref();
  });
  const said = (async () => {
    for await (const status of connection.status()) {
      if (status.type !== 'error' || !(status.error instanceof errors.PermissionViolationError)) continue;
      if (status.error.operation === operation && status.error.subject === subject) return;
    }
  })();
  await Promise.race([said, late]);
}
