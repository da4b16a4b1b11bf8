/** A random program for each family. Each file has shapes: functions that make one command. */
import type { Program } from './dice.js';

export { Dice, type Program } from './dice.js';

export const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([]);
