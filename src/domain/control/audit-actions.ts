/** The actions of the audit log: each has a fixed number and a text for people. */
import type { AuditEntry } from './management.js';

export const AUDIT_ACTIONS = {
  createDatabase: [1, 'Create Database'],
  deleteDatabase: [2, 'Delete Database'],
  renameDatabase: [3, 'Rename Database'],
  resetPassword: [4, 'Reset Password'],
  enableTls: [5, 'Enable TLS'],
  updateRegions: [6, 'Update Regions'],
  changePlan: [7, 'Change Plan'],
  updateBudget: [8, 'Update Budget'],
  moveDatabase: [9, 'Move Database to Team'],
  createTeam: [10, 'Create Team'],
  addTeamMember: [11, 'Add Team Member'],
  removeTeamMember: [12, 'Remove Team Member'],
  deleteTeam: [13, 'Delete Team'],
  enableEviction: [14, 'Enable Eviction'],
  disableEviction: [15, 'Disable Eviction'],
  enableAutoUpgrade: [16, 'Enable Auto Upgrade'],
  disableAutoUpgrade: [17, 'Disable Auto Upgrade'],
  createBackup: [18, 'Create Backup'],
  deleteBackup: [19, 'Delete Backup'],
  restoreBackup: [20, 'Restore Backup'],
  enableDailyBackup: [21, 'Enable Daily Backup'],
  disableDailyBackup: [22, 'Disable Daily Backup'],
  enableProdPack: [23, 'Enable Production Pack'],
  disableProdPack: [24, 'Disable Production Pack'],
  updateAllowedIps: [25, 'Update Allowed IPs'],
  createSearchIndex: [26, 'Create Search Index'],
  deleteSearchIndex: [27, 'Delete Search Index'],
  renameSearchIndex: [28, 'Rename Search Index'],
  resetSearchPassword: [29, 'Reset Search Index Password'],
  transferSearchIndex: [30, 'Transfer Search Index'],
  rotateQueueToken: [31, 'Rotate Queue Token'],
  setQueuePlan: [32, 'Set Queue Plan'],
  updateQueueBudget: [33, 'Update Queue Budget'],
  enableQueueProdPack: [34, 'Enable Queue Production Pack'],
  disableQueueProdPack: [35, 'Disable Queue Production Pack'],
  moveQueue: [36, 'Move Queue to Team'],
  createApiKey: [37, 'Create API Key'],
  deleteApiKey: [38, 'Delete API Key'],
  suspendDatabase: [39, 'Suspend Database'],
  activateDatabase: [40, 'Activate Database'],
  suspendAccount: [41, 'Suspend Account'],
  activateAccount: [42, 'Activate Account'],
  createAccount: [43, 'Create Account'],
  updateLimits: [44, 'Update Limits'],
  enablePrometheus: [45, 'Enable Prometheus'],
  disablePrometheus: [46, 'Disable Prometheus'],
  runCommands: [47, 'Run Commands'],
  useQueue: [48, 'Use Queue'],
  changeDocuments: [49, 'Change Documents'],
  raiseFormat: [50, 'Raise Format Level'],
  steerCluster: [51, 'Steer Cluster'],
  createQueue: [52, 'Create Queue'],
  createAlertRule: [53, 'Create Alert Rule'],
  updateAlertRule: [54, 'Update Alert Rule'],
  deleteAlertRule: [55, 'Delete Alert Rule'],
  silenceAlertRule: [56, 'Silence Alert Rule'],
  testAlertRule: [57, 'Test Alert Rule'],
  createVectorIndex: [58, 'Create Vector Index'],
  deleteVectorIndex: [59, 'Delete Vector Index'],
  renameVectorIndex: [60, 'Rename Vector Index'],
  resetVectorPassword: [61, 'Reset Vector Index Password'],
  transferVectorIndex: [62, 'Transfer Vector Index'],
  setVectorPlan: [63, 'Set Vector Index Plan'],
  createBranch: [64, 'Create Branch'],
  mergeBranch: [65, 'Merge Branch'],
  discardBranch: [66, 'Discard Branch'],
  undoChanges: [67, 'Undo Changes'],
  changePartitions: [68, 'Change Partitions'],
  cancelPartitions: [69, 'Cancel Change of Partitions'],
  signIn: [70, 'Sign In'],
  refuseSignIn: [71, 'Refuse Sign-In'],
  signOut: [72, 'Sign Out'],
  endSession: [73, 'End Session'],
  changeProviderRoles: [74, 'Change Roles from Provider'],
  setSearchPlan: [75, 'Set Search Plan'],
  createRole: [76, 'Create Role'],
  updateRole: [77, 'Update Role'],
  deleteRole: [78, 'Delete Role'],
  assignRole: [79, 'Assign Role'],
  unassignRole: [80, 'Unassign Role'],
  setLabels: [81, 'Set Labels'],
  setUsageReport: [82, 'Set Usage Report'],
  deleteUsageReport: [83, 'Delete Usage Report'],
  setAuditExport: [84, 'Set Audit Export'],
  deleteAuditExport: [85, 'Delete Audit Export'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

const TEXTS = new Map<number, string>(Object.values(AUDIT_ACTIONS).map(([number, text]) => [number, text]));

export function auditActionNumber(action: AuditAction): number {
  return AUDIT_ACTIONS[action][0];
}

/** An action of a later release has no text here. */
export function auditActionText(number: number): string {
  return TEXTS.get(number) ?? `Action ${number}`;
}

export function auditLine(entry: AuditEntry) {
  const action = auditActionText(entry.action);
  const about = [entry.entity, entry.secondaryEntity, entry.thirdEntity].filter((text) => text !== '');
  return {
    log_id: LOG_ID_START + entry.number.toString(16).padStart(12, '0'),
    actor: entry.actor,
    timestamp: Math.floor(entry.atMs / 1000),
    action: entry.action,
    action_string: action,
    source: entry.source,
    entity: entry.entity,
    secondary_entity: entry.secondaryEntity,
    third_entity: entry.thirdEntity,
    readable_format: `${entry.actor}: ${[action, ...about].join(', ')}`,
    ip: entry.ip,
    reason: entry.reason,
  };
}

/** The number of the entry with this `log_id`; undefined for another text. */
export function auditNumberIn(logId: unknown): number | undefined {
  if (typeof logId !== 'string' || !logId.startsWith(LOG_ID_START)) return undefined;
  const digits = logId.slice(LOG_ID_START.length);
  return /^[0-9a-f]{12}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

/** The number is a part of the UUID, so there is no table of ids. */
const LOG_ID_START = '00000000-0000-8000-8a0d-';
