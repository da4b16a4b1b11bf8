export { DEFAULT_QUEUE_FACE_LIMITS, type QueueFaceLimits } from './queue-limits.js';
export { createQueueServer, type QueueServer, type QueueServerParts } from './queue-server.js';
