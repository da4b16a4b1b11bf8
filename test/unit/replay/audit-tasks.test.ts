/** The answers of the operators' audit API over a journal in memory that several tenants share. */
import { expect } from 'chai';
import type { DatabaseId, MillraceError } from '../../../src/kernel/index.js';
import type { AuditedPlace, AuditTask } from '../../../src/ports/index.js';
import { type WalkPorts, walk } from '../../../src/replay/audit-tasks.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, BETA, SHARD } from '../../spec/journal/shard-history.js';
import { journalTools } from '../../support/journal-tools.js';
import { silentLog } from '../../support/silent-log.js';

const OWN: Extract<AuditedPlace, { kind: 'database' }> = {
  kind: 'database',
  database: 'db-aaaaaaaaaaaaaaaa' as DatabaseId,
  partitions: 1,
};

describe('walks through the journal', () => {
  let world: JournalStand;

  beforeEach(async () => {
    world = new JournalStand();
    await world.history.claim();
    for (const value of ['1', '2', '3']) {
      world.history.clockMs += 1000;
      await world.history.batch({ [ALPHA]: [`SET a ${value}`], [BETA]: [`SET secret ${value}`] });
    }
  });

  async function walked(task: AuditTask): Promise<Record<string, never>[]> {
    const { journal, objects } = world;
    const auditWorld: WalkPorts = {
      ...journalTools(SHARD),
      journal,
      objects,
      log: silentLog,
      kvShards: 1,
      queueShards: 1,
    };
    const texts: Record<string, never>[] = [];
    for await (const text of walk(auditWorld, task)) {
      expect(text).to.not.include('\n');
      texts.push(JSON.parse(text) as Record<string, never>);
    }
    return texts;
  }
  const position = (at: number) => ({ kind: 'position', position: at }) as const;
  const timeline = (more: Partial<Extract<AuditTask, { kind: 'timeline' }>> = {}) =>
    walked({ kind: 'timeline', of: OWN, from: undefined, to: undefined, limit: 100, ...more });

  it('list the entries of one tenant and omit those of others', async () => {
    const entries = await timeline();
    expect(entries.map(({ effects }) => effects)).to.deep.equal(['1', '2', '3'].map((value) => [['SET', 'a', value]]));
    expect(JSON.stringify(entries)).to.not.include('secret').and.not.include(BETA);
    expect(await timeline({ limit: 2 })).to.deep.equal(entries.slice(0, 2));
    expect(await timeline({ from: position(3), to: position(3) })).to.deep.equal(entries.slice(1, 2));
  });

  it('list the entries that touched one key, with the commands', async () => {
    await world.history.batch({ [ALPHA]: ['SET b 1', 'APPEND a x', 'RENAME a c'], [BETA]: ['SET a secret'] });
    await world.history.batch({ [ALPHA]: ['SET b 2'] });
    await world.history.batch({ [ALPHA]: ['FLUSHALL'] });
    const touched = async (key: string, more = {}) => (await timeline({ key, ...more })).map(({ effects }) => effects);
    expect(await touched('a', { from: position(5) })).to.deep.equal([
      [
        ['APPEND', 'a', 'x'],
        ['RENAME', 'a', 'c'],
      ],
      [['FLUSHALL']],
    ]);
    expect(await touched('b', { limit: 2 })).to.deep.equal([[['SET', 'b', '1']], [['SET', 'b', '2']]]);
    expect(await touched('c')).to.deep.equal([[['RENAME', 'a', 'c']], [['FLUSHALL']]]);
    expect(await touched('none')).to.deep.equal([[['FLUSHALL']]]);
  });

  it('list the last entries of a key, the newest first', async () => {
    const sets = (...values: string[]) => values.map((value) => [['SET', 'a', value]]);
    const newest = async (limit: number) =>
      (await timeline({ key: 'a', limit, isNewestFirst: true })).map(({ effects }) => effects);
    expect(await newest(100)).to.deep.equal(sets('3', '2', '1'));
    expect(await newest(1)).to.deep.equal(sets('3'));
  });

  it('show one key of a state', async () => {
    await world.history.batch({ [ALPHA]: ['SET b 1'] });
    const one = { kind: 'state', of: OWN, after: undefined, limit: 10, withValues: true } as const;
    const [, ...keys] = await walked({ ...one, at: position(3), key: 'a' });
    expect(keys.map(({ key, commands }) => [key, commands])).to.deep.equal([['a', [['SET', 'a', '2']]]]);
    expect(await walked({ ...one, at: position(3), key: 'b' })).to.have.length(1);
  });

  it('show a state and its changes', async () => {
    const [whole, ...keys] = await walked({
      kind: 'state',
      of: OWN,
      at: position(3),
      after: undefined,
      limit: 10,
      withValues: true,
    });
    expect(whole).to.include({ keys: 1 });
    expect(keys.map(({ key, commands }) => [key, commands])).to.deep.equal([['a', [['SET', 'a', '2']]]]);
    const changes = await walked({
      kind: 'diff',
      of: OWN,
      from: position(2),
      to: position(4),
      limit: 10,
      withValues: false,
    });
    expect(changes.map(({ key, entryCount }) => [key, entryCount])).to.deep.equal([['a', 2]]);
  });

  it('refuse a future position', async () => {
    const task = { kind: 'state', of: OWN, at: position(99), after: undefined, limit: 1, withValues: false } as const;
    const failure = await walked(task).catch((error: MillraceError) => error);
    expect((failure as MillraceError).code).to.equal('INVALID');
  });

  it('report progress, then the journal, and then success', async () => {
    const texts = await walked({ kind: 'verify', of: OWN });
    const names = texts.flatMap((text) => Object.keys(text));
    expect(names.slice(-2)).to.deep.equal(['report', 'done']);
    expect(new Set(names.slice(0, -2))).to.deep.equal(new Set(['progress']));
    expect(texts.at(-1)).to.deep.equal({ done: { isFine: true } });
    expect(texts.at(-2)?.report).to.deep.include({
      shard: SHARD,
      entries: 4,
      findings: [],
      ofPartitions: [{ partition: ALPHA, sections: 3, lastIndex: 3, findings: [] }],
    });
  });

  it('report damage in another partition without its name', async () => {
    world.history.section(BETA, Uint8Array.of(1));
    await world.history.batch({ [BETA]: ['SET secret x'] });
    const texts = await walked({ kind: 'verify', of: OWN });
    const findings = (texts.at(-2)?.report as { findings: object[] } | undefined)?.findings;
    expect(findings).to.deep.equal([{ reason: 'another part of this journal is damaged', position: 5 }]);
    expect(JSON.stringify(texts)).to.not.include('bbbb');
    expect(texts.at(-1)).to.deep.equal({ done: { isFine: false } });
    const all = await walked({ kind: 'verify', of: undefined });
    expect(JSON.stringify(all)).to.include(BETA);
  });

  it('name the damage to the owner of the partition', async () => {
    world.history.section(ALPHA, Uint8Array.of(1));
    await world.history.batch({ [ALPHA]: ['SET a x'] });
    const texts = await walked({ kind: 'verify', of: OWN });
    const findings = (texts.at(-2)?.report as { findings: object[] } | undefined)?.findings;
    expect(findings?.[0]).to.deep.include({ partition: ALPHA, position: 5 });
  });
});
