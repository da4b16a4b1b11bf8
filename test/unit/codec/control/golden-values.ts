/**
 * The values with bytes recorded in test/fixtures/journals/control-events.json and meter-record.json. Never edited.
 */
import type { Alert, AlertRule, ControlEvent, Trigger } from '../../../../src/domain/control/index.js';
import type {
  AccountId,
  AlertRuleId,
  ApiKeyId,
  BackupId,
  DatabaseId,
  SessionId,
  ShardName,
  TriggerId,
} from '../../../../src/kernel/index.js';
import type { MeterRecord } from '../../../../src/protocol/index.js';

const account = 'ac-aaaabbbbccccdddd' as AccountId;
const database = 'db-aaaabbbbccccdddd' as DatabaseId;
const session = 'node-0123456789abcdef' as SessionId;
const secret = (digit: string) => ({ sha256: digit.repeat(64), sealed: `s1.${digit}.sealed` });
const secrets = { standardToken: secret('1'), readOnlyToken: secret('2'), password: secret('3') };
const limits = { maxCommandBytes: 10_485_760, maxRequestsPerDay: 500 };
const usage = { commands: 5, writes: 2, errors: 1, bytesIn: 300, bytesOut: 70_000 };
const atMs = 1_767_225_600_000;

const settings = {
  platform: 'aws',
  region: 'global',
  primaryRegion: 'eu-west-1',
  readRegions: ['us-east-1', 'ap-south-1'],
  plan: 'fixed_1gb',
  budgetDollars: 20,
  isEvicting: true,
  isAutoUpgrading: false,
  hasProdPack: true,
  allowedIps: ['10.0.0.0/8', '192.0.2.7'],
  hasDailyBackup: true,
  prometheusToken: secret('b'),
  isSuspended: false,
  lastPlanUpgradeAtMs: atMs,
} as const;
const searchIndex = {
  id: database,
  name: 'Bücher',
  account,
  region: 'eu-west-1',
  type: 'payg',
  limits: {
    maxVectorCount: 2_000_000,
    maxMonthlyReranks: -1,
    maxDailyUpdates: -1,
    maxDailyQueries: 1000,
    maxMonthlyBandwidth: -1,
    maxWritesPerSecond: 11,
    maxQueryPerSecond: 12,
    maxReadsPerRequest: 13,
    maxWritesPerRequest: 14,
  },
  createdAtMs: atMs,
} as const;
const searchTokens = { token: secret('c'), readOnlyToken: secret('d') };
const backup = 'bk-aaaabbbbccccdddd' as BackupId;
const apiKey = 'key_aaaabbbbccccdddd' as ApiKeyId;

export const GOLDEN_TRIGGER: Trigger = {
  id: 'tr-aaaabbbbccccdddd' as TriggerId,
  account,
  database,
  name: 'größer',
  patterns: ['order:*', 'cart:[a-z]*'],
  events: ['set', 'expired'],
  filter: "status = 'paid'",
  destination: { kind: 'publish', target: 'https://shop.example/orders', queue: 'orders' },
  options: [{ name: 'Svc-Retries', value: '3' }],
  values: ['before', 'after'],
  order: 'key',
  lanes: 4,
  from: 'snapshot',
  starts: [{ shard: 'KV_3' as ShardName, position: 4_294_967_296 }],
  isPaused: true,
  createdAtMs: atMs,
};
export const ALERT_RULE: AlertRule = {
  id: 'al-aaaabbbbccccdddd' as AlertRuleId,
  account,
  name: 'Payments fail',
  kind: 'destination',
  target: 'pay.example',
  threshold: 5,
  windowSeconds: 300,
  channels: [
    { type: 'webhook', address: 'https://pager.example/alerts' },
    { type: 'email', address: 'ops@b.example' },
  ],
  isEnabled: true,
  silentUntilMs: atMs,
};
const RAISED_ALERT = {
  number: 7,
  rule: ALERT_RULE.id,
  account,
  name: ALERT_RULE.name,
  kind: ALERT_RULE.kind,
  subject: 'pay.example',
  text: '6 attempts at pay.example failed',
};
export const GOLDEN_ALERT: Alert = {
  ...RAISED_ALERT,
  raisedAtMs: atMs,
  resolvedAtMs: 0,
  isAnnounced: true,
  notices: [
    {
      phase: 'raised',
      channel: { type: 'webhook', address: 'https://pager.example/alerts' },
      state: 'waiting',
      answer: '',
    },
  ],
};

