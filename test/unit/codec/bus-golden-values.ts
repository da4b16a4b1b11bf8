/** Values with bytes recorded in test/fixtures/bus/control-replies.json, leases.json and remote.json. Never edited. */
import type { ClockReading, Heartbeat, ShardLease, Wishes } from '../../../src/codec/leases/index.js';
import type { OwnerInstant, RemoteCommand } from '../../../src/codec/remote/index.js';
import type { ControlReply } from '../../../src/domain/control/index.js';
import {
  type CommandId,
  MillraceError,
  type PartitionName,
  type SessionId,
  type ShardName,
} from '../../../src/kernel/index.js';
import type { KvDelivery, ProcessReport } from '../../../src/protocol/index.js';
import {
  ALERT_RULE,
  GOLDEN_ALERT,
  GOLDEN_EVENTS,
  GOLDEN_LATER_LIMITS,
  GOLDEN_TRIGGER,
} from './control/golden-values.js';

const {
  AccountCreated: { type: _account, ...plainAccount },
  DatabaseCreated: { type: _database, ...plainDatabase },
  ApiKeyCreated: { type: _key, ...key },
  SearchIndexCreated: { index },
  BackupStarted: { type: _backup, ...startedBackup },
  AuditNoted: { type: _note, ...entry },
  UsageRestored: { type: _usage, database: _of, day: _day, ...today },
  DatabaseSettingsSet: { settings },
  AccountPlanSet: { plan },
  AccountLimitsSet: { limits },
  TeamSet: { team },
  UserSet: { type: _user, database: _whose, atMs: _at, ...user },
} = GOLDEN_EVENTS;

const account = plainAccount;
const database = { ...plainDatabase, deletedAtMs: undefined };
const { sha256, sealed } = account.secrets.mgmtKey;
const fullAccount = {
  ...account,
  readOnlyToken: { sha256, sealed },
  limits,
  state: 'active' as const,
  plan: { ...plan, prometheusToken: { sha256, sealed } },
  team,
  queueOwner: account.id,
};
const laterLimits = (GOLDEN_LATER_LIMITS as Extract<typeof GOLDEN_LATER_LIMITS, { type: 'LimitsUpdated' }>).limits;

/** A name may contain any characters, also an unpaired surrogate. */
const HALF_A_PAIR = 'a\ud800b';

