import { expect } from 'chai';
import { PlanDataLimits } from '../../../../src/actors/control/plan-limits.js';
import { type DatabaseLimits, DEFAULT_DATABASE_SETTINGS, evolve } from '../../../../src/domain/control/index.js';
import type { DatabaseId } from '../../../../src/kernel/index.js';
import { kvPartition } from '../../../../src/protocol/index.js';
import { databaseCreated, INSTALLED, LIMITS, NOW_MS, stateAfter } from '../../../spec/control/given.js';

const ID = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;

function standOf(limits: Partial<DatabaseLimits>, partitions = 1) {
  const created = databaseCreated('x', { ...LIMITS, ...limits });
  if (created.type !== 'DatabaseCreated') throw new Error('not a database');
  const state = stateAfter(...INSTALLED, { ...created, id: ID, partitions });
  const view = { state, version: 1 };
  const reached: DatabaseId[] = [];
  return { view, state, reached, limits: new PlanDataLimits(view, (database) => reached.push(database)) };
}

describe('the data limit of a partition', () => {
  it('is absent without a limit in the plan, and for a partition without a database', () => {
    expect(standOf({}).limits.limitOf(kvPartition(ID, 0))).to.equal(undefined);
    expect(standOf({ maxDataBytes: 0 }).limits.limitOf(kvPartition(ID, 0))).to.equal(undefined);
    const other = 'db-bbbbbbbbbbbbbbbb' as DatabaseId;
    expect(standOf({ maxDataBytes: 9 }).limits.limitOf(kvPartition(other, 0))).to.equal(undefined);
  });

  it('comes with the longest command that the plan allows', () => {
    const { limits } = standOf({ maxCommandBytes: 77 }, 2);
    expect(limits.maxCommandBytesOf(kvPartition(ID, 1))).to.equal(77);
    expect(limits.maxCommandBytesOf(kvPartition('db-bbbbbbbbbbbbbbbb' as DatabaseId, 0))).to.equal(undefined);
  });

  it('is an even share of the limit of its database', () => {
    expect(standOf({ maxDataBytes: 1000 }).limits.limitOf(kvPartition(ID, 0))).to.deep.equal({
      maxBytes: 1000,
      isEvicting: false,
    });
    const { limits } = standOf({ maxDataBytes: 1000 }, 3);
    for (const index of [0, 1, 2]) expect(limits.limitOf(kvPartition(ID, index))?.maxBytes).to.equal(333);
  });

  it('includes the eviction setting, and changes with the control state', () => {
    const { state, limits, view } = standOf({ maxDataBytes: 1000 });
    const settings = { ...DEFAULT_DATABASE_SETTINGS, isEvicting: true };
    evolve(state, { type: 'DatabaseSettingsSet', database: ID, settings, atMs: NOW_MS });
    expect(limits.limitOf(kvPartition(ID, 0))).to.deep.equal({ maxBytes: 1000, isEvicting: true });
    expect(limits.version).to.equal(1);
    view.version = 2;
    expect(limits.version).to.equal(2);
  });

  it('reports the database that reached its limit', () => {
    const { limits, reached } = standOf({ maxDataBytes: 1000 }, 2);
    limits.reached(kvPartition(ID, 1));
    expect(reached).to.deep.equal([ID]);
  });
});
