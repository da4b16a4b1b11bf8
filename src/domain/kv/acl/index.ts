export { AclUser, joinSelectors } from './acl-user.js';
export { CATEGORIES, categoriesOf, ruleNameOf } from './categories.js';
export { commandCatalogue } from './command-catalogue.js';
export { READ, WRITE, wantedKeysOf } from './needs.js';
export { PermissionDenied } from './permission-denied.js';
export {
  DEFAULT_USER,
  permissionsOf,
  READ_ONLY_USER,
  RULES_OF_DEFAULT,
  RULES_OF_READ_ONLY,
  readOnlyPermissions,
} from './permissions.js';
export { RuleError } from './rule-error.js';
