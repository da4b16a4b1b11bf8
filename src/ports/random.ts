/** The source of random values; its type is the kernel's, because pure code takes it as an argument. */
export type { Random } from '../kernel/index.js';
