/**
 * Codec of the records in the lease bucket and of heartbeats: MessagePack lists with the version first. Unreadable
 * bytes are JOURNAL_DAMAGED.
 */
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
import type { Plane } from '../../protocol/index.js';

const session = text<SessionId>();

const shardLease = openFields({
  epoch: integer,
  session,
  /** The owner drained and released the shard: the next one need not wait for it. */
  isReleased: flag,
  /** When the shard's stream was created; a different stream is an incident. */
  createdAt: text(),
  /** An entry known to be stored: a journal without it has lost data. */
  highWater: optional(openRecord({ number: integer, hash: bytes, position: integer })),
  /** An earlier owner may still be answering reads: the next owner waits as if it took over from that one. */
  needsQuiet: orElse(flag, false),
});
export type ShardLease = TypeOf<typeof shardLease>;
export const [encodeShardLease, decodeShardLease] = bothWays(versioned(1, shardLease), 'a shard lease');

const sessionRecord = openFields({
  counter: integer,
  /** Set by a successor before it takes the session's shards: later renewals are refused. */
  isDead: flag,
  /**
   * The stored-format level that its process reads. Missing in records of older versions, which read only the first.
   */
  readsFormat: absent(integer),
  /** For a dead session: its process has ended with an orderly shutdown. Unknown to older versions. */
  hasEnded: absent(flag),
  /** For a dead session: when its last heartbeat was stored, by the store's clock. Unknown to older versions. */
  aliveAtMs: absent(integer),
  /** For a dead session: its supervisor has seen the process end, so it answers no reads. Unknown to older versions. */
  isGone: absent(flag),
});
export type SessionRecord = TypeOf<typeof sessionRecord>;
export const [encodeSessionRecord, decodeSessionRecord] = bothWays(versioned(1, sessionRecord), 'a session');

/**
 * A session counts its renewals from this number times the level that its process reads. A process of the first level
 * that marks a session dead keeps the counter but drops unknown fields; the level is then derived from the counter.
 */
const RENEWALS_OF_A_LEVEL = 2 ** 40;

export function firstCounter(readsFormat: number): number {
  return readsFormat * RENEWALS_OF_A_LEVEL;
}

/** @returns the level that the session's process reads; undefined for the first releases, which do not report it */
export function levelReadBy({ readsFormat, counter }: SessionRecord): number | undefined {
  if (readsFormat !== undefined) return readsFormat;
  return counter < RENEWALS_OF_A_LEVEL ? undefined : Math.floor(counter / RENEWALS_OF_A_LEVEL);
}

/** A process's report about its clock. */
const clockReading = openRecord({
  /** Time of sending. */
  nowMs: looseNumber,
  /** Changes each time the clock is set. */
  generation: integer,
  /** It has compared its clock with those of other processes, and agrees. */
  isSure: flag,
  /** Entries of the journal have a later time than its clock. */
  isBehindJournal: flag,
  /**
   * For each process that it hears: the generation of that clock, and the smallest difference between arrival and
   * sending times of its heartbeats.
   */
  heard: listOf(tuple<[process: SessionId, generation: number, leastMs: number]>(session, integer, looseNumber)),
});
export type ClockReading = TypeOf<typeof clockReading>;

/** Sent immediately in an extra heartbeat; a process that misses it finds the change in the leases soon after. */
const shardNews = openRecord({
  shard: text<ShardName>(),
  /** Epoch of the ownership that it is about. */
  epoch: integer,
  /**
   * 'released': for the next owner; 'taken': claimed; 'followed': the next owner, which sends it, has replayed the
   * shard while the present owner continues. Unknown words are from a later version and ignored.
   */
  what: text<'released' | 'taken' | 'followed'>(),
});
export type ShardNews = TypeOf<typeof shardNews>;

/** The RESP address of a process and the shards of databases that it owns there, for cluster clients of Redis. */
const respNode = openRecord({
  host: text(),
  port: integer,
  owned: listOf(tuple<[shard: ShardName, epoch: number]>(text<ShardName>(), integer)),
});
export type RespNodeNews = TypeOf<typeof respNode>;

/** The name by which shards are placed, and the order of the processes that have had it. */
const place = openRecord({ name: text(), turn: integer });
export type PlacementName = TypeOf<typeof place>;

const neighbour = openRecord({ machine: text(), name: text(), path: text(), secret: bytes });

const heartbeat = openFields({
  session,
  canOwn: flag,
  isLeaving: flag,
  /** The process's first session, which identifies the process after later sessions. */
  process: session,
  /** Missing in heartbeats of older versions. */
  clock: absent(clockReading),
  /** Recent changes of this process's shards. */
  news: absent(listOf(shardNews)),
  /** The revision of the operators' wishes that it has read. Missing in heartbeats of older versions. */
  wishes: absent(integer),
  /** The planes whose shards it may own. Missing in heartbeats of older versions, which have only `canOwn`. */
  planes: absent(listOf(text<Plane>())),
  /** It replays a shard before it takes it, and reports that. Missing in heartbeats of older versions. */
  follows: absent(flag),
  /** Sent by the process's supervisor: the process has ended and will not be heard again. Unknown to older versions. */
  isGone: absent(flag),
  /** Missing without a RESP endpoint, and in heartbeats of older versions. */
  node: absent(respNode),
  /** Where processes of its machine reach it without NATS. Missing in heartbeats of older versions. */
  neighbour: absent(neighbour),
  /** Missing in heartbeats of older versions: the shards of those processes are placed by their sessions. */
  place: absent(place),
});
export type Heartbeat = TypeOf<typeof heartbeat>;
export const [encodeHeartbeat, decodeHeartbeat] = bothWays(versioned(1, heartbeat), 'a heartbeat');

/**
 * The wall-clock time at a machine's start, to tell how long a process was stopped, independently of later clock
 * changes.
 */
const bootTime = openRecord({
  bootId: text(),
  /** Milliseconds since the Unix epoch. */
  offsetMs: looseNumber,
});
export type BootTimeRecord = TypeOf<typeof bootTime>;
/** The newest comes last. */
const bootTimes = versioned(1, listOf(bootTime));
export const [encodeBootTimes, decodeBootTimes] = bothWays(bootTimes, 'a record of boot times');

/** The process, the operator, and the time of the wish. */
const wish = { process: session, by: text(), atMs: looseNumber };
/** Operators' placement wishes, which take precedence over automatic placement; the oldest first. */
const placementWishes = openFields({
  /** Processes that should own no shards. */
  drained: listOf(openRecord(wish)),
  /** One per shard: the process that should own it. */
  moves: listOf(openRecord({ ...wish, shard: text<ShardName>() })),
});
export type Wishes = TypeOf<typeof placementWishes>;
export const [encodeWishes, decodeWishes] = bothWays(versioned(1, placementWishes), 'a record of wishes');
