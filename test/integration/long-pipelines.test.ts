/** REST pipelines whose answers are larger than what a process may hold for all requests together, at a small heap. */
import { readFile } from 'node:fs/promises';
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { startServed } from '../support/millrace-clients.js';
import { endEverything, type MillraceProcess, TOKEN } from '../support/millrace-process.js';
import { SlowReader } from '../support/slow-reader.js';

const MIB = 1024 * 1024;
const VALUE = 'x'.repeat(MIB);
const COMMANDS = 1_000;
/** A portion and its text, with garbage that is not collected yet. */
const MORE_HELD_MIB = 10;
/** A gigabyte is read, and all of it passes through the young generation. */
const MORE_RESIDENT_MIB = 160;

describe('a REST pipeline of 1,000 GETs of 1 MB, with a heap of 512 MB', function () {
  this.timeout(120_000);
  let millrace: MillraceProcess;
  let client: KvClient;
  before(async () => {
    millrace = await startServed({ MILLRACE_HEAP_MB: '512', MILLRACE_METRICS_PORT: '0' });
    client = new KvClient({ url: millrace.kvUrl, token: TOKEN });
    for (const key of ['a', 'b']) expect((await client.command('SET', key, VALUE)).kind).to.equal('done');
  });
  after(async () => {
    client?.close();
    await endEverything();
  });

  const gets = Array.from({ length: COMMANDS }, (_, i) => ['GET', i % 2 === 0 ? 'a' : 'b']);
  const reading = (commands: unknown[]) =>
    SlowReader.of(Number(new URL(millrace.kvUrl).port), commands, { token: TOKEN });

  async function heldMib(): Promise<number> {
    const text = await (await fetch(`${millrace.addresses.metrics}/metrics`)).text();
    return Number(/^millrace_request_bytes (\S+)$/m.exec(text)?.[1]) / MIB;
  }

  async function residentMib(): Promise<number> {
    const status = await readFile(`/proc/${millrace.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }

  it('holds at most 10 MiB while its client reads slowly', async () => {
    const before = await residentMib();
    const reader = await reading(gets);
    let characters = 0;
    let mostHeld = 0;
    let mostResident = 0;
    while (!reader.isWhole) {
      await reader.read(8 * MIB);
      characters += reader.text.length;
      reader.text = '';
      mostHeld = Math.max(mostHeld, await heldMib());
      mostResident = Math.max(mostResident, await residentMib());
    }
    expect(characters).to.equal(COMMANDS * (VALUE.length + '{"result":""},'.length) + 1);
    expect(mostHeld, 'counted').to.be.within(1, MORE_HELD_MIB);
    expect(mostResident - before, 'resident').to.be.below(MORE_RESIDENT_MIB);
    await eventually(async () => expect(await heldMib()).to.be.below(1));
  });

  it('is read whole by the published client', async () => {
    const redis = new Redis({ url: millrace.kvUrl, token: TOKEN, automaticDeserialization: false });
    const pipeline = redis.pipeline();
    for (let i = 0; i < 100; i += 1) pipeline.get('a');
    pipeline.set('after', '1');
    const results = await pipeline.exec<string[]>();
    expect(results.slice(0, -1).every((value) => value === VALUE)).to.equal(true);
    expect(results).to.have.length(101);
    expect(results.at(-1)).to.equal('OK');
  });

  it('stops when its client disconnects, and its remaining commands are not run', async () => {
    const reader = await reading([...gets, ['SET', 'behind', '1']]);
    await reader.read(MIB);
    await eventually(async () => expect(await heldMib()).to.be.above(1));
    reader.leave();
    await eventually(async () => expect(await heldMib()).to.be.below(1));
    expect(await client.command('GET', 'behind')).to.deep.equal({ kind: 'done', result: null });
  });
});
