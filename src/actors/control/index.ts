export { Accounts } from './accounts.js';
export { AclAdministration } from './acl-administration.js';
export type { ControlClient } from './control-client.js';
export { copyControl } from './control-copy.js';
export { ControlDuties } from './control-duties.js';
export { ControlFold } from './control-fold.js';
export { ControlGateway } from './control-gateway.js';
export { ControlOwner } from './control-owner.js';
export { ControlPlane } from './control-plane.js';
export { ControlStart, type ControlStartPorts } from './control-start.js';
export { ControlView } from './control-view.js';
export { ControlWork } from './control-work.js';
export * from './credentials.js';
export { DailyBackups } from './daily-backups.js';
export { DatabaseKeeper } from './database-keeper.js';
export { DeletedData } from './deleted-data.js';
export { type CredentialsKeeper, type FirstStartOptions, firstStart } from './first-start.js';
export { ManagementGrants } from './management-grants.js';
export { MeterFolder } from './meter-folder.js';
export {
  DEFAULT_METER_OPTIONS,
  MeterWriter,
} from './meter-writer.js';
export { type DatabasePlace, type PartitionPlace, placeOfAccount, placeOfDatabase } from './places.js';
export { planLimits } from './plan-limits.js';
export { QuotaSlices } from './quota-slices.js';
export { Revocations } from './revocations.js';
export { SearchGrants } from './search-grants.js';
export { Sweeps } from './sweeps.js';
