import { type CommandSpec, family } from '../../command-spec.js';

export const FUNCTIONS: readonly CommandSpec[] = family('function', []);
