/**
 * Control events ↔ bytes. A section's effects, and a snapshot's segments, are events one behind the
 * other: `[version, [type, [fields …]]]` in MessagePack. Types keep their numbers and fields their places for
 * ever; anything but a new optional last field is a new version, with the old one still read here.
 * Old bytes decode for ever (test/fixtures/journals/control-events.json).
 */
import { Decoder, Encoder } from '@msgpack/msgpack';
import type { ControlEvent } from '../../domain/control/index.js';
import { MillraceError } from '../../kernel/index.js';
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
import { listOf, record, text, union, whole } from './shapes.js';

export const CONTROL_EVENT_VERSION = 1;

const shape = union<ControlEvent>({
  AccountCreated: [
    1,
    record({ id: accountId, name: text(), email: text(), secrets: accountSecrets, createdAtMs: whole }),
  ],
  DatabaseCreated: [
    2,
    record({
      id: databaseId,
      name: text(),
      account: accountId,
      partitions: whole,
      limits: databaseLimits,
      secrets: databaseSecrets,
      createdAtMs: whole,
    }),
  ],
  FirstStarted: [3, record({ account: accountId, database: databaseId, atMs: whole })],
  PasswordReset: [4, record({ database: databaseId, secrets: databaseSecrets, atMs: whole })],
  LimitsUpdated: [5, record({ database: databaseId, limits: databaseLimits, atMs: whole })],
  DatabaseDeleted: [6, record({ database: databaseId, atMs: whole })],
  QuotaReserved: [7, record({ database: databaseId, day: whole, session: sessionId, reserved: whole })],
  SessionEnded: [8, record({ session: sessionId, atMs: whole })],
  MeterFolded: [9, record({ position: whole, marks: meterMarks, rows: listOf(usageRow) })],
  TombstoneRestored: [
    10,
    record({
      id: databaseId,
      name: text(),
      account: accountId,
      partitions: whole,
      limits: databaseLimits,
      createdAtMs: whole,
      deletedAtMs: whole,
    }),
  ],
  QuotaRestored: [
    11,
    record({
      database: databaseId,
      day: whole,
      settled: whole,
      shares: listOf(record({ session: sessionId, reserved: whole, metered: whole })),
    }),
  ],
  UsageRestored: [12, record({ database: databaseId, day: whole, ...usageFields })],
  MeterRestored: [13, record({ position: whole, marks: meterMarks, latestDay: whole })],
  UserSet: [14, record({ database: databaseId, atMs: whole, ...aclUserFields })],
  UserDeleted: [15, record({ database: databaseId, name: text(), atMs: whole })],
  UserTokenIssued: [16, record({ ...userTokenFields, atMs: whole })],
  AccountLimitsSet: [17, record({ account: accountId, limits: accountLimits, atMs: whole })],
  AccountStateSet: [18, record({ account: accountId, state: accountState, atMs: whole })],
  QueueTokensSet: [
    19,
    record({ account: accountId, queueToken: sealedSecret, readOnlyToken: sealedSecret, atMs: whole }),
  ],
  SigningKeysRotated: [20, record({ account: accountId, current: sealedSecret, next: sealedSecret, atMs: whole })],
  DatabaseSettingsSet: [21, record({ database: databaseId, settings: databaseSettings, atMs: whole })],
  DatabaseRenamed: [22, record({ database: databaseId, name: text(), atMs: whole })],
  DatabaseMoved: [23, record({ database: databaseId, account: accountId, atMs: whole })],
  AccountPlanSet: [24, record({ account: accountId, plan: accountPlan, atMs: whole })],
  TeamSet: [25, record({ account: accountId, team, atMs: whole })],
  QueueMoved: [26, record({ account: accountId, owner: accountId, atMs: whole })],
  AccountDeleted: [27, record({ account: accountId, atMs: whole })],
  ApiKeyCreated: [28, record(apiKeyFields)],
  ApiKeyDeleted: [29, record({ id: apiKeyId, atMs: whole })],
  SearchIndexCreated: [
    30,
    record({ index: record({ ...newSearchIndexFields, tokens: searchTokens, createdAtMs: whole }) }),
  ],
  SearchIndexSet: [
    31,
    record({
      index: databaseId,
      name: text(),
      account: accountId,
      limits: searchLimits,
      tokens: searchTokens,
      atMs: whole,
    }),
  ],
  SearchIndexDeleted: [32, record({ index: databaseId, atMs: whole })],
  BackupStarted: [33, record({ ...newBackupFields, createdAtMs: whole })],
  BackupEnded: [
    34,
    record({
      backup: backupId,
      state: endedState,
      bytes: whole,
      manifests: listOf(text()),
      reason: text(),
      atMs: whole,
    }),
  ],
  BackupDeleted: [35, record({ backup: backupId, atMs: whole })],
  AuditNoted: [36, record(auditEntryFields)],
  SearchTombstoneRestored: [
    37,
    record({ index: record({ ...newSearchIndexFields, createdAtMs: whole, deletedAtMs: whole }) }),
  ],
  SignedOut: [38, record({ session: text(), untilMs: whole, atMs: whole })],
});

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
