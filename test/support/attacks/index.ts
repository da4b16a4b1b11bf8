/** The list of all attacks. */
import type { Attack } from './attack.js';
import { ON_CONNECTIONS } from './on-connections.js';
import { ON_MEMORY } from './on-memory.js';
import { ON_SEARCH } from './on-search.js';
import { ON_THE_LOOP } from './on-the-loop.js';
import { ON_THE_QUEUE } from './on-the-queue.js';

export const ATTACKS: readonly Attack[] = [
  ...ON_MEMORY,
  ...ON_THE_LOOP,
  ...ON_SEARCH,
  ...ON_THE_QUEUE,
  ...ON_CONNECTIONS,
];
