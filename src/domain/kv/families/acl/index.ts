import { type CommandSpec, family } from '../../command-spec.js';

export const ACL: readonly CommandSpec[] = family('acl', []);
