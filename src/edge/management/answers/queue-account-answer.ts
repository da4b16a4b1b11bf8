/** A queue account as the management API shows it; the record has the fields of both published revisions. */
import { IsBoolean, IsIn, IsInt, IsNumber, IsString } from 'class-validator';
import {
  ACCOUNT_LIMITS,
  ACCOUNT_PLAN_TERMS,
  type Account,
  accountPlanName,
  DEFAULT_ACCOUNT_LIMITS,
  DEFAULT_ACCOUNT_PLAN,
  QUEUE_REGIONS,
  SHOWN_BANDWIDTH_BYTES_PER_SECOND,
} from '../../../domain/control/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { RecordOf, TextFlag, textFlag, unixSeconds } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';

class Enterprise {
  @IsBoolean() readonly enabled!: boolean;
}

export class QueueAccountAnswer {
  @IsString() readonly customer_id!: string;
  @IsString() readonly id!: string;
  /**
   * The password and both tokens are empty for callers without rights on the queue. A read-only key sees this and the
   * next one masked.
   */
  @IsString() readonly password!: string;
  @IsString() readonly token!: string;
  @IsString() readonly read_only_token!: string;
  @IsBoolean() readonly active!: boolean;
  @IsIn(['active', 'passive']) readonly state!: string;
  @IsString() readonly modifying_state!: string;
  @IsInt() readonly last_plan_upgrade_time!: number;
  @IsInt() readonly max_message_size!: number;
  @IsInt() readonly max_requests_per_day!: number;
  @IsInt() readonly max_requests_per_day_hard!: number;
  @IsInt() readonly max_requests_per_second!: number;
  @IsInt() readonly max_bandwidth_per_second!: number;
  @IsInt() readonly max_endpoints_per_topic!: number;
  @IsInt() readonly max_dlq_size!: number;
  @IsInt() readonly max_dlq_retention_time_milis!: number;
  /** This server has no language models: this and the next three have no effect. */
  @IsInt() readonly max_completion_tokens_per_day!: number;
  @IsInt() readonly max_completion_tokens_per_minute!: number;
  @IsInt() readonly max_completions_per_day!: number;
  @IsInt() readonly max_completions_per_minute!: number;
  @IsInt() readonly max_retries!: number;
  @IsInt() readonly max_topics!: number;
  @IsInt() readonly max_schedules!: number;
  @IsInt() readonly max_events_size!: number;
  @IsInt() readonly max_delay!: number;
  @IsInt() readonly max_parallelism!: number;
  @IsInt() readonly max_global_parallelism!: number;
  @IsInt() readonly max_queues!: number;
  /** Days that messages stay in the DLQ. */
  @IsInt() readonly retention!: number;
  @IsInt() readonly timeout!: number;
  @IsInt() readonly rate_limit!: number;
  @IsIn(['free', 'paid']) readonly type!: string;
  @IsString() readonly reserved_type!: string;
  @IsNumber() readonly reserved_price!: number;
  @IsBoolean() readonly prod_pack_enabled!: boolean;
  @TextFlag() readonly prometheus_enabled!: 'true' | 'false';
  @RecordOf(Enterprise) readonly enterprise!: Enterprise;
  @IsIn(QUEUE_REGIONS) readonly region!: string;
  @IsInt() readonly budget!: number;
  @IsString() readonly created_by!: string;
  @IsInt() readonly creation_time!: number;
  @IsInt() readonly deletion_time!: number;
}

/** @throws BAD_CONFIG if the tokens were sealed with another key file */
export function queueAccountAnswer(call: ManagementCall, account: Account): QueueAccountAnswer {
  const { limits = DEFAULT_ACCOUNT_LIMITS, plan = DEFAULT_ACCOUNT_PLAN, state = 'active' } = account;
  const { maxMessagesPerDay, maxMessagesPerDayHard } = ACCOUNT_LIMITS;
  return {
    customer_id: call.customerId,
    id: uuidOf(account.id),
    ...secretsOf(call, account),
    active: state === 'active',
    state,
    modifying_state: state === 'active' ? '' : 'suspended',
    last_plan_upgrade_time: unixSeconds(plan.lastPlanUpgradeAtMs),
    max_message_size: limits.maxMessageBytes,
    // Internally 0 means no limit; clients would read it as a limit of zero.
    max_requests_per_day: limits.maxMessagesPerDay || maxMessagesPerDay.high,
    max_requests_per_day_hard: limits.maxMessagesPerDayHard || maxMessagesPerDayHard.high,
    max_requests_per_second: limits.maxRequestsPerSecond,
    max_bandwidth_per_second: SHOWN_BANDWIDTH_BYTES_PER_SECOND,
    max_endpoints_per_topic: limits.maxEndpointsPerGroup,
    max_dlq_size: limits.maxDlqEntries,
    max_dlq_retention_time_milis: limits.dlqRetentionMs,
    max_completion_tokens_per_day: 10_000,
    max_completion_tokens_per_minute: 1_000,
    max_completions_per_day: 100,
    max_completions_per_minute: 10,
    max_retries: limits.maxRetries,
    max_topics: limits.maxGroups,
    max_schedules: limits.maxSchedules,
    max_events_size: limits.maxEvents,
    max_delay: limits.maxDelaySeconds,
    max_parallelism: limits.maxParallelism,
    max_global_parallelism: limits.maxGlobalParallelism,
    max_queues: limits.maxQueues,
    retention: Math.ceil(limits.dlqRetentionMs / 1000),
    timeout: limits.timeoutSeconds,
    rate_limit: limits.maxRequestsPerSecond,
    type: plan.type,
    reserved_type: plan.reserved,
    reserved_price: ACCOUNT_PLAN_TERMS[accountPlanName(plan)].reservedPrice,
    prod_pack_enabled: plan.hasProdPack,
    prometheus_enabled: textFlag(plan.prometheusToken !== undefined),
    enterprise: { enabled: false },
    region: plan.region,
    budget: plan.budgetDollars,
    created_by: account.email === '' ? call.grant.email : account.email,
    creation_time: unixSeconds(account.createdAtMs),
    deletion_time: 0,
  };
}

function secretsOf(call: ManagementCall, { id, secrets, readOnlyToken }: Account) {
  if (!call.maySeeSecrets('queues', id)) return { password: '', token: '', read_only_token: '' };
  const token = call.endpoint.secrets.open(secrets.queueToken);
  return {
    password: call.writingSecret(passwordIn(token), 'queues', id),
    token: call.writingSecret(token, 'queues', id),
    // Accounts of older releases get one when their tokens are rotated.
    read_only_token: readOnlyToken === undefined ? '' : call.endpoint.secrets.open(readOnlyToken),
  };
}

/** A generated token is base64 of JSON with a user and a password; a token from an operator may have any form. */
function passwordIn(token: string): string {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token, 'base64').toString('utf8'));
    const hasPassword = typeof parsed === 'object' && parsed !== null && 'Password' in parsed;
    return hasPassword && typeof parsed.Password === 'string' ? parsed.Password : '';
  } catch {
    return '';
  }
}
