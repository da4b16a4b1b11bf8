/**
 * Journals that were changed on disk or through the server's interface: `journal verify` names the first bad position,
 * and a process started on one serves no request of that shard and says why.
 */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect } from 'nats';
import { decodeShardLease } from '../../src/codec/leases/index.js';
import { withEmbeddedNats } from '../support/embedded-nats.js';
import { eventually } from '../support/eventually.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  type RunResult,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { startNatsServer } from '../support/nats-server.js';

const ENTRIES = 60;
/** Far enough from either end. */
const ALTERED = 20;

interface Installation {
  readonly dataDir: string;
  readonly env: Environment;
  /** The shard of the first database. */
  readonly shard: string;
}

describe('a journal that was tampered with is found damaged at the first bad position', function () {
  /** Variants of the other tests; JOURNAL_TAMPERING=all runs them too. */
  const more = process.env.JOURNAL_TAMPERING === 'all' ? it : it.skip;
  this.timeout(180_000);
  afterEach(() => endEverything());

  const verify = (env: Environment, ...options: string[]) => runMillrace(['journal', 'verify', ...options], env);

  /** A process with entries in one shard, and the position of each key's entry. */
  async function filled(): Promise<{ millrace: MillraceProcess; installation: Installation }> {
    const millrace = await startMillrace();
    for (let at = 0; at < ENTRIES; at += 1) await millrace.kv.ask('SET', `key:${at}`, `value-${at}-`.padEnd(40, '.'));
    const env = await embeddedEnvironment(millrace.dataDir);
    const whole = await verify(env, '--all');
    expect(whole.code, whole.stdout + whole.stderr).to.equal(0);
    const { stdout } = await verify(env, '--database', 'default');
    const shard = /^(KV_\d)/m.exec(stdout.toString())?.[1] as string;
    return { millrace, installation: { dataDir: millrace.dataDir, env, shard } };
  }

  async function positionOf(env: Environment, key: string): Promise<number> {
    const { stdout } = await runMillrace(['journal', 'export', '--database', 'default'], env);
    const line = stdout
      .toString()
      .trim()
      .split('\n')
      .find((text) => text.includes(`"${key}"`)) as string;
    return (JSON.parse(line) as { position: number }).position;
  }

  function expectDamaged({ code, stdout, stderr }: RunResult, shard: string, reason: RegExp): string {
    const out = stdout.toString();
    expect(code, `${out}${stderr}`).to.equal(1);
    expect(out).to.match(new RegExp(`^DAMAGED ${shard} at position \\d+: .*${reason.source}`, 'm'));
    expect(out).to.not.match(new RegExp(`^DAMAGED (?!${shard} )`, 'm'));
    return /^damaged: the first bad entry is (.*)$/m.exec(out)?.[1] as string;
  }

  /** A process that starts on the damaged journal serves all other shards, refuses this one and reports the reason. */
  async function expectRefused({ dataDir, shard }: Installation, reason: RegExp): Promise<void> {
    const millrace = await startMillrace({ dataDir });
    await eventually(
      async () => {
        const answer = await fetch(`${millrace.metricsUrl}/readyz`);
        const text = await answer.text();
        expect(answer.status, text).to.equal(503);
        expect(text).to.contain(shard);
        expect(millrace.stderr()).to.match(new RegExp(`"shard.stopped".*"${shard}".*(${reason.source})`));
      },
      { timeoutMs: 30_000, everyMs: 200 },
    );
    const commands = [millrace.kv.command('GET', 'key:0'), millrace.kv.command('SET', 'key:0', 'x')];
    for (const outcome of await Promise.all(commands)) expect(outcome.kind).not.to.equal('done');
  }

  it('after a bit of a message was flipped while the server was stopped', async () => {
    const { millrace, installation } = await filled();
    const { env, shard } = installation;
    const position = await positionOf(env, `key:${ALTERED}`);
    await millrace.kill('SIGTERM');
    await flipBit(installation, `value-${ALTERED}-`);
    const first = expectDamaged(await verify(env, '--all'), shard, /the message at this position is missing/);
    expect(first).to.equal(`${shard} at position ${position}`);
    await expectRefused(installation, /messages are missing in the journal/);
  });

  more('after a bit of the last message was flipped', async () => {
    const { millrace, installation } = await filled();
    const position = await positionOf(installation.env, `key:${ENTRIES - 1}`);
    await millrace.kill('SIGTERM');
    await flipBit(installation, `value-${ENTRIES - 1}-`);
    const { env, shard } = installation;
    const first = expectDamaged(await verify(env, '--all'), shard, /the message at this position is missing/);
    expect(first).to.equal(`${shard} at position ${position}`);
    await expectRefused(installation, /the message at position \d+ cannot be read/);
  });

  it('after a bit was flipped following a crash: the server drops all later messages, and the lease has seen them', async () => {
    const { millrace, installation } = await filled();
    const { env, shard } = installation;
    const position = await positionOf(env, `key:${ALTERED}`);
    await markedBeyond(installation, position + 1);
    await millrace.kill('SIGKILL');
    await flipBit(installation, `value-${ALTERED}-`);
    const first = expectDamaged(await verify(env, '--all'), shard, /the lease recorded .* shorter than before/);
    expect(first).to.equal(`${shard} at position ${position}`);
    await expectRefused(installation, /shorter than before|that the lease names is missing/);
  });

  more(
    'after a bit of an earlier block was flipped following a crash: the server leaves out the rest of that block',
    async () => {
      const { millrace, installation } = await filled();
      const { env, shard } = installation;
      const position = await positionOf(env, `key:${ENTRIES - 1}`);
      // Blocks have 8 MB: these writes fill the first and begin the next.
      for (let at = 1; at <= 30; at += 1) await millrace.kv.ask('SET', 'large', `large-${at}-`.padEnd(400_000, '.'));
      await millrace.kill('SIGKILL');
      await flipBit(installation, 'large-5-');
      const first = expectDamaged(await verify(env, '--all'), shard, /the messages up to position \d+ are missing/);
      expect(first).to.equal(`${shard} at position ${position + 5}`);
      await expectRefused(installation, /messages are missing in the middle/);
    },
  );

  it('after its newest entries were removed', async () => {
    const { millrace, installation } = await filled();
    const { env, shard, dataDir } = installation;
    await millrace.kill('SIGTERM');
    const older = await temporaryDirectory();
    await cp(await streamDirectory(dataDir, shard), older, { recursive: true });
    const next = await startMillrace({ dataDir });
    await next.kv.ask('SET', 'newest', 'entry');
    const position = await positionOf(env, 'newest');
    await next.kill('SIGTERM');
    await replaceDirectory(await streamDirectory(dataDir, shard), older);
    const first = expectDamaged(await verify(env, '--all'), shard, /the lease recorded .* shorter than before/);
    // The older copy also lacks the claim of the second start.
    expect(first).to.equal(`${shard} at position ${position - 1}`);
    await expectRefused(installation, /shorter than before/);
  });

  more("after its oldest entries were purged through the server's API", async () => {
    const { millrace, installation } = await filled();
    const { env, shard, dataDir } = installation;
    const position = await positionOf(env, `key:${ALTERED}`);
    await withEmbeddedNats(dataDir, (nats) => api(nats, `STREAM.PURGE.${shard}`, { seq: position }));
    const first = expectDamaged(
      await verify(env, '--all'),
      shard,
      /earlier entries were removed, and no snapshot covers them/,
    );
    expect(first).to.equal(`${shard} at position ${position}`);
    await millrace.kill('SIGTERM');
    await expectRefused(installation, /entries after the snapshot are missing/);
  });

  it('after an older store was put back: only a checkpoint kept elsewhere shows it', async () => {
    const { millrace, installation } = await filled();
    const { env, shard, dataDir } = installation;
    await millrace.kill('SIGTERM');
    const [older, kept] = [await temporaryDirectory(), await temporaryDirectory()];
    await cp(join(dataDir, 'nats'), older, { recursive: true });
    const next = await startMillrace({ dataDir });
    await next.kv.ask('SET', 'newest', 'entry');
    const checkpoint = join(kept, 'checkpoint.json');
    const taken = await runMillrace(['journal', 'checkpoint', '--to', checkpoint], env);
    expect(taken.code, taken.stderr).to.equal(0);
    await next.kill('SIGTERM');
    expect((await verify(env, '--against', checkpoint)).code).to.equal(0);
    await replaceDirectory(join(dataDir, 'nats'), older);
    expect((await verify(env, '--all')).code).to.equal(0);
    const { code, stdout } = await verify(env, '--against', checkpoint);
    expect(code).to.equal(1);
    expect(stdout.toString()).to.match(new RegExp(`^DAMAGED ${shard} .*the checkpoint recorded .* shorter`, 'm'));
  });

  more('after an older store was put back and written to: the checkpoint recorded another entry', async () => {
    const { millrace, installation } = await filled();
    const { env, shard, dataDir } = installation;
    await millrace.kill('SIGTERM');
    const [older, kept] = [await temporaryDirectory(), await temporaryDirectory()];
    await cp(join(dataDir, 'nats'), older, { recursive: true });
    const checkpoint = join(kept, 'checkpoint.json');
    const next = await startMillrace({ dataDir });
    await next.kv.ask('SET', 'newest', 'entry');
    await runMillrace(['journal', 'checkpoint', '--to', checkpoint], env);
    await next.kill('SIGTERM');
    await replaceDirectory(join(dataDir, 'nats'), older);
    const other = await startMillrace({ dataDir });
    for (let at = 0; at < 5; at += 1) await other.kv.ask('SET', 'newest', `another entry ${at}`);
    expect((await verify(env, '--all')).code).to.equal(0);
    const { code, stdout } = await verify(env, '--against', checkpoint);
    expect(code).to.equal(1);
    expect(stdout.toString()).to.match(
      new RegExp(
        `^DAMAGED ${shard} at position \\d+: entry \\d+ differs from the one that the checkpoint recorded`,
        'm',
      ),
    );
  });

  it('after two entries were swapped', async () => {
    const { millrace, installation } = await filled();
    const { env, shard, dataDir } = installation;
    const position = await positionOf(env, `key:${ALTERED}`);
    const messages = await withEmbeddedNats(dataDir, async (nats) => {
      const all: Buffer[] = [];
      const { state } = (await api(nats, `STREAM.INFO.${shard}`, {})) as { state: { last_seq: number } };
      for (let seq = 1; seq <= state.last_seq; seq += 1) {
        const { message } = (await api(nats, `STREAM.MSG.GET.${shard}`, { seq })) as { message: { data: string } };
        all.push(Buffer.from(message.data, 'base64'));
      }
      return all;
    });
    await millrace.kill('SIGTERM');
    const at = position - 1;
    [messages[at], messages[at + 1]] = [messages[at + 1] as Buffer, messages[at] as Buffer];
    await rewriteStream(installation, messages);
    const first = expectDamaged(await verify(env, '--all'), shard, /does not have the next number/);
    expect(first).to.equal(`${shard} at position ${position}`);
    await expectRefused(installation, /does not have the next number/);
  });
});

