/**
 * A process's report about itself for the cluster's status. It is sent over the bus and not stored. Fields of later
 * releases come last, and earlier ones skip them.
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

/** A shard of the process, in any state. */
const shardReport = openRecord({
  shard: text<ShardName>(),
  epoch: integer,
  /** `claiming`, `replaying`, `serving`, `draining`. */
  state: text(),
  mailboxCommands: integer,
  mailboxBytes: integer,
  /** During a replay: entries after the newest snapshot, and how many of them have been read. */
  toReplay: integer,
  replayed: integer,
  /** The end of its journal as this owner knows it; missing before the claim. */
  position: absent(integer),
  /** How long storing the last entry took. */
  lastStoreMs: absent(looseNumber),
  /** When the newest snapshot was made; missing without one. */
  snapshotAtMs: absent(integer),
  /** The part of a core that its turns take; missing in reports of older versions. */
  load: absent(looseNumber),
});
export type ShardReport = TypeOf<typeof shardReport>;

/** A part of the process, and whether it works. */
const checkReport = openRecord({ name: text(), ok: flag, detail: absent(text()) });

export const processReport = openFields({
  /** The id of its first session, which stays the same. */
  process: text<SessionId>(),
  session: text<SessionId>(),
  version: text(),
  host: text(),
  pid: integer,
  roles: listOf(text()),
  startedAtMs: looseNumber,
  /** Its time when it made this report. */
  nowMs: looseNumber,
  /** How far its machine's clock is ahead of the time that it uses. */
  machineAheadMs: looseNumber,
  isClockInDoubt: flag,
  checks: listOf(checkReport),
  shards: listOf(shardReport),
  /** Shards that it stopped because their journal is in doubt. */
  stopped: listOf(openRecord({ shard: text<ShardName>(), why: text() })),
  /** The highest level of stored forms that it reads. Older versions do not report it and read only the first. */
  readsFormat: absent(integer),
  /** Its number among the workers of its machine; missing in a process without a supervisor. */
  worker: absent(integer),
});
export type ProcessReport = TypeOf<typeof processReport>;
