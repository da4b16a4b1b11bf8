export { type AclClient, AclCommands, type AclCommandsPorts } from './acl-commands.js';
export { type AclDenial, AclLog } from './acl-log.js';