type Nats = Parameters<Parameters<typeof withEmbeddedNats>[1]>[0];

async function api(nats: Nats, operation: string, question: object): Promise<unknown> {
  return (await nats.request(`$JS.API.${operation}`, JSON.stringify(question))).json();
}

async function streamDirectory(dataDir: string, stream: string): Promise<string> {
  const files = await readdir(join(dataDir, 'nats'), { recursive: true });
  const found = files.find((path) => path.endsWith(join('streams', stream)));
  expect(found, `no stream ${stream} under ${dataDir}`).to.be.a('string');
  return join(dataDir, 'nats', found as string);
}

async function replaceDirectory(path: string, by: string): Promise<void> {
  await rm(path, { recursive: true });
  await cp(by, path, { recursive: true });
}

/** Changes one bit of the stored bytes, like a faulty disk or an edit by hand. */
async function flipBit({ dataDir, shard }: Installation, text: string): Promise<void> {
  const directory = join(await streamDirectory(dataDir, shard), 'msgs');
  for (const name of (await readdir(directory)).filter((file) => file.endsWith('.blk'))) {
    const bytes = await readFile(join(directory, name));
    const at = bytes.indexOf(text);
    if (at < 0) continue;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await writeFile(join(directory, name), bytes);
    return;
  }
  expect.fail(`nothing stored holds ${text}`);
}

