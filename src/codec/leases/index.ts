/** Records of the lease bucket and heartbeats ↔ bytes: MessagePack lists, the version first. What cannot be read is JOURNAL_DAMAGED. */
import type { SessionId, ShardName } from '../../kernel/index.js';
import {
  absent,
  bothWays,
  bytes,
  flag,
  integer,
  listOf,
  looseNumber,
  openFields,
  openRecord,
  optional,
  orElse,
  type TypeOf,
  text,
  tuple,
  versioned,
} from '../../kernel/schema/index.js';
import type { Plane } from '../../messages/index.js';

const session = text<SessionId>();

const shardLease = openFields({
  epoch: integer,
  session,
  /** The owner drained and let go: nobody needs to wait for it. */
  isReleased: flag,
  /** When the shard's stream was made; another stream is an incident. */
  createdAt: text(),
  /** An entry that is known to be stored: a journal without it has lost something. */
  highWater: optional(openRecord({ number: integer, hash: bytes, position: integer })),
  /** An owner before this one may still be answering reads: whoever takes the shard waits as if from it. */
  needsQuiet: orElse(flag, false),
});
export type ShardLease = TypeOf<typeof shardLease>;
export const [encodeShardLease, decodeShardLease] = bothWays(versioned(1, shardLease), 'a shard lease');

const sessionRecord = openFields({
  counter: integer,
  /** Set by a successor before it takes the session's shards: no renewal is accepted after it. */
  isDead: flag,
  /** Up to which level its process reads what is stored. Not in those of older versions, which read the first alone. */
  readsFormat: absent(integer),
  /** Of one that is dead: its process has ended in order, and needs nothing any more. Not known to older versions. */
  hasEnded: absent(flag),
});
export type SessionRecord = TypeOf<typeof sessionRecord>;
export const [encodeSessionRecord, decodeSessionRecord] = bothWays(versioned(1, sessionRecord), 'a session');

/** What a process says of its time. */
const clockReading = openRecord({
  /** When the heartbeat was sent. */
  nowMs: looseNumber,
  /** Another one each time that the clock was set. */
  generation: integer,
  /** It has compared its clock with those of others, and agrees. */
  isSure: flag,
  /** Entries of the journal bear a time that it has not reached. */
  isBehindJournal: flag,
  /**
   * It has, of each process that it hears, its clock's generation and the least by which its heartbeats arrived later
   * than they were sent.
   */
  heard: listOf(tuple<[process: SessionId, generation: number, leastMs: number]>(session, integer, looseNumber)),
});
export type ClockReading = TypeOf<typeof clockReading>;

/** Told at once, with a heartbeat of its own; whoever misses it finds the same in the leases a little later. */
const shardNews = openRecord({
  shard: text<ShardName>(),
  /** Of the activation that it is about. */
  epoch: integer,
  /** Let go of, for whoever is next; or claimed. A word that is not known is of a later version, and passed over. */
  what: text<'released' | 'taken'>(),
});
export type ShardNews = TypeOf<typeof shardNews>;

const heartbeat = openFields({
  session,
  canOwn: flag,
  isLeaving: flag,
  /** The process's first session: stays the same when it loses one and begins another. */
  process: session,
  /** Not in those of older versions. */
  clock: absent(clockReading),
  /** What has just become of shards of this process. */
  news: absent(listOf(shardNews)),
  /** Which revision of the operators' wishes it has read. Not in those of older versions. */
  wishes: absent(integer),
  /** Of which planes it may own shards. Not in those of older versions, which leave it at `canOwn`. */
  planes: absent(listOf(text<Plane>())),
});
export type Heartbeat = TypeOf<typeof heartbeat>;
export const [encodeHeartbeat, decodeHeartbeat] = bothWays(versioned(1, heartbeat), 'a heartbeat');

/** What the time was at the start of a machine: it tells how long a process was stopped, whatever the clock says. */
const bootTime = openRecord({
  bootId: text(),
  /** Milliseconds since the Unix epoch. */
  offsetMs: looseNumber,
});
export type BootTimeRecord = TypeOf<typeof bootTime>;
/** The newest last. */
const bootTimes = versioned(1, listOf(bootTime));
export const [encodeBootTimes, decodeBootTimes] = bothWays(bootTimes, 'a record of boot times');

/** Whose wish it is, and since when. */
const wish = { process: session, by: text(), atMs: looseNumber };
/** What operators want of the placement of shards, beyond what is placed by itself; the oldest first. */
const placementWishes = openFields({
  /** They shall own nothing. */
  drained: listOf(openRecord(wish)),
  /** One a shard: the process shall own it. */
  moves: listOf(openRecord({ ...wish, shard: text<ShardName>() })),
});
export type Wishes = TypeOf<typeof placementWishes>;
export const [encodeWishes, decodeWishes] = bothWays(versioned(1, placementWishes), 'a record of wishes');
