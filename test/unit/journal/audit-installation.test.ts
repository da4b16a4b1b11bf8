/** Proves AI2, AUJ2. */
import { expect } from 'chai';
import { encodeMeterRecord } from '../../../src/codec/control/index.js';
import { encodeShardLease } from '../../../src/codec/leases/index.js';
import {
  type AuditProgress,
  type AuditReport,
  type ChainHead,
  type CheckpointStatement,
  checkpointOf,
  type InstallationAuditOptions,
  verifyInstallation,
} from '../../../src/journal/index.js';
import { MillraceError, type SessionId, type ShardName } from '../../../src/kernel/index.js';
import type { Journal } from '../../../src/ports/index.js';
import { METER_SHARD } from '../../../src/protocol/index.js';
import { foldOfPartition } from '../../../src/replay/index.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, BETA, CLUSTER, SHARD } from '../../spec/journal/shard-history.js';
import { typedJournal } from '../../support/command-lines.js';
import { journalTools } from '../../support/journal-tools.js';
import { MemoryLeaseStore } from '../../support/memory/index.js';
import { silentLog } from '../../support/silent-log.js';

class Installation {
  readonly world = new JournalStand();
  readonly leases = new MemoryLeaseStore();
  logs: readonly ShardName[] = [];
  #createdAt = '';

  static async of(entries: number): Promise<Installation> {
    const installation = new Installation();
    const { history, memoryJournal } = installation.world;
    await history.claim();
    for (let i = 2; i <= entries; i += 1) await history.batch({ [ALPHA]: [`SET k ${i}`] });
    installation.#createdAt = (await memoryJournal.tail(SHARD)).createdAt;
    return installation;
  }

  /** Makes the lease of the shard name this entry. */
  async writeLease({ number, hash, position }: ChainHead, createdAt = this.#createdAt): Promise<void> {
    const lease = { epoch: 1, session: 'node-a' as SessionId, isReleased: true, createdAt, needsQuiet: false };
    await this.leases.create(SHARD, encodeShardLease({ ...lease, highWater: { number, hash, position } }));
  }

  async statement(): Promise<CheckpointStatement> {
    const shards = [await checkpointOf(this.world.ports, SHARD)];
    return { clusterId: CLUSTER, takenAt: '2026-05-01T00:00:00.000Z', shards };
  }

  async audit(options: InstallationAuditOptions = {}, journal?: Journal): Promise<AuditReport[]> {
    const { ports } = this.world;
    const installation = { leases: this.leases, foldFactory: foldOfPartition, shards: [SHARD], logs: this.logs };
    const reports: AuditReport[] = [];
    for await (const report of verifyInstallation(
      { ...ports, ...installation, journal: journal ?? ports.journal },
      options,
    )) {
      reports.push(report);
    }
    return reports;
  }

  async findings(
    options: InstallationAuditOptions = {},
    journal?: Journal,
  ): Promise<(readonly [number | undefined, string])[]> {
    const reports = await this.audit(options, journal);
    return reports.flatMap(({ findings }) => findings.map(({ position, reason }) => [position, reason] as const));
  }

  /** The same journal with an earlier end, as after the loss of its newest entries. */
  shorter(last: number): Journal {
    const { memoryJournal } = this.world;
    return Object.assign(Object.create(memoryJournal) as Journal, {
      tail: async (shard: ShardName) => ({ ...(await memoryJournal.tail(shard)), last }),
    });
  }
}

