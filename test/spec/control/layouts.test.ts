/** The number of a database's partitions: its change, step by step. Proves LAY1 to LAY4. */
import { expect } from 'chai';
import { type ControlCommand, ControlState, evolve, rebuildingEvents } from '../../../src/domain/control/index.js';
import { LAYOUTS_FORMAT_LEVEL, type ShardName, type TriggerId } from '../../../src/kernel/index.js';
import { ACCOUNT, databaseCreated, db, given, INSTALLED, NOW_MS, stateAfter } from './given.js';
import { backupStarted, keyTrigger } from './management-given.js';

type Target = 'attempt' | 'copying' | 'switched' | 'abandoning' | 'failed' | 'ended';

const RAISED = { type: 'FormatRaised', level: LAYOUTS_FORMAT_LEVEL, by: 'root@host', atMs: NOW_MS } as const;
const READY = [...INSTALLED, RAISED] as const;

const changeTo = (partitions: number): ControlCommand => ({
  type: 'ChangePartitions',
  database: db('first'),
  partitions,
});
const advance = (to: Target, attempt: number, percent = 0, reason = ''): ControlCommand => ({
  type: 'AdvancePartitions',
  database: db('first'),
  attempt,
  to,
  percent,
  reason,
});
const change = (phase: 'copying' | 'switched' | 'abandoning' | 'failed', attempt: number, over = {}) => ({
  phase,
  firstPartition: 1,
  partitions: 4,
  startedAtMs: NOW_MS,
  attempt,
  percent: 0,
  reason: '',
  ...over,
});
const FORMER = { firstPartition: 0, partitions: 1, starts: [], ends: [{ shard: 'KV_3' as ShardName, position: 9 }] };
const layoutSet = (firstPartition: number, partitions: number, layoutChange?: ReturnType<typeof change>) =>
  ({
    type: 'DatabaseLayoutSet',
    database: db('first'),
    firstPartition,
    partitions,
    atMs: NOW_MS,
    ...(layoutChange && { layoutChange }),
    ...(firstPartition > 0 && { former: FORMER }),
  }) as const;

const TRIGGER = keyTrigger('tr-orders' as TriggerId, { database: db('first'), account: ACCOUNT });
const COPYING = layoutSet(0, 1, change('copying', NOW_MS));
const SWITCHED = layoutSet(1, 4, change('switched', NOW_MS + 1, { firstPartition: 0, partitions: 1, percent: 100 }));

describe('ChangePartitions', () => {
  it('begins a copy to partitions with the next numbers (LAY4)', () => {
    given(...READY)
      .when(changeTo(4))
      .then(COPYING);
    given(...READY, COPYING, SWITCHED, layoutSet(1, 4))
      .when(changeTo(2))
      .then(layoutSet(1, 4, change('copying', NOW_MS, { firstPartition: 5, partitions: 2 })));
  });

  it('uses the numbers of a failed change again, because no client was sent there', () => {
    given(...READY, layoutSet(0, 1, change('failed', NOW_MS + 7)))
      .when(changeTo(2))
      .then(layoutSet(0, 1, change('copying', NOW_MS + 8, { partitions: 2 })));
  });

  it('refuses a new trigger, and another start of a trigger, until it has ended (LAY5)', () => {
    const set = { type: 'TriggerSet', trigger: TRIGGER, atMs: NOW_MS } as const;
    const moved = { ...TRIGGER, starts: [{ shard: 'KV_3' as ShardName, position: 1 }] };
    given(...READY, COPYING)
      .when({ type: 'SetTrigger', trigger: TRIGGER, isNew: true })
      .refuses('CONFLICTS');
    given(...READY, set, COPYING)
      .when({ type: 'SetTrigger', trigger: moved, isNew: false })
      .refuses('CONFLICTS');
    given(...READY, set, COPYING)
      .when({ type: 'SetTrigger', trigger: { ...TRIGGER, isPaused: true }, isNew: false })
      .then({ type: 'TriggerSet', trigger: { ...TRIGGER, isPaused: true }, atMs: NOW_MS });
  });

  it('is refused below its format level (LAY3)', () => {
    given(...INSTALLED)
      .when(changeTo(4))
      .refuses('CONFLICTS');
  });

  it('is refused for a wrong number, an unknown database, during a backup and during another change', () => {
    for (const wrong of [0, 1025, 1.5])
      given(...READY)
        .when(changeTo(wrong))
        .refuses('BAD_PARTITIONS');
    given(RAISED).when(changeTo(4)).refuses('UNKNOWN_DATABASE');
    given(...READY, backupStarted('one'))
      .when(changeTo(4))
      .refuses('CONFLICTS');
    given(...READY, COPYING)
      .when(changeTo(3))
      .refuses('CONFLICTS');
    given(...READY, COPYING, SWITCHED)
      .when(changeTo(1))
      .refuses('CONFLICTS');
  });

  it('is refused for a database with branches and for a branch, with the names', () => {
    const branch = { origin: db('first'), atMs: NOW_MS, expiresAtMs: NOW_MS + 3_600_000, isLive: false };
    const known = [...READY, { ...databaseCreated('trial'), branch } as const];
    const problem = (database: string) => {
      const { reply } = given(...known).when({ type: 'ChangePartitions', database: db(database), partitions: 4 });
      return reply.type === 'Rejected' && [reply.reason, reply.message];
    };
    expect(problem('first')).to.deep.equal([
      'CONFLICTS',
      'a branch keeps the partitions of its origin, and first has branches: discard trial first',
    ]);
    expect(problem('trial')).to.deep.equal([
      'CONFLICTS',
      'trial is a branch, and a branch keeps the partitions of its origin',
    ]);
  });

  it('changes nothing for the present number, and when it is repeated', () => {
    given(...READY)
      .when(changeTo(1))
      .then();
    given(...READY, COPYING)
      .when(changeTo(4))
      .then();
  });

  it('prevents a backup until it has ended', () => {
    const started = backupStarted('one');
    if (started.type !== 'BackupStarted') throw new Error('another event');
    const { id: backup, database, account, name } = started;
    const start = { type: 'StartBackup', account, database, backup, name, isDaily: false } as const;
    given(...READY, COPYING)
      .when(start)
      .refuses('CONFLICTS');
  });
});

