/** Decides the number of workers before anything of the program is loaded: one process needs no supervisor. */
import { machineSize, workersFor } from '../adapters/workers/index.js';
import type { Environment } from '../config/index.js';

const VARIABLE = 'MILLRACE_WORKERS';

/** @returns the environment with a number instead of `auto`; the loading of settings refuses other words */
export function withWorkerCount(env: Environment): Environment {
  const { [VARIABLE]: workers, MILLRACE_ROLES: roles } = env;
  if ((workers || 'auto') !== 'auto') return env;
  // Read models are kept by one process, and that is all that this one is for.
  const count = roles === 'projection' ? 1 : workersFor(machineSize());
  return { ...env, [VARIABLE]: `${count}` };
}

export function isSupervised({ [VARIABLE]: workers }: Environment): boolean {
  return workers !== '1';
}
