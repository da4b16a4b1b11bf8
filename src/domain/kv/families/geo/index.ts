import { type CommandSpec, family } from '../../command-spec.js';

export const GEO: readonly CommandSpec[] = family('geo', []);
