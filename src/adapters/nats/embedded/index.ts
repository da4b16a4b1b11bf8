/** The embedded nats-server: finding the binary, locking the data directory, running it. */
export { type DataLock, lockAuditDir, lockDataDir } from './data-lock.js';
export {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from './embedded-server.js';
export { type FindServerOptions, type FoundServer, findNatsServer } from './find-server.js';
export { type Binding, chooseBinding } from './server-process.js';
export { isPreferred, PREFERRED_VERSION } from './server-version.js';
