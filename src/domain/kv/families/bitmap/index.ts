import { type CommandSpec, family } from '../../command-spec.js';

export const BITMAP: readonly CommandSpec[] = family('bitmap', []);
