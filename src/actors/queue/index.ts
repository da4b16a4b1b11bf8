export { AccountQueue, type PartitionBodies, type StartedAttempt } from './account-queue.js';
export { BodyCache } from './body-cache.js';
export { BodyMemory } from './body-memory.js';
export { DeliveryPlaces } from './delivery-places.js';
export { ACCOUNT_SHARE, type HeldLimits, HeldMessages } from './held-messages.js';
export { DEFAULT_INTAKE_LIMITS, IntakeFollower } from './intake-follower.js';
export type { ListLimits } from './list-memory.js';
export { OwnerDuties, type OwnerDutiesPorts } from './owner-duties.js';
export { Performer } from './performer.js';
export { QueuePartitionFold } from './queue-fold.js';
export {
  MAX_INTAKE_BYTES,
  QueueShardGateway,
} from './queue-gateway.js';
export { carriedBodies, QueueOwner, serveQueueShard } from './queue-owner.js';
export {
  DEFAULT_QUEUE_PLANE_LIMITS,
  QueuePlane,
  type QueuePlaneLimits,
} from './queue-plane.js';
export { QueueWork } from './queue-work.js';
export { ProcessTrials } from './trial-runs.js';
