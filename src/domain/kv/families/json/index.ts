import { type CommandSpec, family } from '../../command-spec.js';

export const JSON_FAMILY: readonly CommandSpec[] = family('json', []);
