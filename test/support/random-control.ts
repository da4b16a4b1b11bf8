/**
 * Random commands for the control actor. They share a few users, teams, databases and indexes, so that they affect
 * each other.
 */
import fc from 'fast-check';
import {
  ACCOUNT_PLAN_NAMES,
  ACCOUNT_PLAN_TERMS,
  ALL_RIGHTS,
  CONTROL_COMMANDS,
  type ControlCommand,
  DATABASE_PLANS,
  QUEUE_REGIONS,
  searchQueries,
  TEAM_ROLES,
} from '../../src/domain/control/index.js';
import type { AccountId, AlertRuleId, TriggerId } from '../../src/kernel/index.js';
import { createDatabase, db, secret, secretsOf, session, TODAY } from '../spec/control/given.js';
import {
  ANNA,
  ac,
  alertRule,
  apiKey,
  BERT,
  bk,
  keyId,
  keyTrigger,
  NOTE,
  newAccount,
  newIndex,
  settings,
} from '../spec/control/management-given.js';

const account = fc.constantFrom<AccountId>(ac('first'), ac('first'), ac('other'), ac('team'), ac('team2'));
const team = fc.constantFrom<AccountId>(ac('team'), ac('team2'), ac('other'));
const email = fc.constantFrom(ANNA, BERT, 'cleo@b.example');
const small = fc.constantFrom('one', 'two', 'three');
const database = fc.constantFrom(db('first'), db('one'), db('two'), db('three'));
const index = fc.constantFrom(db('ione'), db('itwo'), db('ithree'));
const role = fc.constantFrom(...TEAM_ROLES);
const plan = fc.constantFrom(...DATABASE_PLANS);
const day = fc.integer({ min: TODAY - 1, max: TODAY + 2 });
const who = fc.constantFrom('a', 'b').map(session);
const count = fc.nat({ max: 2000 });
const ruleId = fc.constantFrom('al-one', 'al-two', 'al-disk').map((id) => id as AlertRuleId);

const triggerIds = fc.constant('tr-one').map((id) => id as TriggerId);

type Plain = Exclude<ControlCommand, { readonly type: 'Audited' }>;

function of<Fields extends object>(fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) {
  return fc.record(fields) as unknown as fc.Arbitrary<Fields>;
}

const tokens = fc.nat({ max: 3 }).map((n) => ({ token: secret(`t${n}`), readOnlyToken: secret(`r${n}`) }));
const settingsChange = fc.oneof(
  of({ plan }),
  of({ isSuspended: fc.boolean() }),
  of({ allowedIps: fc.constantFrom([], ['10.0.0.0/8']) }),
  of({ prometheusToken: fc.constantFrom(null, secret('scrape1'), secret('scrape2')) }),
  of({ budgetDollars: fc.integer({ min: -1, max: 3 }) }),
);

