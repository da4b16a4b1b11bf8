/** Converts a request for a new database into the command to the control actor. */
import {
  type DatabasePlan,
  type DatabaseSettings,
  DEFAULT_ACCOUNT_PLAN,
  DEFAULT_DATABASE_SETTINGS,
  databasePlanLimits,
  type NewDatabase,
} from '../../domain/control/index.js';
import { newDatabaseId } from '../../protocol/index.js';
import { invalid } from '../http/refused.js';
import type { ManagementCall } from './management-call.js';
import { GLOBAL, isRegion } from './regions.js';
import type { CreateDatabaseRequest } from './requests/database-requests.js';

/** @throws Refused 400 */
export async function newDatabaseOf(call: ManagementCall, request: CreateDatabaseRequest): Promise<NewDatabase> {
  const name = request.database_name ?? request.name;
  if (name === undefined) throw invalid('database_name: is required');
  const regions = regionsOf(request);
  const plan = request.plan ?? (await usualPlan(call));
  refuseReplicasOfFree(plan, regions.readRegions);
  const { parts, secrets } = call.endpoint;
  return {
    id: newDatabaseId(parts.random),
    name,
    account: call.account,
    partitions: request.partitions ?? parts.defaultPartitions,
    ...(request.cluster === true && { isCluster: true }),
    limits: databasePlanLimits(plan),
    secrets: secrets.ofDatabase(),
    settings: {
      ...DEFAULT_DATABASE_SETTINGS,
      ...regions,
      plan,
      platform: request.platform ?? '',
      budgetDollars: request.budget ?? 0,
      isEvicting: request.eviction ?? false,
      isAutoUpgrading: request.auto_upgrade ?? false,
      hasProdPack: request.prod_pack_enabled ?? false,
    },
  };
}

/** @throws Refused 400 */
export function refuseReplicasOfFree(plan: DatabasePlan, readRegions: readonly string[]): void {
  if (plan === 'free' && readRegions.length > 1) throw invalid('read_regions: the free plan has one at most');
}

/** @throws Refused 400 */
export function refuseRegionTwice(primary: string, readRegions: readonly string[]): void {
  if (readRegions.includes(primary)) throw invalid('read_regions: must not contain the primary region');
}

type Regions = Pick<DatabaseSettings, 'region' | 'primaryRegion' | 'readRegions'>;

/** `global` with a primary region; or, from older clients, a plain region, which is the primary region by default. */
function regionsOf({ region = GLOBAL, primary_region, platform, read_regions = [] }: CreateDatabaseRequest): Regions {
  if (region !== GLOBAL && !isRegion(region, platform)) {
    throw invalid('region: must be global, or the name of a region');
  }
  const primary = primary_region ?? (region === GLOBAL ? undefined : region);
  if (primary === undefined) throw invalid('primary_region: is required');
  if (!isRegion(primary, platform)) {
    throw invalid('Invalid request, primary region might be wrong: primary_region must be the name of a region');
  }
  refuseRegionTwice(primary, read_regions);
  return { region, primaryRegion: primary, readRegions: read_regions };
}

async function usualPlan(call: ManagementCall): Promise<DatabasePlan> {
  const { account } = await call.ask({ type: 'GetAccount', account: call.account }, 'OneAccount');
  return (account.plan ?? DEFAULT_ACCOUNT_PLAN).type === 'free' ? 'free' : 'payg';
}
