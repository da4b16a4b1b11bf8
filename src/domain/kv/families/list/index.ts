import { type CommandSpec, family } from '../../command-spec.js';

export const LIST: readonly CommandSpec[] = family('list', []);
