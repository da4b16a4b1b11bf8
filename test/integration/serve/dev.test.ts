/**
 * `millrace dev` and `millrace demo`, on pipes and on a terminal: the addresses that they print work, and no file is
 * left. Proves DEV1, DEV2.
 */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, Receiver } from '@upstash/qstash';
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type RunningCommand,
  runMillrace,
  startMillrace,
  temporaryDirectory,
  watchMillrace,
} from '../../support/millrace-process.js';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const START_MS = 60_000;
/** Documented; this machine runs other tests. */
const END_MS = 2_000;
const SLACK_MS = 3_000;
const CTRL_C = '\u0003';

describe('millrace dev and demo', function () {
  this.timeout(120_000);
  let folder = '';
  let receiver: Server;
  let received: { url: string; body: string; headers: Record<string, string | string[] | undefined> }[];

  beforeEach(async () => {
    folder = await temporaryDirectory();
    received = [];
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += String(piece);
      received.push({ url: request.url ?? '', body, headers: request.headers });
      // `/slow` never answers, so its request stays open while the process runs.
      if (request.url !== '/slow') response.end('seen');
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  });
  afterEach(async () => {
    receiver.closeAllConnections();
    receiver.close();
    await endEverything();
  });

  const sink = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

  /** Its directory is made in one of the test's own. */
  async function environment(): Promise<Environment> {
    const { MILLRACE_NATS_SERVER: server = '', MILLRACE_HEAP_MB: heap = '' } = await embeddedEnvironment(folder);
    return {
      TMPDIR: folder,
      MILLRACE_HEAP_MB: heap,
      ...(server === '' ? {} : { MILLRACE_NATS_SERVER: server }),
      MILLRACE_KV_PORT: '0',
      MILLRACE_QUEUE_PORT: '0',
      MILLRACE_MGMT_PORT: '0',
      MILLRACE_RESP_PORT: String(await freePort()),
      MILLRACE_METRICS_PORT: '0',
    };
  }

  const kept = () => readdirSync(folder).filter((name) => name.startsWith('millrace-dev-'));

  it('dev prints variables for published clients, delivers to this machine, and removes its directory', async () => {
    const dev = watchMillrace(['dev'], await environment());
    const given = await readyWith(dev);
    expect(kept()).to.have.length(1);
    const redis = new Redis({ url: given('UPSTASH_REDIS_REST_URL'), token: given('UPSTASH_REDIS_REST_TOKEN') });
    expect(await redis.set('user', { name: 'Ada' })).to.equal('OK');
    const native = await createClient({ url: given('REDIS_URL') }).connect();
    expect(await native.get('user')).to.equal('{"name":"Ada"}');
    native.destroy();
    const queue = new Client({ baseUrl: given('QSTASH_URL'), token: given('QSTASH_TOKEN') });
    await queue.publish({ url: `${sink()}/order`, body: 'one' });
    await eventually(() => expect(received.map(({ url, body }) => [url, body])).to.deep.equal([['/order', 'one']]));
    const signature = received[0]?.headers['upstash-signature'] as string;
    const keys = {
      currentSigningKey: given('QSTASH_CURRENT_SIGNING_KEY'),
      nextSigningKey: given('QSTASH_NEXT_SIGNING_KEY'),
    };
    expect(await new Receiver(keys).verify({ signature, body: 'one', url: `${sink()}/order` })).to.equal(true);
    // On a pipe the log is for programs.
    for (const line of dev.errors) expect(JSON.parse(line)).to.include.keys('time', 'level', 'event');
    expect(await dev.stop('SIGINT')).to.deep.equal({ code: 0, signal: null });
    expect(kept()).to.deep.equal([]);
  });

  it('dev serves published clients in their development mode, without a download', async () => {
    const port = String(await freePort());
    const dev = watchMillrace(['dev'], { ...(await environment()), MILLRACE_QUEUE_PORT: port });
    const given = await readyWith(dev);
    const program = `
      import { Client, Receiver } from '@upstash/qstash';
      const client = new Client({ devMode: true });
      const { messageId } = await client.publish({ url: process.argv[1], body: 'from development' });
      console.log(messageId);`;
    const env = { ...process.env, QSTASH_DEV: 'true', QSTASH_DEV_PORT: port };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', program, `${sink()}/dev`],
      { env },
    );
    expect(stdout)
      .to.match(/Server already running/)
      .and.match(/^msg_/m)
      .and.not.match(/Downloading/);
    await eventually(() => expect(received.map(({ url }) => url)).to.deep.equal(['/dev']));
    const signature = received[0]?.headers['upstash-signature'] as string;
    const verified = new Receiver({ devMode: true }).verify({ signature, body: 'from development' });
    expect(await verified).to.equal(true);
    expect(given('QSTASH_URL')).to.equal(`http://127.0.0.1:${port}`);
    await dev.stop('SIGINT');
  });

  it('env prints the addresses and credentials of the running process for a shell, a .env file and JSON', async () => {
    const env = { ...(await embeddedEnvironment(join(folder, 'data'))), MILLRACE_RESP_PORT: String(await freePort()) };
    const running = await startMillrace({ dataDir: join(folder, 'data'), env });
    const { kv, queue, mgmt, resp } = running.addresses as Record<string, string>;
    const run = (...words: string[]) => runMillrace(['env', ...words], env);
    const printed = await run();
    expect(printed.stderr).to.equal('');
    const lines = printed.stdout.toString().trimEnd().split('\n');
    for (const line of lines) expect(line).to.match(/^export [A-Z_]+=\S+$/);
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      `${printed.stdout.toString()} curl -s -H "Authorization: Bearer $MILLRACE_KV_TOKEN" "$MILLRACE_KV_URL/set/from/env"
       curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $MILLRACE_QUEUE_TOKEN" "$MILLRACE_QUEUE_URL/v2/keys"
       curl -s -o /dev/null -w '%{http_code}' -u "$MILLRACE_MGMT_EMAIL:$MILLRACE_MGMT_KEY" "$MILLRACE_MGMT_URL/v2/kv/databases"`,
    ]);
    expect(stdout).to.equal('{"result":"OK"}200200');
    const values = JSON.parse((await run('--json')).stdout.toString()) as Record<string, string>;
    expect([values.MILLRACE_KV_URL, values.MILLRACE_QUEUE_URL, values.MILLRACE_MGMT_URL]).to.deep.equal([
      kv,
      queue,
      mgmt,
    ]);
    const native = await createClient({ url: values.REDIS_URL as string }).connect();
    expect(await native.get('from')).to.equal('env');
    native.destroy();
    expect(new URL(values.REDIS_URL as string).port).to.equal(new URL(resp as string).port);
    const dotenv = (await run('--dotenv')).stdout.toString();
    expect(dotenv).to.equal(lines.map((line) => `${line.replace('export ', '')}\n`).join(''));
    await running.kill('SIGTERM');
    const refused = await run();
    expect([refused.code, refused.stderr]).to.deep.equal([
      1,
      `millrace: no process runs in ${join(folder, 'data')}: start one, or set MILLRACE_DATA_DIR to its directory\n`,
    ]);
  });

  it('dev removes its directory when it cannot start', async () => {
    const taken = (receiver.address() as AddressInfo).port;
    const dev = watchMillrace(['dev'], { ...(await environment()), MILLRACE_MGMT_PORT: String(taken) });
    await eventually(() => expect(dev.errors.join('\n')).to.contain('MILLRACE_MGMT_PORT: cannot listen on'), {
      timeoutMs: START_MS,
    });
    expect((await dev.stop()).code).to.equal(1);
    expect(kept()).to.deep.equal([]);
  });

  it('demo has keys of every type, messages, schedules and finished runs', async () => {
    const demo = watchMillrace(['demo'], await environment());
    const given = await readyWith(demo);
    const redis = new Redis({ url: given('UPSTASH_REDIS_REST_URL'), token: given('UPSTASH_REDIS_REST_TOKEN') });
    const types = await Promise.all(
      ['greeting', 'user:1', 'jobs', 'colours', 'scores', 'events', 'readings', 'doc:1'].map((key) => redis.type(key)),
    );
    expect(types).to.deep.equal(['string', 'hash', 'list', 'set', 'zset', 'stream', 'array', 'ReJSON-RL']);
    expect(await redis.dbsize()).to.be.greaterThan(200);
    const queue = new Client({ baseUrl: given('QSTASH_URL'), token: given('QSTASH_TOKEN') });
    expect((await queue.schedules.list()).map(({ scheduleId }) => scheduleId).sort()).to.deep.equal([
      'every-minute',
      'monday',
    ]);
    const headers = { authorization: `Bearer ${given('QSTASH_TOKEN')}` };
    await eventually(
      async () => {
        const logs = await fetch(`${given('QSTASH_URL')}/v2/workflows/logs`, { headers });
        const { runs } = (await logs.json()) as { runs: { workflowState: string }[] };
        expect(runs.map(({ workflowState }) => workflowState)).to.deep.equal(Array(5).fill('RUN_SUCCESS'));
        const { messages } = await queue.dlq.listMessages();
        expect(messages.map(({ url }) => new URL(url).pathname)).to.deep.equal(['/broken']);
      },
      { timeoutMs: 30_000 },
    );
    expect(await demo.stop('SIGINT')).to.deep.equal({ code: 0, signal: null });
  });

  it('dev on a terminal prints a short text, and ends within two seconds of Ctrl-C', async function () {
    const terminal = await onTerminal(await environment());
    if (terminal === undefined) return this.skip();
    await eventually(() => expect(terminal.text()).to.match(/^ready kv=/m), { timeoutMs: START_MS });
    const lines = terminal.text().trimEnd().split('\r\n');
    expect(lines.length).to.be.lessThan(20);
    expect(lines.join('\n')).to.match(/console http:\S+\/console, sign in with \S+@\S+ and mrk_/);
    expect(lines.at(-1)).to.match(/^ready kv=http:\S+ queue=http:\S+ mgmt=http:\S+ resp=redis:\S+ metrics=http:\S+$/);
    expect(terminal.text()).to.contain('\u001b[').and.not.contain('{"time"');
    const given = variables(lines);
    const headers = { authorization: `Bearer ${given('QSTASH_TOKEN')}` };
    await fetch(`${given('QSTASH_URL')}/v2/publish/${sink()}/slow`, { method: 'POST', headers, body: 'x' });
    const subscribed = await fetch(`${given('UPSTASH_REDIS_REST_URL')}/subscribe/news`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${given('UPSTASH_REDIS_REST_TOKEN')}` },
    });
    expect(subscribed.status).to.equal(200);
    await eventually(() => expect(received.map(({ url }) => url)).to.deep.equal(['/slow']));
    const askedAt = performance.now();
    terminal.type(CTRL_C);
    await terminal.ended;
    expect(performance.now() - askedAt).to.be.lessThan(END_MS + SLACK_MS);
    expect(terminal.text()).to.match(/stopped, the data is deleted/);
    expect(terminal.text()).to.match(/stopping: waiting for .*press Ctrl-C to stop now/);
    expect(terminal.text()).not.to.match(/warn|error/);
    expect(kept()).to.deep.equal([]);
  });
});

/** Waits for the ready line. @returns a function that finds an address by its name */
async function readyWith(command: RunningCommand): Promise<(name: string) => string> {
  const isReady = () => {
    const told = [...command.lines, ...command.errors].join('\n');
    expect(command.lines.at(-1), told).to.match(/^ready kv=/);
  };
  await eventually(isReady, { timeoutMs: START_MS });
  return variables(command.lines);
}

function variables(lines: readonly string[]): (name: string) => string {
  const found = new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  return (name) => {
    const value = found.get(name);
    if (value === undefined) throw new Error(`${name} is not among ${[...found.keys()].join(', ')}`);
    return value;
  };
}

/** Runs the process on a terminal of `script`; undefined if `script` is not installed. */
async function onTerminal(env: Environment) {
  const command = `exec '${process.execPath}' --max-old-space-size=256 '${MAIN}' dev`;
  const script: ChildProcessWithoutNullStreams = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'script', '-qefc', command, '/dev/null'],
    { env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm', SHELL: '/bin/sh', ...env } },
  );
  let text = '';
  script.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const ended = new Promise<number | null>((done) => script.once('close', done));
  const isThere = await Promise.race([
    ended.then(() => false),
    eventually(() => expect(text).not.to.equal(''), { timeoutMs: START_MS }).then(() => true),
  ]);
  if (!isThere) return undefined;
  return { text: () => text, type: (keys: string) => script.stdin.write(keys), ended };
}
