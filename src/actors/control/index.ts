export { Accounts, type AccountsOptions, type AccountsPorts } from './accounts.js';
export { AclAdministration } from './acl-administration.js';
export { AutoUpgrade, type AutoUpgradePorts } from './auto-upgrade.js';
export { CommandThrottle, type CommandThrottlePorts } from './command-throttle.js';
export type { ControlClient, ReplyOf } from './control-client.js';
export { copyControl } from './control-copy.js';
export { ControlDuties, type ControlDutiesPorts } from './control-duties.js';
export { ControlFold } from './control-fold.js';
export { ControlGateway, serveControl } from './control-gateway.js';
export { ControlOwner } from './control-owner.js';
export { ControlPlane, type ControlPlanePorts, createControlPlane } from './control-plane.js';
export { ControlStart, type ControlStartPorts } from './control-start.js';
export { ControlView, type ControlViewOptions, type ControlViewPorts } from './control-view.js';
export { ControlWork } from './control-work.js';
export * from './credentials.js';
export { DailyBackups, type DailyBackupsPorts, dailyBackupId } from './daily-backups.js';
export { DatabaseKeeper, type KeeperOptions, type KeeperPorts } from './database-keeper.js';
export { DeletedData, type DeletedDataPorts } from './deleted-data.js';
export { type CredentialsKeeper, type FirstStartOptions, type FirstStartOutcome, firstStart } from './first-start.js';
export { ManagementGrants } from './management-grants.js';
export { DEFAULT_FOLDER_LIMITS, MeterFolder, type MeterFolderLimits, type MeterFolderPorts } from './meter-folder.js';
export {
  DEFAULT_METER_OPTIONS,
  MeterWriter,
  type MeterWriterOptions,
  type MeterWriterPorts,
} from './meter-writer.js';
export { type DatabasePlace, type PartitionPlace, placeOfAccount, placeOfDatabase } from './places.js';
export { PlanDataLimits } from './plan-data-limits.js';
export { type PlanLimits, type PlanLimitsPorts, planLimits } from './plan-limits.js';
export { ProcessControl, type ProcessControlOptions, type ProcessControlPorts } from './process-control.js';
export { LONG_SILENCE_MS, QuotaSlices, type QuotaSlicesPorts } from './quota-slices.js';
export { Revocations } from './revocations.js';
export { SearchGrants } from './search-grants.js';
export { type Sweep, Sweeps } from './sweeps.js';
