/** The findings of `millrace doctor` on a machine and in a directory with common problems. Proves DOC1. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { lockDataDir } from '../../../src/adapters/nats/embedded/index.js';
import type { Diagnosis } from '../../../src/cli/doctor/diagnosis.js';
import { doctorCommand } from '../../../src/cli/doctor/doctor-command.js';
import { clockCheck, flockCheck, nodeCheck, openFilesCheck } from '../../../src/cli/doctor/machine-checks.js';
import { typed } from '../../support/command-lines.js';

const FREE = {
  MILLRACE_KV_PORT: '0',
  MILLRACE_QUEUE_PORT: '0',
  MILLRACE_MGMT_PORT: '0',
  MILLRACE_RESP_PORT: '0',
  MILLRACE_METRICS_PORT: '0',
};

describe('millrace doctor', () => {
  let dir = '';
  let server = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'millrace-doctor-'));
    server = join(dir, 'nats-server');
    writeFileSync(server, '#!/bin/sh\necho "nats-server: v2.15.1"\n', { mode: 0o755 });
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const dataDir = () => join(dir, 'data');
  async function examined(env: Record<string, string> = {}) {
    const all = {
      PATH: process.env.PATH ?? '',
      MILLRACE_NATS_SERVER: server,
      MILLRACE_DATA_DIR: dataDir(),
      ...FREE,
      ...env,
    };
    let out = '';
    const write = (text: string) => {
      out += text;
    };
    const { code } = await typed(['doctor', '--json'], { process: (_, asked) => doctorCommand(asked, all, write) });
    const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Diagnosis[] };
    expect(code).to.equal(ok ? 0 : 1);
    return { code, of: (name: string) => checks.find(({ check }) => check === name) };
  }

  it('has no findings for a fresh directory, and creates no file in it', async () => {
    const { code, of } = await examined();
    expect(code).to.equal(0);
    expect(of('nats-server')).to.include({ state: 'ok', found: `2.15.1, ${server}` });
    expect(of('data directory')?.found).to.contain('created by the first start');
    expect(of('seal key')?.found).to.contain('created by the first start');
    expect(of('lock')).to.include({ state: 'ok', found: 'free' });
    expect(readdirSync(dir)).to.deep.equal(['nats-server']);
  });

  it('prints a line for each check, with the remedy', async () => {
    let out = '';
    const write = (text: string) => {
      out += text;
    };
    const env = { ...FREE, MILLRACE_DATA_DIR: '/proc/millrace', MILLRACE_NATS_SERVER: server };
    const run = {
      process: (_: string, asked: Parameters<typeof doctorCommand>[0]) => doctorCommand(asked, env, write),
    };
    expect((await typed(['doctor'], run)).code).to.equal(1);
    expect(out).to.match(/^ok {4}node +\d/m);
    expect(out).to.match(
      /^fail {2}data directory .*\/proc, which cannot store files\n +set MILLRACE_DATA_DIR to another directory$/m,
    );
  });

  it('names an invalid setting, and then stops', async () => {
    const { code, of } = await examined({ MILLRACE_KV_PORT: 'banana' });
    expect(code).to.equal(1);
    expect(of('settings')?.found).to.contain('MILLRACE_KV_PORT accepts a port');
    expect(of('ports')).to.equal(undefined);
    expect((await examined({ MILLRACE_KV_PROT: '1' })).of('settings')?.state).to.equal('warn');
  });

  it('reports an unusable or old nats-server', async () => {
    writeFileSync(server, '#!/bin/sh\necho "nats-server: v2.9.10"\n');
    expect((await examined()).of('nats-server')?.state).to.equal('warn');
    expect((await examined({ MILLRACE_NATS_SERVER: '/nowhere' })).of('nats-server')?.state).to.equal('fail');
  });

  it('reports a taken port, unless the process that serves this directory uses it', async () => {
    const taken = await listening();
    const { port } = taken.address() as { port: number };
    const busy = { MILLRACE_QUEUE_PORT: String(port) };
    const found = (await examined(busy)).of('ports');
    expect(found).to.include({ state: 'fail' });
    expect(found?.found).to.equal(
      `MILLRACE_QUEUE_PORT: cannot listen on 127.0.0.1:${port}: another program listens there`,
    );
    const lock = await lockDataDir(dataDir());
    const held = await examined(busy);
    expect(held.of('lock')?.found).to.contain(`held by process ${process.pid}`);
    expect(held.of('ports')).to.include({ state: 'ok', found: `${port}, used by process ${process.pid}` });
    lock.release();
    taken.close();
  });

  it('reports a key that is missing, invalid or readable by others', async () => {
    mkdirSync(dataDir());
    const key = join(dir, 'key');
    const keyIs = async () => (await examined({ MILLRACE_SEAL_KEY_FILE: key })).of('seal key');
    writeFileSync(join(dataDir(), 'layout.json'), '{}');
    expect(await keyIs()).to.include({ state: 'fail' });
    expect(existsSync(key)).to.equal(false);
    writeFileSync(key, 'nonsense', { mode: 0o600 });
    expect((await keyIs())?.found).to.contain('does not hold 32 bytes');
    writeFileSync(key, `${Buffer.alloc(32, 7).toString('base64')}\n`);
    expect((await keyIs())?.state).to.equal('ok');
    chmodSync(key, 0o644);
    expect(await keyIs()).to.include({ state: 'warn', advice: `chmod 600 ${key}` });
  });

  it('reports less free disk space than the reserve', async () => {
    const found = (await examined({ MILLRACE_DISK_RESERVE_BYTES: '1000GiB' })).of('disk');
    expect(found?.state).to.equal('fail');
    expect(found?.found).to.contain('1000.0 GiB in reserve');
  });

  it('checks the version of Node, the clock, open files and flock', async () => {
    for (const version of ['20.18.3', '18.20.0', '27.0.0']) expect(nodeCheck(version).state, version).to.equal('fail');
    for (const version of ['20.19.0', '22.0.0', '24.22.3', '26.9.9']) {
      expect(nodeCheck(version).state, version).to.equal('ok');
    }
    for (const version of ['21.7.0', '23.1.0', '25.0.0']) expect(nodeCheck(version).state, version).to.equal('warn');
    expect((await clockCheck(Date.UTC(2001, 0), [server])).state).to.equal('fail');
    expect((await clockCheck(Date.now() + 1000, [server, '/not/there'])).state).to.equal('ok');
    const http = { httpMaxConnections: 1000 } as Parameters<typeof openFilesCheck>[1]['http'];
    const limits = (files: string) => `Max open files            ${files}               ${files}           files\n`;
    expect(openFilesCheck(limits('1024'), { http }).state).to.equal('warn');
    expect(openFilesCheck(limits('4096'), { http }).state).to.equal('ok');
    expect(openFilesCheck(limits('unlimited'), { http }).state).to.equal('ok');
    expect((await flockCheck('/nowhere')).state).to.equal('fail');
  });
});

function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
  });
}
