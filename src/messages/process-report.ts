/**
 * What a process says of itself to an operator who looks at the cluster. It crosses the bus and is stored nowhere; what a
 * later release adds comes last, and is passed over by an earlier one.
 */
import type { SessionId, ShardName } from '../kernel/index.js';
import {
  absent,
  flag,
  integer,
  listOf,
  looseNumber,
  openFields,
  openRecord,
  type TypeOf,
  text,
} from '../kernel/schema/index.js';

/** A shard that the process has, whatever has become of it by now. */
const shardReport = openRecord({
  shard: text<ShardName>(),
  epoch: integer,
  /** `claiming`, `replaying`, `serving`, `draining`. */
  state: text(),
  mailboxCommands: integer,
  mailboxBytes: integer,
  /** While it is brought back: entries behind the newest snapshot, and how many of them have been read. */
  toReplay: integer,
  replayed: integer,
  /** Where its journal ends, as far as this owner knows; nothing before it has claimed it. */
  position: absent(integer),
  /** How long the last entry took to be stored. */
  lastStoreMs: absent(looseNumber),
  /** When the newest snapshot was made; nothing where there is none. */
  snapshotAtMs: absent(integer),
});
export type ShardReport = TypeOf<typeof shardReport>;

/** A part of the process, and whether it is well. */
const checkReport = openRecord({ name: text(), ok: flag, detail: absent(text()) });

export const processReport = openFields({
  /** The first session that it had; it stays the same. */
  process: text<SessionId>(),
  session: text<SessionId>(),
  version: text(),
  host: text(),
  pid: integer,
  roles: listOf(text()),
  startedAtMs: looseNumber,
  /** Its time when it wrote this. */
  nowMs: looseNumber,
  /** How far its machine's clock is ahead of the time that it goes by. */
  machineAheadMs: looseNumber,
  isClockInDoubt: flag,
  checks: listOf(checkReport),
  shards: listOf(shardReport),
  /** Shards that it stopped because their journal is in doubt. */
  stopped: listOf(openRecord({ shard: text<ShardName>(), why: text() })),
  /** Up to which level it reads what is stored, and writes what may be. Older versions do not say, and read the first alone. */
  readsFormat: absent(integer),
});
export type ProcessReport = TypeOf<typeof processReport>;
