import { type CommandSpec, family } from '../../command-spec.js';

export const CLUSTER: readonly CommandSpec[] = family('cluster', []);
