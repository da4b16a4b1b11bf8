/** Bodies and queries of calls about databases. */
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
} from 'class-validator';

import {
  DATABASE_PLANS,
  type DatabasePlan,
  MAX_ALLOWED_IPS,
  MAX_BUDGET_DOLLARS,
  MAX_PARTITIONS,
} from '../../../domain/control/index.js';
import { PERIODS, type Period } from '../../../domain/statistics/index.js';
import { PLATFORMS, type Platform, READ_REGIONS } from '../regions.js';
import { AreIpv4Blocks, IsGivenName, IsNumberText, MAX_SECONDS } from './rules.js';

export class CreateDatabaseRequest {
  @IsOptional()
  @IsGivenName()
  readonly database_name: string | undefined;

  /** Another name of `database_name`, used by older and some current clients. */
  @IsOptional()
  @IsGivenName()
  readonly name: string | undefined;

  @IsOptional()
  @IsIn(PLATFORMS)
  readonly platform: Platform | undefined;

  /** `global`, or the region of a database without replicas. */
  @IsOptional()
  @IsString()
  readonly region: string | undefined;

  @IsOptional()
  @IsString()
  readonly primary_region: string | undefined;

  @IsOptional()
  @ArrayUnique()
  @IsIn(READ_REGIONS, { each: true })
  @IsArray()
  readonly read_regions: readonly string[] | undefined;

  @IsOptional()
  @IsIn(DATABASE_PLANS)
  readonly plan: DatabasePlan | undefined;

  /** Dollars per month; 0: no limit. */
  @IsOptional()
  @Max(MAX_BUDGET_DOLLARS)
  @Min(0)
  @IsInt()
  readonly budget: number | undefined;

  @IsOptional()
  @IsBoolean()
  readonly eviction: boolean | undefined;

  /** Ignored: TLS is always on. */
  @IsOptional()
  @IsBoolean()
  readonly tls: boolean | undefined;

  @IsOptional()
  @IsBoolean()
  readonly auto_upgrade: boolean | undefined;

  @IsOptional()
  @IsBoolean()
  readonly prod_pack_enabled: boolean | undefined;

  /** An extension: the number of partitions. `POST /v2/kv/partitions/<id>` changes it later. */
  @IsOptional()
  @Max(MAX_PARTITIONS)
  @Min(1)
  @IsInt()
  readonly partitions: number | undefined;

  /** An extension: cluster clients of Redis are sent to the owners of its slots. It cannot be changed later. */
  @IsOptional()
  @IsBoolean()
  readonly cluster: boolean | undefined;
}

export class ChangePartitionsRequest {
  @Max(MAX_PARTITIONS)
  @Min(1)
  @IsInt()
  readonly partitions!: number;
}

export class RenameDatabaseRequest {
  @IsGivenName()
  readonly name!: string;
}

export class ChangePlanRequest {
  @IsOptional()
  @IsString()
  readonly plan_name: string | undefined;

  /** Another name of `plan_name` from an older client, which also uses the plan names `paid` and `pro`. */
  @IsOptional()
  @IsString()
  readonly plan: string | undefined;

  @IsOptional()
  @IsBoolean()
  readonly auto_upgrade: boolean | undefined;

  @IsOptional()
  @IsBoolean()
  readonly prod_pack_enabled: boolean | undefined;
}

export class DatabaseBudgetRequest {
  /** Dollars per month; 0: no limit. */
  @Max(MAX_BUDGET_DOLLARS)
  @Min(0)
  @IsInt()
  readonly budget!: number;
}

export class UpdateRegionsRequest {
  /** Replaces the whole list. */
  @ArrayUnique()
  @IsIn(READ_REGIONS, { each: true })
  @IsArray()
  readonly read_regions!: readonly string[];
}

export class MoveDatabaseRequest {
  @IsString()
  readonly team_id!: string;

  @IsString()
  readonly database_id!: string;
}

export class AllowedIpsRequest {
  /** Empty: every address may connect. */
  @ArrayUnique()
  @ArrayMaxSize(MAX_ALLOWED_IPS)
  @AreIpv4Blocks()
  readonly allowed_ips!: readonly string[];
}

export class CreateBackupRequest {
  @IsGivenName()
  readonly name!: string;
}

export class RestoreBackupRequest {
  @IsString()
  readonly backup_id!: string;
}

export class CredentialsQuery {
  /** `hide` omits password and tokens. */
  @IsOptional()
  @IsIn(['hide', 'show'])
  readonly credentials: 'hide' | 'show' | undefined;
}

export class PeriodQuery {
  /** Default: `1h`. */
  @IsOptional()
  @IsIn(PERIODS)
  readonly period: Period | undefined;

  /** Unix seconds: the end of the period, for the period before. Default: now. */
  @IsOptional()
  @IsNumberText(0, MAX_SECONDS)
  readonly until: string | undefined;
}

/** The end of the period; never in the future. */
export function endOfPeriod({ until }: PeriodQuery, nowMs: number): number {
  return until === undefined ? nowMs : Math.min(Number(until) * 1000, nowMs);
}
