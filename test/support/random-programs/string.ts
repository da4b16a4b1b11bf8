/** String commands and key commands on strings, as in the older test of strings. */
import { RandomCommands } from '../random-commands.js';
import type { Program } from './dice.js';

export const stringProgram: Program = (dice, major) => {
  const commands = new RandomCommands(1 + dice.below(1_000_000_000), major);
  return [() => commands.next()];
};
