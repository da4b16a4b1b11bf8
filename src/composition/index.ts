/** What the command line starts. */
export { type AdminWorld, openAdminWorld } from './admin-world.js';
export { backupLog, keyIdOf, openSourceWorld, openTargetWorld } from './backup-world.js';
export type { MadeCredentials } from './control-role.js';
export { natsOptionsOf } from './nats-world.js';
export { startProcess } from './serve.js';
export { VERSION } from './version.js';
