/** The root file system of an image: made by its recipe without a container engine, and started in namespaces of Linux. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { missingProgram } from '../../support/installed.js';
import { KvClient } from '../../support/kv-client.js';
import { whyNoMachines } from '../../support/machines.js';
import { endEverything, temporaryDirectory } from '../../support/millrace-process.js';
import { findNatsServer } from '../../support/nats-server.js';
import { QueueSink } from '../../support/queue-sink.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const TOKEN = 'a-token-of-the-image-0123456789';
const QUEUE_TOKEN = 'a-queue-token-of-the-image-0123456789';
/** Acts like a container engine: only the image's process tree and devices, and a user without rights. */
const CONTAINER = `
mount --make-rprivate /
mount -t proc proc "$IMAGE/proc"
for device in null zero random urandom; do touch "$IMAGE/dev/$device"; mount --bind "/dev/$device" "$IMAGE/dev/$device"; done
exec chroot --userspec=1000:1000 "$IMAGE" /usr/bin/env -i PATH=/usr/bin HOME=/data $SETTINGS millrace serve`;

/** A command that a slow registry holds up fails with its steps, before the test's own time is over. */
const COMMAND_TIMEOUT_MS = 180_000;

const execute = promisify(execFile);
const run = (command: string, parameters: string[]) =>
  execute(command, parameters, { cwd: ROOT, timeout: COMMAND_TIMEOUT_MS }).catch((error) => {
    throw new Error(`${command}: ${error.stderr}`, { cause: error });
  });

describe('the root file system of an image (infra/root-file-system.sh)', function () {
  this.timeout(400_000);
  let image: string;
  let container: ChildProcess | undefined;
  let sink: QueueSink | undefined;

  before(async function () {
    const why = whyNoMachines() ?? missingProgram('apt-get', 'dpkg-deb', 'chroot');
    if (why !== undefined) {
      console.log(`    ${why}: no image is made`);
      this.skip();
    }
    const place = await temporaryDirectory();
    await run(process.execPath, ['infra/package.mjs', place]);
    const program = (await readdir(place)).find((name) => name.endsWith('.tgz')) ?? '';
    image = join(await realpath(place), 'image');
    const server = spawnSync('which', [findNatsServer()], { encoding: 'utf8' }).stdout.trim();
    await run('infra/root-file-system.sh', [image, join(place, program), server]);
  });
  after(async () => {
    container?.kill('SIGKILL');
    await sink?.close();
    await endEverything();
  });

  it('is ready as a user without rights, stores a key, delivers a message, and ends by SIGTERM', async () => {
    sink = await QueueSink.listening();
    const settings = {
      MILLRACE_DATA_DIR: '/data',
      ...Object.fromEntries(['KV', 'QUEUE', 'MGMT', 'RESP', 'METRICS'].map((port) => [`MILLRACE_${port}_PORT`, '0'])),
      MILLRACE_KV_TOKEN: TOKEN,
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_HEAP_MB: '256',
    };
    const SETTINGS = Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
    container = spawn('unshare', [...namespaces, 'sh', '-c', CONTAINER], {
      env: { ...process.env, IMAGE: image, SETTINGS },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [container.stdout, container.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    await eventually(() => expect(said).to.match(/^ready .*$/m), { timeoutMs: 60_000 });
    const address = (name: string) => new RegExp(` ${name}=(\\S+)`).exec(said)?.[1] ?? '';

    const kv = new KvClient({ url: address('kv'), token: TOKEN });
    expect(await kv.command('SET', 'greeting', 'hello')).to.include({ result: 'OK' });
    expect(await kv.command('GET', 'greeting')).to.include({ result: 'hello' });
    kv.close();

    const path = sink.path('image');
    const published = await fetch(`${address('queue')}/v2/publish/${sink.url(path)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${QUEUE_TOKEN}` },
      body: 'from the image',
    });
    expect(published.status).to.equal(200);
    expect((await sink.arrived(path))[0]?.body).to.equal('from the image');

    const ended = new Promise((done) => container?.once('exit', (code, signal) => done(code ?? signal)));
    const { pid } = container;
    process.kill(Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')), 'SIGTERM');
    expect(await ended, said).to.equal(0);
  });
});
