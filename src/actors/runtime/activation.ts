/** What an actor is made with: its ports, its bounds, and the lease that somebody won for it. */
import type { ChainHead, ChainLink, DefiniteAppender } from '../../journal/index.js';
import type { Random, ShardName } from '../../kernel/index.js';
import type { Clock, Journal, Log, Timers } from '../../ports/index.js';
import type { MailboxLimits } from './mailbox.js';
import type { RecoverFn } from './recovery.js';
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
}

/**
 * Nothing that the old owner did after this instant has lengthened its read lease by a renewal; nor by an append, if its
 * journal still ends there when the claim is stored.
 */
export interface Sighting {
  /** On the monotonic clock of whoever looked. */
  readonly atMs: number;
  /** The journal's last position. */
  readonly position: number;
}

/** What this activation was given by whoever won the lease. */
export interface Activation {
  readonly shard: ShardName;
  readonly epoch: number;
  readonly clusterId: string;
  /** The last entry the lease record vouches for. */
  readonly highWater: (ChainLink & { readonly position: number }) | undefined;
  /** Writes are not acknowledged for this long: the old owner may still answer reads. Counted from the claim, or before. */
  readonly quietMs: number;
  /** When the old owner was last looked at in its silence; undefined: it was not. */
  readonly sighting?: Sighting | undefined;
  /** Of the activation before, when that one drained and let go: what was sent to it was answered, or never begun. */
  readonly releasedEpoch?: number | undefined;
  /** Appends before answering reads, instead of relying on a lease. */
  readonly readsNeedBarrier: boolean;
  /** May reads be answered, given when the last acknowledged append was sent? On the monotonic clock. */
  mayAnswerReads(lastAppendSentAtMs: number): boolean;
  /** Called with each stored batch, before its replies leave. */
  onStored(head: ChainHead, effectBytes: number): void;
}

export type ActorState = 'claiming' | 'replaying' | 'serving' | 'draining' | 'ended';
