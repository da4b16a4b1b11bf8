/** Randomness from the outside world; the shape is the kernel's, because pure code takes it as an argument. */
export type { Random } from '../kernel/index.js';
