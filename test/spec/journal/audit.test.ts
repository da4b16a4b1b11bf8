/** Proves AE1–AE3, AUJ1. */
import { expect } from 'chai';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import type { JournalCommandDeps } from '../../../src/cli/journal-command.js';
import { encodeForJournal } from '../../../src/codec/envelope/index.js';
import { auditOfPartition, tailLines, verifyShard } from '../../../src/journal/index.js';
import { MillraceError, type PartitionName, type ShardName } from '../../../src/kernel/index.js';
import type { Journal } from '../../../src/ports/index.js';
import { typedJournal } from '../../support/command-lines.js';
import { eventually } from '../../support/eventually.js';
import { journalTools } from '../../support/journal-tools.js';
import { silentLog } from '../../support/silent-log.js';
import { JournalStand } from './journal-stand.js';
import { ALPHA, BETA, CLUSTER, SHARD, type ShardHistory } from './shard-history.js';

/** Entries: 1 claim, 2–4 batches, one second of journal clock apart. */
async function fourEntries(): Promise<JournalStand> {
  const world = new JournalStand();
  await world.history.claim();
  for (let i = 1; i <= 3; i += 1) {
    world.history.clockMs += 1000;
    await world.history.batch({ [ALPHA]: [`SET a${i} ${i}`], ...(i === 2 ? { [BETA]: ['SET b 1'] } : {}) });
  }
  return world;
}

const BINARY = '\xff\x00\xc3\xa9';

class Terminal {
  out = '';
  readonly errors: string[] = [];
  readonly abort = new AbortController();

  constructor(
    private readonly world: JournalStand,
    private readonly partitions: readonly PartitionName[] = [ALPHA],
    private readonly shards: readonly ShardName[] = [SHARD],
  ) {}

  get deps(): JournalCommandDeps {
    return {
      ...journalTools(SHARD),
      journal: this.world.journal,
      objects: this.world.objects,
      log: silentLog,
      signal: this.abort.signal,
      resolveDatabase: async (name) => {
        if (name !== 'mine') throw new MillraceError('NOT_FOUND', `no database ${name}`);
        return { partitions: this.partitions, shards: this.shards };
      },
      resolveAccount: async (id) => {
        throw new MillraceError('NOT_FOUND', `no account ${id}`);
      },
      write: (output) => {
        this.out += typeof output === 'string' ? output : Buffer.from(output).toString('latin1');
      },
      writeError: (line) => void this.errors.push(line),
    };
  }

  run(words: string): Promise<number> {
    return typedJournal(words.split(' '), this.deps);
  }

  get lines(): { number: number; index: number; effects: unknown; partition: string; time: string }[] {
    return this.out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }
}

function digestOfCommands(resp: string): string {
  const fold = replayFold();
  fold.apply(Buffer.from(resp, 'latin1'));
  return fold.digest();
}

