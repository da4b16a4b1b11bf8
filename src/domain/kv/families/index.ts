/** Every family of Redis commands there is. */
import type { CommandSpec } from '../command-spec.js';
import { STRING } from './string/index.js';

export const FAMILIES: readonly (readonly CommandSpec[])[] = [STRING];
