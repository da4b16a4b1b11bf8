/** Strings and keys of strings, as the older test of them makes them. */
import { RandomCommands } from '../random-commands.js';
import type { Program } from './dice.js';

export const stringProgram: Program = (dice, major) => {
  const commands = new RandomCommands(1 + dice.below(1_000_000_000), major);
  return [() => commands.next()];
};
