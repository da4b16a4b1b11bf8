export { createQueueServer, type QueueServer, type QueueServerParts } from './queue-server.js';
