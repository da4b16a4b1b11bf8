import { type CommandSpec, family } from '../../command-spec.js';

export const SCRIPTING: readonly CommandSpec[] = family('scripting', []);