describe('the audit of an installation', () => {
  it('has no findings where leases and checkpoint match the journal', async () => {
    const installation = await Installation.of(4);
    await installation.writeLease(installation.world.history.head);
    const against = await installation.statement();
    await installation.world.history.batch({ [BETA]: ['SET b 1'] });
    await installation.world.compact();
    const [report] = await installation.audit({ against });
    expect(report?.findings).to.deep.equal([]);
    if (report?.kind !== 'shard') throw new Error('not a shard');
    expect([report.audit.marksMet, report.snapshots.refolded]).to.deep.equal([2, 1]);
  });

  it('finds that the newest entries are gone, by the lease and by the checkpoint', async () => {
    const installation = await Installation.of(5);
    const against = await installation.statement();
    await installation.writeLease(installation.world.history.head);
    const found = await installation.findings({ against }, installation.shorter(3));
    expect(found.map(([position]) => position)).to.deep.equal([4, 4]);
    expect(found.map(([, reason]) => reason).join('\n')).to.match(
      /the lease recorded entry 5 at position 5: the journal is shorter than before.*\nthe checkpoint recorded entry 5/,
    );
  });

  it('finds a replaced entry, and a different history', async () => {
    const installation = await Installation.of(4);
    const other = await Installation.of(3);
    await other.world.history.batch({ [ALPHA]: ['SET k another'] });
    const statement = await other.statement();
    const [shard] = statement.shards;
    const against = { ...statement, shards: [{ ...(shard as NonNullable<typeof shard>), createdAt: '' }] };
    const { createdAt } = await installation.world.memoryJournal.tail(SHARD);
    const same = { ...against, shards: against.shards.map((one) => ({ ...one, createdAt })) };
    expect(await installation.findings({ against: same })).to.deep.equal([
      [4, 'entry 4 differs from the one that the checkpoint recorded'],
    ]);
  });

  it('finds a stream that was created again', async () => {
    const installation = await Installation.of(2);
    await installation.writeLease(installation.world.history.head, '2020-01-01T00:00:00Z');
    expect((await installation.findings())[0]?.[1]).to.match(/^its stream was created at .*, the lease says 2020-/);
  });

  it('compares with a snapshot where the entry was truncated, and reports where no comparison is possible', async () => {
    const installation = await Installation.of(4);
    const { world } = installation;
    const old = await installation.statement();
    await world.compactAndPurge();
    await world.history.claim();
    const covered = await installation.statement();
    for (let i = 0; i < 2; i += 1) {
      await world.compactAndPurge();
      await world.history.claim();
    }
    const [byNothing] = await installation.audit({ against: old });
    if (byNothing?.kind !== 'shard') throw new Error('not a shard');
    expect([byNothing.findings, byNothing.audit.marksTooOld.length]).to.deep.equal([[], 1]);
    const [bySnapshot] = await installation.audit({ against: covered });
    if (bySnapshot?.kind !== 'shard') throw new Error('not a shard');
    expect(bySnapshot.audit.firstPosition).to.be.greaterThan(covered.shards[0]?.position as number);
    expect([bySnapshot.findings, bySnapshot.audit.marksMet]).to.deep.equal([[], 1]);
  });

  it('finds shards that the checkpoint knows and that are missing', async () => {
    const installation = await Installation.of(2);
    const against = await installation.statement();
    const shards = against.shards.map((shard) => ({ ...shard, shard: 'KV_9' as ShardName }));
    const reports = await installation.audit({ against: { ...against, shards } });
    expect(reports.at(-1)).to.deep.include({ kind: 'missing', shard: 'KV_9' });
  });

  it('reads a log without a chain, and finds invalid records', async () => {
    const installation = await Installation.of(1);
    const { memoryJournal } = installation.world;
    memoryJournal.createStream(METER_SHARD);
    installation.logs = [METER_SHARD];
    const record = { session: 'node-a' as SessionId, number: 1, day: 1, atMs: 1, connections: 0, rows: [] };
    await memoryJournal.append(METER_SHARD, encodeMeterRecord(record as Parameters<typeof encodeMeterRecord>[0]), 0);
    expect((await installation.audit()).at(-1)).to.deep.include({ kind: 'log', findings: [] });
    await memoryJournal.append(METER_SHARD, Buffer.from('garbage'), 1);
    expect((await installation.findings()).map(([position]) => position)).to.deep.equal([2]);
  });

  it('continues after a gap, and names it by its position', async () => {
    const installation = await Installation.of(6);
    const { memoryJournal } = installation.world;
    const holed = Object.assign(Object.create(memoryJournal) as Journal, {
      async *read(shard: ShardName, from: number, to: number) {
        for await (const message of memoryJournal.read(shard, from, to)) {
          if (message.position !== 3) yield message;
          else if (from <= 3) throw holeAt(3, 4);
        }
      },
    });
    expect(await installation.findings({}, holed)).to.deep.equal([[3, 'the message at this position is missing']]);
  });

  it('finds that the front is gone where no snapshot covers it', async () => {
    const installation = await Installation.of(5);
    await installation.world.memoryJournal.truncateFront(SHARD, 3);
    expect(await installation.findings()).to.deep.equal([
      [3, 'earlier entries were removed, and no snapshot covers them'],
    ]);
  });

  it('starts again when the front is truncated while it reads', async () => {
    const installation = await Installation.of(5);
    const { world } = installation;
    const { memoryJournal } = world;
    let hasMoved = false;
    const moving = Object.assign(Object.create(memoryJournal) as Journal, {
      async *read(shard: ShardName, from: number, to: number) {
        if (!hasMoved) {
          hasMoved = true;
          for (let i = 0; i < 2; i += 1) {
            await world.compactAndPurge();
            await world.history.claim();
          }
        }
        const { first } = await memoryJournal.tail(shard);
        if (from < first) throw holeAt(from, first);
        yield* memoryJournal.read(shard, from, to);
      },
    });
    const [report] = await installation.audit({}, moving);
    if (report?.kind !== 'shard') throw new Error('not a shard');
    expect([report.findings, report.audit.anchoredBy]).to.deep.equal([[], 'snapshot']);
  });

  it('reports its progress', async () => {
    const installation = await Installation.of(3);
    const seen: AuditProgress[] = [];
    await installation.audit({ onProgress: (progress) => seen.push(progress) });
    expect(seen).to.deep.equal([{ shard: SHARD, phase: 'entries', done: 3, total: 3 }]);
  });
});