/** Every kind of command except the wrapper, each with a fair chance of acceptance. */
const kinds: { readonly [Type in Plain['type']]: fc.Arbitrary<Omit<Extract<Plain, { type: Type }>, 'type'>> } = {
  FirstStart: small.map((name) => ({
    account: newAccount(ac('first'), ANNA),
    database: { ...databaseOf(name), account: undefined },
  })),
  CreateDatabase: fc.tuple(small, account, plan, fc.boolean()).map(([name, of, wanted, isManaged]) => ({
    database: {
      ...databaseOf(name),
      account: of,
      settings: isManaged ? settings({ plan: wanted }) : undefined,
    },
  })),
  ResetPassword: of({ database, secrets: small.map(secretsOf) }),
  UpdateLimits: of({
    database,
    maxCommandBytes: fc.constantFrom(undefined, 4096),
    maxRequestsPerDay: fc.constantFrom(undefined, 0, 10),
  }),
  DeleteDatabase: of({ database }),
  ChangePartitions: of({ database: fc.constant(db('first')), partitions: fc.integer({ min: 0, max: 4 }) }),
  AdvancePartitions: of({
    database: fc.constant(db('first')),
    /** 0 is the current one. */
    attempt: fc.nat({ max: 1 }),
    to: fc.constantFrom('attempt', 'attempt', 'copying', 'switched', 'abandoning', 'failed', 'ended'),
    percent: fc.integer({ min: 0, max: 101 }),
    reason: small,
  }),
  SetUser: of({
    database,
    seenRevision: fc.nat({ max: 2 }),
    name: small,
    rules: fc.constantFrom('on', 'off'),
    passwords: fc.constantFrom([], ['a'.repeat(64)]),
    salt: fc.constant('s'),
  }),
  DeleteUser: of({ database, name: small }),
  IssueUserToken: of({
    token: of({ database, user: small, password: fc.constant('a'.repeat(64)), sha256: small }),
  }),
  ListDatabases: fc.constant({}),
  BeginSession: fc.tuple(small, account, email, fc.boolean()).map(([name, of, by, isProvided]) => ({
    session: {
      name: `ses-${name}`,
      email: by,
      account: of,
      provider: isProvided ? 'sso' : '',
      keyName: isProvided ? '' : 'default',
      ip: '',
      agent: '',
      untilMs: 2 ** 45,
      tokens: '',
    },
    ...(isProvided && {
      person: { email: by, provider: 'sso', subject: `of ${by}`, roles: [{ account: of, role: 'dev' as const }] },
    }),
  })),
  SetPersonRoles: fc.tuple(email, account, fc.boolean()).map(([by, of, isGone]) => ({
    email: by,
    roles: isGone ? [] : [{ account: of, role: 'finance' as const }],
  })),
  SetLabels: fc.tuple(account, database, small).map(([of, named, value]) => ({
    account: of,
    database: named,
    labels: [{ name: 'costCentre', value }],
  })),
  ListLabels: of({ account }),
  SetUsageReport: of({ account, url: fc.constantFrom('', 'https://a.example/u'), month: fc.constant(600) }),
  GetUsageReport: of({ account }),
  SetAuditExport: of({ account, url: fc.constantFrom('', 'https://a.example/a'), position: fc.constant(7) }),
  GetAuditExport: of({ account }),
  EndUsageReport: of({ account, month: fc.integer({ min: 600, max: 603 }) }),
  SetSessionTokens: of({ session: small.map((name) => `ses-${name}`), tokens: small }),
  ListSessions: of({ account, email: fc.oneof(email, fc.constant('')) }),
  CreateAccount: fc.tuple(account, email).map(([id, of]) => ({ account: newAccount(id, of) })),
  SetAccountLimits: of({ account, limits: of({ maxRetries: fc.nat({ max: 5 }) }) }),
  SetAccountState: of({ account, state: fc.constantFrom('active' as const, 'passive' as const) }),
  ResetQueueTokens: of({
    account,
    tokens: small.map((name) => ({ queueToken: secret(`q-${name}`), readOnlyToken: secret(`qr-${name}`) })),
  }),
  RotateSigningKeys: of({ account, next: small.map(secret) }),
  ListAccounts: fc.constant({}),
  LeaseQuota: of({
    session: who,
    database: fc.oneof(database, index.map(searchQueries)),
    day,
    known: count,
    wanted: count,
  }),
  ReturnQuota: of({ session: who, database, day, known: count, unused: count }),
  EndSession: of({ session: who }),
  FoldMeter: fc
    .tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }), who, day, fc.oneof(database, index))
    .map(([after, position, by, on, of]) => ({
      after,
      position,
      records: [
        {
          position,
          session: by,
          number: position,
          day: on,
          rows: [{ database: of, commands: 3, writes: 1, errors: 0, bytesIn: 5, bytesOut: 6 }],
        },
      ],
    })),
  ListOwnDatabases: of({ account }),
  GetDatabase: of({ account, database }),
  ChangeDatabase: fc
    .tuple(account, database, small, settingsChange, fc.nat({ max: 2 }))
    .map(([of, id, name, wanted, what]) => ({
      account: of,
      database: id,
      change: what === 0 ? { name } : what === 1 ? { settings: wanted } : { limits: { maxDataBytes: name.length } },
    })),
  MoveDatabase: of({ account, database, to: team }),
  GetAccount: of({ account }),
  ChangeAccountPlan: fc
    .tuple(account, fc.constantFrom(...ACCOUNT_PLAN_NAMES), fc.constantFrom(0, 1, 20))
    .map(([of, name, budgetDollars]) => ({
      account: of,
      plan: { type: ACCOUNT_PLAN_TERMS[name].type, reserved: ACCOUNT_PLAN_TERMS[name].reserved, budgetDollars },
      limits: {},
    })),
  ListQueues: of({ account }),
  MoveQueue: fc.tuple(account, account, team, fc.nat({ max: 3 })).map(([of, queue, to, n]) => ({
    account: of,
    queue,
    to,
    replacement: newAccount(ac(`q${n}`), ANNA),
  })),
  CreateQueue: fc.tuple(account, fc.constantFrom(...QUEUE_REGIONS), fc.nat({ max: 3 })).map(([of, region, n]) => ({
    account: of,
    queue: newAccount(ac(`q${n}`), ANNA),
    region,
  })),
  CreateTeam: fc.tuple(team, email, fc.boolean()).map(([id, by, copiesCard]) => ({
    account: newAccount(id, by),
    copiesCard,
  })),
  AddMember: of({ team, member: of({ email, role }) }),
  RemoveMember: of({ team, email }),
  DeleteTeam: of({ team }),
  ListTeams: of({ email }),
  CreateApiKey: fc.tuple(small, account, email).map(([name, of, by]) => ({
    key: apiKey(name, { account: of, email: by }),
  })),
  DeleteApiKey: of({ email, id: small.map(keyId) }),
  ListApiKeys: of({ email }),
  SetRole: fc
    .tuple(account, fc.subarray([...ALL_RIGHTS], { minLength: 1 }), fc.boolean())
    .map(([of, rights, isNew]) => ({
      role: { account: of, name: 'own', description: '', rights },
      isNew,
    })),
  DeleteRole: of({ account, name: fc.constant('own') }),
  AssignRole: fc.tuple(account, email, fc.nat({ max: 2 })).map(([of, subject, n]) => ({
    assignment: {
      id: `asg_${n}`,
      account: of,
      kind: 'person' as const,
      subject,
      role: n < 2 ? 'viewer' : 'own',
      createdAtMs: 0,
    },
  })),
  UnassignRole: of({ account, id: fc.nat({ max: 2 }).map((n) => `asg_${n}`) }),
  ListRoles: of({ account }),
  SignOut: of({ session: small, untilMs: fc.constantFrom(0, 2 ** 45) }),
  RaiseFormat: of({ level: fc.constantFrom(0, 1, 2, 3, 4, 5, 7, 7), by: small }),
  CreateSearchIndex: fc.tuple(small, account, tokens).map(([name, of, made]) => ({
    index: newIndex(`i${name}`, { account: of, tokens: made }),
  })),
  ListSearchIndexes: of({ account }),
  GetSearchIndex: of({ account, index }),
  ChangeSearchIndex: fc
    .tuple(account, index, small, tokens, team, fc.nat({ max: 3 }))
    .map(([of, id, name, made, to, what]) => ({
      account: of,
      index: id,
      ...[{ name }, { tokens: made }, { to }, { limits: { maxDailyQueries: name.length } }][what],
    })),
  DeleteSearchIndex: of({ account, index }),
  StartBackup: fc.tuple(account, database, small).map(([of, id, name]) => ({
    account: of,
    database: id,
    backup: bk(name),
    name,
    isDaily: false,
  })),
  EndBackup: of({
    backup: small.map(bk),
    state: fc.constant('completed' as const),
    bytes: count,
    manifests: fc.constant(['m']),
    reason: fc.constant(''),
  }),
  DeleteBackup: of({ account, database, backup: small.map(bk) }),
  ListBackups: of({ account, database }),
  GetBackup: of({ account, backup: small.map(bk) }),
  ListAudit: of({ account, count }),
  SetAlertRule: fc
    .tuple(account, ruleId, small, fc.boolean(), fc.boolean(), fc.constantFrom(0, 2 ** 45))
    .map(([of, id, name, isEnabled, isNew, silentUntilMs]) => ({
      rule: alertRule(id, { account: of, name, isEnabled, silentUntilMs }),
      isNew,
    })),
  SetTrigger: fc
    .tuple(account, triggerIds, fc.boolean(), fc.boolean())
    .map(([of, id, isPaused, isNew]) => ({ trigger: keyTrigger(id, { account: of, isPaused }), isNew })),
  DeleteTrigger: of({ account: fc.constant(ac('first')), trigger: triggerIds }),
  ListTriggers: of({ account }),
  DeleteAlertRule: of({ account, rule: ruleId }),
  ListAlerts: of({ account, count }),
  ObserveAlerts: fc.tuple(account, ruleId, fc.subarray(['one', 'two', 'three'])).map(([of, rule, subjects]) => ({
    observed: [{ account: of, rule, firing: subjects.map((subject) => ({ subject, text: `${subject} fails` })) }],
  })),
  EndAlertNotice: of({
    number: fc.integer({ min: 1, max: 6 }),
    place: fc.nat({ max: 2 }),
    state: fc.constantFrom('sent' as const, 'failed' as const),
    answer: small,
  }),
};

