import { type CommandSpec, family } from '../../command-spec.js';

export const STREAM: readonly CommandSpec[] = family('stream', []);
