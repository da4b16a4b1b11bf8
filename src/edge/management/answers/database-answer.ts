/** A database as the management API shows it. Source: docs/guide/management.md, "Databases". */
import { IsArray, IsBoolean, IsIn, IsInt, IsOptional, IsString } from 'class-validator';
import {
  DATABASE_PLAN_TERMS,
  type Database,
  DEFAULT_DATABASE_SETTINGS,
  type SealedSecret,
} from '../../../domain/control/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { RecordOf, TextFlag, textFlag, unixSeconds } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';

const NS_PER_HOUR = 3_600_000_000_000;
const NS_PER_MS = 1_000_000;
/** Shown for no limit: the largest integer that every client represents exactly. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;
const DAYS_OF_MONTH = 30;
const DAY_MS = 86_400_000;

class SecurityAddons {
  @IsBoolean() readonly ipWhitelisting!: boolean;
  @IsBoolean() readonly vpcPeering!: boolean;
  @IsBoolean() readonly privateLink!: boolean;
  @IsBoolean() readonly tlsMutualAuth!: boolean;
  @IsBoolean() readonly encryptionAtRest!: boolean;
}

class LayoutChangeAnswer {
  @IsIn(['copying', 'switched', 'abandoning', 'failed']) readonly phase!: string;
  /** The number of partitions that was asked for. */
  @IsInt() readonly partitions!: number;
  /** The copied part of the keys. */
  @IsInt() readonly percent!: number;
  @IsString() readonly reason!: string;
}

export class DatabaseAnswer {
  @IsString() readonly database_id!: string;
  @IsString() readonly database_name!: string;
  @IsString() readonly database_type!: string;
  @IsString() readonly region!: string;
  @IsIn(['free', 'payg', 'pro', 'paid']) readonly type!: string;
  @IsString() readonly primary_region!: string;
  @IsString({ each: true }) @IsArray() readonly primary_members!: readonly string[];
  @IsString({ each: true }) @IsArray() readonly all_members!: readonly string[];
  @IsString({ each: true }) @IsArray() readonly read_regions!: readonly string[];
  @IsInt() readonly replicas!: number;
  @IsString() readonly endpoint!: string;
  @IsInt() readonly port!: number;
  @IsInt() readonly creation_time!: number;
  @IsIn(['active', 'suspended', 'passive']) readonly state!: string;
  @IsString() readonly modifying_state!: string;
  @IsString() readonly customer_id!: string;
  @IsString() readonly user_email!: string;
  /**
   * These three are omitted with `credentials=hide`, and for callers without rights on the database. A read-only key
   * sees the first two masked.
   */
  @IsOptional() @IsString() readonly password?: string;
  @IsOptional() @IsString() readonly rest_token?: string;
  @IsOptional() @IsString() readonly read_only_rest_token?: string;
  @IsBoolean() readonly tls!: boolean;
  @IsBoolean() readonly eviction!: boolean;
  @IsBoolean() readonly auto_upgrade!: boolean;
  @IsBoolean() readonly consistent!: boolean;
  @IsBoolean() readonly multizone!: boolean;
  @IsBoolean() readonly daily_backup_enabled!: boolean;
  @IsBoolean() readonly prod_pack_enabled!: boolean;
  @IsString({ each: true }) @IsArray() readonly allowed_ip_ranges!: readonly string[];
  @IsInt() readonly budget!: number;
  @IsInt() readonly last_plan_upgrade_time!: number;
  @IsInt() readonly reserved_per_region_price!: number;
  @IsInt() readonly next_daily_backup_time!: number;
  @TextFlag() readonly prometheus_enabled!: 'true' | 'false';
  @RecordOf(SecurityAddons) readonly securityAddons!: SecurityAddons;
  @IsInt() readonly db_max_clients!: number;
  @IsInt() readonly db_max_request_size!: number;
  @IsInt() readonly db_disk_threshold!: number;
  @IsInt() readonly db_max_entry_size!: number;
  @IsInt() readonly db_memory_threshold!: number;
  @IsInt() readonly db_max_commands_per_second!: number;
  @IsInt() readonly db_request_limit!: number;
  @IsInt() readonly db_daily_bandwidth_limit!: number;
  @IsIn(['S', 'M', 'L', 'XL', 'XXL', '3XL']) readonly db_resource_size!: string;
  @IsString() readonly db_type!: string;
  @IsInt() readonly db_conn_idle_timeout!: number;
  @IsInt() readonly db_lua_timeout!: number;
  @IsInt() readonly db_store_max_idle!: number;
  @IsInt() readonly db_lua_credits_per_min!: number;
  @IsInt() readonly db_max_loads_per_sec!: number;
  @TextFlag() readonly db_acl_enabled!: 'true' | 'false';
  @TextFlag() readonly db_acl_default_user_status!: 'true' | 'false';
  @IsBoolean() readonly db_eviction!: boolean;
  /** Extensions: the number of partitions, and whether cluster clients of Redis are sent to their owners. */
  @IsInt() readonly partitions!: number;
  @IsBoolean() readonly cluster!: boolean;
  /** The origin of a branch; missing for other databases. */
  @IsOptional() @IsString() readonly branch_of?: string;
  /** The change of the number of partitions that is under way or has failed. */
  @IsOptional() @RecordOf(LayoutChangeAnswer) readonly layout_change?: LayoutChangeAnswer;
}

