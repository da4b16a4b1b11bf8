/**
 * The embedded default under commands of every family, killed repeatedly. Every acknowledged element is present once,
 * refused elements are absent, and expired elements stay absent.
 */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { describeOutcome, KvClient, type Outcome, type Words } from '../support/kv-client.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

const KILLS = Number(process.env.CHAOS_FAMILY_KILLS ?? '8');
const MS_FOR_A_KILL = 10_000;
const ACKED_BETWEEN_KILLS = 150;
const WORKERS = 4;
const PAUSE_AFTER_FAILURE_MS = 30;
/** Time to live of fields and keys that must be gone after a kill. */
const SHORT_MS = 150;

/** One kind of collection: how an element is added, and how the elements are read in the end. */
interface Kind {
  readonly name: string;
  add(id: string): Words;
  readonly read: Words;
  /** The elements in a reply to `read`. */
  elements(reply: unknown): string[];
}

const everyOther = (reply: unknown): string[] => (reply as string[]).filter((_, at) => at % 2 === 0);
const flat = (reply: unknown): string[] => reply as string[];

const KINDS: readonly Kind[] = [
  { name: 'list', add: (id) => ['RPUSH', 'list', id], read: ['LRANGE', 'list', 0, -1], elements: flat },
  { name: 'set', add: (id) => ['SADD', 'set', id], read: ['SMEMBERS', 'set'], elements: flat },
  { name: 'zset', add: (id) => ['ZADD', 'zset', id, id], read: ['ZRANGE', 'zset', 0, -1], elements: flat },
  { name: 'hash', add: (id) => ['HSET', 'hash', id, 'x'], read: ['HGETALL', 'hash'], elements: everyOther },
  {
    name: 'stream',
    add: (id) => ['XADD', 'stream', '*', 'id', id],
    read: ['XRANGE', 'stream', '-', '+'],
    elements: (reply) => (reply as [string, string[]][]).map(([, fields]) => fields[1] as string),
  },
  {
    name: 'json',
    add: (id) => ['JSON.ARRAPPEND', 'json', '$', id],
    read: ['JSON.GET', 'json'],
    elements: (reply) => (JSON.parse(reply as string) as number[]).map(String),
  },
  {
    name: 'script',
    add: (id) => [
      'EVAL',
      "redis.call('RPUSH', KEYS[1], ARGV[1]) redis.call('SADD', KEYS[2], ARGV[1]) return 1",
      2,
      'script',
      'script-too',
      id,
    ],
    read: ['LRANGE', 'script', 0, -1],
    elements: flat,
  },
  {
    name: 'function',
    add: (id) => ['FCALL', 'append', 1, 'function', id],
    read: ['LRANGE', 'function', 0, -1],
    elements: flat,
  },
  { name: 'bits', add: (id) => ['SETBIT', 'bits', id, 1], read: ['GET', 'bits'], elements: () => [] },
];

const LIBRARY = `#!lua name=lib
redis.register_function('append', function(keys, args) return redis.call('RPUSH', keys[1], args[1]) end)`;

