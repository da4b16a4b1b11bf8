/** Proves DL2, EM1–EM4, OP1, OP2, SCO1, SCO2, SPR1–SPR4. */
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { connect, type NatsConnection } from 'nats';
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  type FoundServer,
  lockDataDir,
  startEmbeddedServer,
} from '../../../src/adapters/nats/embedded/index.js';
import { recordServer } from '../../../src/adapters/nats/embedded/orphan.js';
import { identifyProcess } from '../../../src/adapters/nats/embedded/process-identity.js';
import { chooseBinding, launch } from '../../../src/adapters/nats/embedded/server-process.js';
import { knowsSyncAlways } from '../../../src/adapters/nats/embedded/server-version.js';
import { describeError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLog } from '../../support/recording-log.js';
import { endAllParents, startParent } from './parents.js';
import { freshDirs, testServer } from './test-server.js';

describe('embedded server', function () {
  this.timeout(30_000);
  const fresh = freshDirs();
  let found: FoundServer;
  let log: RecordingLog;
  const started: EmbeddedServer[] = [];

  before(async function () {
    this.timeout(300_000);
    found = await testServer();
  });
  beforeEach(() => {
    log = new RecordingLog();
  });
  afterEach(async () => {
    await endAllParents();
    await Promise.all(started.splice(0).map((server) => server.stop()));
  });

  async function start(options: Partial<EmbeddedServerOptions> = {}): Promise<EmbeddedServer> {
    const server = await startEmbeddedServer({
      binary: found.path,
      version: found.version,
      dataDir: fresh.dir,
      log,
      onGiveUp: () => undefined,
      ...options,
    });
    started.push(server);
    return server;
  }

  describe('while it runs', () => {
    it('listens on loopback only, asks for credentials and offers JetStream', async () => {
      const server = await start();
      expect(server.url).to.match(/^nats:\/\/127\.0\.0\.1:\d+$/);
      expect(describeError(await rejection(connect({ servers: server.url, reconnect: false })))).to.match(/authoriz/i);
      const connection = await connected(server);
      const manager = await jetstreamManager(connection);
      expect((await manager.getAccountInfo()).streams).to.equal(0);
      expect(connection.info?.max_payload).to.equal(1024 * 1024);
      expect(connection.info?.version).to.equal(server.version);
      await connection.close();
    });

    it('protects its files with mode 0600, and writes client.json for the command line', async () => {
      const server = await start();
      for (const name of ['nats.conf', 'client.json', 'server.json']) {
        expect((await stat(join(fresh.dir, 'nats', name))).mode & 0o777, name).to.equal(0o600);
      }
      const client = JSON.parse(await readFile(join(fresh.dir, 'nats/client.json'), 'utf8')) as Record<string, string>;
      expect(client).to.deep.equal({
        url: server.url,
        user: server.credentials.user,
        password: server.credentials.password,
        sysUser: server.sysCredentials.user,
        sysPassword: server.sysCredentials.password,
      });
      expect(JSON.stringify(log.lines)).not.to.contain(server.credentials.password);
    });

    it('syncs every write before it acknowledges it, if its version can', async () => {
      const server = await start();
      const can = knowsSyncAlways(server.version);
      expect(server.hasSyncAlways).to.equal(can);
      expect(await reportedSyncAlways(server)).to.equal(can || undefined);
      expect(log.of('nats-server.no-fsync')).to.have.length(can ? 0 : 1);
    });

    it('does not sync every write with fsync=interval', async () => {
      const server = await start({ fsync: 'interval' });
      expect(server.hasSyncAlways).to.equal(false);
      expect(await reportedSyncAlways(server)).to.equal(undefined);
    });

    it('does not hold the lock of the data directory, and is not reached by Ctrl-C of the terminal', async () => {
      const lock = await lockDataDir(fresh.dir);
      const server = await start();
      const descriptors = await readdir(`/proc/${server.pid}/fd`);
      const files = descriptors.map((name) => readlink(`/proc/${server.pid}/fd/${name}`).catch(() => ''));
      expect(await Promise.all(files)).not.to.include(lock.path);
      const [, , group] = (await readFile(`/proc/${server.pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
      expect(group).to.equal(String(server.pid));
      lock.release();
    });

    it('runs on half of the processors, with only PATH from the environment', async () => {
      const server = await start();
      const { PATH = '', ...others } = Object.fromEntries(
        (await readFile(`/proc/${server.pid}/environ`, 'utf8'))
          .split('\0')
          .filter((text) => text !== '' && !/^(PWD|SHLVL|_|OLDPWD)=/.test(text))
          .map((text) => text.split('=', 2) as [string, string]),
      );
      expect(PATH).not.to.equal('');
      expect(others).to.deep.equal({ GOMAXPROCS: `${Math.max(1, Math.floor(availableParallelism() / 2))}` });
    });

    it('is gone after stop, and so is client.json', async () => {
      const server = await start();
      await server.stop();
      expect(await identifyProcess(server.pid)).to.equal(undefined);
      expect(describeError(await rejection(readFile(join(fresh.dir, 'nats/client.json'))))).to.contain('ENOENT');
      expect(log.of('nats-server.died')).to.have.length(0);
    });
  });

  for (const binding of ['setpriv', 'pipe'] as const) {
    it(`dies with its parent, 30 times in 30, bound by ${binding}`, async function () {
      this.timeout(120_000);
      for (let round = 1; round <= 30; round += 1) {
        const parent = await startParent('serve', fresh.dir, found.path, found.version, binding);
        expect(await identifyProcess(parent.serverPid), `round ${round}`).not.to.equal(undefined);
        await parent.kill();
        await eventually(
          async () => expect(await identifyProcess(parent.serverPid), `round ${round}`).to.equal(undefined),
          { timeoutMs: 2000, everyMs: 5 },
        );
      }
    });
  }

  describe('when it dies unexpectedly', () => {
    for (const binding of ['setpriv', 'pipe'] as const) {
      it(`is restarted on the same port with its streams, bound by ${binding}`, async () => {
        const server = await start({ binding, limits: { firstBackoffMs: 1 } });
        const connection = await connected(server);
        // A request that is sent while the client reconnects is lost; the next try is not.
        const manager = await jetstreamManager(connection, { timeout: 300 });
        await manager.streams.add({ name: 'KEPT', subjects: ['kept'] });
        await manager.jetstream().publish('kept', 'a value');
        const first = server.pid;
        process.kill(first, 'SIGKILL');
        await eventually(() => expect(log.of('nats-server.restarted')).to.have.length(1));
        expect(server.pid).not.to.equal(first);
        const info = await eventually(() => manager.streams.info('KEPT'));
        expect(info.state.messages).to.equal(1);
        await connection.close();
      });
    }

    it('is given up after too many restarts, with one line', async () => {
      const reasons: string[] = [];
      const server = await start({
        limits: { restarts: 2, firstBackoffMs: 1 },
        onGiveUp: (reason) => reasons.push(reason),
      });
      for (let restarts = 0; restarts <= 2; restarts += 1) {
        await eventually(() => expect(log.of('nats-server.restarted')).to.have.length(restarts));
        process.kill(server.pid, 'SIGKILL');
      }
      await eventually(() => expect(reasons).to.have.length(1));
      expect(reasons[0]).to.equal('nats-server ended 3 times in a row and is not started again (last: signal SIGKILL)');
      expect(log.of('nats-server.given-up')).to.have.length(1);
      expect(await identifyProcess(server.pid)).to.equal(undefined);
    });

    it('can be stopped while it waits for its restart', async () => {
      const server = await start({ limits: { firstBackoffMs: 60_000, longestBackoffMs: 60_000 } });
      process.kill(server.pid, 'SIGKILL');
      await eventually(() => expect(log.of('nats-server.died')).to.have.length(1));
      await server.stop();
      expect(log.of('nats-server.restarted')).to.have.length(0);
    });
  });

  describe('at the next start', () => {
    it('ends a server of an earlier run', async () => {
      await (await start()).stop();
      const dir = join(fresh.dir, 'nats');
      const orphan = launch(found.path, join(dir, 'nats.conf'), 'setpriv');
      const facts = { pid: orphan.pid, configPath: join(dir, 'nats.conf'), binary: found.path, port: 1 };
      await recordServer(join(dir, 'server.json'), { ...facts, version: found.version });
      await start();
      expect(orphan.hasEnded()).to.equal(true);
      expect(log.of('nats-server.orphan')).to.have.length(1);
    });

    it('does not end a process with the recorded pid and another start time', async () => {
      const stranger = await strangerWith('nats.conf');
      await writeRecord(stranger.pid, { startTicks: '1' });
      await start();
      expect(await identifyProcess(stranger.pid)).not.to.equal(undefined);
      stranger.end();
    });

    it('does not end a process with the recorded pid and start time and another command', async () => {
      const stranger = await strangerWith('another.conf');
      await writeRecord(stranger.pid, {});
      await start();
      expect(await identifyProcess(stranger.pid)).not.to.equal(undefined);
      expect(log.of('nats-server.orphan')).to.have.length(0);
      stranger.end();
    });

    it('starts although the record is damaged', async () => {
      await mkdir(join(fresh.dir, 'nats'));
      await writeFile(join(fresh.dir, 'nats/server.json'), '{"pid":');
      expect((await start()).pid).to.be.greaterThan(1);
    });

    it('logs that an older server than the last one opens the store', async () => {
      await mkdir(join(fresh.dir, 'nats'));
      await writeFile(join(fresh.dir, 'nats/store-version'), '99.0.0\n');
      await start();
      expect(log.of('nats-server.downgrade')[0]?.fields.earlier).to.equal('99.0.0');
    });
  });

  it('is not started when its parent is gone before it could be bound to it (SPR2)', async function () {
    if ((await chooseBinding()) !== 'setpriv') this.skip();
    const binary = join(fresh.dir, 'server');
    const ran = join(fresh.dir, 'ran');
    await writeFile(binary, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    const own = process.pid;
    // Simulates a process that dies in that moment: the new process then has another parent.
    Object.defineProperty(process, 'pid', { value: 1, configurable: true });
    let orphan: ReturnType<typeof launch>;
    try {
      orphan = launch(binary, 'unused.conf', 'setpriv');
    } finally {
      Object.defineProperty(process, 'pid', { value: own, configurable: true });
    }
    expect(await orphan.ended).to.equal('exit code 70');
    expect(await readdir(fresh.dir)).not.to.include('ran');
    await launch(binary, 'unused.conf', 'setpriv').ended;
    expect(await readdir(fresh.dir)).to.include('ran');
  });

  it('that cannot start is reported in one line with the server’s own reason', async () => {
    await mkdir(join(fresh.dir, 'nats'), { recursive: true });
    await writeFile(join(fresh.dir, 'nats/store'), 'a file where the store should be');
    const error = describeError(await rejection(start()));
    expect(error).to.contain(`nats-server ${found.version} did not start: `);
    expect(error).to.contain('not a directory');
    expect(error.split('\n')).to.have.length(1);
  });

  /** A process that is not a nats-server, with a file of the data directory in its command line. */
  async function strangerWith(name: string): Promise<{ pid: number; end(): void }> {
    await mkdir(join(fresh.dir, 'nats'), { recursive: true });
    const child = spawn('sh', ['-c', 'read -r line', 'sh', join(fresh.dir, 'nats', name)], { stdio: 'pipe' });
    return { pid: child.pid ?? 0, end: () => child.stdin.end('\n') };
  }

  async function writeRecord(pid: number, changes: { startTicks?: string }): Promise<void> {
    const facts = { configPath: join(fresh.dir, 'nats/nats.conf'), binary: found.path, version: '2.15.0', port: 1 };
    const record = { ...facts, ...(await identifyProcess(pid)), ...changes };
    await writeFile(join(fresh.dir, 'nats/server.json'), JSON.stringify(record));
  }
});

async function connected(server: EmbeddedServer): Promise<NatsConnection> {
  const { user, password } = server.credentials;
  return connect({ servers: server.url, user, pass: password, maxReconnectAttempts: -1, reconnectTimeWait: 20 });
}

async function reportedSyncAlways(server: EmbeddedServer): Promise<boolean | undefined> {
  const { user, password } = server.sysCredentials;
  const connection = await connect({ servers: server.url, user, pass: password, reconnect: false });
  const answer = await connection.request('$SYS.REQ.SERVER.PING.VARZ');
  await connection.close();
  const report = answer.json() as { data: { jetstream: { config: { sync_always?: boolean } } } };
  return report.data.jetstream.config.sync_always;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );
}
