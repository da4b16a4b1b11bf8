/** Sessions of people, and the roles that identity providers give them. Proves SID1, SID2, SID3, LSE1, LSE2. */
import { expect } from 'chai';
import {
  type ControlCommand,
  type ControlCommandOf,
  type ControlEvent,
  ControlState,
  evolve,
  MAX_PERSON_SESSIONS,
  mappedRoles,
  type PersonRole,
  rebuildingEvents,
} from '../../../src/domain/control/index.js';
import { SIGN_IN_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { ACCOUNT, given } from './given.js';
import { ac, atMs, CARL, keyId, PEOPLE, sha, TEAM } from './management-given.js';

const RAISED: ControlEvent = { type: 'FormatRaised', level: SIGN_IN_FORMAT_LEVEL, by: 'test', atMs };
const DEV: readonly PersonRole[] = [{ account: TEAM, role: 'dev' }];
const HOUR_MS = 3_600_000;

type Begin = ControlCommandOf<'BeginSession'>;

const session = (over: Partial<Begin['session']> = {}): Begin['session'] => ({
  name: 's',
  email: CARL,
  account: TEAM,
  provider: 'sso',
  keyName: '',
  ip: '192.0.2.1',
  agent: 'browser',
  untilMs: atMs + HOUR_MS,
  tokens: 'sealed',
  ...over,
});
const person = (over: Partial<NonNullable<Begin['person']>> = {}) => ({
  email: CARL,
  provider: 'sso',
  subject: 'carl',
  roles: DEV,
  ...over,
});
const begin = (over: Partial<Begin> = {}): ControlCommand => ({
  type: 'BeginSession',
  session: session(),
  person: person(),
  ...over,
});
const personSet = (over = {}): ControlEvent => ({ type: 'ProviderPersonSet', ...person(over), atMs });
const began = (over: Partial<Begin['session']> = {}): ControlEvent => ({
  type: 'SessionBegan',
  ...session(over),
  beganAtMs: atMs,
});
const ended = (name = 's'): ControlEvent => ({ type: 'SignedOut', session: name, untilMs: atMs + HOUR_MS, atMs });

describe('BeginSession', () => {
  it('stores the session, and the person with the first one', () => {
    given(...PEOPLE, RAISED)
      .when(begin())
      .then(personSet(), began());
    given(...PEOPLE, RAISED, personSet())
      .when(begin())
      .then(began());
  });

  it('has the same answer when it is repeated', () => {
    given(...PEOPLE, RAISED, personSet(), began())
      .when(begin())
      .answers({ type: 'SessionIs', name: 's' })
      .then();
  });

  it('stores no session of a key below its format level, and refuses one of a provider (SID1)', () => {
    const ofKey = begin({ session: session({ provider: '', keyName: 'default' }), person: undefined });
    given(...PEOPLE)
      .when(ofKey)
      .answers({ type: 'SessionIs', name: 's' })
      .then();
    given(...PEOPLE)
      .when(begin())
      .refuses('CONFLICTS');
  });

  it('refuses an account without a role, an unknown address and an address of another subject (SID2)', () => {
    const start = given(...PEOPLE, RAISED, personSet());
    start.when(begin({ session: session({ account: ac('other') }) })).refuses('BAD_VALUE');
    start.when(begin({ person: person({ subject: 'eve' }) })).refuses('CONFLICTS');
    start.when(begin({ person: person({ provider: 'other' }) })).refuses('CONFLICTS');
    const noAddress = begin({ session: session({ email: 'nobody' }), person: person({ email: 'nobody' }) });
    start.when(noAddress).refuses('BAD_VALUE');
  });

  it('with another address of a known subject removes the former one and ends its sessions', () => {
    const email = 'carl.new@b.example';
    given(...PEOPLE, RAISED, personSet(), began())
      .when(begin({ session: session({ name: 't', email }), person: person({ email }) }))
      .then(personSet({ roles: [] }), ended(), personSet({ email }), began({ name: 't', email }));
  });
});

describe('SetPersonRoles', () => {
  it('ends the sessions of lost roles, and keys of the person for the account (SID3)', () => {
    const key = {
      type: 'ApiKeyCreated',
      id: keyId('k'),
      account: TEAM,
      email: CARL,
      name: 'ci',
      sha256: sha('k'),
      isReadOnly: false,
      createdAtMs: atMs,
    } as const;
    const history = [...PEOPLE, RAISED, personSet(), began(), began({ name: 'key', provider: '', keyName: 'ci' }), key];
    given(...history)
      .when({ type: 'SetPersonRoles', email: CARL, roles: [] })
      .then(personSet({ roles: [] }), ended());
    const state = new ControlState();
    for (const event of [...history, personSet({ roles: [] })]) evolve(state, event);
    expect([state.providerPeople.byEmail.size, state.apiKeys.byId.size]).to.deep.equal([0, 0]);
  });

  it('gives no event for the same roles and for an unknown person', () => {
    given(...PEOPLE, RAISED, personSet())
      .when({ type: 'SetPersonRoles', email: CARL, roles: DEV })
      .then();
    given(...PEOPLE, RAISED)
      .when({ type: 'SetPersonRoles', email: CARL, roles: DEV })
      .then();
  });
});

describe('sessions of people', () => {
  it('are bounded for each person, dropped with the next one after their end, and part of a snapshot (LSE1, LSE2)', () => {
    const state = new ControlState();
    for (let at = 0; at <= MAX_PERSON_SESSIONS; at += 1) evolve(state, began({ name: `s${at}` }));
    expect([state.sessions.byName.size, state.sessions.byName.has('s0')]).to.deep.equal([MAX_PERSON_SESSIONS, false]);
    evolve(state, { type: 'SessionBegan', ...session({ name: 'late', untilMs: 9e15 }), beganAtMs: atMs + HOUR_MS });
    evolve(state, { type: 'SessionTokensSet', name: 'late', tokens: 'newer', atMs });
    evolve(state, personSet());
    expect(state.sessions.of(CARL, atMs).map(({ name, tokens }) => [name, tokens])).to.deep.equal([['late', 'newer']]);
    const again = new ControlState();
    for (const event of rebuildingEvents(state)) evolve(again, event);
    expect([...again.sessions.byName.values()]).to.deep.equal([...state.sessions.byName.values()]);
    expect([...again.providerPeople.byEmail.values()]).to.deep.equal([...state.providerPeople.byEmail.values()]);
  });
});

describe('rules of groups', () => {
  const state = new ControlState();
  before(() => {
    for (const event of PEOPLE) evolve(state, event);
  });

  it('give the strongest role in each account, in the order of the rules', () => {
    const rules = [
      { group: 'payers', role: 'finance' },
      { group: 'crew', role: 'dev', account: TEAM },
      { group: '*', role: 'finance', account: TEAM },
    ] as const;
    expect(mappedRoles(state, rules, ['payers', 'crew'])).to.deep.equal([
      { account: ACCOUNT, role: 'finance' },
      { account: TEAM, role: 'dev' },
    ]);
    expect(mappedRoles(state, rules, [])).to.deep.equal([{ account: TEAM, role: 'finance' }]);
  });

  it('give no role in an account that is not a team, and in a team that does not exist', () => {
    const rules = [ac('other'), 'unknown'].map((account) => ({ group: '*', role: 'admin', account }) as const);
    expect(mappedRoles(state, rules, [])).to.deep.equal([]);
  });
});
