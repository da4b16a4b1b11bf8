export { BodyCache } from './body-cache.js';
export { BodyMemory } from './body-memory.js';
export { carriedBodies } from './carried-bodies.js';
export { DeliveryRoom } from './delivery-room.js';
export { ACCOUNT_SHARE, type HeldLimits, HeldMessages } from './held-messages.js';
export { DEFAULT_INTAKE_LIMITS, IntakeFollower } from './intake-follower.js';
export { DEFAULT_LIST_LIMITS, type ListLimits } from './list-room.js';
export { OwnerDuties, type OwnerDutiesPorts } from './owner-duties.js';
export { Performer } from './performer.js';
export { QueueFold } from './queue-fold.js';
export { QueueShardGateway } from './queue-gateway.js';
export {
  DEFAULT_QUEUE_PLANE_LIMITS,
  QueuePlane,
  type QueuePlaneLimits,
  type QueuePlanePorts,
} from './queue-plane.js';
export { serveQueueShard } from './queue-server.js';
export { type PartitionBodies, QueueSlot, type StartedAttempt } from './queue-slot.js';
export { QueueWork } from './queue-work.js';
