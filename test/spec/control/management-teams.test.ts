import { expect } from 'chai';
import {
  type ControlCommand,
  type ControlEvent,
  MAX_OWNED_TEAMS,
  MAX_TEAM_MEMBERS,
  type TeamRole,
} from '../../../src/domain/control/index.js';
import { ACCOUNT, given, INSTALLED, stateAfter } from './given.js';
import {
  ANNA,
  ac,
  accountEvents,
  apiKey,
  atMs,
  BERT,
  indexCreated,
  managed,
  newAccount,
  PEOPLE,
  sha,
  TEAM,
  teamOf,
  teamSet,
} from './management-given.js';

const create = (id = TEAM, email = ANNA): ControlCommand => ({
  type: 'CreateTeam',
  account: newAccount(id, email),
  copiesCard: false,
});
const add = (email: string, role: TeamRole, team = TEAM): ControlCommand => ({
  type: 'AddMember',
  team,
  member: { email, role },
});
const remove = (email: string, team = TEAM): ControlCommand => ({ type: 'RemoveMember', team, email });
const drop = (team = TEAM): ControlCommand => ({ type: 'DeleteTeam', team });
const deleted = (account = TEAM): ControlEvent => ({ type: 'AccountDeleted', account, atMs });

describe('control: creating a team', () => {
  it('creates an account with the creator as owner, in addition to the own account', () => {
    const { reply, events } = given(...INSTALLED)
      .when(create())
      .then(...teamOf());
    expect(reply.type === 'OneTeam' && reply.team.team?.members).to.deep.equal([{ email: ANNA, role: 'owner' }]);
    given(...INSTALLED, ...events)
      .when(create())
      .then();
    expect(stateAfter(...INSTALLED, ...events).people.ownAccounts(ANNA)).to.deep.equal(new Set([ACCOUNT]));
  });

  it('identifies people by their e-mail in lower case', () => {
    const { reply } = given(...INSTALLED).when(create(TEAM, 'Anna@B.Example'));
    expect(reply.type === 'OneTeam' && reply.team.team?.members[0]?.email).to.equal('anna@b.example');
  });

  it('refuses one more than a person may own; teams of others do not count', () => {
    const owned = (count: number) => Array.from({ length: count }, (_, i) => teamOf(ac(`t${i}`))).flat();
    const theirs = [
      ...accountEvents(newAccount(ac('x'), BERT)),
      teamSet(
        [
          [BERT, 'owner'],
          [ANNA, 'admin'],
        ],
        ac('x'),
      ),
    ];
    expect(given(...INSTALLED, ...theirs, ...owned(MAX_OWNED_TEAMS - 1)).when(create()).reply.type).to.equal('OneTeam');
    given(...INSTALLED, ...owned(MAX_OWNED_TEAMS))
      .when(create())
      .refuses('TOO_MANY');
  });

  it('refuses ids and tokens in use, and invalid names and e-mails', () => {
    given(...INSTALLED)
      .when(create(ACCOUNT))
      .refuses('ID_TAKEN');
    given(...INSTALLED, ...teamOf(), deleted())
      .when(create())
      .refuses('ID_TAKEN');
    given(...INSTALLED)
      .when(create(TEAM, 'nobody'))
      .refuses('BAD_VALUE');
    const account = newAccount(TEAM, ANNA, { name: '' });
    given(...INSTALLED)
      .when({ type: 'CreateTeam', account, copiesCard: false })
      .refuses('BAD_NAME');
    const { secrets } = newAccount(ACCOUNT, ANNA);
    given(...INSTALLED)
      .when({ type: 'CreateTeam', account: newAccount(TEAM, ANNA, { secrets }), copiesCard: false })
      .refuses('SECRET_TAKEN');
  });
});

