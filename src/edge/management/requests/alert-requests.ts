/** Bodies and queries of calls about alert rules. */
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import {
  ALERT_CHANNELS,
  ALERT_KIND_TERMS,
  ALERT_KINDS,
  type AlertChannel,
  type AlertKind,
  type AlertRule,
  MAX_ACCOUNT_ALERTS,
  MAX_ALERT_CHANNELS,
  MAX_ALERT_TARGET,
  MAX_ALERT_WINDOW_SECONDS,
} from '../../../domain/control/index.js';
import type { AccountId, AlertRuleId } from '../../../kernel/index.js';
import { describedRule } from '../../http/described-rule.js';
import { IsGivenName, IsNumberText } from './rules.js';

const MAX_THRESHOLD = Math.max(...Object.values(ALERT_KIND_TERMS).map(({ most }) => most));
/** The longest silence: a month. */
const MAX_SILENCE_SECONDS = 31 * 86_400;
const MAX_ADDRESS = 2048;

export class AlertRuleRequest {
  @IsGivenName()
  readonly name!: string;

  @IsIn(ALERT_KINDS)
  readonly kind!: AlertKind;

  /** The queue, key, schedule, database, host or workflow URL that is watched. Default: all, where the kind allows it. */
  @IsOptional()
  @MaxLength(MAX_ALERT_TARGET)
  @IsString()
  readonly target: string | undefined;

  /** In the unit of the kind. Default: that of the kind. */
  @IsOptional()
  @Max(MAX_THRESHOLD)
  @Min(0)
  @IsInt()
  readonly threshold: number | undefined;

  /** Seconds that are counted, for kinds that count. Default: those of the kind. */
  @IsOptional()
  @Max(MAX_ALERT_WINDOW_SECONDS)
  @Min(0)
  @IsInt()
  readonly window: number | undefined;

  /** Default: none; the alert is then only shown. */
  @IsOptional()
  @AreChannels()
  readonly channels: readonly AlertChannel[] | undefined;

  /** Default: true. */
  @IsOptional()
  @IsBoolean()
  readonly enabled: boolean | undefined;
}

export class SilenceAlertRequest {
  /** From now; 0 ends a silence. */
  @Max(MAX_SILENCE_SECONDS)
  @Min(0)
  @IsInt()
  readonly seconds!: number;
}

export class AlertHistoryQuery {
  /** The most alerts of the answer. Default: 100. */
  @IsOptional()
  @IsNumberText(1, MAX_ACCOUNT_ALERTS)
  readonly count: string | undefined;
}

/** The rule that a body describes. */
export function alertRuleOf(
  { name, kind, target = '', threshold, window, channels = [], enabled = true }: AlertRuleRequest,
  {
    id,
    account,
    silentUntilMs,
  }: { readonly id: AlertRuleId; readonly account: AccountId; readonly silentUntilMs: number },
): AlertRule {
  const { usual, windowSeconds } = ALERT_KIND_TERMS[kind];
  return {
    id,
    account,
    name,
    kind,
    target,
    threshold: threshold ?? usual,
    windowSeconds: window ?? windowSeconds,
    channels: channels.map(({ type, address }) => ({ type, address })),
    isEnabled: enabled,
    silentUntilMs,
  };
}

function AreChannels(): PropertyDecorator {
  const areChannels = (value: unknown) =>
    Array.isArray(value) && value.length <= MAX_ALERT_CHANNELS && value.every(isChannel);
  const types = ALERT_CHANNELS.join(', ');
  return describedRule(
    'areChannels',
    areChannels,
    `must be at most ${MAX_ALERT_CHANNELS} objects with type (${types}) and address (1 to ${MAX_ADDRESS} characters)`,
    {
      type: 'array',
      maxItems: MAX_ALERT_CHANNELS,
      items: {
        type: 'object',
        required: ['type', 'address'],
        properties: {
          type: { type: 'string', enum: [...ALERT_CHANNELS] },
          address: { type: 'string', minLength: 1, maxLength: MAX_ADDRESS },
        },
      },
    },
  );
}

function isChannel(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, address } = value as { readonly type?: unknown; readonly address?: unknown };
  if (typeof address !== 'string' || address === '' || address.length > MAX_ADDRESS) return false;
  return ALERT_CHANNELS.some((known) => known === type);
}