/** @param hidesSecrets omits three fields. @throws BAD_CONFIG if the secrets were sealed with another key file */
export function databaseAnswer(call: ManagementCall, database: Database, hidesSecrets = false): DatabaseAnswer {
  const { settings = DEFAULT_DATABASE_SETTINGS } = database;
  const terms = DATABASE_PLAN_TERMS[settings.plan];
  const primary = settings.primaryRegion;
  const members = [primary, ...settings.readRegions];
  return {
    database_id: uuidOf(database.id),
    database_name: database.name,
    database_type: terms.label,
    region: settings.region,
    type: terms.type,
    // A database with a plain region was created without a primary region, and clients compare the fields.
    primary_region: settings.region === primary ? '' : primary,
    primary_members: [primary],
    all_members: members,
    read_regions: settings.readRegions,
    replicas: members.length,
    endpoint: call.endpoint.urls.ofDatabases(),
    port: call.endpoint.parts.respPort,
    creation_time: unixSeconds(database.createdAtMs),
    state: settings.isSuspended ? 'suspended' : 'active',
    modifying_state: '',
    customer_id: call.customerId,
    user_email: call.customerId,
    ...(hidesSecrets || !call.maySeeSecrets('databases', database.id) ? {} : secretsOf(call, database)),
    tls: true,
    eviction: settings.isEvicting,
    auto_upgrade: settings.isAutoUpgrading,
    consistent: false,
    multizone: false,
    daily_backup_enabled: settings.hasDailyBackup,
    prod_pack_enabled: settings.hasProdPack,
    allowed_ip_ranges: settings.allowedIps,
    budget: settings.budgetDollars,
    last_plan_upgrade_time: unixSeconds(settings.lastPlanUpgradeAtMs),
    reserved_per_region_price: terms.priceDollars,
    next_daily_backup_time: settings.hasDailyBackup ? nextMidnight(call.nowMs) : 0,
    prometheus_enabled: textFlag(settings.prometheusToken !== undefined),
    securityAddons: {
      ipWhitelisting: settings.allowedIps.length > 0,
      vpcPeering: false,
      privateLink: false,
      tlsMutualAuth: false,
      encryptionAtRest: false,
    },
    ...limitsOf(database, terms.maxRecordBytes, call.endpoint.parts.maxHeldBytes),
    db_resource_size: terms.resourceSize,
    db_type: 'pebble',
    db_conn_idle_timeout: 6 * NS_PER_HOUR,
    db_lua_timeout: call.endpoint.parts.maxScriptMs * NS_PER_MS,
    db_store_max_idle: NS_PER_HOUR / 4,
    db_lua_credits_per_min: 10_000_000_000,
    db_max_loads_per_sec: 1_000_000,
    db_acl_enabled: 'true',
    db_acl_default_user_status: 'true',
    db_eviction: settings.isEvicting,
    ...placementOf(database),
  };
}

function placementOf({ partitions, isCluster = false, branch, layoutChange: change }: Database) {
  const placement = {
    partitions,
    cluster: isCluster,
    ...(branch !== undefined && { branch_of: uuidOf(branch.origin) }),
  };
  if (change === undefined) return placement;
  const { phase, percent, reason } = change;
  const asked = phase === 'switched' ? partitions : change.partitions;
  return { ...placement, layout_change: { phase, partitions: asked, percent, reason } };
}

/** The current limits, which an operator may have changed from the plan's. */
function limitsOf({ limits }: Database, maxRecordBytes: number, maxHeldBytes = UNLIMITED) {
  const dataBytes = limits.maxDataBytes || UNLIMITED;
  const bandwidth = limits.maxBytesPerMonth || UNLIMITED;
  return {
    db_max_clients: limits.maxConnections || UNLIMITED,
    db_max_request_size: limits.maxCommandBytes,
    db_disk_threshold: dataBytes,
    db_max_entry_size: maxRecordBytes,
    // All data is in memory.
    db_memory_threshold: Math.min(dataBytes, maxHeldBytes),
    db_max_commands_per_second: limits.maxCommandsPerSecond || UNLIMITED,
    db_request_limit: limits.maxRequestsPerDay || UNLIMITED,
    db_daily_bandwidth_limit: bandwidth === UNLIMITED ? UNLIMITED : Math.floor(bandwidth / DAYS_OF_MONTH),
  };
}

function secretsOf(call: ManagementCall, { id, secrets }: Database) {
  if (secrets === undefined) return {};
  const { endpoint } = call;
  const writing = (secret: SealedSecret) => call.writingSecret(endpoint.secrets.open(secret), 'databases', id);
  return {
    password: writing(secrets.password),
    rest_token: writing(secrets.standardToken),
    read_only_rest_token: endpoint.secrets.open(secrets.readOnlyToken),
  };
}

function nextMidnight(nowMs: number): number {
  return unixSeconds((Math.floor(nowMs / DAY_MS) + 1) * DAY_MS);
}
