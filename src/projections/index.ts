export type { Checkpoint } from './checkpoint.js';
export { type EventLimit, EventLimits } from './event-limits.js';
export {
  KeptReadModels,
  type KeptReadModelsOptions,
  type KeptReadModelsStatus,
  READ_MODELS_WORKER,
  type ReadModelsWord,
  watchReadModels,
} from './kept-read-models.js';
export * from './message-log/index.js';
export { type ReadModelOptions, ReadModels } from './read-models.js';
export { readinessOfModels, readinessOfSearch } from './readiness.js';
export { type MovableFiles, RebuiltBeside } from './rebuilt-beside.js';
export * from './search-index/index.js';
export * from './stats/index.js';
