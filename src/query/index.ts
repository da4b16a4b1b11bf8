export { type Ask, AskedMessageLog, answer, askOverBus } from './message-log.js';
