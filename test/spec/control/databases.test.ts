import { expect } from 'chai';
import type { ControlCommand } from '../../../src/domain/control/index.js';
import type { AccountId } from '../../../src/kernel/index.js';
import {
  ACCOUNT,
  ACCOUNT_SECRETS_OF,
  accountCreated,
  createDatabase,
  databaseCreated,
  db,
  firstStarted,
  given,
  INSTALLED,
  LIMITS,
  metered,
  NOW_MS,
  secretsOf,
  stateAfter,
  TODAY,
  usedBy,
} from './given.js';

const firstStart = (account: AccountId, name: string): ControlCommand => ({
  type: 'FirstStart',
  account: { id: account, name: 'default', email: 'a@b.example', secrets: ACCOUNT_SECRETS_OF(account) },
  database: { id: db(name), name, account, partitions: 1, limits: LIMITS, secrets: secretsOf(name) },
});
const reset = (name: string, secrets: string): ControlCommand => ({
  type: 'ResetPassword',
  database: db(name),
  secrets: secretsOf(secrets),
});
const limits = (name: string, maxCommandBytes?: number, maxRequestsPerDay?: number): ControlCommand => ({
  type: 'UpdateLimits',
  database: db(name),
  maxCommandBytes,
  maxRequestsPerDay,
});
const remove = (name: string): ControlCommand => ({ type: 'DeleteDatabase', database: db(name) });
const deleted = (name: string) => ({ type: 'DatabaseDeleted', database: db(name), atMs: NOW_MS }) as const;

describe('control: the first start', () => {
  it('creates the account and the first database', () => {
    const { reply } = given()
      .when(firstStart(ACCOUNT, 'first'))
      .then(accountCreated(), databaseCreated('first'), firstStarted('first'));
    expect(reply).to.deep.include({ type: 'FirstStarted', isNew: true });
  });

  it('repeated by another process returns the database that the first one created', () => {
    const { reply } = given(...INSTALLED)
      .when(firstStart('ac-other' as AccountId, 'other'))
      .then();
    expect(reply).to.deep.include({ type: 'FirstStarted', isNew: false });
    expect(reply.type === 'FirstStarted' && reply.database.id).to.equal(db('first'));
  });

  it('repeated by the same process gives the same answer', () => {
    const { reply } = given(...INSTALLED)
      .when(firstStart(ACCOUNT, 'first'))
      .then();
    expect(reply).to.deep.include({ type: 'FirstStarted', isNew: true });
  });

  it('refuses the same token for both roles', () => {
    const command = firstStart(ACCOUNT, 'first') as Extract<ControlCommand, { type: 'FirstStart' }>;
    const { standardToken, password } = command.database.secrets;
    const secrets = { standardToken, readOnlyToken: standardToken, password };
    given()
      .when({ ...command, database: { ...command.database, secrets } })
      .refuses('SECRET_TAKEN');
  });
});

describe('control: creating a database', () => {
  it('uses the first account unless another is named', () => {
    given(...INSTALLED)
      .when(createDatabase('second'))
      .then(databaseCreated('second'));
  });

  it('gives the same answer when repeated with the same id and secrets', () => {
    const { reply } = given(...INSTALLED, databaseCreated('second'))
      .when(createDatabase('second'))
      .then();
    expect(reply.type === 'OneDatabase' && reply.database.id).to.equal(db('second'));
  });

  it('refuses an unknown account', () => {
    given().when(createDatabase('x')).refuses('UNKNOWN_ACCOUNT');
    given(...INSTALLED)
      .when(createDatabase('x', { account: 'ac-nobody' }))
      .refuses('UNKNOWN_ACCOUNT');
  });

  it('refuses a name that is in use in the account, until that database is deleted', () => {
    const again = createDatabase('again', { name: 'first' });
    given(...INSTALLED)
      .when(again)
      .refuses('NAME_TAKEN');
    const { events } = given(...INSTALLED, deleted('first')).when(again);
    expect(events).to.have.length(1);
  });

  it('never reuses an id, not even that of a deleted database', () => {
    const again = createDatabase('first', { name: 'other', secrets: secretsOf('other') });
    given(...INSTALLED)
      .when(again)
      .refuses('ID_TAKEN');
    given(...INSTALLED, deleted('first'))
      .when(again)
      .refuses('ID_TAKEN');
  });

  it('refuses a token or password of another database', () => {
    for (const taken of ['standardToken', 'readOnlyToken', 'password'] as const) {
      const secrets = { ...secretsOf('second'), [taken]: secretsOf('first')[taken] };
      given(...INSTALLED)
        .when(createDatabase('second', { secrets }))
        .refuses('SECRET_TAKEN');
    }
  });

  it('refuses names, partitions and limits out of bounds', () => {
    for (const name of ['', ' x', 'a\nb', 'n'.repeat(65)]) {
      given(...INSTALLED)
        .when(createDatabase('x', { name }))
        .refuses('BAD_NAME');
    }
    for (const partitions of [0, 1.5, 1025]) {
      given(...INSTALLED)
        .when(createDatabase('x', { partitions }))
        .refuses('BAD_PARTITIONS');
    }
    for (const bad of [{ maxCommandBytes: 1023 }, { maxCommandBytes: 2 ** 30 }, { maxRequestsPerDay: -1 }]) {
      given(...INSTALLED)
        .when(createDatabase('x', { limits: { ...LIMITS, ...bad } }))
        .refuses('BAD_LIMITS');
    }
  });
});

