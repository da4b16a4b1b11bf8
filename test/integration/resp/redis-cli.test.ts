import { spawn, spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { PASSWORD, RespEndpointHarness } from '../../support/resp-endpoint.js';

const REDIS_CLI = 'redis-cli';

/** The output of the tool for these lines on its standard input. */
function cli(port: number, lines: readonly string[], options: readonly string[] = []): Promise<string> {
  const given = ['-p', String(port), '-a', PASSWORD, '--no-auth-warning', ...options];
  return new Promise((resolve, reject) => {
    const child = spawn(REDIS_CLI, given, { stdio: ['pipe', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    child.on('error', reject);
    child.on('close', () => resolve(printed));
    child.stdin.end(`${lines.join('\n')}\n`);
  });
}

describe('RESP: redis-cli', () => {
  let face: RespEndpointHarness;
  before(async function () {
    if (spawnSync(REDIS_CLI, ['--version']).status !== 0) this.skip();
    face = await new RespEndpointHarness().start();
  });
  after(() => face?.stop());

  it('signs in, writes and reads', async () => {
    expect(await cli(face.port, ['SET k "a b"', 'GET k', 'INCR n', 'GET none'])).to.equal('OK\na b\n1\n\n');
  });

  it('speaks RESP3', async () => {
    expect(await cli(face.port, ['HELLO'], ['-3'])).to.match(/^server redis\nversion \S+\nproto 3\n/);
  });

  it('runs transactions', async () => {
    expect(await cli(face.port, ['MULTI', 'SET t 1', 'INCR t', 'EXEC'])).to.equal('OK\nQUEUED\nQUEUED\nOK\n2\n');
  });

  it('loads 20,000 commands with --pipe', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `SET key:${i} ${i}`);
    expect(await cli(face.port, lines, ['--pipe'])).to.contain('errors: 0, replies: 20000');
  });

  it('serves redis-benchmark', async function () {
    if (spawnSync('redis-benchmark', ['--version']).status !== 0) this.skip();
    const child = spawn('redis-benchmark', [
      ...['-p', String(face.port), '-a', PASSWORD, '-t', 'ping,set,get,incr,mset', '-n', '2000', '-P', '10', '-q'],
    ]);
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).to.equal(0);
    expect(printed.match(/requests per second/g)?.length).to.be.at.least(5);
  }).timeout(20_000);
});
