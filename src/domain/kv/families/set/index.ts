import { type CommandSpec, family } from '../../command-spec.js';

export const SET: readonly CommandSpec[] = family('set', []);