describe('the embedded default under commands of every family', function () {
  this.timeout(60_000 + KILLS * MS_FOR_A_KILL);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let millrace: MillraceProcess;
  let environment: Environment;
  let client: KvClient;
  let isDone = false;
  const outcomes = new Map<string, { readonly acked: Set<string>; readonly unknown: Set<string> }>(
    KINDS.map(({ name }) => [name, { acked: new Set(), unknown: new Set() }]),
  );
  let acked = 0;

  after(async () => {
    isDone = true;
    client?.close();
    await endEverything();
  });

  it(`keeps every acknowledged element over ${KILLS} kills`, async () => {
    console.log(replayLine(seed, 'kv-families'));
    const dataDir = await temporaryDirectory();
    environment = {
      ...(await embeddedEnvironment(dataDir)),
      MILLRACE_SNAPSHOT_ENTRIES: '200',
      MILLRACE_CONTROL_STALE_MS: '5000',
    };
    millrace = await startMillrace({ dataDir, env: environment });
    client = new KvClient({ url: millrace.kvUrl, token: TOKEN, connections: WORKERS + 1 });
    await client.ask('FUNCTION', 'LOAD', LIBRARY);
    await client.ask('JSON.SET', 'json', '$', '[]');
    await client.ask('XGROUP', 'CREATE', 'stream', 'g', '0', 'MKSTREAM');
    const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const target = acked + ACKED_BETWEEN_KILLS;
      await eventually(() => expect(acked, millrace.stderr().slice(-2000)).to.be.greaterThan(target), {
        timeoutMs: 30_000,
      });
      await ask('HSET', 'fields', `short ${kill}`, '1', `long ${kill}`, '1');
      await ask('HPEXPIRE', 'fields', SHORT_MS, 'FIELDS', 1, `short ${kill}`);
      await ask('SET', `short ${kill}`, '1', 'PX', SHORT_MS);
      await millrace.kill('SIGKILL');
      millrace = await startMillrace({ dataDir, env: environment });
      await eventually(async () => {
        const fields = flat(await client.ask('HKEYS', 'fields'));
        expect(fields.sort()).to.deep.equal(Array.from({ length: kill + 1 }, (_, at) => `long ${at}`).sort());
        expect(await client.ask('EXISTS', `short ${kill}`)).to.equal(0);
      });
      await judge(`kill ${kill + 1}`);
    }
    isDone = true;
    await Promise.all(workers);
    await judge('the end');
    const before = await client.ask('XINFO', 'STREAM', 'stream', 'FULL');
    await millrace.kill('SIGTERM');
    millrace = await startMillrace({ dataDir, env: environment });
    await judge('another restart');
    expect(await client.ask('XINFO', 'STREAM', 'stream', 'FULL')).to.deep.equal(before);
    const verified = await runMillrace(['journal', 'verify', '--database', 'default'], environment);
    expect(verified.code, verified.stdout.toString() + verified.stderr).to.equal(0);
    const unknown = [...outcomes.values()].reduce((sum, each) => sum + each.unknown.size, 0);
    console.log(`      ${JSON.stringify({ acked, unknown })}`);
  });

  async function work(worker: number): Promise<void> {
    for (let step = 0; !isDone; step += 1) {
      const kind = random.pick(KINDS);
      const id = String(step * WORKERS + worker);
      const outcome = await client.command(...kind.add(id));
      note(kind.name, id, outcome);
      if (outcome.kind !== 'done') await new Promise((done) => setTimeout(done, PAUSE_AFTER_FAILURE_MS));
    }
  }

  function note(name: string, id: string, outcome: Outcome): void {
    const kept = outcomes.get(name);
    if (outcome.kind === 'done') {
      kept?.acked.add(id);
      acked += 1;
    } else if (outcome.kind === 'unknown') kept?.unknown.add(id);
    else if (outcome.status === 400) throw new Error(`${name}: ${describeOutcome(outcome)}`);
  }

  /** Requests wait while the process restarts, and are tried again if needed, so they may be executed twice. */
  function ask(...words: Words): Promise<unknown> {
    return eventually(() => client.ask(...words), { timeoutMs: 30_000 });
  }

  async function judge(when: string): Promise<void> {
    for (const kind of KINDS) {
      const { acked: due, unknown } = outcomes.get(kind.name)!;
      // A write that is acknowledged during the read may be missing from the result.
      const dueNow = new Set(due);
      if (kind.name === 'bits') {
        const count = Number(await ask('BITCOUNT', 'bits'));
        expect(count, `bits after ${when}`).to.be.at.least(dueNow.size);
        continue;
      }
      const there = kind.elements((await ask(...kind.read)) ?? []);
      const unique = new Set(there);
      expect(there.length, `${kind.name} after ${when}: doubles`).to.equal(unique.size);
      const lost = [...dueNow].filter((id) => !unique.has(id));
      expect(lost, `${kind.name} after ${when}: acknowledged and lost`).to.deep.equal([]);
      if (!isDone) continue;
      const strange = there.filter((id) => !due.has(id) && !unknown.has(id));
      expect(strange, `${kind.name} after ${when}: refused and there`).to.deep.equal([]);
    }
    const [list, set] = (await Promise.all([ask('LLEN', 'script'), ask('SCARD', 'script-too')])) as [number, number];
    if (isDone) expect(list, `half a script after ${when}`).to.equal(set);
  }
});
