/** Use of a month, labels, and the address of the monthly webhook. */
import { IsIn, IsInt, IsObject, IsOptional, IsString } from 'class-validator';
import { ListOf } from '../../http/shapes.js';

class UsageOfOne {
  @IsIn(['database', 'queue', 'index']) readonly kind!: string;
  @IsString() readonly id!: string;
  @IsString() readonly name!: string;
  @IsObject() readonly labels!: Readonly<Record<string, string>>;
  /** Commands; charged requests of a queue; queries and updates of an index. */
  @IsInt() readonly requests!: number;
  /** Accepted by a queue; missing for others. */
  @IsOptional() @IsInt() readonly messages?: number | undefined;
  /** At the end of the month, or now; missing for queues. */
  @IsOptional() @IsInt() readonly stored_bytes?: number | undefined;
  @IsInt() readonly transferred_bytes!: number;
  /** Requests, messages or queries that are possible on a day; missing without a limit. */
  @IsOptional() @IsInt() readonly daily_quota?: number | undefined;
  /** On the day with the most. */
  @IsInt() readonly busiest_day!: number;
  @IsOptional() @IsInt() readonly quota_used_percent?: number | undefined;
}

export class UsageAnswer {
  /** `2026-11`, in UTC. */
  @IsString() readonly month!: string;
  @ListOf(UsageOfOne) readonly rows!: readonly UsageOfOne[];
}

export class LabelsAnswer {
  @IsString() readonly id!: string;
  @IsObject() readonly labels!: Readonly<Record<string, string>>;
}

export class UsageReportAnswer {
  /** Empty: no webhooks. */
  @IsString() readonly url!: string;
}
