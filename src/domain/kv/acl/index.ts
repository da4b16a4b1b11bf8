export { AclUser, joinSelectors, type PasswordHash } from './acl-user.js';
export { CATEGORIES, categoriesOf } from './categories.js';
export { commandCatalogue, ruleNameOf } from './command-catalogue.js';
export { READ, WRITE, wantedKeysOf } from './needs.js';
export {
  DEFAULT_USER,
  PermissionDenied,
  permissionsOf,
  READ_ONLY_USER,
  RULES_OF_DEFAULT,
  RULES_OF_READ_ONLY,
  readOnlyPermissions,
} from './permissions.js';
export { RuleError } from './rule-error.js';
