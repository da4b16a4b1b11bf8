/** The parts of an actor: its ports, its bounds, and the lease that its process won. */
import type { ChainHead, ChainLink, DefiniteAppender } from '../../journal/index.js';
import type { Random, ShardName } from '../../kernel/index.js';
import type { Clock, Journal, Log, Timers } from '../../ports/index.js';
import type { MailboxLimits } from './mailbox.js';
import type { FollowFn, RecoverFn } from './recovery.js';
import type { RuntimeMetrics } from './runtime-metrics.js';

interface TurnLimits {
  readonly maxCommands: number;
  readonly maxEffectBytes: number;
  /** Synchronous work of one drain, milliseconds. */
  readonly maxMs: number;
}

export interface ActorLimits {
  readonly mailbox: MailboxLimits;
  readonly turn: TurnLimits;
  readonly chunkBytes: number;
  /** How long a request may wait for state that is still loading. */
  readonly holdMs: number;
  /** How long command ids of remote callers are remembered. */
  readonly commandMemoryMs: number;
}

export interface ActorPorts {
  readonly journal: Journal;
  readonly appender: DefiniteAppender;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: RuntimeMetrics;
  readonly recover: RecoverFn;
  readonly follow: FollowFn;
}

/**
 * An observation of a silent owner: after this instant the owner has not extended its read lease by a renewal, nor by
 * an append if its journal still ends at this position when the claim is stored.
 */
export interface Sighting {
  /** On the observer's monotonic clock. */
  readonly atMs: number;
  /** The journal's last position. */
  readonly position: number;
}

/** The facts known about the shard when its lease has been won. */
export interface Grant {
  /** The last entry the lease record vouches for. */
  readonly highWater: (ChainLink & { readonly position: number }) | undefined;
  /**
   * Writes are not acknowledged for this time, counted from the claim or earlier, because the old owner may still
   * answer reads.
   */
  readonly quietMs: number;
  /** The last observation of the silent owner; undefined: there was none. */
  readonly sighting?: Sighting | undefined;
  /**
   * The epoch before, if its activation drained and released the shard: commands sent to it were answered, or never
   * begun.
   */
  readonly releasedEpoch?: number | undefined;
}

/** The facts with which an activation starts. */
export interface Activation extends Grant {
  readonly shard: ShardName;
  readonly epoch: number;
  readonly clusterId: string;
  /** Reads wait for an appended entry instead of relying on a lease. */
  readonly readsNeedBarrier: boolean;
  /**
   * True while reads may be answered. @param lastAppendSentAtMs of the last acknowledged append, on the monotonic clock
   */
  mayAnswerReads(lastAppendSentAtMs: number): boolean;
  /** Called with each stored batch, before its replies are sent. */
  onStored(head: ChainHead, effectBytes: number): void;
}

export type ActorState = 'claiming' | 'replaying' | 'serving' | 'draining' | 'ended';