describe('control: resetting a password', () => {
  it('replaces the password and both tokens', () => {
    const command = reset('first', 'new');
    const happened = { type: 'PasswordReset', database: db('first'), secrets: secretsOf('new'), atMs: NOW_MS } as const;
    given(...INSTALLED)
      .when(command)
      .then(happened);
    const state = stateAfter(...INSTALLED, happened);
    expect([...state.tokens.keys()]).to.have.members(['hash-new-token', 'hash-new-ro']);
    expect([...state.passwords.keys()]).to.deep.equal(['hash-new-password']);
  });

  it('gives the same answer when repeated', () => {
    given(...INSTALLED)
      .when(reset('first', 'first'))
      .then();
  });

  it('refuses secrets in use, unknown databases and deleted ones', () => {
    given(...INSTALLED, databaseCreated('second'))
      .when(reset('second', 'first'))
      .refuses('SECRET_TAKEN');
    given(...INSTALLED)
      .when(reset('nobody', 'new'))
      .refuses('UNKNOWN_DATABASE');
    given(...INSTALLED, deleted('first'))
      .when(reset('first', 'new'))
      .refuses('UNKNOWN_DATABASE');
  });
});

describe('control: limits', () => {
  it('changes the named limit and keeps the other', () => {
    given(...INSTALLED)
      .when(limits('first', undefined, 7))
      .then({
        type: 'LimitsUpdated',
        database: db('first'),
        limits: { ...LIMITS, maxRequestsPerDay: 7 },
        atMs: NOW_MS,
      });
  });

  it('journals no event without a change', () => {
    given(...INSTALLED)
      .when(limits('first', LIMITS.maxCommandBytes))
      .then();
  });

  it('refuses a limit out of bounds and an unknown database', () => {
    given(...INSTALLED)
      .when(limits('first', 1))
      .refuses('BAD_LIMITS');
    given(...INSTALLED)
      .when(limits('nobody', 4096))
      .refuses('UNKNOWN_DATABASE');
  });
});

describe('control: deleting a database', () => {
  it('ends its tokens, its password and its name immediately, and keeps the number of its partitions', () => {
    given(...INSTALLED)
      .when(remove('first'))
      .then(deleted('first'));
    const state = stateAfter(...INSTALLED, metered(1, usedBy('a', 3)), deleted('first'));
    expect(state.tokens.size).to.equal(0);
    expect(state.passwords.size).to.equal(0);
    expect(state.live(db('first'))).to.equal(undefined);
    expect(state.named(ACCOUNT, 'first')).to.equal(undefined);
    expect(state.databases.get(db('first'))).to.deep.include({ partitions: 1, secrets: undefined });
    expect(state.usageOf(db('first'), TODAY).commands).to.equal(0);
  });

  it('gives the same answer when repeated, so that its data can be removed after a crash', () => {
    const { reply } = given(...INSTALLED, deleted('first'))
      .when(remove('first'))
      .then();
    expect(reply.type === 'OneDatabase' && reply.database.deletedAtMs).to.equal(NOW_MS);
  });

  it('refuses an unknown database', () => {
    given(...INSTALLED)
      .when(remove('nobody'))
      .refuses('UNKNOWN_DATABASE');
  });
});

describe('control: listing databases', () => {
  it('shows each with its usage of today', () => {
    const { reply } = given(...INSTALLED, metered(1, usedBy('a', 3), usedBy('b', 4)))
      .when({ type: 'ListDatabases' })
      .then();
    expect(reply.type === 'Databases' && reply.databases.map(({ today }) => today.commands)).to.deep.equal([7]);
  });
});
