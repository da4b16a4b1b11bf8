/** An account as a whole: its state, what it has used, what it holds, and when that is too much. */
export type * from './held.js';
export { FOR_RUNS } from './held-refusal.js';
