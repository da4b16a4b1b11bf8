/** RESP and REST over TLS, and users of a database: their rights, and the end of their connections when they are removed. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type CommonRedisOptions, Redis } from 'ioredis';
import { credentialsIn } from '../../support/db-output-reader.js';
import { eventually } from '../../support/eventually.js';
import { KvClient } from '../../support/kv-client.js';
import { failureOf, type ServedProcess, startServed } from '../../support/millrace-clients.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  PASSWORD,
  runMillrace,
  TOKEN,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { withinASecond } from '../../support/within-a-second.js';

const open = new Set<Redis>();
type Place = Pick<CommonRedisOptions, 'username' | 'password'> & { readonly port: number; readonly tls?: object };
function connect(place: Place): Redis {
  const client = new Redis({ ...place, retryStrategy: () => null, enableReadyCheck: false });
  client.on('error', () => undefined);
  open.add(client);
  return client;
}
function closeAll(): void {
  for (const client of open) client.disconnect();
  open.clear();
}

describe('RESP and REST over TLS', function () {
  this.timeout(120_000);
  let files: Record<'MILLRACE_TLS_CERT' | 'MILLRACE_TLS_KEY', string>;

  before(async function () {
    const dir = await temporaryDirectory();
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-keyout', key, '-out', cert, '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ]);
    if (made.error !== undefined) this.skip();
    files = { MILLRACE_TLS_CERT: cert, MILLRACE_TLS_KEY: key };
  });
  after(async () => {
    closeAll();
    await endEverything();
  });

  for (const workers of ['1', '2']) {
    it(`serve clients that trust the certificate, and refuse plain connections, with MILLRACE_WORKERS=${workers}`, async () => {
      const millrace = await startServed({ ...files, MILLRACE_WORKERS: workers });
      const ca = readFileSync(files.MILLRACE_TLS_CERT);
      expect(millrace.addresses.resp).to.match(/^rediss:/);
      const { respPort: port } = millrace;
      // Connections go to the workers in turn, and one worker owns the database.
      const [trusting, other] = [1, 2].map(() => connect({ port, password: PASSWORD, tls: { ca, host: '127.0.0.1' } }));
      expect(await trusting?.set('k', 'v')).to.equal('OK');
      const large = 'x'.repeat(3_000_000);
      await trusting?.rpush('l', large, large);
      for (const client of [trusting, other]) {
        expect((await client?.lrange('l', 0, -1))?.map((item) => item.length)).to.deep.equal([3_000_000, 3_000_000]);
      }
      const overRest = () =>
        new Promise<string>((resolve, reject) => {
          const url = `${millrace.kvUrl}/get/k?_token=${encodeURIComponent(TOKEN)}`;
          get(url, { ca, agent: false }, (answer) => text(answer).then(resolve, reject)).on('error', reject);
        });
      expect(await Promise.all([overRest(), overRest()])).to.deep.equal(['{"result":"v"}', '{"result":"v"}']);
      await failureOf(connect({ port, password: PASSWORD, tls: {} }).get('k'));
      await failureOf(connect({ port, password: PASSWORD }).get('k'));
      expect(await trusting?.get('k')).to.equal('v');
    });
  }
});

describe('users of a database', function () {
  this.timeout(30_000);
  let millrace: ServedProcess;
  let environment: Environment;
  let admin: Redis;
  const rest: KvClient[] = [];
  before(async () => {
    millrace = await startServed();
    environment = await embeddedEnvironment(millrace.dataDir);
    admin = connect({ port: millrace.respPort, password: PASSWORD });
  });
  after(async () => {
    closeAll();
    for (const client of rest) client.close();
    await endEverything();
  });

  const restOf = (token: string): KvClient => {
    const client = new KvClient({ url: millrace.kvUrl, token });
    rest.push(client);
    return client;
  };
  const acl = (...words: string[]) => admin.call('ACL', ...words);

  /** A stream that ends when the server ends it. */
  async function listen(token: string, channel: string): Promise<{ text: string; isEnded: boolean }> {
    const answer = await fetch(`${millrace.kvUrl}/subscribe/${channel}?_token=${encodeURIComponent(token)}`, {
      headers: { accept: 'text/event-stream' },
    });
    const stream = { text: '', isEnded: false };
    expect(answer.status).to.equal(200);
    const reading = async (): Promise<void> => {
      for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) stream.text += piece;
    };
    reading()
      .catch(() => undefined)
      .finally(() => {
        stream.isEnded = true;
      });
    await eventually(() => expect(stream.text).to.contain('subscribe'));
    return stream;
  }

  it('sign in, run the commands of their rights, and get NOPERM for others', async () => {
    await acl(
      'SETUSER',
      'ann',
      'on',
      '>pw-of-ann',
      '~app:*',
      '%R~shared:*',
      '&news:*',
      '+@all',
      '-@admin',
      '-flushall',
    );
    const ann = connect({ port: millrace.respPort, username: 'ann', password: 'pw-of-ann' });
    expect(await ann.call('ACL', 'WHOAMI').catch((error: Error) => error.message)).to.be.a('string');
    expect(await ann.set('app:1', 'x')).to.equal('OK');
    expect(await ann.get('shared:1')).to.equal(null);
    expect(await failureOf(ann.set('shared:1', 'x'))).to.match(/^NOPERM/);
    expect(await failureOf(ann.get('other'))).to.match(/^NOPERM/);
    expect(await failureOf(ann.flushall())).to.match(/^NOPERM.*'flushall'/i);
    expect(await failureOf(ann.publish('other', 'x'))).to.match(/^NOPERM/);
    expect(await ann.publish('news:1', 'x')).to.equal(0);
    expect(await failureOf(ann.eval("return redis.call('GET', 'other')", 0))).to.match(/NOPERM|ACL/);
    expect(
      await failureOf(connect({ port: millrace.respPort, username: 'ann', password: 'no' }).get('app:1')),
    ).to.match(/WRONGPASS|NOAUTH|closed/);
    const log = (await acl('LOG')) as string[][];
    expect(log.length).to.be.greaterThan(3);
    expect(await acl('DELUSER', 'ann')).to.equal(1);
  });

  it('lose their connections, tokens and streams within a second of ACL DELUSER', async () => {
    await acl('SETUSER', 'bob', 'on', '>pw-of-bob', '~*', '&*', '+@all');
    const token = String(await acl('RESTTOKEN', 'bob', 'pw-of-bob'));
    const bob = connect({ port: millrace.respPort, username: 'bob', password: 'pw-of-bob' });
    const listening = connect({ port: millrace.respPort, username: 'bob', password: 'pw-of-bob' });
    const waiting = connect({ port: millrace.respPort, username: 'bob', password: 'pw-of-bob' });
    let closed = 0;
    for (const client of [bob, listening, waiting]) client.on('close', () => (closed += 1));
    await listening.subscribe('news');
    const popping = waiting.blpop('nothing', 0).catch((error: Error) => error.message);
    const stream = await listen(token, 'news');
    expect(await restOf(token).ask('SET', 'k', 'by bob')).to.equal('OK');
    expect(await bob.get('k')).to.equal('by bob');
    expect(await admin.publish('news', 'hello')).to.equal(2);
    await eventually(() => expect(stream.text).to.contain('message,news,hello'));
    expect(await acl('DELUSER', 'bob')).to.equal(1);
    await withinASecond([millrace], () => expect([closed, stream.isEnded]).to.deep.equal([3, true]));
    expect(await popping).to.be.a('string');
    expect((await restOf(token).raw('/get/k')).status).to.equal(401);
    expect(await admin.publish('news', 'nobody')).to.equal(0);
  });

  it('lose the connections that used a removed password', async () => {
    await acl('SETUSER', 'fay', 'on', '>old-of-fay', '>new-of-fay', '~*', '&*', '+@all');
    const [old, renewed] = ['old-of-fay', 'new-of-fay'].map((password) =>
      connect({ port: millrace.respPort, username: 'fay', password }),
    ) as [Redis, Redis];
    expect([await old.ping(), await renewed.ping()]).to.deep.equal(['PONG', 'PONG']);
    let isEnded = false;
    old.on('end', () => {
      isEnded = true;
    });
    await acl('SETUSER', 'fay', '<old-of-fay');
    await eventually(() => expect(isEnded).to.equal(true));
    expect(await renewed.ping()).to.equal('PONG');
    await acl('SETUSER', 'fay', 'resetpass');
    expect(await failureOf(renewed.ping())).to.match(/closed/i);
  });

  it('are in ACL LOG with refused commands of scripts and transactions, up to acllog-max-len', async () => {
    await acl('SETUSER', 'gus', 'on', '>pw-of-gus', '~a*', '+@all', '-incr');
    const gus = connect({ port: millrace.respPort, username: 'gus', password: 'pw-of-gus' });
    const latest = async () => {
      const [entry = []] = (await acl('LOG', '1')) as unknown[][];
      const at = (name: string) => entry[entry.indexOf(name) + 1];
      const command = / cmd=(\S+) /.exec(String(at('client-info')))?.[1];
      return [at('reason'), at('context'), at('object'), at('username'), command];
    };
    await acl('LOG', 'RESET');
    expect(await failureOf(gus.eval("return redis.call('INCR', 'a')", 0))).to.match(/ACL failure in script/);
    expect(await latest()).to.deep.equal(['command', 'lua', 'incr', 'gus', 'eval']);
    await gus.eval("return redis.pcall('GET', 'b') and 1", 0);
    expect(await latest()).to.deep.equal(['key', 'lua', 'b', 'gus', 'eval']);
    await gus.call('MULTI');
    await gus.call('GET', 'a');
    await acl('SETUSER', 'gus', '-get');
    await gus.call('EXEC');
    expect(await latest()).to.deep.equal(['command', 'multi', 'get', 'gus', 'exec']);
    const token = String(await acl('RESTTOKEN', 'gus', 'pw-of-gus'));
    await restOf(token).command('EVAL', "return redis.call('INCR', 'rest')", '0');
    expect((await latest()).slice(0, 4)).to.deep.equal(['command', 'lua', 'incr', 'gus']);
    expect(await admin.config('GET', 'acllog-max-len')).to.deep.equal(['acllog-max-len', '128']);
    await admin.config('SET', 'acllog-max-len', '3');
    expect(await acl('LOG', '1000')).to.have.length(3);
    await admin.config('SET', 'acllog-max-len', '200');
    for (let i = 0; i < 250; i += 1) await failureOf(gus.set(`denied:${i}`, 'x'));
    expect(await acl('LOG', '1000')).to.have.length(200);
    expect(await failureOf(admin.config('SET', 'acllog-max-len', '10001'))).to.match(/between 0 and 10000 inclusive/);
    await admin.config('SET', 'acllog-max-len', '128');
  });

  it('remain after a restart, with their tokens', async () => {
    await acl('SETUSER', 'eve', 'on', '>pw-of-eve', '~eve:*', '+@string');
    const token = String(await acl('RESTTOKEN', 'eve', 'pw-of-eve'));
    await millrace.kill('SIGKILL');
    millrace = await startServed({}, millrace.dataDir);
    admin = connect({ port: millrace.respPort, password: PASSWORD });
    const eve = connect({ port: millrace.respPort, username: 'eve', password: 'pw-of-eve' });
    expect(await eve.set('eve:1', 'x')).to.equal('OK');
    expect(await failureOf(eve.set('k', 'x'))).to.match(/^NOPERM/);
    expect(await restOf(token).ask('GET', 'eve:1')).to.equal('x');
    expect(await acl('USERS')).to.include.members(['default', 'eve']);
  });

  it('are disconnected when the password of the database is reset', async () => {
    const created = await runMillrace(['db', 'create', '--name', 'second'], environment);
    const made = credentialsIn(created.stdout.toString());
    await eventually(async () => expect(await restOf(made.token).ask('SET', 'k', 'v')).to.equal('OK'));
    const stream = await listen(made.token, 'news');
    const client = connect({ port: millrace.respPort, username: 'default', password: made.password });
    let isClosed = false;
    client.on('close', () => {
      isClosed = true;
    });
    expect(await client.get('k')).to.equal('v');
    const reset = await runMillrace(['db', 'reset-password', made.id], environment);
    expect(reset.code, reset.stderr).to.equal(0);
    await eventually(() => expect([isClosed, stream.isEnded]).to.deep.equal([true, true]));
    expect((await restOf(made.token).raw('/get/k')).status).to.equal(401);
    const renewed = credentialsIn(reset.stdout.toString());
    const again = connect({ port: millrace.respPort, username: 'default', password: renewed.password });
    expect(await again.get('k')).to.equal('v');
    expect(await restOf(TOKEN).ask('PING'), 'of the other database').to.equal('PONG');
  });
});
