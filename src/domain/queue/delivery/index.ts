/** From a message that waits to the outcome of its attempts: which starts next, with what headers, when again. */
export { callbackId } from './attempts.js';
export * from './callback-body.js';
export * from './delivered-headers.js';
export * from './retry-delay.js';
export * from './retry-policy.js';
