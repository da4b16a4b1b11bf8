/** Proves BRA1 and BRA2. */
import { expect } from 'chai';
import {
  type ControlCommand,
  type ControlEvent,
  DEFAULT_DATABASE_SETTINGS,
  MAX_DATABASE_BRANCHES,
} from '../../../src/domain/control/index.js';
import { BRANCHES_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { ACCOUNT, createDatabase, db, given, NOW_MS } from './given.js';
import { OTHER, PEOPLE } from './management-given.js';

const RAISED: ControlEvent = { type: 'FormatRaised', level: BRANCHES_FORMAT_LEVEL, by: 'test', atMs: NOW_MS };
const HOUR_MS = 3_600_000;
const branch = { origin: db('first'), atMs: NOW_MS, expiresAtMs: NOW_MS + HOUR_MS, isLive: false };
const create = (name: string, over: Record<string, unknown> = {}): ControlCommand =>
  createDatabase(name, { account: ACCOUNT, settings: DEFAULT_DATABASE_SETTINGS, branch, ...over });

const eventsOf = (name: string, ...before: ControlEvent[]) => given(...before).when(create(name)).events;

describe('control: branches', () => {
  const before = [...PEOPLE, RAISED];

  it('are databases with an origin, a moment and an end, and do not count as databases of the plan', () => {
    const { reply, events } = given(...before).when(create('rehearsal'));
    expect(reply.type === 'OneDatabase' && reply.database.branch).to.deep.equal(branch);
    const [created] = events;
    expect(created).to.deep.include({ type: 'DatabaseCreated', id: db('rehearsal'), branch });
  });

  it(`are refused below format level ${BRANCHES_FORMAT_LEVEL} (BRA2)`, () => {
    given(...PEOPLE)
      .when(create('early'))
      .refuses('CONFLICTS');
  });

  it('need an origin of the account that is no branch, with as many partitions, and an unused name (BRA1)', () => {
    given(...before)
      .when(create('x', { branch: { ...branch, origin: db('nowhere') } }))
      .refuses('UNKNOWN_DATABASE');
    given(...before)
      .when(create('x', { account: OTHER }))
      .refuses('UNKNOWN_DATABASE');
    given(...before)
      .when(create('x', { partitions: 7 }))
      .refuses('BAD_PARTITIONS');
    given(...before)
      .when(create('x', { name: 'first' }))
      .refuses('NAME_TAKEN');
    const known = [...before, ...eventsOf('one', ...before)];
    given(...known)
      .when(create('two', { branch: { ...branch, origin: db('one') } }))
      .refuses('CONFLICTS');
  });

  it('exist for a minute to seven days', () => {
    for (const lifeMs of [1000, 8 * 24 * HOUR_MS]) {
      given(...before)
        .when(create('x', { branch: { ...branch, expiresAtMs: NOW_MS + lifeMs } }))
        .refuses('BAD_VALUE');
    }
  });

  it(`of a database are at most ${MAX_DATABASE_BRANCHES}`, () => {
    const events = [...before];
    for (let n = 0; n < MAX_DATABASE_BRANCHES; n += 1) events.push(...eventsOf(`branch-${n}`, ...events));
    given(...events)
      .when(create('one-more'))
      .refuses('TOO_MANY');
  });
});
