/** Own roles, their assignments, and keys with a role. Proves RDE1, CST6. */
import { expect } from 'chai';
import {
  type ControlCommand,
  type ControlEvent,
  ControlState,
  evolve,
  MAX_ACCOUNT_ASSIGNMENTS,
  MAX_ACCOUNT_ROLES,
  mappedRoles,
  rebuildingEvents,
} from '../../../src/domain/control/index.js';
import { ROLES_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { ACCOUNT, given, stateAfter } from './given.js';
import { apiKey, atMs, BERT, CARL, PEOPLE, TEAM, WITH_CARL } from './management-given.js';

const RAISED: ControlEvent = { type: 'FormatRaised', level: ROLES_FORMAT_LEVEL, by: 'test', atMs };
const READY = [...PEOPLE, RAISED];
const role = (over = {}) => ({ account: TEAM, name: 'support', description: '', rights: ['queues:use'], ...over });
const set = (over = {}, isNew = true): ControlCommand => ({ type: 'SetRole', role: role(over), isNew });
const roleSet = (over = {}): ControlEvent => ({ type: 'RoleSet', role: role(over), atMs });
const assignment = (over = {}) => ({
  id: 'asg_1',
  account: TEAM,
  kind: 'person' as const,
  subject: CARL,
  role: 'support',
  createdAtMs: atMs,
  ...over,
});
const assign = (over = {}): ControlCommand => ({ type: 'AssignRole', assignment: assignment(over) });
const assigned = (over = {}): ControlEvent => ({ type: 'RoleAssigned', assignment: assignment(over) });
const keyOf = (over = {}) => apiKey('k', { account: TEAM, email: CARL, ...over });
const keyCreated = (over = {}): ControlEvent => ({ type: 'ApiKeyCreated', ...keyOf(over) });

describe('SetRole', () => {
  it('stores a role with its rights in the order of the table, and changes it', () => {
    given(...READY)
      .when(set({ rights: ['queues:use', 'databases:read'] }))
      .then(roleSet({ rights: ['databases:read', 'queues:use'] }));
    given(...READY, roleSet())
      .when(set({ rights: ['queues:read'] }, false))
      .then(roleSet({ rights: ['queues:read'] }));
  });

  it('changes no state when it is repeated', () => {
    given(...READY, roleSet())
      .when(set())
      .then();
    given(...READY, roleSet())
      .when(set({}, false))
      .then();
  });

  it('is refused for a name that is taken or built in, and for an unknown right', () => {
    given(...READY, roleSet())
      .when(set({ rights: ['queues:read'] }))
      .refuses('NAME_TAKEN');
    given(...READY)
      .when(set({ name: 'developer' }))
      .refuses('NAME_TAKEN');
    given(...READY)
      .when(set({ name: '' }))
      .refuses('BAD_NAME');
    given(...READY)
      .when(set({}, false))
      .refuses('UNKNOWN_ROLE');
    given(...READY)
      .when(set({ rights: ['queues:steal'] }))
      .refuses('BAD_VALUE');
    given(...READY)
      .when(set({ rights: [] }))
      .refuses('BAD_VALUE');
    given(...READY)
      .when(set({ description: 'x'.repeat(257) }))
      .refuses('BAD_VALUE');
  });

  it('is refused before the format level of roles', () => {
    given(...PEOPLE)
      .when(set())
      .refuses('CONFLICTS');
    given(...PEOPLE)
      .when(assign({ role: 'viewer' }))
      .refuses('CONFLICTS');
    given(...PEOPLE, { type: 'TeamSet', account: TEAM, team: { members: [], copiesCard: false }, atMs })
      .when({ type: 'CreateApiKey', key: apiKey('k', { role: 'viewer' }) })
      .refuses('CONFLICTS');
  });

  it('is bounded in roles of an account', () => {
    const many = Array.from({ length: MAX_ACCOUNT_ROLES }, (_, at) => roleSet({ name: `r${at}` }));
    given(...READY, ...many)
      .when(set())
      .refuses('TOO_MANY');
    given(...READY, ...many)
      .when(set({ name: 'r1', rights: ['queues:read'] }, false))
      .then(roleSet({ name: 'r1', rights: ['queues:read'] }));
  });
});

describe('AssignRole', () => {
  it('gives a role to a person, once', () => {
    given(...READY, roleSet())
      .when(assign({ subject: 'Carl@B.example' }))
      .then(assigned());
    given(...READY, roleSet(), assigned())
      .when(assign({ id: 'asg_2' }))
      .then();
  });

  it('is refused for an unknown role, a wrong address, a role without a right on the resource, and an id of another account', () => {
    given(...READY)
      .when(assign())
      .refuses('UNKNOWN_ROLE');
    given(...READY)
      .when(assign({ role: 'viewer', subject: 'nobody' }))
      .refuses('BAD_VALUE');
    given(...READY, roleSet({ rights: ['billing:change'] }))
      .when(assign({ on: 'some-id' }))
      .refuses('BAD_VALUE');
    given(...READY, roleSet(), assigned())
      .when(assign({ account: ACCOUNT, role: 'viewer' }))
      .refuses('ID_TAKEN');
    given(...READY, roleSet())
      .when({ type: 'UnassignRole', account: ACCOUNT, id: 'asg_1' })
      .refuses('UNKNOWN_ASSIGNMENT');
  });

  it('is bounded in assignments of an account', () => {
    const many = Array.from({ length: MAX_ACCOUNT_ASSIGNMENTS }, (_, at) =>
      assigned({ id: `asg_${at}`, subject: `p${at}@b.example`, role: 'viewer' }),
    );
    given(...READY, ...many)
      .when(assign({ id: 'more', role: 'viewer' }))
      .refuses('TOO_MANY');
  });

  it('lets a person make keys for the account, which end with the assignment', () => {
    given(...READY)
      .when({ type: 'CreateApiKey', key: keyOf() })
      .refuses('UNKNOWN_ACCOUNT');
    given(...READY, assigned({ role: 'viewer' }))
      .when({ type: 'CreateApiKey', key: keyOf() })
      .then(keyCreated());
    const state = stateAfter(...READY, assigned({ role: 'viewer' }), keyCreated());
    evolve(state, { type: 'RoleUnassigned', id: 'asg_1', account: TEAM, atMs });
    expect(state.apiKeys.byId.size).to.equal(0);
  });
});

describe('DeleteRole', () => {
  it('ends its assignments, and the keys that have it', () => {
    const state = stateAfter(
      ...WITH_CARL,
      RAISED,
      roleSet(),
      assigned({ subject: BERT }),
      keyCreated({ role: 'support' }),
    );
    evolve(state, { type: 'RoleDeleted', account: TEAM, name: 'support', atMs });
    expect([state.roles.roleCount, state.roles.assignments.size, state.apiKeys.byId.size]).to.deep.equal([0, 0, 0]);
  });

  it('is refused for a built-in and for an unknown role', () => {
    given(...READY)
      .when({ type: 'DeleteRole', account: TEAM, name: 'viewer' })
      .refuses('CONFLICTS');
    given(...READY)
      .when({ type: 'DeleteRole', account: TEAM, name: 'support' })
      .refuses('UNKNOWN_ROLE');
  });
});

describe('the state of roles', () => {
  it('is rebuilt from a snapshot, and ends with the account', () => {
    const state = stateAfter(
      ...WITH_CARL,
      RAISED,
      roleSet(),
      assigned(),
      keyCreated({ role: 'support', on: 'some-id' }),
    );
    const again = new ControlState();
    for (const event of rebuildingEvents(state)) evolve(again, event);
    expect([...rebuildingEvents(again)]).to.deep.equal([...rebuildingEvents(state)]);
    expect(again.roles.of(TEAM)).to.deep.equal([role()]);
    expect([...again.apiKeys.byId.values()][0]).to.include({ role: 'support', on: 'some-id' });
    evolve(again, { type: 'AccountDeleted', account: TEAM, atMs });
    expect([again.roles.roleCount, again.roles.assignments.size]).to.deep.equal([0, 0]);
  });

  it('gives roles to groups of a provider, by rules and by assignments', () => {
    const ofGroup = assigned({ id: 'asg_2', kind: 'group', subject: 'sso:crew', on: 'some-id' });
    const state = stateAfter(...READY, roleSet(), ofGroup);
    const rules = [
      { group: '*', role: 'viewer', account: TEAM },
      { group: 'crew', role: 'gone', account: TEAM },
    ];
    expect(mappedRoles(state, rules, ['crew'], 'sso')).to.deep.equal([
      { account: TEAM, role: 'viewer' },
      { account: TEAM, role: 'support', on: 'some-id' },
    ]);
    expect(mappedRoles(state, rules, ['crew'], 'other')).to.deep.equal([{ account: TEAM, role: 'viewer' }]);
  });
});
