export * from './account-limits.js';
export * from './account-plans.js';
export * from './alert-kinds.js';
export * from './alerts.js';
export { actsFor, roleLookup, rolesIn } from './assigned-roles.js';
export * from './audit-actions.js';
export type { AuditExport } from './audit-exports.js';
export { type BranchDatabase, branchesOf, isBranch } from './branches.js';
export { bytesOfControl, CONTROL_COMMANDS, decide, rowOfControl } from './command-table.js';
export type * from './commands.js';
export { controlCommands, controlReplies } from './commands.js';
export * from './database-plans.js';
export { cancellingOf } from './decide-layouts.js';
export { alertChanges, allAlertRules, isBuiltIn } from './decide-management-alerts.js';
export { DEFAULT_KEY_NAME, defaultKeyOf } from './decide-management-keys.js';
export { evolve, rowOfControlEvent } from './event-table.js';
export { type ControlEvent, controlEvents } from './events.js';
export { type GroupRole, mappedRoles } from './group-roles.js';
export * from './limits.js';
export * from './management.js';
export type * from './management-commands.js';
export { isEmail, isIpv4Block } from './names.js';
export { isPersons, personOf, queueOwnerOf } from './people.js';
export type { PersonRole, ProviderPerson } from './provider-people.js';
export * from './quota-subjects.js';
export { rebuildingEvents } from './rebuild.js';
export type * from './records.js';
export { ACCOUNT_SECRETS, isChangingLayout, NO_USAGE, utcDayOf } from './records.js';
export * from './rights.js';
export type { OwnRole, RoleAssignment } from './roles.js';
export type * from './sealed-secret.js';
export { DEFAULT_SEARCH_LIMITS, DEFAULT_VECTOR_LIMITS } from './search-limits.js';
export type { SignInSession } from './sign-in-sessions.js';
export {
  ControlState,
  type ControlStateOptions,
} from './state.js';
export * from './triggers.js';
export type { Label, LabeledId, LabelsOfOne } from './usage-records.js';
