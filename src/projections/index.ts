export type { Checkpoint } from './checkpoint.js';
export { type EventLimit, EventLimits } from './event-limits.js';
export {
  type FileBeside,
  KeptReadModels,
  type KeptReadModelsOptions,
  type KeptReadModelsStatus,
  READ_MODELS_THREAD,
  type ReadModelsWord,
  watchReadModels,
} from './kept-read-models.js';
export * from './message-log/index.js';
export { type ReadModelOptions, type ReadModelStatus, ReadModels } from './read-models.js';
export { readinessOfModels, readinessOfSearch } from './readiness.js';
export { type MovableFiles, RebuiltBeside } from './rebuilt-beside.js';
export * from './search-index/index.js';
export * from './stats/index.js';
