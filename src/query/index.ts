export { type Ask, AskedReadModels, answer, askOverBus } from './read-models.js';
export { AskedSearch, answerSearch, askSearchOverBus } from './search-questions.js';
export { AskedStatistics } from './statistics.js';