describe('control: members of a team', () => {
  it('are added, once each, under their e-mail in lower case', () => {
    const happened = teamSet([
      [ANNA, 'owner'],
      ['bert@b.example', 'admin'],
    ]);
    const before = [...INSTALLED, ...teamOf()];
    given(...before)
      .when(add('Bert@b.example', 'admin'))
      .then(happened);
    given(...before, happened)
      .when(add(BERT, 'admin'))
      .then();
    given(...before, happened)
      .when(add(BERT, 'dev'))
      .refuses('CONFLICTS');
  });

  it('never become the owner, and need a valid role and e-mail', () => {
    for (const command of [add(BERT, 'owner'), add(BERT, 'king' as never), add('bert', 'dev'), add('', 'dev')]) {
      given(...INSTALLED, ...teamOf())
        .when(command)
        .refuses('BAD_VALUE');
    }
    given(...INSTALLED, ...teamOf())
      .when(add(`${'b'.repeat(250)}@b.example`, 'dev'))
      .refuses('BAD_VALUE');
  });

  it('are limited in number', () => {
    const others = (count: number) =>
      Array.from({ length: count }, (_, i) => [`m${i}@b.example`, 'dev'] as [string, TeamRole]);
    const almost = [...INSTALLED, ...teamOf(TEAM, ...others(MAX_TEAM_MEMBERS - 2))];
    expect(given(...almost).when(add(BERT, 'dev')).reply.type).to.equal('OneTeam');
    given(...INSTALLED, ...teamOf(TEAM, ...others(MAX_TEAM_MEMBERS - 1)))
      .when(add(BERT, 'dev'))
      .refuses('TOO_MANY');
  });

  it('are removed together with their keys for the team, and keep other keys', () => {
    const keys = [
      { type: 'ApiKeyCreated' as const, ...apiKey('theirs', { account: TEAM, email: BERT }) },
      { type: 'ApiKeyCreated' as const, ...apiKey('mine', { account: TEAM }) },
      { type: 'ApiKeyCreated' as const, ...apiKey('own', { account: ac('other'), email: BERT }) },
    ];
    const { events } = given(...PEOPLE, ...keys)
      .when(remove('BERT@b.example'))
      .then(teamSet([[ANNA, 'owner']]));
    const state = stateAfter(...PEOPLE, ...keys, ...events);
    expect([...state.apiKeys.byId.values()].map(({ name }) => name)).to.deep.equal(['mine', 'own']);
    expect(state.apiKeys.bySecret.has(sha('theirs'))).to.equal(false);
    expect(state.people.teamsOf(BERT)).to.deep.equal(new Set());
  });

  it('cannot be removed when they own the team or are not members', () => {
    given(...PEOPLE)
      .when(remove(ANNA))
      .refuses('CONFLICTS');
    given(...PEOPLE)
      .when(remove('x@y.example'))
      .refuses('UNKNOWN_MEMBER');
  });

  it('of an account without team are refused', () => {
    for (const command of [add(BERT, 'dev', ACCOUNT), remove(BERT, ACCOUNT), drop(ACCOUNT), drop(ac('nobody'))]) {
      given(...PEOPLE)
        .when(command)
        .refuses('UNKNOWN_TEAM');
    }
  });
});

describe('control: deleting a team', () => {
  it('ends its tokens and keys, and gives the same answer when repeated', () => {
    const before = [...PEOPLE, { type: 'ApiKeyCreated' as const, ...apiKey('k', { account: TEAM }) }];
    given(...before)
      .when(drop())
      .then(deleted())
      .answers({ type: 'TeamIsGone' });
    given(...before, deleted())
      .when(drop())
      .then()
      .answers({ type: 'TeamIsGone' });
    const state = stateAfter(...before, deleted());
    expect(state.accounts.has(TEAM)).to.equal(false);
    expect(state.queueTokens.has(newAccount(TEAM, ANNA).secrets.queueToken.sha256)).to.equal(false);
    expect(state.apiKeys.byId.size).to.equal(0);
    expect(state.people.teamsOf(ANNA)).to.deep.equal(new Set());
    expect(state.people.queues.of(TEAM)).to.deep.equal(new Set());
  });

  it('deletes its remaining queue, and is refused while its own queue belongs to another team', () => {
    const second = ac('second');
    const replacement = newAccount(ac('only'), ANNA);
    const before = [...PEOPLE, ...teamOf(second)];
    const away = given(...before).when({
      type: 'MoveQueue',
      account: TEAM,
      queue: TEAM,
      to: second,
      replacement,
    }).events;
    given(...before, ...away)
      .when(drop())
      .refuses('CONFLICTS');
    const back = { type: 'QueueMoved' as const, account: TEAM, owner: TEAM, atMs };
    given(...before, ...away, back)
      .when(drop())
      .then(deleted(replacement.id), deleted());
  });

  it('is refused while it owns a resource', () => {
    const owns: readonly ControlEvent[][] = [
      managed('theirs', {}, TEAM),
      [indexCreated('books', { account: TEAM })],
      [{ type: 'QueueMoved', account: ACCOUNT, owner: TEAM, atMs }],
    ];
    for (const events of owns) {
      given(...PEOPLE, ...events)
        .when(drop())
        .refuses('CONFLICTS');
    }
  });
});

describe('control: the teams of a person', () => {
  it('are those the person is a member of, oldest first', () => {
    const { reply } = given(...PEOPLE, ...teamOf(ac('mine'))).when({ type: 'ListTeams', email: 'BERT@b.example' });
    expect(reply.type === 'Accounts' && reply.accounts.map(({ id }) => id)).to.deep.equal([TEAM]);
    given(...PEOPLE)
      .when({ type: 'ListTeams', email: 'x@y.example' })
      .answers({ type: 'Accounts', accounts: [] });
  });
});
