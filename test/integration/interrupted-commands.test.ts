/**
 * SIGINT and SIGTERM in commands that wait for a server: one that accepts connections and never answers, and a nats-server
 * that is stopped in the middle of a command. Proves INT1–INT3.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
/** The grace of a command is two seconds; the rest is for a busy machine. */
const ENDS_WITHIN_MS = 6000;
const ENDED_BY = { SIGINT: 130, SIGTERM: 143 } as const;

/** `@` is an empty directory. */
const COMMANDS = [
  'journal verify --all',
  'journal verify --database default',
  'journal export --database default',
  'journal tail --database default',
  'journal replay --database default --at 2100-01-01T00:00:00Z',
  'journal diff --database default --from 2020-01-01T00:00:00Z --to 2100-01-01T00:00:00Z',
  'journal checkpoint --to @/checkpoint.json',
  'backup create --to @/backup',
  'cluster verify',
  'cluster init',
  'cluster status',
  'db list',
  'account list',
];

describe('SIGINT and SIGTERM', function () {
  this.timeout(240_000);

  after(endEverything);

  /** @param line `@` is an empty directory, and `silent:` the address of the command's own server */
  async function expectEnds(line: string, env: Environment, signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
    const own = await temporaryDirectory();
    const { server, address } = await silentServer();
    const connected = new Promise((resolve) => server.once('connection', resolve));
    const words = line.replace('@', own).replaceAll('silent:', address);
    const child = begun(words, { ...env, MILLRACE_NATS_URL: `nats://${address}` });
    await Promise.race([connected, new Promise((ended) => child.once('exit', ended))]);
    const { code, tookMs, told } = await interrupted(child, signal);
    server.close();
    expect([ENDED_BY[signal], 1, 0], `${line}: ${told}`).to.include(code);
    expect(tookMs, `${line}: ${told}`).to.be.below(ENDS_WITHIN_MS);
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`${signal} ends every command that waits for a server that never answers`, async () => {
      const { MILLRACE_NATS_SERVER: _, ...env } = await embeddedEnvironment(await temporaryDirectory());
      for (const line of COMMANDS) await expectEnds(line, env, signal);
      await expectEnds('import redis://silent: --to redis://silent:', env, signal);
      await expectEnds('serve', env, signal);
    });
  }

  it('SIGTERM ends every command that waits for a stopped nats-server', async () => {
    const millrace = await startMillrace();
    const { MILLRACE_NATS_SERVER: _, ...env } = await embeddedEnvironment(millrace.dataDir);
    const nats = await millrace.natsPid();
    for (const line of COMMANDS.filter((command) => !/^cluster (init|verify)/.test(command))) {
      const child = begun(line.replace('@', await temporaryDirectory()), env);
      await waitsForAnswer(child);
      process.kill(nats, 'SIGSTOP');
      try {
        const { tookMs, told } = await interrupted(child, 'SIGTERM');
        expect(tookMs, `${line}: ${told}`).to.be.below(ENDS_WITHIN_MS);
      } finally {
        process.kill(nats, 'SIGCONT');
      }
    }
  });

  it('SIGTERM ends `serve` while its embedded server does not start', async () => {
    const server = join(await temporaryDirectory(), 'nats-server');
    await writeFile(
      server,
      '#!/bin/sh\nif [ "$1" = --version ]; then echo "nats-server: v2.15.1"; exit; fi\nexec sleep 1000\n',
    );
    await chmod(server, 0o755);
    const env = {
      ...(await embeddedEnvironment(await temporaryDirectory())),
      MILLRACE_NATS_SERVER: server,
      MILLRACE_SHUTDOWN_MS: '1000',
    };
    const child = begun('serve', env);
    await waitsForAnswer(child);
    const { tookMs, told } = await interrupted(child, 'SIGTERM');
    expect(tookMs, told).to.be.below(ENDS_WITHIN_MS);
  });
});

/** Accepts connections and never answers. */
async function silentServer(): Promise<{ readonly server: Server; readonly address: string }> {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

interface Begun extends ChildProcess {
  told: string;
}

function begun(line: string, env: Environment): Begun {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('MILLRACE_'));
  const child = Object.assign(
    spawn(process.execPath, [MAIN, ...line.split(' ')], { env: { ...Object.fromEntries(kept), ...env } }),
    { told: '' },
  );
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (piece) => {
      child.told += piece;
    });
  }
  return child;
}

/** Waits until the command is loaded and has sent its request, which a server that answers does not show. */
async function waitsForAnswer(child: Begun): Promise<void> {
  await Promise.race([
    new Promise((ended) => child.once('exit', ended)),
    new Promise((passed) => setTimeout(passed, 1500)),
  ]);
}

async function interrupted(child: Begun, signal: NodeJS.Signals) {
  const startedAt = performance.now();
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((exited) => child.once('exit', exited));
    child.kill(signal);
    await ended;
  }
  clearTimeout(timer);
  return { code: child.exitCode, tookMs: performance.now() - startedAt, told: `${child.signalCode} ${child.told}` };
}
