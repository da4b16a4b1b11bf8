/**
 * Loaded ahead of a process that is tested: collects garbage when it is told to by SIGUSR2, so that what it holds can be
 * told from what nobody has needed to collect yet.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
if (isMainThread) process.on('SIGUSR2', () => collect());