describe('AdvancePartitions', () => {
  it('switches with one event, to the attempt that makes the copy (LAY1, LAY2)', () => {
    given(...READY, COPYING)
      .when({ ...advance('switched', NOW_MS), ends: FORMER.ends } as ControlCommand)
      .then(SWITCHED);
    given(...READY, COPYING)
      .when(advance('switched', NOW_MS - 1))
      .refuses('CONFLICTS');
  });

  it('moves triggers of the layout before the one that is left to the beginning of that one (LAY5)', () => {
    const copying = layoutSet(1, 4, change('copying', NOW_MS, { firstPartition: 5, partitions: 2 }));
    const old = { ...TRIGGER, from: 'snapshot' } as const;
    const present = { ...TRIGGER, id: 'tr-present' as TriggerId, firstPartition: 1 };
    const set = [old, present].map((trigger) => ({ type: 'TriggerSet', trigger, atMs: NOW_MS }) as const);
    const ends = [{ shard: 'KV_1' as ShardName, position: 30 }];
    given(...READY, ...set, copying)
      .when({ ...advance('switched', NOW_MS), ends } as ControlCommand)
      .then(
        {
          ...layoutSet(5, 2, change('switched', NOW_MS + 1, { firstPartition: 1, percent: 100 })),
          former: { firstPartition: 1, partitions: 4, starts: FORMER.ends, ends },
        },
        { type: 'TriggerSet', trigger: { ...old, from: 'now', starts: FORMER.ends, firstPartition: 1 }, atMs: NOW_MS },
      );
  });

  it('gives each copy a higher number, after which the former one has no effect (LAY2)', () => {
    const again = layoutSet(0, 1, change('copying', NOW_MS + 1));
    given(...READY, COPYING)
      .when(advance('attempt', NOW_MS))
      .then(again);
    for (const to of ['attempt', 'copying', 'switched', 'abandoning'] as const) {
      given(...READY, COPYING, again)
        .when(advance(to, NOW_MS, 50))
        .refuses('CONFLICTS');
    }
  });

  it('stores progress that has grown', () => {
    given(...READY, COPYING)
      .when(advance('copying', NOW_MS, 40))
      .then(layoutSet(0, 1, change('copying', NOW_MS, { percent: 40 })));
    given(...READY, layoutSet(0, 1, change('copying', NOW_MS, { percent: 40 })))
      .when(advance('copying', NOW_MS, 40))
      .then();
  });

  it('ends a switched change, and an abandoned one with its reason', () => {
    given(...READY, COPYING, SWITCHED)
      .when(advance('ended', NOW_MS + 1))
      .then(layoutSet(1, 4));
    const abandoning = layoutSet(0, 1, change('abandoning', NOW_MS + 1, { reason: 'no memory' }));
    given(...READY, COPYING)
      .when(advance('abandoning', NOW_MS, 0, 'no memory'))
      .then(abandoning);
    given(...READY, abandoning)
      .when(advance('failed', NOW_MS + 1))
      .then(layoutSet(0, 1, change('failed', NOW_MS + 1, { reason: 'no memory' })));
  });

  it('is refused in any other phase', () => {
    given(...READY, COPYING)
      .when(advance('ended', NOW_MS))
      .refuses('CONFLICTS');
    given(...READY, COPYING, SWITCHED)
      .when(advance('abandoning', NOW_MS + 1))
      .refuses('CONFLICTS');
    given(...READY)
      .when(advance('switched', 0))
      .refuses('CONFLICTS');
  });
});

describe('a layout', () => {
  it('is part of a snapshot', () => {
    for (const events of [[COPYING], [COPYING, SWITCHED], [COPYING, SWITCHED, layoutSet(1, 4)]]) {
      const state = stateAfter(...READY, ...events);
      const again = new ControlState();
      for (const event of rebuildingEvents(state)) evolve(again, event);
      expect(again.databases.get(db('first'))).to.deep.equal(state.databases.get(db('first')));
    }
  });

  it('of a deleted database names all partitions that it has had, whose data is removed', () => {
    const deleted = { type: 'DatabaseDeleted', database: db('first'), atMs: NOW_MS } as const;
    const during = stateAfter(...READY, COPYING, deleted).databases.get(db('first'));
    expect(during).to.deep.include({ partitions: 5, deletedAtMs: NOW_MS });
    expect(during).to.not.have.property('layoutChange');
    const after = stateAfter(...READY, COPYING, SWITCHED, layoutSet(1, 4), deleted).databases.get(db('first'));
    expect(after).to.deep.include({ partitions: 5 });
  });
});
