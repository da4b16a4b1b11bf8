export type { AddressRange, AllowedDestination } from './address-kinds.js';
export { CLUSTER_JOURNAL_BYTES, JOURNAL_SHARE } from './defaults.js';
export { configFacts, describeConfig } from './describe.js';
export { headersOfSetting, httpEndpointOptionsOf, kvBoundsOf, nativeBoundsOf } from './endpoint-options.js';
export { type Environment, loadConfig } from './load.js';
export * from './schema.js';
export { Secret } from './secret.js';
export { SETTINGS } from './sections.js';
export { settingsPage } from './settings-page.js';
