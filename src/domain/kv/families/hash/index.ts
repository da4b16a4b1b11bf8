import { type CommandSpec, family } from '../../command-spec.js';

export const HASH: readonly CommandSpec[] = family('hash', []);
