/** Builders for accounts, teams, keys, search indexes and backups with values that do not matter to a test. */
import {
  type AlertRule,
  type AuditNote,
  type ControlCommand,
  type ControlEvent,
  type DatabaseSettings,
  DEFAULT_DATABASE_SETTINGS,
  DEFAULT_SEARCH_LIMITS,
  type NewAccount,
  type TeamRole,
  type Trigger,
} from '../../../src/domain/control/index.js';
import type { AccountId, AlertRuleId, ApiKeyId, BackupId, ShardName, TriggerId } from '../../../src/kernel/index.js';
import { ACCOUNT, ACCOUNT_SECRETS_OF, databaseCreated, db, INSTALLED, NOW_MS, secret } from './given.js';

export const ANNA = 'a@b.example';
export const BERT = 'bert@b.example';
/** A member of a team who has no account. */
export const CARL = 'carl@b.example';
export const TEAM = 'ac-team' as AccountId;
export const OTHER = 'ac-other' as AccountId;
export const atMs = NOW_MS;

export const ac = (name: string) => `ac-${name}` as AccountId;
export const bk = (name: string) => `bk-${name}` as BackupId;
export const keyId = (name: string) => `key_${name}` as ApiKeyId;
/** A SHA-256 that belongs to a name. */
export const sha = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64);

export const newAccount = (id: AccountId, email: string, over: Partial<NewAccount> = {}): NewAccount => ({
  id,
  name: `name of ${id}`,
  email,
  secrets: ACCOUNT_SECRETS_OF(id),
  readOnlyToken: secret(`${id}-ro`),
  ...over,
});

/** An account in the form that `decide` stores. */
export function accountEvents(account: NewAccount): ControlEvent[] {
  const { readOnlyToken, limits, ...created } = account;
  const { queueToken } = account.secrets;
  const events: ControlEvent[] = [{ type: 'AccountCreated', ...created, createdAtMs: NOW_MS }];
  if (readOnlyToken !== undefined) {
    events.push({ type: 'QueueTokensSet', account: account.id, queueToken, readOnlyToken, atMs });
  }
  if (limits !== undefined) events.push({ type: 'AccountLimitsSet', account: account.id, limits, atMs });
  return events;
}

export const teamSet = (members: readonly (readonly [string, TeamRole])[], account = TEAM): ControlEvent => ({
  type: 'TeamSet',
  account,
  team: { members: members.map(([email, role]) => ({ email, role })), copiesCard: false },
  atMs,
});

/** A team of Anna's, with Bert as a developer on request. */
export const teamOf = (account = TEAM, ...others: (readonly [string, TeamRole])[]): ControlEvent[] => [
  ...accountEvents(newAccount(account, ANNA)),
  teamSet([[ANNA, 'owner'], ...others], account),
];

/** Anna's account with its database, one of Bert's, and a team that both belong to. */
export const PEOPLE: readonly ControlEvent[] = [
  ...INSTALLED,
  ...accountEvents(newAccount(OTHER, BERT)),
  ...teamOf(TEAM, [BERT, 'dev']),
];

export const WITH_CARL: readonly ControlEvent[] = [
  ...PEOPLE,
  teamSet([
    [ANNA, 'owner'],
    [CARL, 'dev'],
  ]),
];

export const settings = (over: Partial<DatabaseSettings> = {}): DatabaseSettings => ({
  ...DEFAULT_DATABASE_SETTINGS,
  ...over,
});

export const settingsSet = (over: Partial<DatabaseSettings>, name = 'first'): ControlEvent => ({
  type: 'DatabaseSettingsSet',
  database: db(name),
  settings: settings(over),
  atMs,
});

export const managed = (name: string, over: Partial<DatabaseSettings> = {}, account = ACCOUNT): ControlEvent[] => [
  { ...databaseCreated(name), account } as ControlEvent,
  settingsSet(over, name),
];

type Change = Extract<ControlCommand, { type: 'ChangeDatabase' }>['change'];
export const change = (of: Change, name = 'first', account = ACCOUNT): ControlCommand => ({
  type: 'ChangeDatabase',
  account,
  database: db(name),
  change: of,
});

export const apiKey = (name: string, over: Record<string, unknown> = {}) => ({
  id: keyId(name),
  account: ACCOUNT,
  email: ANNA,
  name,
  sha256: sha(name),
  isReadOnly: false,
  createdAtMs: NOW_MS,
  ...over,
});

export const newIndex = (name: string, over: Record<string, unknown> = {}) => ({
  id: db(name),
  name,
  account: ACCOUNT,
  region: 'eu-west-1' as const,
  type: 'payg' as const,
  limits: DEFAULT_SEARCH_LIMITS.payg,
  tokens: { token: secret(`${name}-search`), readOnlyToken: secret(`${name}-search-ro`) },
  ...over,
});

export const indexCreated = (name: string, over: Record<string, unknown> = {}): ControlEvent => ({
  type: 'SearchIndexCreated',
  index: { ...newIndex(name, over), createdAtMs: NOW_MS },
});

export const backupStarted = (name: string, of = 'first', createdAtMs = NOW_MS): ControlEvent => ({
  type: 'BackupStarted',
  id: bk(name),
  database: db(of),
  account: ACCOUNT,
  name,
  isDaily: false,
  createdAtMs,
});

export const backupEnded = (name: string): ControlEvent => ({
  type: 'BackupEnded',
  backup: bk(name),
  state: 'completed',
  bytes: 7,
  manifests: ['m'],
  reason: '',
  atMs,
});

export const NOTE: AuditNote = {
  actor: ANNA,
  action: 3,
  source: 'API_KEY - default',
  entity: 'first',
  secondaryEntity: '',
  thirdEntity: '',
  ip: '192.0.2.7',
  reason: '',
};

export const alertRule = (id: AlertRuleId, over: Partial<AlertRule> = {}): AlertRule => ({
  id,
  account: ACCOUNT,
  name: 'Payments fail',
  kind: 'destination',
  target: '',
  threshold: 5,
  windowSeconds: 300,
  channels: [{ type: 'webhook', address: 'https://pager.example/alerts' }],
  isEnabled: true,
  silentUntilMs: 0,
  ...over,
});

export const keyTrigger = (id: TriggerId, over: Partial<Trigger> = {}): Trigger => ({
  id,
  account: ACCOUNT,
  database: db('first'),
  name: 'orders',
  patterns: ['order:*'],
  events: ['set', 'del'],
  filter: '',
  destination: { kind: 'publish', target: 'https://shop.example/orders', queue: '' },
  options: [{ name: 'Svc-Retries', value: '3' }],
  values: [],
  order: 'key',
  lanes: 1,
  from: 'now',
  starts: [{ shard: 'KV_3' as ShardName, position: 120 }],
  isPaused: false,
  createdAtMs: NOW_MS,
  ...over,
});
