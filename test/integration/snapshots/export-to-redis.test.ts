/** `journal export --format resp`, piped into a real Redis, gives the same data. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { KvFold } from '../../../src/actors/kv-shard/index.js';
import { findCommand, KvEngine } from '../../../src/domain/kv/index.js';
import type { ByteString } from '../../../src/kernel/index.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, SHARD } from '../../spec/journal/shard-history.js';
import { typedJournal } from '../../support/command-lines.js';
import { eventually } from '../../support/eventually.js';
import { missingProgram } from '../../support/installed.js';
import { journalTools } from '../../support/journal-tools.js';
import { RespClient } from '../../support/resp-client.js';
import { silentLog } from '../../support/silent-log.js';

const REDIS = '/usr/bin/redis-server';
const BINARY: ByteString = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('');

describe('journal export piped into a real Redis', function () {
  this.timeout(30_000);
  let directory: string;
  let child: ChildProcess;
  let client: RespClient;
  const socket = () => join(directory, 's');

  before(async function () {
    if (missingProgram(REDIS, 'redis-cli') !== undefined) this.skip();
    directory = await mkdtemp(join(tmpdir(), 'millrace-export-'));
    child = spawn(REDIS, ['--port', '0', '--unixsocket', socket(), '--save', '', '--dir', directory], {
      stdio: 'ignore',
    });
    client = await eventually(() => RespClient.connect(socket()));
  });
  after(async () => {
    client?.close();
    if (child !== undefined && child.exitCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => client.call(['FLUSHALL']));

  /** Runs commands on a live engine and journals their effects, an entry for each. */
  async function live(world: JournalStand, fold: KvFold, commands: readonly (readonly ByteString[])[]): Promise<void> {
    for (const words of commands) {
      const spec = findCommand(words);
      if (spec === undefined) throw new Error(`no command ${words[0]}`);
      fold.engine.execute(spec, words, Date.now());
      const effects = fold.engine.effects.take();
      if (effects.length === 0) continue;
      await world.history.append({ kind: 'batch', commandIds: [], sections: [world.history.section(ALPHA, effects)] });
    }
  }

  async function exportIntoRedis(world: JournalStand): Promise<number> {
    const pipe = spawn('redis-cli', ['-s', socket(), '--pipe'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let report = '';
    pipe.stdout.on('data', (data) => {
      report += String(data);
    });
    const ended = once(pipe, 'exit');
    const code = await typedJournal(['export', '--database', 'mine', '--format', 'resp'], {
      ...journalTools(SHARD),
      ...world.ports,
      log: silentLog,
      signal: new AbortController().signal,
      resolveDatabase: async () => ({ partitions: [ALPHA], shards: [SHARD] }),
      resolveAccount: () => expect.fail('asked for an account'),
      write: async (output) => {
        if (!pipe.stdin.write(output)) await once(pipe.stdin, 'drain');
      },
      writeError: (line) => expect.fail(line),
    });
    expect(code).to.equal(0);
    pipe.stdin.end();
    await ended;
    expect(report).to.match(/errors: 0, replies: \d+/);
    return Number(/replies: (\d+)/.exec(report)?.[1]);
  }

  async function expectSameData(fold: KvFold): Promise<void> {
    const { keyspace } = fold.engine;
    const entries = [...keyspace.entries()].filter(([, , atMs]) => atMs === undefined || atMs > Date.now() + 5000);
    expect(entries.length).to.be.greaterThan(5);
    expect(await client.call(['DBSIZE'])).to.equal(`:${entries.length}\r\n`);
    for (const [key, value, expireAtMs] of entries) {
      expect(await client.call(['GET', key])).to.equal(`$${(value as string).length}\r\n${value}\r\n`);
      expect(await client.call(['PEXPIRETIME', key])).to.equal(`:${expireAtMs ?? -1}\r\n`);
    }
  }

  function commands(round: number): ByteString[][] {
    return [
      ['SET', 'plain', `value ${round}`],
      ['SET', BINARY, BINARY],
      ['SET', 'expiring', 'x', 'EX', '1000'],
      ['SET', 'past', 'x', 'PXAT', '1'],
      ['APPEND', 'log', `line ${round}\r\n`],
      ['SETRANGE', 'padded', String(10 + round), 'end'],
      ['INCRBY', 'counter', '9007199254740993'],
      ['DECR', 'down'],
      ['MSET', 'm1', '1', 'm2', '2', `m${round + 3}`, '3'],
      ['DEL', 'm2'],
      ['PEXPIRE', 'm1', '5000000'],
      ['PERSIST', 'expiring'],
      ['RENAME', 'plain', 'renamed'],
      ['COPY', 'renamed', `copy-${round}`],
      ['GETEX', 'counter', 'EX', '600'],
      ['GETDEL', 'm1'],
    ];
  }

  it('gives the same keys, values and expiries from the whole journal', async () => {
    const world = new JournalStand();
    await world.history.claim();
    const fold = new KvFold(new KvEngine(NO_DICE, NO_FACTS));
    await live(world, fold, [['SET', 'before', '1'], ['FLUSHALL'], ...commands(0), ...commands(1)]);
    expect(await exportIntoRedis(world)).to.be.greaterThan(20);
    await expectSameData(fold);
  });

  it('gives the same from snapshots when the front was removed', async () => {
    const world = new JournalStand();
    await world.history.claim();
    const fold = new KvFold(new KvEngine(NO_DICE, NO_FACTS));
    for (let round = 0; round < 3; round += 1) {
      await live(world, fold, commands(round));
      await world.compactAndPurge();
    }
    await live(world, fold, [['SET', 'behind', 'the last snapshot']]);
    expect((await world.memoryJournal.tail(SHARD)).first).to.be.greaterThan(5);
    expect(world.history.head.position).to.be.greaterThan((await world.memoryJournal.tail(SHARD)).first);
    await exportIntoRedis(world);
    await expectSameData(fold);
  });
});

const NO_DICE = { bytes: (count: number) => new Uint8Array(count), float: () => 0 };
const NO_FACTS = { nowMicros: () => 0, info: () => new Map() };
