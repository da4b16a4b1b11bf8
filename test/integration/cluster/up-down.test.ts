/** `make up` and `make down`: a cluster on this machine that is supervised, and stopped completely. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { endEverything, temporaryDirectory } from '../../support/millrace-process.js';
import { findNatsServer } from '../../support/nats-server.js';

const run = promisify(execFile);

const NATS = ['nats-1', 'nats-2', 'nats-3'];
const PROCESSES = ['millrace-1', 'millrace-2', 'millrace-3'];
/** A process that died is started after a second; others take over its shards after the takeover silence. */
const BACK_TIMEOUT_MS = 60_000;
const TOKEN = /^(?:export )?MILLRACE_KV_TOKEN='?([^'\n]*)/m;

describe('infra/local-cluster.sh', function () {
  this.timeout(240_000);
  let dir: string;
  let natsPort: number;
  let httpPort: number;
  let entrance: number;

  before(async () => {
    dir = await temporaryDirectory();
    natsPort = await freePorts(20_000, [0, 1, 2, 100, 101, 102, 200, 201, 202]);
    httpPort = await freePorts(
      10_000,
      [0, 10, 20, 100].flatMap((group) => [0, 1, 2, 3, 4].map((face) => group + face)),
    );
  });
  after(async () => {
    await script('stop');
    await endEverything();
  });

  it('nats starts the three nats-servers and prints their addresses', async () => {
    const told = NATS.map((name, at) => `${name}: nats://localhost:${natsPort + at}`);
    expect((await script('nats')).trim().split('\n')).to.deep.equal(told);
    expect(await running()).to.have.members(NATS);
  });

  it('start starts all processes, and prints ready after a write through the balancer is acknowledged', async () => {
    const lines = (await script('start')).trim().split('\n');
    expect(lines.at(-1)).to.equal('ready');
    const hasBalancer = !lines.includes('no balancer: haproxy is not installed');
    entrance = httpPort + (hasBalancer ? 100 : 20);
    expect(await running()).to.have.members([...NATS, ...PROCESSES, ...(hasBalancer ? ['balancer'] : [])]);
    expect(await command('incr/counted')).to.deep.equal({ result: 1 });
    const edge = await readFile(join(dir, 'millrace-3.log'), 'utf8');
    expect(edge)
      .to.match(/"event":"process.ready".*"roles":\["edge"\]/)
      .and.not.to.contain('config.warning');
    const violations = await Promise.all(NATS.map((name) => readFile(join(dir, `${name}.log`), 'utf8')));
    expect(violations.join('')).not.to.contain('Violation');
  });

  it('writes an environment file for the command line', async () => {
    const verify = `. ${dir}/operator.env; exec ${process.execPath} dist/src/cli/main.js cluster verify`;
    const { stdout } = await run('bash', ['-c', verify], { env: environment() });
    expect(stdout).to.contain('all streams have the settings they were created with');
  });

  it('restarts a killed process while the others serve', async () => {
    for (const name of ['millrace-1', 'nats-2']) {
      const killed = await childOf(name);
      process.kill(killed, 'SIGKILL');
      await eventually(async () => expect((await command('incr/counted')) as object).to.have.key('result'), {
        timeoutMs: BACK_TIMEOUT_MS,
      });
      await eventually(
        async () => {
          const now = await childOf(name);
          expect(now).not.to.equal(killed);
          expect(existsSync(`/proc/${now}`)).to.equal(true);
        },
        { timeoutMs: BACK_TIMEOUT_MS },
      );
    }
    const metrics = `http://127.0.0.1:${Number(await portOf('millrace-1'))}/readyz`;
    await eventually(async () => expect((await fetch(metrics)).status).to.equal(200), { timeoutMs: BACK_TIMEOUT_MS });
  });

  it('stop ends every process it started, and no other with a reused number', async () => {
    const pids = (
      await Promise.all((await readdir(dir)).filter(isOfPids).map((file) => pidIn(join(dir, file))))
    ).sort();
    expect(pids.length).to.be.greaterThan(11);
    await script('stop');
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).to.deep.equal([]);
    expect(await running()).to.deep.equal([]);
    await writeFile(join(dir, 'millrace-1.pid'), `${process.pid} 1\n`);
    expect(await script('stop')).to.equal('');
  });

  function environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      MILLRACE_NATS_SERVER: resolve(findNatsServer()),
      MILLRACE_CLUSTER_DIR: dir,
      MILLRACE_CLUSTER_NATS_PORT: String(natsPort),
      MILLRACE_CLUSTER_HTTP_PORT: String(httpPort),
    };
  }

  async function script(word: string): Promise<string> {
    return (await run('infra/local-cluster.sh', [word], { env: environment() })).stdout;
  }

  async function running(): Promise<string[]> {
    const status = await script('status');
    return [...status.matchAll(/^(\S+): runs/gm)].map(([, name = '']) => name);
  }

  function childOf(name: string): Promise<number> {
    return pidIn(join(dir, `${name}.child`));
  }

  async function portOf(name: string): Promise<string> {
    const log = await readFile(join(dir, `${name}.log`), 'utf8');
    return /^ready .*metrics=http:\/\/127\.0\.0\.1:(\d+)/m.exec(log)?.[1] ?? '';
  }

  async function command(path: string): Promise<unknown> {
    const made = await readFile(join(dir, 'millrace-1', 'credentials.env'), 'utf8');
    const authorization = `Bearer ${TOKEN.exec(made)?.[1]}`;
    return (await fetch(`http://127.0.0.1:${entrance}/${path}`, { headers: { authorization } })).json();
  }
});

function isOfPids(file: string): boolean {
  return file.endsWith('.pid') || file.endsWith('.child');
}

async function pidIn(path: string): Promise<number> {
  return Number.parseInt(await readFile(path, 'utf8'), 10);
}

/** A port below the ephemeral ones, such that all other ports of the script are free too. */
async function freePorts(from: number, offsets: readonly number[]): Promise<number> {
  for (;;) {
    const base = from + Math.floor(Math.random() * 9_000);
    const free = await Promise.all(offsets.map((offset) => isFree(base + offset)));
    if (!free.includes(false)) return base;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const probe = createServer().once('error', () => answer(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => answer(true)));
  });
}