export const GOLDEN_CONTROL_REPLIES: { readonly [Type in ControlReply['type']]: readonly ControlReply[] } = {
  Rejected: [{ type: 'Rejected', reason: 'BAD_VALUE', message: 'größer' }],
  FirstStarted: [{ type: 'FirstStarted', isNew: true, account, database }],
  OneDatabase: [
    { type: 'OneDatabase', database: { ...database, name: HALF_A_PAIR, settings, limits: laterLimits } },
    { type: 'OneDatabase', database: { ...database, secrets: undefined, deletedAtMs: 1_767_225_600_001 } },
    { type: 'OneDatabase', database: { ...database, settings: { ...settings, prometheusToken: undefined } } },
  ],
  Databases: [{ type: 'Databases', databases: [{ database, today }] }],
  QuotaLeased: [{ type: 'QuotaLeased', granted: 0 }],
  QuotaReturned: [{ type: 'QuotaReturned', reserved: 4_294_967_296 }],
  SessionIsOver: [{ type: 'SessionIsOver' }],
  MeterIsFolded: [{ type: 'MeterIsFolded', position: 65_536 }],
  UserIs: [
    { type: 'UserIs', isSet: true, user },
    { type: 'UserIs', isSet: false, user: undefined },
  ],
  UserIsGone: [{ type: 'UserIsGone', wasThere: false }],
  UserTokenIsIssued: [{ type: 'UserTokenIsIssued' }],
  OneAccount: [
    { type: 'OneAccount', account: fullAccount },
    { type: 'OneAccount', account: { ...account, state: 'passive', team } },
  ],
  Accounts: [{ type: 'Accounts', accounts: [account, { ...fullAccount, plan }] }],
  OneTeam: [{ type: 'OneTeam', team: { ...account, team } }],
  TeamIsGone: [{ type: 'TeamIsGone' }],
  ApiKeys: [{ type: 'ApiKeys', keys: [key] }],
  OneAlertRule: [{ type: 'OneAlertRule', rule: ALERT_RULE }],
  AlertsAre: [{ type: 'AlertsAre', rules: [ALERT_RULE], alerts: [GOLDEN_ALERT] }],
  AlertsNoted: [{ type: 'AlertsNoted' }],
  OneTrigger: [{ type: 'OneTrigger', trigger: GOLDEN_TRIGGER }],
  TriggersAre: [
    {
      type: 'TriggersAre',
      triggers: [GOLDEN_TRIGGER],
      databases: [{ id: database.id, name: database.name, partitions: 4 }],
    },
  ],
  OneSearchIndex: [{ type: 'OneSearchIndex', index: { ...index, deletedAtMs: undefined } }],
  SearchIndexes: [{ type: 'SearchIndexes', indexes: [{ ...index, tokens: undefined, deletedAtMs: 9 }] }],
  Backups: [{ type: 'Backups', backups: [] }],
  OneBackup: [
    {
      type: 'OneBackup',
      backup: { ...startedBackup, state: 'failed', bytes: 0, manifests: ['one'], reason: 'gone' },
    },
  ],
  AuditEntries: [{ type: 'AuditEntries', entries: [entry, { ...entry, entity: HALF_A_PAIR }] }],
  RolesAre: [
    {
      type: 'RolesAre',
      roles: [{ account: account.id, name: 'support', description: '', rights: ['queues:read'] }],
      assignments: [],
    },
  ],
  SignedOut: [{ type: 'SignedOut' }],
  SessionIs: [{ type: 'SessionIs', name: 'ses_1' }],
  LabelsAre: [{ type: 'LabelsAre', labels: [{ id: database.id, labels: [{ name: 'costCentre', value: '42' }] }] }],
  AuditExportIs: [{ type: 'AuditExportIs', account: account.id, url: 'https://a.example/a', position: 77 }],
  UsageReportIs: [{ type: 'UsageReportIs', account: account.id, url: 'https://a.example/u', month: 682 }],
  SessionsAre: [
    {
      type: 'SessionsAre',
      sessions: [
        {
          name: 'ses_1',
          email: 'a@b.example',
          account: account.id,
          provider: 'sso',
          keyName: '',
          ip: '::1',
          agent: 'browser',
          untilMs: 2,
          tokens: '',
          beganAtMs: 1,
        },
      ],
    },
  ],
  FormatIs: [{ type: 'FormatIs', level: 2 }],
};

const session = 'node-0123456789abcdef' as SessionId;
const clock: ClockReading = {
  nowMs: 1_790_000_000_000.25,
  generation: 2,
  isSure: true,
  isBehindJournal: false,
  heard: [
    ['node-1' as SessionId, 1, -3],
    ['node-2' as SessionId, 300, -40_000.5],
    ['node-3' as SessionId, 0, -70_000],
  ],
};

export const GOLDEN_HEARTBEATS: readonly Heartbeat[] = [
  { session, canOwn: true, isLeaving: false, process: 'node-0' as SessionId },
  { session, canOwn: false, isLeaving: true, process: session, clock },
  { session, canOwn: false, isLeaving: true, process: session, clock: { ...clock, nowMs: -5, heard: [] } },
  { session, canOwn: true, isLeaving: false, process: session, clock: { ...clock, heard: [] }, wishes: 70_000 },
  {
    session,
    canOwn: true,
    isLeaving: false,
    process: session,
    news: [{ shard: 'KV_7' as ShardName, epoch: 300, what: 'released' }],
    wishes: 3,
    planes: ['kv', 'queue'],
  },
  {
    session,
    canOwn: true,
    isLeaving: false,
    process: session,
    news: [{ shard: 'KV_7' as ShardName, epoch: 300, what: 'followed' }],
    wishes: 3,
    planes: ['kv'],
    follows: true,
  },
  { session, canOwn: false, isLeaving: true, process: 'node-0' as SessionId, isGone: true },
  {
    session,
    canOwn: true,
    isLeaving: false,
    process: session,
    follows: true,
    node: { host: '10.0.0.7', port: 6380, owned: [['KV_7' as ShardName, 300]] },
  },
];

