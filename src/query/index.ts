export { askOverBus } from './ask.js';
export { AskedReadModels, answer } from './read-models.js';
export { AskedSearch, answerSearch } from './search-questions.js';
export { AskedStatistics } from './statistics.js';
