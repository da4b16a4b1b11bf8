export type { Activation, ActorLimits } from './activation.js';
export { ClockWatch, type ClockWatchOptions } from './clock-watch.js';
export { CommandMemory } from './command-memory.js';
export { announceGone, markAllGone } from './gone-sessions.js';
export { GuardedClock } from './guarded-clock.js';
export { type HostTimes, hostTimes } from './host-options.js';
export { readJournalEnd } from './journal-end.js';
export { Mailbox } from './mailbox.js';
export { Membership } from './membership.js';
export { MemoryReservation, RESERVED_MEMORY } from './memory-reservation.js';
export { type OwnedPlane, OwnedShards, type PlaneParts, YieldBudget } from './owned-shards.js';
export { NO_WISHES, rendezvousOwner, WISHES_KEY } from './placement.js';
export {
  type AnswerMemoryLimits,
  DEFAULT_ANSWER_MEMORY,
  type MakeWork,
  ShardCaller,
  ShardServer,
  type SilenceWatch,
} from './remote.js';
export { callerSilenceMs, callLimits, ROUTE_RETRY_MS } from './remote-call.js';
export { HeardNodes } from './resp-nodes.js';
export { checkOfShards, watchedClocks, watchShards } from './runtime-gauges.js';
export { type RuntimeMetrics, runtimeMetricsOf } from './runtime-metrics.js';
export { Session, type SessionTimes, sessionKey } from './session.js';
export { SESSION_UNCHANGED_MS, SessionSweep } from './session-sweep.js';
export { ShardActor } from './shard-actor.js';
export { ShardHost } from './shard-host.js';
export { ShardMap } from './shard-map.js';
export { ShardTime } from './shard-time.js';
export { ShardWriter } from './shard-writer.js';
export { DEFAULT_SNAPSHOT_POLICY, type SnapshotPolicy, Snapshotter } from './snapshotter.js';
export type { RecoveryStep, SectionEffects, ShardPlane, ShouldStop, Turn, Work } from './work.js';
export { WorkTrace } from './work.js';