/** One of each type. */
export const GOLDEN_EVENTS: { readonly [Type in ControlEvent['type']]: Extract<ControlEvent, { type: Type }> } = {
  AccountCreated: {
    type: 'AccountCreated',
    id: account,
    name: 'default',
    email: 'a@b.example',
    secrets: {
      queueToken: secret('4'),
      mgmtKey: secret('5'),
      signingKeyCurrent: secret('6'),
      signingKeyNext: secret('7'),
    },
    createdAtMs: atMs,
  },
  DatabaseCreated: {
    type: 'DatabaseCreated',
    id: database,
    name: 'größer',
    account,
    partitions: 4,
    limits,
    secrets,
    createdAtMs: atMs,
  },
  FirstStarted: { type: 'FirstStarted', account, database, atMs },
  PasswordReset: { type: 'PasswordReset', database, secrets, atMs },
  LimitsUpdated: { type: 'LimitsUpdated', database, limits, atMs },
  DatabaseDeleted: { type: 'DatabaseDeleted', database, atMs },
  QuotaReserved: { type: 'QuotaReserved', database, day: 20_454, session, reserved: 1000 },
  SessionEnded: { type: 'SessionEnded', session, atMs },
  MeterFolded: {
    type: 'MeterFolded',
    position: 77,
    marks: [{ session, number: 12, day: 20_454 }],
    rows: [{ database, day: 20_454, session, ...usage }],
  },
  TombstoneRestored: {
    type: 'TombstoneRestored',
    id: database,
    name: 'gone',
    account,
    partitions: 1,
    limits,
    createdAtMs: atMs,
    deletedAtMs: atMs + 1,
  },
  QuotaRestored: {
    type: 'QuotaRestored',
    database,
    day: 20_454,
    settled: 9,
    shares: [{ session, reserved: 100, metered: 40 }],
  },
  UsageRestored: { type: 'UsageRestored', database, day: 20_454, ...usage },
  UserSet: {
    type: 'UserSet',
    database,
    atMs,
    name: 'alice',
    rules: 'on\nsanitize-payload\n~caf\u00c3\u00a9:*\nresetchannels\n-@all\n+get\n(~x resetchannels -@all +set)',
    passwords: ['8'.repeat(64)],
    salt: '00112233445566778899aabbccddeeff',
    revision: 3,
  },
  UserDeleted: { type: 'UserDeleted', database, name: 'alice', atMs },
  UserTokenIssued: {
    type: 'UserTokenIssued',
    database,
    user: 'alice',
    password: '8'.repeat(64),
    sha256: '9'.repeat(64),
    atMs,
  },
  AccountLimitsSet: {
    type: 'AccountLimitsSet',
    account,
    limits: {
      maxMessageBytes: 1_048_576,
      maxMessagesPerDay: 1000,
      maxMessagesPerDayHard: 2000,
      maxRequestsPerSecond: 100,
      maxEndpointsPerGroup: 10,
      maxDlqEntries: 11,
      maxRetries: 12,
      maxGroups: 13,
      maxSchedules: 14,
      maxEvents: 15,
      dlqRetentionMs: 604_800_000,
      maxDelaySeconds: 31_536_000,
      maxParallelism: 16,
      maxGlobalParallelism: 17,
      maxQueues: 18,
      timeoutSeconds: 900,
      budgetCents: 500,
    },
    atMs,
  },
  AccountStateSet: { type: 'AccountStateSet', account, state: 'passive', atMs },
  QueueTokensSet: { type: 'QueueTokensSet', account, queueToken: secret('8'), readOnlyToken: secret('9'), atMs },
  SigningKeysRotated: { type: 'SigningKeysRotated', account, current: secret('7'), next: secret('a'), atMs },
  DatabaseSettingsSet: { type: 'DatabaseSettingsSet', database, settings, atMs },
  DatabaseRenamed: { type: 'DatabaseRenamed', database, name: 'neu', atMs },
  DatabaseMoved: { type: 'DatabaseMoved', database, account, atMs },
  AccountPlanSet: {
    type: 'AccountPlanSet',
    account,
    plan: {
      type: 'paid',
      reserved: 'msgq_fixed_1m',
      hasProdPack: true,
      region: 'us-east-1',
      budgetDollars: 50,
      lastPlanUpgradeAtMs: atMs,
    },
    atMs,
  },
  TeamSet: {
    type: 'TeamSet',
    account,
    team: {
      members: [
        { email: 'a@b.example', role: 'owner' },
        { email: 'c@d.example', role: 'finance' },
      ],
      copiesCard: true,
    },
    atMs,
  },
  QueueMoved: { type: 'QueueMoved', account, owner: 'ac-zzzzbbbbccccdddd' as AccountId, atMs },
  AccountDeleted: { type: 'AccountDeleted', account, atMs },
  ApiKeyCreated: {
    type: 'ApiKeyCreated',
    id: apiKey,
    account,
    email: 'a@b.example',
    name: 'ci',
    sha256: 'e'.repeat(64),
    isReadOnly: true,
    createdAtMs: atMs,
  },
  ApiKeyDeleted: { type: 'ApiKeyDeleted', id: apiKey, atMs },
  SignedOut: { type: 'SignedOut', session: '0b8f7a52-2b6e-4b38-9c9e-0d8f1c2a3b4c', untilMs: atMs + 1, atMs },
  ProviderPersonSet: {
    type: 'ProviderPersonSet',
    email: 'a@b.example',
    provider: 'sso',
    subject: 'u-1',
    roles: [{ account, role: 'dev' }],
    atMs,
  },
  SessionBegan: {
    type: 'SessionBegan',
    name: 'ses_0123456789abcdef',
    email: 'a@b.example',
    account,
    provider: 'sso',
    keyName: '',
    ip: '192.0.2.1',
    agent: 'browser',
    untilMs: atMs + 1,
    tokens: '1.sealed',
    beganAtMs: atMs,
  },
  RoleSet: {
    type: 'RoleSet',
    role: { account, name: 'support', description: 'Looks at messages', rights: ['queues:read', 'queues:use'] },
    atMs,
  },
  RoleDeleted: { type: 'RoleDeleted', account, name: 'support', atMs },
  RoleAssigned: {
    type: 'RoleAssigned',
    assignment: {
      id: 'asg_0123456789abcdef',
      account,
      kind: 'group',
      subject: 'sso:crew',
      role: 'support',
      on: '0b8f7a52-2b6e-4b38-9c9e-0d8f1c2a3b4c',
      createdAtMs: atMs,
    },
  },
  RoleUnassigned: { type: 'RoleUnassigned', id: 'asg_0123456789abcdef', account, atMs },
  SessionTokensSet: { type: 'SessionTokensSet', name: 'ses_0123456789abcdef', tokens: '2.sealed', atMs },
  LabelsSet: { type: 'LabelsSet', id: database, labels: [{ name: 'costCentre', value: '42' }], atMs },
  UsageReportSet: { type: 'UsageReportSet', account, url: 'https://a.example/usage', month: 682, atMs },
  AuditExportSet: { type: 'AuditExportSet', account, url: 'https://a.example/audit', position: 77, atMs },
  FormatRaised: { type: 'FormatRaised', level: 2, by: 'root@host', atMs },
  AlertRuleSet: { type: 'AlertRuleSet', rule: ALERT_RULE, atMs },
  TriggerSet: { type: 'TriggerSet', trigger: GOLDEN_TRIGGER, atMs },
  TriggerDeleted: { type: 'TriggerDeleted', trigger: GOLDEN_TRIGGER.id, atMs },
  AlertRuleDeleted: { type: 'AlertRuleDeleted', rule: ALERT_RULE.id, atMs },
  AlertRaised: { type: 'AlertRaised', ...RAISED_ALERT, atMs },
  AlertResolved: { type: 'AlertResolved', number: 7, atMs },
  AlertAnnounced: { type: 'AlertAnnounced', number: 7, phase: 'raised', channels: ALERT_RULE.channels, atMs },
  AlertNoticeEnded: { type: 'AlertNoticeEnded', number: 7, place: 0, state: 'sent', answer: 'msg_1', atMs },
  AlertRestored: { type: 'AlertRestored', alert: GOLDEN_ALERT },
  DatabaseLayoutSet: {
    type: 'DatabaseLayoutSet',
    database,
    firstPartition: 1,
    partitions: 4,
    atMs,
    layoutChange: {
      phase: 'switched',
      firstPartition: 0,
      partitions: 1,
      startedAtMs: atMs,
      attempt: atMs + 1,
      percent: 100,
      reason: '',
    },
  },
  SearchIndexCreated: { type: 'SearchIndexCreated', index: { ...searchIndex, tokens: searchTokens } },
  SearchIndexSet: {
    type: 'SearchIndexSet',
    index: database,
    name: 'books',
    account,
    limits: searchIndex.limits,
    tokens: searchTokens,
    atMs,
  },
  SearchIndexDeleted: { type: 'SearchIndexDeleted', index: database, atMs },
  BackupStarted: {
    type: 'BackupStarted',
    id: backup,
    database,
    account,
    name: 'before',
    isDaily: true,
    createdAtMs: atMs,
  },
  BackupEnded: {
    type: 'BackupEnded',
    backup,
    state: 'completed',
    bytes: 70_000,
    manifests: ['one', 'two'],
    reason: '',
    atMs,
  },
  BackupDeleted: { type: 'BackupDeleted', backup, atMs },
  AuditNoted: {
    type: 'AuditNoted',
    number: 8,
    account,
    atMs,
    actor: 'a@b.example',
    action: 13,
    source: 'API_KEY - ci',
    entity: 'team',
    secondaryEntity: '',
    thirdEntity: 'NA',
    ip: '192.0.2.7',
    reason: '',
  },
  SearchTombstoneRestored: { type: 'SearchTombstoneRestored', index: { ...searchIndex, deletedAtMs: atMs + 1 } },
  MeterRestored: {
    type: 'MeterRestored',
    position: 77,
    marks: [{ session, number: 12, day: 20_454 }],
    latestDay: 20_454,
  },
};