describe('journal verify', () => {
  it('has no findings in an intact journal, from its start', async () => {
    const world = await fourEntries();
    await world.compact();
    const audit = await verifyShard(world.ports, SHARD);
    expect(audit.findings).to.deep.equal([]);
    expect([audit.entries, audit.anchoredBy, audit.manifestsOnChain]).to.deep.equal([4, 'beginning', 1]);
    expect(audit.partitions.get(ALPHA)).to.deep.equal({ sections: 3, lastIndex: 3 });
  });

  it('has no findings after the front was truncated, and starts at the snapshot that covers it', async () => {
    const world = await fourEntries();
    await world.compactAndPurge();
    await world.history.batch({ [ALPHA]: ['SET a4 4'] });
    await world.compactAndPurge();
    const audit = await verifyShard(world.ports, SHARD);
    expect([audit.findings, audit.anchoredBy, audit.firstNumber]).to.deep.equal([[], 'snapshot', 5]);
  });

  const breaks: Readonly<Record<string, (history: ShardHistory) => Promise<unknown>>> = {
    'an entry that does not name the one before': (history) =>
      history.append({ kind: 'claim', clusterId: CLUSTER }, { previousHash: new Uint8Array(32) }),
    'a number that is left out': (history) => history.append({ kind: 'claim', clusterId: CLUSTER }, { number: 9 }),
    'an epoch that falls': (history) => {
      history.epoch = 0;
      return history.append({ kind: 'claim', clusterId: CLUSTER });
    },
    'a section that is not the next one': (history) => {
      history.section(ALPHA, Uint8Array.of(1));
      return history.batch({ [ALPHA]: ['SET a x'] });
    },
  };
  for (const [fault, damage] of Object.entries(breaks)) {
    it(`finds ${fault}, and continues after it`, async () => {
      const world = await fourEntries();
      await damage(world.history);
      await world.history.batch({ [ALPHA]: ['SET a last'] });
      const { findings, entries } = await verifyShard(world.ports, SHARD);
      expect(findings.map(({ position }) => position)).to.deep.equal([5]);
      expect(entries).to.equal(6);
    });
  }

  it('finds bytes that are no message', async () => {
    const world = await fourEntries();
    await world.memoryJournal.append(SHARD, Buffer.from('garbage'), world.history.lastPosition);
    expect((await verifyShard(world.ports, SHARD)).findings.map(({ position }) => position)).to.deep.equal([5]);
  });

  it('finds a snapshot on another chain, or beyond the end of the journal', async () => {
    const world = await fourEntries();
    const other = await fourEntries();
    other.history.clockMs += 1;
    await other.history.batch({ [ALPHA]: ['SET a other'] });
    await other.compact();
    for (const name of await other.objectNames()) {
      await world.memoryObjects.put(name, (await other.memoryObjects.get(name)) as Uint8Array);
    }
    expect((await verifyShard(world.ports, SHARD)).findings[0]?.reason).to.contain('which is missing');
    await world.history.batch({ [ALPHA]: ['SET a mine'] });
    expect((await verifyShard(world.ports, SHARD)).findings[0]?.reason).to.contain('covers another entry');
  });

  it('finds holes that the journal reports', async () => {
    const world = await fourEntries();
    const { memoryJournal } = world;
    const holed = Object.assign(Object.create(memoryJournal) as Journal, {
      tail: async (shard: ShardName) => ({ ...(await memoryJournal.tail(shard)), holes: 2 }),
    });
    const audit = await verifyShard({ ...world.ports, journal: holed }, SHARD);
    expect(audit.findings.map(({ reason }) => reason)).to.deep.equal(['2 messages are missing in the middle']);
  });

  it('reads on when a thousand messages are missing at the end, without a wait for each', async () => {
    const world = await fourEntries();
    const { memoryJournal: journal } = world;
    const { last } = await journal.tail(SHARD);
    const lacking = Object.assign(Object.create(journal) as Journal, {
      tail: async (shard: ShardName) => ({ ...(await journal.tail(shard)), last: last + 1000 }),
      readAt: async (shard: ShardName, position: number) =>
        position > last - 2 ? undefined : journal.readAt(shard, position),
      // Like a server, it delivers no message after the last readable one.
      read: (shard: ShardName, from: number, to: number) => {
        expect(to, 'a reader would wait for it').to.be.at.most(last - 2);
        return journal.read(shard, from, to);
      },
    });
    const audit = await verifyShard({ ...world.ports, journal: lacking }, SHARD);
    expect(audit.findings[0]).to.deep.equal({
      reason: `the messages up to position ${last + 1000} are missing`,
      position: last - 1,
    });
    const stop = AbortSignal.abort();
    const interrupted = await verifyShard({ ...world.ports, journal: lacking }, SHARD, { signal: stop }).catch(String);
    expect(interrupted).to.match(/interrupted/);
  });

  it('of one partition omits findings of other partitions', async () => {
    const world = await fourEntries();
    world.history.section(BETA, Uint8Array.of(1));
    await world.history.batch({ [BETA]: ['SET b x'] });
    expect(auditOfPartition(await verifyShard(world.ports, SHARD), ALPHA).findings).to.deep.equal([]);
    expect(auditOfPartition(await verifyShard(world.ports, SHARD), BETA).findings).to.have.length(1);
  });

  it('exits with 0 and ok, or with 1 and every finding', async () => {
    const world = await fourEntries();
    const fine = new Terminal(world);
    expect(await fine.run('verify --database mine')).to.equal(0);
    expect(fine.out).to.match(/4 entries at positions 1-4, from its beginning.*\n.*3 sections, the last is 3\nok\n$/);
    await world.history.append({ kind: 'claim', clusterId: CLUSTER }, { number: 9 });
    const broken = new Terminal(world);
    expect(await broken.run('verify --database mine')).to.equal(1);
    expect(broken.out).to.match(/DAMAGED KV_0 at position 5: .*number.*\ndamaged\n$/);
  });
});

