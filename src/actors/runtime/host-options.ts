/** The ports, times and options of the host of shards. */
import type { ChainHead } from '../../journal/index.js';
import type { ShardName } from '../../kernel/index.js';
import type { Clock, Journal, LeaseStore, Log, Timers } from '../../ports/index.js';
import type { Activation } from './activation.js';
import type { RuntimeMetrics } from './runtime-metrics.js';
import type { ShardActor } from './shard-actor.js';
import type { Work } from './work.js';

export interface HostTimes {
  /** Time between two checks of the leases. */
  readonly lookEveryMs: number;
  /** Silence after which an owner may be replaced. */
  readonly takeoverMs: number;
  /** The read lease of the other owners, and the margin added to it. */
  readonly readLeaseMs: number;
  readonly marginMs: number;
  readonly highWaterEveryMs: number;
  /** A new process is given shards once it has been heard for this long. */
  readonly settleMs: number;
  readonly restartBackoffMs: number;
  /** A stopping process waits no longer for others to have replayed its shards, counted from its announcement. */
  readonly followedWithinMs: number;
}

/** Times that follow from the heartbeat and have no setting. */
export function hostTimes(
  heartbeatMs: number,
  times: Pick<HostTimes, 'takeoverMs' | 'readLeaseMs' | 'marginMs' | 'followedWithinMs'>,
): HostTimes {
  return {
    ...times,
    lookEveryMs: Math.max(20, Math.floor(heartbeatMs / 2)),
    highWaterEveryMs: times.readLeaseMs,
    settleMs: heartbeatMs * 4,
    restartBackoffMs: Math.max(50, Math.floor(heartbeatMs / 2)),
  };
}

export interface HostPorts {
  readonly journal: Journal;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: RuntimeMetrics;
}

export interface HostOptions<W extends Work> {
  readonly shards: readonly ShardName[];
  readonly clusterId: string;
  /** The operating system's lock makes this process the only possible owner: no waiting, no read lease. */
  readonly isExclusive: boolean;
  readonly readsNeedBarrier: boolean;
  createActor(activation: Activation): ShardActor<W>;
  /** Accepts requests for the actor, which is about to claim its shard. */
  serve(actor: ShardActor<W>): void;
  /** Called when an actor serves, and with every batch that it stores. */
  onServing?(actor: ShardActor<W>): void;
  onStored?(actor: ShardActor<W>, head: ChainHead, effectBytes: number): void;
  /**
   * Called before an actor is drained in order, so that its calls in progress can end. The implementation bounds the
   * time.
   */
  beforeHandOver?(actor: ShardActor<W>): Promise<void>;
}
