export { AclCommands } from './acl-commands.js';