describe('journal export as lines of JSON', () => {
  it('prints a line for each section of the database, and of no other', async () => {
    const terminal = new Terminal(await fourEntries());
    expect(await terminal.run('export --database mine')).to.equal(0);
    expect(terminal.lines.map(({ number, index, effects }) => [number, index, effects])).to.deep.equal([
      [2, 1, [['SET', 'a1', '1']]],
      [3, 2, [['SET', 'a2', '2']]],
      [4, 3, [['SET', 'a3', '3']]],
    ]);
    expect(new Set(terminal.lines.map(({ partition }) => partition))).to.deep.equal(new Set([ALPHA]));
  });

  it('loses no byte: bytes that are not UTF-8 are base64', async () => {
    const world = new JournalStand();
    await world.history.claim();
    await world.history.batch({
      [ALPHA]: [['SET', 'żółw\n"', BINARY].map((text, i) => (i === 1 ? utf8(text) : text))],
    });
    const terminal = new Terminal(world);
    await terminal.run('export --database mine');
    const base64 = Buffer.from(BINARY, 'latin1').toString('base64');
    expect(terminal.lines[0]?.effects).to.deep.equal([['SET', 'żółw\n"', { base64 }]]);
  });

  it('accepts a range of positions or of instants, both ends included', async () => {
    const world = await fourEntries();
    const numbers = async (range: string) => {
      const terminal = new Terminal(world);
      expect(await terminal.run(`export --database mine ${range}`)).to.equal(0);
      return terminal.lines.map(({ number }) => number);
    };
    expect(await numbers('--from 3')).to.deep.equal([3, 4]);
    expect(await numbers('--to 3')).to.deep.equal([2, 3]);
    const atMs = world.history.clockMs - 1000;
    expect(await numbers(`--from ${iso(atMs)}`)).to.deep.equal([3, 4]);
    expect(await numbers(`--from ${iso(atMs)} --to ${iso(atMs)}`)).to.deep.equal([3]);
  });

  it('refuses a moment earlier than the kept history', async () => {
    const world = await fourEntries();
    const startMs = world.history.clockMs - 2000;
    for (let i = 0; i < 2; i += 1) {
      await world.compactAndPurge();
      await world.history.batch({ [ALPHA]: [`SET later ${i}`] });
    }
    for (const moment of ['2', iso(startMs)]) {
      const terminal = new Terminal(world);
      expect(await terminal.run(`export --database mine --from ${moment}`)).to.equal(2);
      expect(terminal.errors.join()).to.contain('earlier than the kept history');
      expect(terminal.out).to.equal('');
    }
  });

  it('stops at damage with exit code 1 and the position', async () => {
    const world = await fourEntries();
    await world.history.append({ kind: 'claim', clusterId: CLUSTER }, { number: 9 });
    const terminal = new Terminal(world);
    expect(await terminal.run('export --database mine')).to.equal(1);
    expect(terminal.errors.join()).to.contain('does not have the next number');
  });

  it('waits for the reader of its output', async () => {
    const world = await fourEntries();
    const terminal = new Terminal(world);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let writes = 0;
    const write = async () => {
      writes += 1;
      await gate;
    };
    const running = typedJournal(['export', '--database', 'mine'], { ...terminal.deps, write });
    await eventually(() => expect(writes).to.equal(1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(writes).to.equal(1);
    open();
    expect(await running).to.equal(0);
    expect(writes).to.equal(3);
  });
});

describe('journal export as commands', () => {
  it('gives the same state, from the start or after a truncated front', async () => {
    const world = await fourEntries();
    const digests = await world.recoveredDigests();
    for (let round = 0; round < 3; round += 1) {
      const terminal = new Terminal(world);
      expect(await terminal.run('export --database mine --format resp')).to.equal(0);
      expect(digestOfCommands(terminal.out)).to.equal(digests[ALPHA]);
      await world.history.claim();
      await world.compactAndPurge();
    }
    expect((await world.memoryJournal.tail(SHARD)).first).to.be.greaterThan(4);
  });

  it('gives the state at --to, and starts at the snapshot before --from', async () => {
    const world = await fourEntries();
    await world.compact();
    await world.history.batch({ [ALPHA]: ['DEL a1'] });
    await world.history.batch({ [ALPHA]: ['DEL a2'] });
    const terminal = new Terminal(world);
    expect(await terminal.run('export --database mine --format resp --from 5 --to 5')).to.equal(0);
    expect(terminal.out).to.contain('$3\r\nDEL\r\n$2\r\na1');
    const fold = replayFold();
    fold.apply(Buffer.from(terminal.out, 'latin1'));
    expect([...fold.engine.keyspace.entries()].map(([key]) => key).sort()).to.deep.equal(['a2', 'a3']);
  });

  it('of several partitions prints states, so that a FLUSHALL of one does not empty the others', async () => {
    const world = await fourEntries();
    await world.history.batch({ [BETA]: ['FLUSHALL', 'SET b 2'] });
    const terminal = new Terminal(world, [ALPHA, BETA], [SHARD, SHARD]);
    expect(await terminal.run('export --database mine --format resp')).to.equal(0);
    const fold = replayFold();
    fold.apply(Buffer.from(terminal.out, 'latin1'));
    expect([...fold.engine.keyspace.entries()].map(([key]) => key).sort()).to.deep.equal(['a1', 'a2', 'a3', 'b']);
  });
});

describe('journal tail', () => {
  it('prints complete lines for new entries until it is stopped', async () => {
    const world = await fourEntries();
    const terminal = new Terminal(world);
    const running = terminal.run('tail --database mine');
    await eventually(async () => {
      await world.history.batch({ [ALPHA]: ['SET watched 1'], [BETA]: ['SET unwatched 1'] });
      expect(terminal.lines.length).to.be.greaterThan(1);
    });
    expect(terminal.lines[0]?.effects).to.deep.equal([['SET', 'watched', '1']]);
    const indexes = terminal.lines.map(({ index }) => index);
    expect(indexes).to.deep.equal(indexes.map((_, i) => (indexes[0] as number) + i));
    terminal.abort.abort();
    expect(await running).to.equal(0);
  });
});

describe('journal tail with a slow reader', () => {
  const take = async (lines: AsyncIterator<string>) => {
    const { value } = await lines.next();
    return JSON.parse(String(value)) as { index: number; effects: string[][] };
  };

  it('misses no entry although hardly any bytes may be queued', async () => {
    const world = await fourEntries();
    const abort = new AbortController();
    const options = { signal: abort.signal, maxQueuedBytes: 1 };
    const lines = tailLines(world.ports, SHARD, new Set([ALPHA]), options);
    const first = take(lines);
    await eventually(async () => {
      await world.history.batch({ [ALPHA]: ['SET watched 1'] });
      await Promise.race([first, Promise.reject(new Error('nothing yet'))]);
    });
    const { index } = await first;
    for (let i = 0; i < 20; i += 1) await world.history.batch({ [ALPHA]: [`SET watched ${i}`] });
    for (let i = 1; i <= 20; i += 1) expect((await take(lines)).index).to.equal(index + i);
    abort.abort();
    await lines.return(undefined);
  });

  it('skips the end of a chunk set that started before', async () => {
    const world = new JournalStand({ chunkBytes: 300 });
    await world.history.claim();
    const body = {
      kind: 'batch' as const,
      commandIds: [],
      sections: [world.history.section(ALPHA, Buffer.alloc(2000))],
    };
    const { messages } = encodeForJournal(world.history.entry(body), 300);
    const store = async (some: readonly Uint8Array[]) => {
      for (const bytes of some) {
        world.history.lastPosition += 1;
        await world.memoryJournal.append(SHARD, bytes, world.history.lastPosition - 1);
      }
    };
    await store(messages.slice(0, 2));
    const abort = new AbortController();
    const lines = tailLines(world.ports, SHARD, new Set([BETA]), { signal: abort.signal });
    const first = take(lines);
    // Listening begins where the journal ends, which it is asked for first.
    await new Promise((resolve) => setImmediate(resolve));
    await store(messages.slice(2));
    await world.history.append({ kind: 'claim', clusterId: CLUSTER }, { number: 3 });
    await world.history.batch({ [BETA]: ['SET seen 1'] });
    expect((await first).effects).to.deep.equal([['SET', 'seen', '1']]);
    abort.abort();
    await lines.return(undefined);
  });
});

describe('journal commands with wrong arguments', () => {
  const wrong = [
    'look --database mine',
    'verify',
    'verify --database',
    'verify --database mine --from 3',
    'export --database mine --format csv',
    'export --database mine --from yesterday',
    'export --database mine --from 2026-05-01T12:00',
    'export --database mine --from 0',
    'export --database mine extra',
    'export --database mine --unknown',
    'verify --database other',
  ];
  for (const words of wrong) {
    it(`exit with 2 and the reason: ${words}`, async () => {
      const terminal = new Terminal(new JournalStand());
      expect(await terminal.run(words)).to.equal(2);
      expect(terminal.errors).to.have.length(1);
      expect(terminal.out).to.equal('');
    });
  }

  it('exit with 2 when a position could belong to several journals', async () => {
    const terminal = new Terminal(new JournalStand(), [ALPHA, BETA], [SHARD, 'KV_1' as ShardName]);
    expect(await terminal.run('export --database mine --from 3')).to.equal(2);
  });
});

function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
