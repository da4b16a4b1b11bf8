/**
 * Streams whose last messages a nats-server counts and does not return, as a block damaged after an orderly stop makes
 * it do. The shard is stopped with an alarm, all other shards are served, and `journal verify` takes seconds.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';

const KV_SHARDS = 4;
const MISSING = 1000;
const QUEUE_TOKEN = 'queue-token-of-the-tests-0123456789abcdef';

describe('a shard whose last message cannot be read', function () {
  this.timeout(240_000);
  afterEach(endEverything);

  async function environment(): Promise<Environment> {
    const dataDir = await temporaryDirectory();
    return {
      ...(await embeddedEnvironment(dataDir)),
      MILLRACE_KV_SHARDS: String(KV_SHARDS),
      MILLRACE_QUEUE_SHARDS: '1',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
    };
  }

  async function restarted(env: Environment): Promise<MillraceProcess> {
    return startMillrace({ dataDir: env.MILLRACE_DATA_DIR as string, env });
  }

  async function expectStopped(millrace: MillraceProcess, shard: string): Promise<void> {
    const answer = await fetch(`${millrace.metricsUrl}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, { ok: boolean; detail?: string }> };
    expect(answer.status).to.equal(503);
    expect(checks.shards?.detail).to.match(
      new RegExp(
        `^stopped, the journal is in doubt: ${shard} \\(${shard}: the message at position \\d+ cannot be read\\)$`,
      ),
    );
    const metrics = await (await fetch(`${millrace.metricsUrl}/metrics`)).text();
    const stopped = [...metrics.matchAll(/^millrace_shard_stopped\{shard="(\w+)"\} 1$/gm)].map(([, name]) => name);
    expect(stopped).to.deep.equal([shard]);
    const alarms = millrace
      .stderr()
      .match(new RegExp(`"level":"error","event":"shard.stopped","shard":"${shard}".*`, 'g'));
    expect(alarms, millrace.stderr()).to.have.length(1);
  }

  it('of a database is stopped with an alarm, while the other shards serve and `ready` is printed', async () => {
    const env = await environment();
    const dataDir = env.MILLRACE_DATA_DIR as string;
    const first = await startMillrace({ dataDir, env });
    for (let at = 0; at < 20; at += 1) await first.kv.ask('SET', `key:${at}`, 'value');
    await first.kill('SIGTERM');
    const shard = await largestKv(dataDir);
    await damageLast(dataDir, shard, 1);
    const millrace = await restarted(env);
    await expectStopped(millrace, shard);
    const refused = await fetch(`${millrace.kvUrl}/get/key:1`, {
      headers: { authorization: `Bearer ${env.MILLRACE_KV_TOKEN}` },
    });
    expect([refused.status, await refused.json()]).to.deep.equal([
      503,
      { error: 'ERR database is stopped: its journal is damaged or incomplete, and an operator must act' },
    ]);
    const published = await fetch(`${millrace.addresses.queue}/v2/publish/http://127.0.0.1:9/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${QUEUE_TOKEN}` },
    });
    expect(published.status, 'the queue is served').to.equal(200);
  });

  it('of a queue is stopped, also where the read models lack the message, and `cluster status` names it', async () => {
    const env = await environment();
    const dataDir = env.MILLRACE_DATA_DIR as string;
    const first = await startMillrace({ dataDir, env });
    const published = await fetch(`${first.addresses.queue}/v2/publish/http://127.0.0.1:9/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, 'Upstash-Delay': '1h' },
    });
    expect(published.status).to.equal(200);
    await first.kill('SIGTERM');
    await damageLast(dataDir, 'QUEUE_0', 1);
    // The read models are rebuilt from the journal and wait for its end.
    for (const name of await readdir(dataDir)) {
      if (name.includes('read-model') || name.endsWith('.db')) await rm(join(dataDir, name), { recursive: true });
    }
    const millrace = await restarted(env);
    await expectStopped(millrace, 'QUEUE_0');
    expect(await millrace.kv.ask('SET', 'key', 'value')).to.equal('OK');
    await eventually(async () => {
      const { stdout } = await runMillrace(['cluster', 'status', '--json'], env);
      expect(stdout.toString()).to.match(
        /"stopped":\[\{"shard":"QUEUE_0","why":"QUEUE_0: the message at position \d+ cannot be read"\}\]/,
      );
    });
  });

  it(`journal verify --all names ${MISSING} missing messages at the end within seconds`, async () => {
    const env = await environment();
    const dataDir = env.MILLRACE_DATA_DIR as string;
    const first = await startMillrace({ dataDir, env });
    for (let at = 0; at < MISSING + 50; at += 1) await first.kv.ask('SET', `key:${at}`, 'value');
    await first.kill('SIGTERM');
    const shard = await largestKv(dataDir);
    await damageLast(dataDir, shard, MISSING);
    const startedAt = performance.now();
    const { code, stdout, stderr } = await runMillrace(['journal', 'verify', '--all'], env, { timeoutMs: 60_000 });
    const tookMs = performance.now() - startedAt;
    const told = `${stdout}\n${stderr}`;
    expect(code, told).to.equal(1);
    expect(told).to.match(
      new RegExp(`^DAMAGED ${shard} at position \\d+: the messages up to position \\d+ are missing$`, 'm'),
    );
    expect(tookMs, told).to.be.below(15_000);
  });
});

async function blocksOf(dataDir: string, stream: string): Promise<string[]> {
  const files = await readdir(join(dataDir, 'nats'), { recursive: true });
  const blocks = files.filter((path) => path.includes(join('streams', stream, 'msgs')) && path.endsWith('.blk'));
  return blocks
    .sort(
      (one, other) =>
        Number.parseInt(one.split('/').at(-1) ?? '', 10) - Number.parseInt(other.split('/').at(-1) ?? '', 10),
    )
    .map((path) => join(dataDir, 'nats', path));
}

/** The shard of the only database that was written to. */
async function largestKv(dataDir: string): Promise<string> {
  let largest = { shard: '', bytes: 0 };
  for (let at = 0; at < KV_SHARDS; at += 1) {
    const blocks = await Promise.all((await blocksOf(dataDir, `KV_${at}`)).map((path) => readFile(path)));
    const bytes = blocks.reduce((sum, { length }) => sum + length, 0);
    if (bytes > largest.bytes) largest = { shard: `KV_${at}`, bytes };
  }
  return largest.shard;
}

/** Flips a bit in the body of each of the last messages; the record's length comes first, its checksum last. */
async function damageLast(dataDir: string, stream: string, count: number): Promise<void> {
  const block = (await blocksOf(dataDir, stream)).at(-1) as string;
  const bytes = await readFile(block);
  const ends: number[] = [];
  for (let at = 0; at < bytes.length; at = ends.at(-1) as number) {
    ends.push(at + (bytes.readUInt32LE(at) & 0x3fffffff));
  }
  for (const end of ends.slice(-count))
    bytes.writeUInt8(bytes.readUInt8(end - CHECKSUM_BYTES - 1) ^ 1, end - CHECKSUM_BYTES - 1);
  await writeFile(block, bytes);
}

const CHECKSUM_BYTES = 8;