const lease = {
  epoch: 70_000,
  session,
  isReleased: false,
  needsQuiet: true,
  createdAt: '2026-01-01T00:00:00.123456789Z',
  highWater: undefined,
};
export const GOLDEN_SHARD_LEASES: readonly ShardLease[] = [
  lease,
  { ...lease, needsQuiet: false, highWater: { number: 12, hash: new Uint8Array(32).fill(200), position: 300 } },
];
export const GOLDEN_SESSIONS = [
  { counter: 0, isDead: false },
  { counter: 256, isDead: true },
  { counter: 3, isDead: false, readsFormat: 2 },
  { counter: 3, isDead: true, readsFormat: 2, hasEnded: true },
  { counter: 0, isDead: true, hasEnded: true },
  { counter: 2_199_023_255_555, isDead: true, readsFormat: 2, aliveAtMs: 1_790_000_000_123 },
  { counter: 2_199_023_255_555, isDead: true, readsFormat: 2, aliveAtMs: 1_790_000_000_123, isGone: true },
];
export const GOLDEN_BOOT_TIMES = [
  [],
  [
    { bootId: 'a', offsetMs: 1_789_999_000_000 },
    { bootId: 'b', offsetMs: -5.5 },
  ],
];

const before: OwnerInstant = { epoch: 3, atMs: 1234.5 };
const command: RemoteCommand = {
  commandId: 'node-1:7' as CommandId,
  isRetry: false,
  body: Uint8Array.of(0, 200, 255),
  ask: 'command',
  before: undefined,
};
export const GOLDEN_REMOTE_COMMANDS: readonly RemoteCommand[] = [
  command,
  { ...command, isRetry: true, before },
  { ...command, ask: 'settle', body: new Uint8Array(300) },
  { ...command, ask: 'greet', before: { epoch: 70_000, atMs: 0 } },
];
export const GOLDEN_FAILURE = new MillraceError('FENCED', 'lost', { shard: 'KV_1', epoch: -7, isNew: true, at: 1.5 });
export const GOLDEN_INSTANT = before;

const partition = 'kv:db-aaaabbbbccccdddd:0' as PartitionName;
export const GOLDEN_DELIVERIES: readonly KvDelivery[] = [
  { partition, activation: 'one', events: [] },
  {
    partition,
    activation: 'two',
    events: [
      { type: 'message', channel: 'c\u00ff', payload: 'p' },
      { type: 'pmessage', pattern: 'c*', channel: 'c', payload: '\u0000\u0080' },
      { type: 'smessage', channel: 'c', payload: 'x'.repeat(70) },
      { type: 'monitor', line: '1.2 [0 a] "get"' },
      { type: 'invalidate', keys: ['a', 'b'], by: undefined },
      { type: 'invalidate', keys: null, by: 'node-1:4' },
    ],
  },
];

const wish = { process: 'node-1' as SessionId, by: 'ann@desk', atMs: 1_767_225_600_000 };
export const GOLDEN_WISHES: readonly Wishes[] = [
  { drained: [], moves: [] },
  { drained: [wish], moves: [{ ...wish, atMs: 0.5, shard: 'KV_1' as ShardName }] },
];
const report = {
  process: 'node-1' as SessionId,
  session: 'node-2' as SessionId,
  version: '0.1.0',
  host: 'one',
  pid: 70_000,
  roles: ['edge', 'kv'],
  startedAtMs: 1_767_225_600_000,
  nowMs: 1_767_225_600_000.5,
  machineAheadMs: -7,
  isClockInDoubt: false,
  checks: [],
  shards: [],
  stopped: [],
};
const shard = {
  shard: 'KV_1' as ShardName,
  epoch: 3,
  state: 'replaying',
  mailboxCommands: 1,
  mailboxBytes: 300,
  toReplay: 70_000,
  replayed: 5,
};
export const GOLDEN_REPORTS: readonly ProcessReport[] = [
  report,
  {
    ...report,
    checks: [
      { name: 'nats', ok: true },
      { name: 'clock', ok: false, detail: 'wrong' },
    ],
    shards: [shard, { ...shard, state: 'serving', position: 9, lastStoreMs: 1.25, snapshotAtMs: 1_767_225_600_000 }],
    stopped: [{ shard: 'KV_2' as ShardName, why: 'in doubt' }],
  },
  { ...report, readsFormat: 2 },
  { ...report, readsFormat: 2, worker: 2 },
  { ...report, shards: [{ ...shard, load: 0.125 }] },
];
