/** The workers of a process with several cores: their supervisor, and the supervisor as they see it. */
export { machineSize, workersFor } from './machine-size.js';
export type { WorkerStart } from './messages.js';
export { SupervisorLink } from './supervisor-link.js';
export { WorkerPool } from './worker-pool.js';
export type { WorkerEnvironment } from './worker-process.js';
export { WorkerRecord } from './worker-record.js';
