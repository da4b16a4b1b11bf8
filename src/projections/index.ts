export type { Checkpoint } from './checkpoint.js';
export { type EventLimit, EventLimits } from './event-limits.js';
export * from './message-log/index.js';
export { ModelRebuilder, type MovableFiles } from './model-rebuilder.js';
export {
  READ_MODELS_WORKER,
  type ReadModelsInstruction,
  ReadModelWorker,
  type ReadModelWorkerOptions,
  type ReadModelWorkerStatus,
  watchReadModels,
} from './read-model-worker.js';
export { type ReadModelOptions, ReadModels } from './read-models.js';
export { readinessOfModels, readinessOfSearch } from './readiness.js';
export * from './search-index/index.js';
export * from './stats/index.js';