/** Replaces the stream's blocks with blocks of another server that contain these messages with valid checksums. */
async function rewriteStream({ dataDir, shard }: Installation, messages: readonly Buffer[]): Promise<void> {
  const server = await startNatsServer({ syncAlways: true });
  try {
    const nats = await connect({ servers: server.url });
    const subject = `millrace.log.${shard}`;
    const made = await api(nats, `STREAM.CREATE.${shard}`, { name: shard, subjects: [subject], storage: 'file' });
    expect(made).to.not.have.property('error');
    for (const message of messages) {
      const ack = (await nats.request(subject, message)).json<{ seq?: number }>();
      expect(ack.seq).to.be.a('number');
    }
    await nats.close();
    await server.kill();
    const files = await readdir(server.storeDir, { recursive: true });
    const blocks = files.find((path) => path.endsWith(join('streams', shard, 'msgs'))) as string;
    await replaceDirectory(join(await streamDirectory(dataDir, shard), 'msgs'), join(server.storeDir, blocks));
  } finally {
    await server.stop();
  }
}

/** Waits until the shard's lease confirms an entry after the position: its mark is saved every two seconds. */
async function markedBeyond({ dataDir, shard }: Installation, position: number): Promise<void> {
  await withEmbeddedNats(dataDir, async (nats) => {
    await eventually(
      async () => {
        const question = { last_by_subj: `$KV.leases.${shard}` };
        const { message } = (await api(nats, 'STREAM.MSG.GET.KV_leases', question)) as { message: { data: string } };
        const { highWater } = decodeShardLease(Buffer.from(message.data, 'base64'));
        expect(highWater?.position ?? 0).to.be.greaterThan(position);
      },
      { timeoutMs: 20_000, everyMs: 100 },
    );
  });
}
