/**
 * What a process that serves begins with, before the rest of the program is loaded: the read models' thread, which loads
 * meanwhile.
 */
import { beginEarly } from '../adapters/node/index.js';
import type { Environment } from '../config/index.js';
import { READ_MODELS_WORKER } from '../projections/index.js';

/** Settings are read later. Where they say something else, nobody waits for such a thread, and it waits for nobody. */
export function beginThreadsEarly({ MILLRACE_ROLES: roles }: Environment): void {
  if ((roles || 'projection').includes('projection')) {
    // In the bundle all entries are in one folder.
    const folder = new URL(import.meta.url.includes('/bundle/') ? './' : '../composition/', import.meta.url);
    beginEarly(new URL('read-models-worker.js', folder), READ_MODELS_WORKER);
  }
}
