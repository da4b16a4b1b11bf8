/**
 * Records of the lease bucket and heartbeats ↔ bytes: MessagePack arrays, the version first.
 *
 *   shard lease  [1, epoch, session, isReleased, createdAt, [number, hash, position] | null, needsQuiet]
 *   session      [1, counter, isDead]
 *   heartbeat    [1, session, canOwn, isLeaving, process, clock]
 *   clock        [nowMs, generation, isSure, isBehindJournal, [[process, generation, leastMs] …]]
 *   boot times   [1, [[bootId, offsetMs] …]], the newest last
 */
import { decode, encode } from '@msgpack/msgpack';
import { MillraceError, type SessionId } from '../../kernel/index.js';

const VERSION = 1;

export interface ShardLease {
  readonly epoch: number;
  readonly session: SessionId;
  /** The owner drained and let go: nobody needs to wait for it. */
  readonly isReleased: boolean;
  /** An owner before this one may still be answering reads: whoever takes the shard waits as if from it. */
  readonly needsQuiet: boolean;
  /** When the shard's stream was made; another stream is an incident. */
  readonly createdAt: string;
  /** An entry that is known to be stored: a journal without it has lost something. */
  readonly highWater: { readonly number: number; readonly hash: Uint8Array; readonly position: number } | undefined;
}

export interface SessionRecord {
  readonly counter: number;
  /** Set by a successor before it takes the session's shards: no renewal is accepted after it. */
  readonly isDead: boolean;
}

export interface Heartbeat {
  readonly session: SessionId;
  readonly canOwn: boolean;
  readonly isLeaving: boolean;
  /** The process's first session: stays the same when it loses one and begins another. */
  readonly process: SessionId;
  /** Undefined in those of older versions. */
  readonly clock?: ClockReading | undefined;
}

/** What a process says of its time. */
export interface ClockReading {
  /** When the heartbeat was sent. */
  readonly nowMs: number;
  /** Another one each time that the clock was set. */
  readonly generation: number;
  /** It has compared its clock with those of others, and agrees. */
  readonly isSure: boolean;
  /** Entries of the journal bear a time that it has not reached. */
  readonly isBehindJournal: boolean;
  /** Of each process that it hears: its clock's generation, and the least by which its heartbeats arrived later than they were sent. */
  readonly heard: readonly (readonly [process: SessionId, generation: number, leastMs: number])[];
}

/** What the time was at the start of a machine: it tells how long a process was stopped, whatever the clock says. */
export interface BootTimeRecord {
  readonly bootId: string;
  /** Milliseconds since the Unix epoch. */
  readonly offsetMs: number;
}

export function encodeShardLease(lease: ShardLease): Uint8Array {
  const { epoch, session, isReleased, createdAt, highWater, needsQuiet } = lease;
  const mark = highWater === undefined ? null : [highWater.number, highWater.hash, highWater.position];
  return encode([VERSION, epoch, session, isReleased, createdAt, mark, needsQuiet]);
}

export function decodeShardLease(bytes: Uint8Array): ShardLease {
  const [, epoch, session, isReleased, createdAt, mark, needsQuiet] = fieldsOf(bytes, 'shard lease');
  const highWater =
    mark === null
      ? undefined
      : {
          number: (mark as unknown[])[0] as number,
          hash: (mark as unknown[])[1] as Uint8Array,
          position: (mark as unknown[])[2] as number,
        };
  return {
    epoch: epoch as number,
    session: session as SessionId,
    isReleased: isReleased as boolean,
    createdAt: createdAt as string,
    highWater,
    needsQuiet: needsQuiet as boolean,
  };
}

export function encodeSessionRecord({ counter, isDead }: SessionRecord): Uint8Array {
  return encode([VERSION, counter, isDead]);
}

export function decodeSessionRecord(bytes: Uint8Array): SessionRecord {
  const [, counter, isDead] = fieldsOf(bytes, 'session');
  return { counter: counter as number, isDead: isDead as boolean };
}

export function encodeHeartbeat({ session, canOwn, isLeaving, process, clock }: Heartbeat): Uint8Array {
  const fields = [VERSION, session, canOwn, isLeaving, process];
  if (clock === undefined) return encode(fields);
  const { nowMs, generation, isSure, isBehindJournal, heard } = clock;
  return encode([...fields, [nowMs, generation, isSure, isBehindJournal, heard]]);
}

export function decodeHeartbeat(bytes: Uint8Array): Heartbeat {
  const [, session, canOwn, isLeaving, process, clock] = fieldsOf(bytes, 'heartbeat');
  return {
    session: session as SessionId,
    canOwn: canOwn as boolean,
    isLeaving: isLeaving as boolean,
    process: process as SessionId,
    clock: clock === undefined ? undefined : clockReadingOf(clock as unknown[]),
  };
}

function clockReadingOf([nowMs, generation, isSure, isBehindJournal, heard]: unknown[]): ClockReading {
  return {
    nowMs: nowMs as number,
    generation: generation as number,
    isSure: isSure as boolean,
    isBehindJournal: isBehindJournal as boolean,
    heard: heard as ClockReading['heard'],
  };
}

export function encodeBootTimes(records: readonly BootTimeRecord[]): Uint8Array {
  return encode([VERSION, records.map(({ bootId, offsetMs }) => [bootId, offsetMs])]);
}

export function decodeBootTimes(bytes: Uint8Array): BootTimeRecord[] {
  const [, records] = fieldsOf(bytes, 'record of boot times');
  return (records as [string, number][]).map(([bootId, offsetMs]) => ({ bootId, offsetMs }));
}

function fieldsOf(bytes: Uint8Array, what: string): unknown[] {
  const fields = decode(bytes);
  if (Array.isArray(fields) && fields[0] === VERSION) return fields;
  throw new MillraceError('JOURNAL_DAMAGED', `a ${what} of a version that is not known`);
}
