/** Starts the thread of the read models before the rest of the program is loaded, so that both load in parallel. */
import { beginEarly } from '../adapters/node/index.js';
import type { Environment } from '../config/index.js';
import { READ_MODELS_WORKER } from '../projections/index.js';

/** The settings are read later. If they need no such thread, it stays unused and delays no part of the program. */
export function beginThreadsEarly({ MILLRACE_ROLES: roles }: Environment): void {
  if ((roles || 'projection').includes('projection')) {
    // The bundle has all entries in one folder.
    const folder = new URL(import.meta.url.includes('/bundle/') ? './' : '../composition/', import.meta.url);
    beginEarly(new URL('read-models-worker.js', folder), READ_MODELS_WORKER);
  }
}
