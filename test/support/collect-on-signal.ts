/**
 * Loaded into a tested process: runs a garbage collection at SIGUSR2. Memory in use after it is really held, and not
 * only uncollected.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
if (isMainThread) process.on('SIGUSR2', () => collect());
