/** Proves CST4. */
import { expect } from 'chai';
import {
  type ControlCommand,
  type ControlEvent,
  MAX_USERS,
  rebuildingEvents,
} from '../../../src/domain/control/index.js';
import { db, given, INSTALLED, NOW_MS, secretsOf, stateAfter } from './given.js';

const HASH = (digit: string) => digit.repeat(64);

const setUser = (over: Partial<Extract<ControlCommand, { type: 'SetUser' }>> = {}): ControlCommand => ({
  type: 'SetUser',
  database: db('first'),
  seenRevision: 0,
  name: 'alice',
  rules: 'on\n+get',
  passwords: [HASH('a')],
  salt: 'salt-1',
  ...over,
});

const userSet = (over: Partial<Extract<ControlEvent, { type: 'UserSet' }>> = {}): ControlEvent => ({
  type: 'UserSet',
  database: db('first'),
  name: 'alice',
  rules: 'on\n+get',
  passwords: [HASH('a')],
  salt: 'salt-1',
  revision: 1,
  atMs: NOW_MS,
  ...over,
});

const token = { database: db('first'), user: 'alice', password: HASH('a'), sha256: HASH('1') };
const issued = (over: Partial<typeof token> = {}): ControlEvent => ({
  type: 'UserTokenIssued',
  ...token,
  ...over,
  atMs: NOW_MS,
});

describe('control: ACL users', () => {
  it('are created with their first revision', () => {
    given(...INSTALLED)
      .when(setUser())
      .then(userSet());
  });

  it('are changed by a command with the current revision', () => {
    given(...INSTALLED, userSet())
      .when(setUser({ seenRevision: 1, rules: 'on\n+set' }))
      .then(userSet({ rules: 'on\n+set', revision: 2 }));
  });

  it('are not changed by a command with another revision, and the answer has the current user', () => {
    const { reply } = given(...INSTALLED, userSet({ revision: 4 }))
      .when(setUser({ seenRevision: 3, rules: 'off' }))
      .then();
    expect(reply).to.deep.include({ type: 'UserIs', isSet: false });
    expect(reply).to.have.nested.property('user.revision', 4);
  });

  it('are not changed by a command that saw a deleted user of the same name', () => {
    const { reply } = given(...INSTALLED, userSet())
      .when(setUser({ seenRevision: 1, rules: 'on\n+set', salt: 'of-the-other' }))
      .then();
    expect(reply).to.deep.include({ type: 'UserIs', isSet: false });
  });

  it('are not created by a command that saw a user that is now deleted', () => {
    given(...INSTALLED)
      .when(setUser({ seenRevision: 2 }))
      .then()
      .answers({ type: 'UserIs', isSet: false, user: undefined });
  });

  it('give the same answer without an event when they are set again unchanged', () => {
    const { reply } = given(...INSTALLED, userSet())
      .when(setUser())
      .then();
    expect(reply).to.deep.include({ type: 'UserIs', isSet: true });
  });

  it('are refused with invalid names, rules and passwords', () => {
    const refusals: [Partial<Extract<ControlCommand, { type: 'SetUser' }>>, 'BAD_USER' | 'UNKNOWN_DATABASE'][] = [
      [{ name: 'default' }, 'BAD_USER'],
      [{ name: 'default_ro' }, 'BAD_USER'],
      [{ name: '' }, 'BAD_USER'],
      [{ name: 'x'.repeat(257) }, 'BAD_USER'],
      [{ rules: 'x'.repeat(64 * 1024 + 1) }, 'BAD_USER'],
      [{ passwords: Array.from({ length: 65 }, () => HASH('a')) }, 'BAD_USER'],
      [{ passwords: ['clear'] }, 'BAD_USER'],
      [{ database: db('none') }, 'UNKNOWN_DATABASE'],
    ];
    for (const [over, reason] of refusals) {
      given(...INSTALLED)
        .when(setUser(over))
        .refuses(reason);
    }
  });

  it(`are at most ${MAX_USERS} in a database`, () => {
    const all = Array.from({ length: MAX_USERS }, (_, index) => userSet({ name: `u${index}` }));
    given(...INSTALLED, ...all)
      .when(setUser())
      .refuses('TOO_MANY_USERS');
    given(...INSTALLED, ...all.slice(1))
      .when(setUser())
      .then(userSet());
  });

  it('are deleted once', () => {
    const deleteUser = { type: 'DeleteUser', database: db('first'), name: 'alice' } as const;
    given(...INSTALLED, userSet())
      .when(deleteUser)
      .answers({ type: 'UserIsGone', wasThere: true })
      .then({ type: 'UserDeleted', database: db('first'), name: 'alice', atMs: NOW_MS });
    given(...INSTALLED)
      .when(deleteUser)
      .answers({ type: 'UserIsGone', wasThere: false })
      .then();
  });
});

describe('control: REST tokens of users', () => {
  it('are issued to a user with that password, once', () => {
    const issue = { type: 'IssueUserToken', token } as const;
    given(...INSTALLED, userSet())
      .when(issue)
      .then(issued());
    given(...INSTALLED, userSet(), issued())
      .when(issue)
      .then()
      .answers({ type: 'UserTokenIsIssued' });
    given(...INSTALLED)
      .when(issue)
      .refuses('UNKNOWN_USER');
    given(...INSTALLED, userSet({ passwords: [HASH('b')] }))
      .when(issue)
      .refuses('UNKNOWN_USER');
    given(...INSTALLED, userSet())
      .when({ type: 'IssueUserToken', token: { ...token, sha256: secretsOf('first').standardToken.sha256 } })
      .refuses('SECRET_TAKEN');
  });

  it('end with the password, the user and the database', () => {
    const held = (...events: ControlEvent[]) =>
      stateAfter(...INSTALLED, userSet({ passwords: [HASH('a'), HASH('b')] }), issued(), ...events).userTokens.size;
    expect(held()).to.equal(1);
    expect(held(userSet({ passwords: [HASH('a')], revision: 2 }))).to.equal(1);
    expect(held(userSet({ passwords: [HASH('b')], revision: 2 }))).to.equal(0);
    expect(held({ type: 'UserDeleted', database: db('first'), name: 'alice', atMs: NOW_MS })).to.equal(0);
    expect(held({ type: 'DatabaseDeleted', database: db('first'), atMs: NOW_MS })).to.equal(0);
  });

  it('of the default user end when the password is reset, and others do not', () => {
    const password = secretsOf('first').password.sha256;
    const ofDefault = issued({ user: 'default', password, sha256: HASH('2') });
    const before = stateAfter(...INSTALLED, userSet(), issued(), ofDefault);
    expect(before.userTokens.size).to.equal(2);
    const reset: ControlEvent = {
      type: 'PasswordReset',
      database: db('first'),
      secrets: secretsOf('new'),
      atMs: NOW_MS,
    };
    const after = stateAfter(...INSTALLED, userSet(), issued(), ofDefault, reset);
    expect([...after.userTokens.keys()]).to.deep.equal([HASH('1')]);
  });

  it('and users are rebuilt from a snapshot', () => {
    const state = stateAfter(...INSTALLED, userSet(), userSet({ name: 'bob', revision: 7 }), issued());
    const rebuilt = stateAfter(...rebuildingEvents(state));
    expect(rebuilt.users).to.deep.equal(state.users);
    expect(rebuilt.userTokens).to.deep.equal(state.userTokens);
  });
});
