export { type Ask, askOverBus } from './ask.js';
export { answer, ReadModelsClient } from './read-models.js';
export { answerSearch, SearchClient } from './search-questions.js';
export { countStale } from './stale-answers.js';
export { StatisticsClient } from './statistics.js';
