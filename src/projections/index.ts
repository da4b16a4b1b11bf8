export type { Checkpoint } from './checkpoint.js';
export { type EventLimit, EventLimits } from './event-limits.js';
export * from './message-log/index.js';
export { type ReadModelOptions, type ReadModelStatus, ReadModels } from './read-models.js';
export { readinessOfModels, readinessOfSearch } from './readiness.js';
export { RebuiltBeside } from './rebuilt-beside.js';
export * from './search-index/index.js';
export * from './stats/index.js';
