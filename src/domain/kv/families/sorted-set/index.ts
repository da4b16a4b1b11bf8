import { type CommandSpec, family } from '../../command-spec.js';

export const SORTED_SET: readonly CommandSpec[] = family('sorted-set', []);
