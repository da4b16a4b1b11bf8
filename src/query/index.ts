export { type Ask, AskedReadModels, answer, askOverBus } from './read-models.js';
