export { CommandMemory } from './command-memory.js';
export { readJournalEnd } from './journal-end.js';
export { Mailbox, type MailboxLimits } from './mailbox.js';
export { Membership } from './membership.js';
export { rendezvousOwner } from './placement.js';
export type { RecoverFn, Recovery } from './recovery.js';
export { type AnswerMemoryLimits, type CallLimits, ShardCaller, ShardServer } from './remote.js';
export { NO_METRICS, type RuntimeMetrics } from './runtime-metrics.js';
export { markSessionDead, Session, type SessionTimes, sessionKey } from './session.js';
export {
  type Activation,
  type ActorLimits,
  type ActorPorts,
  type ActorState,
  ShardActor,
  type TurnLimits,
} from './shard-actor.js';
export { type HostOptions, type HostPorts, type HostTimes, ShardHost } from './shard-host.js';
export { ShardWriter } from './shard-writer.js';
export { type SnapshotPolicy, Snapshotter } from './snapshotter.js';
export type { RecoveryStep, SectionEffects, ShardPlane, ShouldStop, Turn, Work } from './work.js';