/** Newer limits: records without them keep their bytes. */
export const GOLDEN_LATER_LIMITS: ControlEvent = {
  type: 'LimitsUpdated',
  database,
  limits: { ...limits, maxDataBytes: 1, maxCommandsPerSecond: 2, maxBytesPerMonth: 3, maxConnections: 4 },
  atMs,
};

/** A database in cluster mode: records of others keep their bytes. */
export const GOLDEN_CLUSTER_DATABASE: ControlEvent = { ...GOLDEN_EVENTS.DatabaseCreated, isCluster: true };
export const GOLDEN_BRANCH: ControlEvent = {
  ...GOLDEN_EVENTS.DatabaseCreated,
  branch: {
    origin: 'db-aaaabbbbccccdddd' as DatabaseId,
    atMs: 1_767_225_600_000,
    expiresAtMs: 1_767_312_000_000,
    isLive: false,
  },
};

/** An index of vectors, and its plan: search indexes keep their bytes. */
export const GOLDEN_VECTOR_INDEX: { readonly [name: string]: ControlEvent } = {
  'SearchIndexCreated vectors': {
    type: 'SearchIndexCreated',
    index: {
      ...searchIndex,
      tokens: searchTokens,
      vectors: {
        kind: 'HYBRID',
        metric: 'DOT_PRODUCT',
        dimension: 384,
        denseModel: 'HASHING_384',
        sparseModel: 'BM25',
        region: 'us-east-1',
      },
    },
  },
  'SearchIndexSet plan': { ...GOLDEN_EVENTS.SearchIndexSet, plan: 'free' },
};

export const GOLDEN_METER_RECORD: MeterRecord = {
  session,
  number: 12,
  day: 20_454,
  atMs,
  connections: 8,
  rows: [{ database, ...usage, hits: 1, misses: 2, latencies: [1, 0, 2] }],
};

/** The switch of a change of partitions, and a trigger that begins in a later layout. */
export const GOLDEN_SWITCHED = {
  'DatabaseLayoutSet former': {
    ...GOLDEN_EVENTS.DatabaseLayoutSet,
    former: { firstPartition: 0, partitions: 1, starts: [], ends: [{ shard: 'KV_3' as ShardName, position: 9 }] },
  },
  'TriggerSet layout': { ...GOLDEN_EVENTS.TriggerSet, trigger: { ...GOLDEN_TRIGGER, firstPartition: 1 } },
} as const;
