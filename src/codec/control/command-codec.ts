/**
 * Commands for the control actor and its answers ↔ bytes, for the bus between processes. Version first, so
 * that two releases side by side tell each other apart instead of misreading.
 */
import { decode, encode } from '@msgpack/msgpack';
import {
  CONTROL_COMMANDS,
  type ControlCommand,
  type ControlReply,
  type NotedCommand,
  type RejectionReason,
} from '../../domain/control/index.js';
import type { AccountLimits } from '../../domain/queue/index.js';
import { MillraceError } from '../../kernel/index.js';
import { numbered } from '../numbered.js';
import {
  account,
  accountId,
  accountLimitFields,
  accountState,
  aclUser,
  database,
  databaseId,
  databaseSecrets,
  newAccount,
  newDatabase,
  queueTokens,
  sealedSecret,
  sessionId,
  usage,
  usageFields,
  userToken,
} from './control-shapes.js';
import { managementCommands, managementReplies } from './management-codec.js';
import { auditNote } from './management-shapes.js';
import {
  absent,
  flag,
  later,
  listOf,
  oneOf,
  optional,
  record,
  type Shape,
  type ShapesByType,
  some,
  text,
  union,
  whole,
} from './shapes.js';

const VERSION = 1;

/** By name: those that are not there stay as they were. */
const someLimits = some<AccountLimits>(accountLimitFields);
const meteredRecord = record({
  position: whole,
  session: sessionId,
  number: whole,
  day: whole,
  rows: listOf(record({ database: databaseId, ...usageFields })),
});

const shapes: ShapesByType<ControlCommand> = {
  FirstStart: record({ account: newAccount, database: newDatabase }),
  CreateDatabase: record({ database: newDatabase }),
  ResetPassword: record({ database: databaseId, secrets: databaseSecrets }),
  UpdateLimits: record({ database: databaseId, maxCommandBytes: optional(whole), maxRequestsPerDay: optional(whole) }),
  DeleteDatabase: record({ database: databaseId }),
  ListDatabases: record({}),
  LeaseQuota: record({ session: sessionId, database: databaseId, day: whole, known: whole, wanted: whole }),
  ReturnQuota: record({ session: sessionId, database: databaseId, day: whole, known: whole, unused: whole }),
  EndSession: record({ session: sessionId }),
  FoldMeter: record({ after: whole, position: whole, records: listOf(meteredRecord) }),
  SetUser: record({
    database: databaseId,
    seenRevision: whole,
    name: text(),
    rules: text(),
    passwords: listOf(text()),
    salt: text(),
  }),
  DeleteUser: record({ database: databaseId, name: text() }),
  IssueUserToken: record({ token: userToken }),
  CreateAccount: record({ account: newAccount }),
  SetAccountLimits: record({ account: accountId, limits: someLimits }),
  SetAccountState: record({ account: accountId, state: accountState }),
  ResetQueueTokens: record({ account: accountId, tokens: queueTokens }),
  RotateSigningKeys: record({ account: accountId, next: sealedSecret }),
  ListAccounts: record({}),
  Audited: record({
    account: accountId,
    note: auditNote,
    command: later(() => commandShape as Shape<NotedCommand>),
    always: absent(flag),
  }),
  ...managementCommands,
};

const commandShape: Shape<ControlCommand> = union<ControlCommand>(numbered(shapes, CONTROL_COMMANDS));

const rejectionReason = oneOf<RejectionReason>(
  'UNKNOWN_DATABASE',
  'UNKNOWN_ACCOUNT',
  'NAME_TAKEN',
  'ID_TAKEN',
  'SECRET_TAKEN',
  'BAD_NAME',
  'BAD_PARTITIONS',
  'BAD_LIMITS',
  'TOO_MANY_DATABASES',
  'DAY_CLOSED',
  'UNKNOWN_USER',
  'BAD_USER',
  'TOO_MANY_USERS',
  'TOO_MANY_ACCOUNTS',
  'UNKNOWN_SEARCH_INDEX',
  'UNKNOWN_TEAM',
  'UNKNOWN_MEMBER',
  'UNKNOWN_KEY',
  'UNKNOWN_BACKUP',
  'TOO_MANY',
  'CONFLICTS',
  'BAD_VALUE',
);

const replyShape = union<ControlReply>({
  Rejected: [1, record({ reason: rejectionReason, message: text() })],
  FirstStarted: [2, record({ isNew: flag, account, database })],
  OneDatabase: [3, record({ database })],
  Databases: [4, record({ databases: listOf(record({ database, today: usage })) })],
  QuotaLeased: [5, record({ granted: whole })],
  QuotaReturned: [6, record({ reserved: whole })],
  SessionIsOver: [7, record({})],
  MeterIsFolded: [8, record({ position: whole })],
  UserIs: [9, record({ isSet: flag, user: optional(aclUser) })],
  UserIsGone: [10, record({ wasThere: flag })],
  UserTokenIsIssued: [11, record({})],
  OneAccount: [12, record({ account })],
  Accounts: [13, record({ accounts: listOf(account) })],
  ...managementReplies,
});

export function encodeControlCommand(command: ControlCommand): Uint8Array {
  return encode([VERSION, commandShape.write(command)]);
}

/** @throws INVALID */
export function decodeControlCommand(bytes: Uint8Array): ControlCommand {
  return read(bytes, commandShape, 'control command');
}

export function encodeControlReply(reply: ControlReply): Uint8Array {
  return encode([VERSION, replyShape.write(reply)]);
}

/** @throws INVALID */
export function decodeControlReply(bytes: Uint8Array): ControlReply {
  return read(bytes, replyShape, 'control reply');
}

/** Nothing of this is in the journal: what cannot be read is a peer's mistake, not damage. */
function read<T>(bytes: Uint8Array, shape: Shape<T>, what: string): T {
  try {
    const raw = decode(bytes);
    if (!Array.isArray(raw) || raw[0] !== VERSION) throw new MillraceError('INVALID', 'its version is not known');
    return shape.read(raw[1], what);
  } catch (cause) {
    throw new MillraceError('INVALID', `a ${what} cannot be read`, {}, cause);
  }
}
