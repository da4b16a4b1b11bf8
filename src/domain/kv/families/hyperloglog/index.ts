import { type CommandSpec, family } from '../../command-spec.js';

export const HYPERLOGLOG: readonly CommandSpec[] = family('hyperloglog', []);