describe('journal verify --all, checkpoint and --against', () => {
  async function run(
    installation: Installation,
    tools: ReturnType<typeof journalTools>,
    words: string,
  ): Promise<{ code: number; out: string; errors: string }> {
    const { ports } = installation.world;
    let [out, errors] = ['', ''];
    const nobody = async () => ({ partitions: [], shards: [] });
    const code = await typedJournal(words.split(' '), {
      ...tools,
      leases: installation.leases,
      journal: ports.journal,
      objects: ports.objects,
      log: silentLog,
      signal: new AbortController().signal,
      resolveDatabase: nobody,
      resolveAccount: nobody,
      write: (text) => {
        out += String(text);
      },
      writeError: (line) => {
        errors += `${line}\n`;
      },
    });
    return { code, out, errors };
  }

  it('exit with 0 and ok, or with 1 and the first bad entry', async () => {
    const installation = await Installation.of(3);
    const tools = journalTools(SHARD);
    expect(await run(installation, tools, 'verify --all')).to.deep.include({ code: 0, errors: '' });
    const { history } = installation.world;
    await history.append({ kind: 'claim', clusterId: CLUSTER }, { number: 9 });
    const { code, out } = await run(installation, tools, 'verify --all');
    expect(code).to.equal(1);
    expect(out).to.match(/^DAMAGED KV_0 at position 4: .*\ndamaged: the first bad entry is KV_0 at position 4\n$/m);
  });

  it('accept a checkpoint after later entries, and refuse a modified one', async () => {
    const installation = await Installation.of(3);
    const tools = journalTools(SHARD);
    const taken = await run(installation, tools, 'checkpoint --to kept.json');
    expect(taken.code, taken.errors).to.equal(0);
    expect(taken.out).to.match(/^KV_0: entry 3 at position 3 has hash [0-9a-f]{64}\nwrote kept.json, signed with key /);
    await installation.world.history.batch({ [ALPHA]: ['SET k later'] });
    const fine = await run(installation, tools, 'verify --against kept.json');
    expect([fine.code, fine.errors]).to.deep.equal([0, '']);
    expect(fine.out)
      .to.contain("this installation's")
      .and.match(/\nok\n$/);
    tools.files.set('kept.json', (tools.files.get('kept.json') as string).replace('"number": 3', '"number": 2'));
    const changed = await run(installation, tools, 'verify --against kept.json');
    expect(changed.code).to.equal(2);
    expect(changed.errors).to.contain('the checkpoint was changed after it was signed');
  });

  it('report a checkpoint that was signed with another key, or is of another installation', async () => {
    const installation = await Installation.of(3);
    const tools = journalTools(SHARD);
    await run(installation, tools, 'checkpoint --to kept.json');
    const elsewhere = { ...journalTools(SHARD), files: tools.files };
    const { readFile } = tools.checkpoints;
    const foreign = { ...elsewhere, checkpoints: { ...elsewhere.checkpoints, readFile, clusterId: 'another' } };
    const { code, out } = await run(installation, foreign, 'verify --against kept.json');
    expect(code).to.equal(1);
    expect(out)
      .to.contain('not the key of this installation')
      .and.contain('DAMAGED the checkpoint: of installation cluster-for-tests');
    const pinned = await run(installation, tools, 'verify --against kept.json --signed-by 0123');
    expect(pinned.out).to.match(/DAMAGED the checkpoint: signed with key [0-9a-f]{32}, not with 0123/);
  });

  it('refuse a database together with --all, a missing file, and options of other commands', async () => {
    const installation = await Installation.of(1);
    const wrong = [
      'verify --all --database mine',
      'verify --all --signed-by 00',
      'verify --against nowhere.json',
      'checkpoint',
      'replay --database mine',
      'replay --database mine --at 3 --host ::1',
      'replay --database mine --at 3 --serve 65536',
      'replay --account mine --at 3 --serve 0',
      'diff --database mine --from 3',
      'diff --database mine --from 3 --to 2',
      'diff --account mine --from 2 --to 3',
      'tail --database mine --values',
    ];
    for (const words of wrong) {
      const { code, errors } = await run(installation, journalTools(SHARD), words);
      expect([code, errors === ''], words).to.deep.equal([2, false]);
    }
  });
});

function holeAt(expected: number, found: number): Error {
  return new MillraceError('JOURNAL_DAMAGED', 'messages are missing in the journal', { expected, found });
}
