/**
 * Control events ↔ bytes. A section's effects, and a snapshot's segments, are events one behind the
 * other: `[version, [type, [fields …]]]` in MessagePack. Types keep their numbers and fields their places for
 * ever; anything but a new optional last field is a new version, with the old one still read here.
 * Old bytes decode for ever (test/fixtures/journals/control-events.json).
 */
import { Decoder, Encoder } from '@msgpack/msgpack';
import { CONTROL_EVENTS, type ControlEvent } from '../../domain/control/index.js';
import { MillraceError } from '../../kernel/index.js';
import { numbered } from '../numbered.js';
import {
  accountId,
  accountLimits,
  accountSecrets,
  accountState,
  aclUserFields,
  databaseId,
  databaseLimits,
  databaseSecrets,
  meterMarks,
  sealedSecret,
  sessionId,
  usageFields,
  usageRow,
  userTokenFields,
} from './control-shapes.js';
import {
  accountPlan,
  apiKeyFields,
  auditEntryFields,
  databaseSettings,
  endedState,
  newBackupFields,
  newSearchIndexFields,
  searchLimits,
  searchTokens,
  team,
} from './management-shapes.js';
import { apiKeyId, backupId } from './plain-shapes.js';
import { listOf, record, type ShapesByType, text, union, whole } from './shapes.js';

const CONTROL_EVENT_VERSION = 1;

const shapes: ShapesByType<ControlEvent> = {
  AccountCreated: record({ id: accountId, name: text(), email: text(), secrets: accountSecrets, createdAtMs: whole }),
  DatabaseCreated: record({
    id: databaseId,
    name: text(),
    account: accountId,
    partitions: whole,
    limits: databaseLimits,
    secrets: databaseSecrets,
    createdAtMs: whole,
  }),
  FirstStarted: record({ account: accountId, database: databaseId, atMs: whole }),
  PasswordReset: record({ database: databaseId, secrets: databaseSecrets, atMs: whole }),
  LimitsUpdated: record({ database: databaseId, limits: databaseLimits, atMs: whole }),
  DatabaseDeleted: record({ database: databaseId, atMs: whole }),
  QuotaReserved: record({ database: databaseId, day: whole, session: sessionId, reserved: whole }),
  SessionEnded: record({ session: sessionId, atMs: whole }),
  MeterFolded: record({ position: whole, marks: meterMarks, rows: listOf(usageRow) }),
  TombstoneRestored: record({
    id: databaseId,
    name: text(),
    account: accountId,
    partitions: whole,
    limits: databaseLimits,
    createdAtMs: whole,
    deletedAtMs: whole,
  }),
  QuotaRestored: record({
    database: databaseId,
    day: whole,
    settled: whole,
    shares: listOf(record({ session: sessionId, reserved: whole, metered: whole })),
  }),
  UsageRestored: record({ database: databaseId, day: whole, ...usageFields }),
  MeterRestored: record({ position: whole, marks: meterMarks, latestDay: whole }),
  UserSet: record({ database: databaseId, atMs: whole, ...aclUserFields }),
  UserDeleted: record({ database: databaseId, name: text(), atMs: whole }),
  UserTokenIssued: record({ ...userTokenFields, atMs: whole }),
  AccountLimitsSet: record({ account: accountId, limits: accountLimits, atMs: whole }),
  AccountStateSet: record({ account: accountId, state: accountState, atMs: whole }),
  QueueTokensSet: record({ account: accountId, queueToken: sealedSecret, readOnlyToken: sealedSecret, atMs: whole }),
  SigningKeysRotated: record({ account: accountId, current: sealedSecret, next: sealedSecret, atMs: whole }),
  DatabaseSettingsSet: record({ database: databaseId, settings: databaseSettings, atMs: whole }),
  DatabaseRenamed: record({ database: databaseId, name: text(), atMs: whole }),
  DatabaseMoved: record({ database: databaseId, account: accountId, atMs: whole }),
  AccountPlanSet: record({ account: accountId, plan: accountPlan, atMs: whole }),
  TeamSet: record({ account: accountId, team, atMs: whole }),
  QueueMoved: record({ account: accountId, owner: accountId, atMs: whole }),
  AccountDeleted: record({ account: accountId, atMs: whole }),
  ApiKeyCreated: record(apiKeyFields),
  ApiKeyDeleted: record({ id: apiKeyId, atMs: whole }),
  SearchIndexCreated: record({ index: record({ ...newSearchIndexFields, tokens: searchTokens, createdAtMs: whole }) }),
  SearchIndexSet: record({
    index: databaseId,
    name: text(),
    account: accountId,
    limits: searchLimits,
    tokens: searchTokens,
    atMs: whole,
  }),
  SearchIndexDeleted: record({ index: databaseId, atMs: whole }),
  BackupStarted: record({ ...newBackupFields, createdAtMs: whole }),
  BackupEnded: record({
    backup: backupId,
    state: endedState,
    bytes: whole,
    manifests: listOf(text()),
    reason: text(),
    atMs: whole,
  }),
  BackupDeleted: record({ backup: backupId, atMs: whole }),
  AuditNoted: record(auditEntryFields),
  SearchTombstoneRestored: record({
    index: record({ ...newSearchIndexFields, createdAtMs: whole, deletedAtMs: whole }),
  }),
  SignedOut: record({ session: text(), untilMs: whole, atMs: whole }),
};

const shape = union<ControlEvent>(numbered(shapes, CONTROL_EVENTS));

const encoder = new Encoder();
const decoder = new Decoder();

export function encodeControlEvent(event: ControlEvent): Uint8Array {
  return encoder.encode([CONTROL_EVENT_VERSION, shape.write(event)]);
}

/** Every event of one section or segment, in order. @throws JOURNAL_DAMAGED for what is not known here */
export function* decodeControlEvents(effects: Uint8Array): Iterable<ControlEvent> {
  for (const raw of valuesOf(effects)) {
    if (!Array.isArray(raw) || raw[0] !== CONTROL_EVENT_VERSION) {
      throw new MillraceError('JOURNAL_DAMAGED', 'a control event of a version that is not known');
    }
    yield shape.read(raw[1], 'event');
  }
}

function* valuesOf(effects: Uint8Array): Iterable<unknown> {
  try {
    yield* decoder.decodeMulti(effects);
  } catch (cause) {
    if (cause instanceof MillraceError) throw cause;
    throw new MillraceError('JOURNAL_DAMAGED', 'control events are not MessagePack', {}, cause);
  }
}
