/** What callers may say of a message, and how it is read: options, headers, destinations, names. */
export * from './destination.js';
export * from './duration.js';
export * from './flow-control-setting.js';
export { canonicalHeaderName, isOfTrace, outgoingHeaderProblem } from './header-names.js';
export * from './labels.js';
export * from './names.js';
export * from './publish-settings.js';
export * from './redaction.js';
export { OPTION_NAMES } from './setting-options.js';
