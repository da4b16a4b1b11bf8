/** A random program for each family. Each file has shapes: functions that make one command. */

import { BITMAP_PROGRAM } from './bitmap.js';
import type { Program } from './dice.js';
import { FUNCTION_PROGRAM } from './function.js';
import { genericProgram } from './generic.js';
import { GEO_PROGRAM } from './geo.js';
import { hashProgram } from './hash.js';
import { HYPERLOGLOG_PROGRAM } from './hyperloglog.js';
import { LIST_PROGRAM } from './list.js';
import { SCRIPTING_PROGRAM } from './scripting.js';
import { setProgram } from './set.js';
import { SORTED_SET_PROGRAM } from './sorted-set.js';
import { stream } from './stream.js';
import { stringProgram } from './string.js';

export { Dice, type Program } from './dice.js';

export const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['string', stringProgram],
  ['generic', genericProgram],
  ['hash', hashProgram],
  ['set', setProgram],
  ['sorted-set', SORTED_SET_PROGRAM],
  ['geo', GEO_PROGRAM],
  ['stream', stream],
  ['list', LIST_PROGRAM],
  ['bitmap', BITMAP_PROGRAM],
  ['hyperloglog', HYPERLOGLOG_PROGRAM],
  ['scripting', SCRIPTING_PROGRAM],
  ['function', FUNCTION_PROGRAM],
]);
