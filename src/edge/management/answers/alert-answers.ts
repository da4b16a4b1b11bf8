/** Alert rules and alerts as the management API shows them. */
import { IsBoolean, IsIn, IsInt, IsString } from 'class-validator';
import {
  ALERT_CHANNELS,
  ALERT_KINDS,
  type Alert,
  type AlertChannel,
  type AlertKind,
  type AlertRule,
  isBuiltIn,
} from '../../../domain/control/index.js';
import type { TestedChannel } from '../../../ports/index.js';
import { ListOf, RecordOf, unixSeconds } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';

const RULE_STATES = ['ok', 'firing', 'silenced', 'off'] as const;

class AlertChannelAnswer {
  @IsIn(ALERT_CHANNELS) readonly type!: AlertChannel['type'];
  /** A URL is masked for a read-only key, because it may contain a secret. */
  @IsString() readonly address!: string;
}

export class AlertRuleAnswer {
  @IsString() readonly rule_id!: string;
  @IsString() readonly name!: string;
  @IsIn(ALERT_KINDS) readonly kind!: AlertKind;
  /** Empty: all. */
  @IsString() readonly target!: string;
  @IsInt() readonly threshold!: number;
  /** Seconds; 0 for a kind without a period. */
  @IsInt() readonly window!: number;
  @ListOf(AlertChannelAnswer) readonly channels!: readonly AlertChannelAnswer[];
  @IsBoolean() readonly enabled!: boolean;
  /** Unix seconds; 0: not silenced. */
  @IsInt() readonly silent_until!: number;
  /** It exists from the beginning and cannot be deleted. */
  @IsBoolean() readonly built_in!: boolean;
  /** `silenced` while no notices are sent, firing or not. */
  @IsIn(RULE_STATES) readonly state!: (typeof RULE_STATES)[number];
  /** Open alerts. */
  @IsInt() readonly firing!: number;
  /** Unix seconds of the oldest open alert; 0: none. */
  @IsInt() readonly firing_since!: number;
}

class AlertNoticeAnswer {
  @IsIn(['raised', 'resolved']) readonly phase!: string;
  @RecordOf(AlertChannelAnswer) readonly channel!: AlertChannelAnswer;
  @IsIn(['waiting', 'sent', 'failed']) readonly state!: string;
  /** The id of the message, the mail server's answer, or the reason of the failure. */
  @IsString() readonly answer!: string;
}

export class AlertAnswer {
  @IsInt() readonly alert!: number;
  @IsString() readonly rule_id!: string;
  /** Name and kind of the rule at that time. */
  @IsString() readonly name!: string;
  @IsIn(ALERT_KINDS) readonly kind!: AlertKind;
  @IsString() readonly subject!: string;
  @IsString() readonly text!: string;
  /** Unix seconds. */
  @IsInt() readonly raised_at!: number;
  /** Unix seconds; 0: it is open. */
  @IsInt() readonly resolved_at!: number;
  @ListOf(AlertNoticeAnswer) readonly notices!: readonly AlertNoticeAnswer[];
}

export class AlertsAnswer {
  /** Whether a mail server is set. */
  @IsBoolean() readonly email_available!: boolean;
  /** Built-in rules first. */
  @ListOf(AlertRuleAnswer) readonly rules!: readonly AlertRuleAnswer[];
  /** Open alerts, newest first. */
  @ListOf(AlertAnswer) readonly firing!: readonly AlertAnswer[];
}

export class TestedChannelAnswer {
  @RecordOf(AlertChannelAnswer) readonly channel!: AlertChannelAnswer;
  /** The queue accepted the message, or the mail server the mail. */
  @IsBoolean() readonly sent!: boolean;
  /** The id of the message, the server's answer, or the reason of the failure. */
  @IsString() readonly answer!: string;
}

/** @param alerts of the account; ended ones are ignored */
export function alertRuleAnswer(call: ManagementCall, rule: AlertRule, alerts: readonly Alert[]): AlertRuleAnswer {
  const open = alerts.filter((alert) => alert.rule === rule.id && alert.resolvedAtMs === 0);
  const isSilent = rule.silentUntilMs > call.nowMs;
  return {
    rule_id: rule.id,
    name: rule.name,
    kind: rule.kind,
    target: rule.target,
    threshold: rule.threshold,
    window: rule.windowSeconds,
    channels: rule.channels.map((channel) => channelAnswer(call, channel)),
    enabled: rule.isEnabled,
    silent_until: isSilent ? unixSeconds(rule.silentUntilMs) : 0,
    built_in: isBuiltIn(rule),
    state: !rule.isEnabled ? 'off' : isSilent ? 'silenced' : open.length > 0 ? 'firing' : 'ok',
    firing: open.length,
    firing_since: open.length === 0 ? 0 : unixSeconds(Math.min(...open.map(({ raisedAtMs }) => raisedAtMs))),
  };
}

export function alertAnswer(call: ManagementCall, alert: Alert): AlertAnswer {
  const { number, rule, name, kind, subject, text, raisedAtMs, resolvedAtMs, notices } = alert;
  return {
    alert: number,
    rule_id: rule,
    name,
    kind,
    subject,
    text,
    raised_at: unixSeconds(raisedAtMs),
    resolved_at: unixSeconds(resolvedAtMs),
    notices: notices.map(({ phase, channel, state, answer }) => ({
      phase,
      channel: channelAnswer(call, channel),
      state,
      answer,
    })),
  };
}

export function testedAnswer(call: ManagementCall, { channel, isSent, answer }: TestedChannel): TestedChannelAnswer {
  return { channel: channelAnswer(call, channel), sent: isSent, answer };
}

function channelAnswer(call: ManagementCall, { type, address }: AlertChannel): AlertChannelAnswer {
  return { type, address: type === 'email' ? address : call.masked(address) };
}