export const PLAIN_TYPES = Object.keys(kinds) as readonly Plain['type'][];

function commandOf(type: Plain['type']): fc.Arbitrary<Plain> {
  return kinds[type].map((fields) => ({ type, ...fields }) as Plain);
}

/**
 * Commands that create are more frequent than commands that refer to the created, so that references to the newest
 * state are common.
 */
const plain: fc.Arbitrary<Plain> = fc.oneof(
  ...PLAIN_TYPES.map((type) => ({ arbitrary: commandOf(type), weight: weightOf(type) })),
);

export const anyCommand: fc.Arbitrary<ControlCommand> = fc.oneof(
  plain,
  fc.tuple(account, plain).map(([of, command]) => ({ type: 'Audited' as const, account: of, note: NOTE, command })),
);

export const anyReading: fc.Arbitrary<ControlCommand> = fc.oneof(
  ...PLAIN_TYPES.filter((type) => CONTROL_COMMANDS[type].isRead).map(commandOf),
);

function weightOf(type: Plain['type']): number {
  // Commands that delete much are rare, and backups need time to end.
  if (type === 'DeleteDatabase' || type === 'DeleteTeam') return 1;
  if (type.endsWith('Backup')) return 14;
  if (type === 'SetTrigger' || type === 'IssueUserToken') return 16;
  if (type.endsWith('Role') || type === 'RaiseFormat') return 10;
  if (type.endsWith('Partitions') || type.endsWith('AlertRule')) return 8;
  return CONTROL_COMMANDS[type].isRead ? 1 : 4;
}

function databaseOf(name: string) {
  return (createDatabase(name) as Extract<ControlCommand, { type: 'CreateDatabase' }>).database;
}
