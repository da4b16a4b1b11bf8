/**
 * Alert rules and their alerts. A rule compares a reading with a threshold; an alert is one subject (a destination, a
 * process, a stream) for which the rule was true, from its raise to its end. The order of fields is the stored format.
 *
 *  ALS1 a rule has at most one open alert for a subject
 *  ALS2 a notice is a part of its alert, so a new owner of the control shard knows which notices were sent
 *  ALS3 ended alerts are kept up to MAX_ACCOUNT_ALERTS of an account and MAX_ALERTS of all; open ones are bounded by
 *       the rules and MAX_ALERT_SUBJECTS
 */
import type { AccountId, AlertRuleId } from '../../kernel/index.js';
import { flag, integer, listOf, looseText, openRecord, type TypeOf, wordOf } from '../../kernel/schema/index.js';
import { accountId, alertRuleId } from './ids.js';
import { MAX_ACCOUNT_ALERTS, MAX_ALERTS } from './limits.js';
import { Owned } from './owned.js';

export const ALERT_KINDS = [
  'cluster',
  'disk',
  'memory',
  'read-models',
  'certificate',
  'dead-letters',
  'destination',
  'queue-age',
  'flow-age',
  'failed-runs',
  'backup-age',
  'schedule',
  'trigger-lag',
  'stopped-destination',
  'audit-export',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** `email`: an address; `webhook` and `slack`: a URL. */
export const ALERT_CHANNELS = ['webhook', 'slack', 'email'] as const;
export const alertChannel = openRecord({ type: wordOf(...ALERT_CHANNELS), address: looseText() });
export type AlertChannel = TypeOf<typeof alertChannel>;

export const alertRule = openRecord({
  id: alertRuleId,
  account: accountId,
  name: looseText(),
  kind: wordOf(...ALERT_KINDS),
  /** The queue, key, schedule, database or host that is watched; empty: all. */
  target: looseText(),
  /** In the unit of the kind (`alert-kinds.ts`). */
  threshold: integer,
  /** The period that is counted; 0 for kinds without one. */
  windowSeconds: integer,
  channels: listOf(alertChannel),
  isEnabled: flag,
  /** Until then no notice is sent; 0: not silenced. */
  silentUntilMs: integer,
});
export type AlertRule = TypeOf<typeof alertRule>;

export const alertPhase = wordOf('raised', 'resolved');
export type AlertPhase = TypeOf<typeof alertPhase>;
export const noticeState = wordOf('waiting', 'sent', 'failed');

/** One sending of an alert's raise or end to one channel. */
const alertNotice = openRecord({
  phase: alertPhase,
  channel: alertChannel,
  state: noticeState,
  /** The id of the message, the mail server's answer, or the reason of the failure. */
  answer: looseText(),
});
export const raisedAlertFields = {
  /** 1, 2, 3 … within the installation. */
  number: integer,
  rule: alertRuleId,
  account: accountId,
  /** Name and kind of the rule at that time. */
  name: looseText(),
  kind: wordOf(...ALERT_KINDS),
  subject: looseText(),
  text: looseText(),
};
export const alert = openRecord({
  ...raisedAlertFields,
  raisedAtMs: integer,
  /** 0: it is open. */
  resolvedAtMs: integer,
  /** False while the rule is silenced: the notices of its raise are sent when the silence ends. */
  isAnnounced: flag,
  notices: listOf(alertNotice),
});
export type Alert = TypeOf<typeof alert>;

/** A subject for which a rule is true at present. */
export const firingSubject = openRecord({ subject: looseText(), text: looseText() });
export type FiringSubject = TypeOf<typeof firingSubject>;

export class AlertRecords {
  readonly rules = new Map<AlertRuleId, AlertRule>();
  /** By number, in ascending order. */
  readonly byNumber = new Map<number, Alert>();
  readonly #rulesByAccount = new Owned<AccountId, AlertRuleId>();
  readonly #open = new Map<AlertRuleId, Set<number>>();
  readonly #endedByAccount = new Map<AccountId, number[]>();
  #endedCount = 0;
  #lastNumber = 0;

  get lastNumber(): number {
    return this.#lastNumber;
  }

  putRule(rule: AlertRule): void {
    this.rules.set(rule.id, rule);
    this.#rulesByAccount.add(rule.account, rule.id);
  }

  deleteRule(id: AlertRuleId): void {
    const rule = this.rules.get(id);
    if (rule === undefined) return;
    this.rules.delete(id);
    this.#rulesByAccount.remove(rule.account, id);
  }

  rulesOf(account: AccountId): AlertRule[] {
    return [...this.#rulesByAccount.of(account)].flatMap((id) => this.rules.get(id) ?? []);
  }

  openOf(rule: AlertRuleId): Alert[] {
    return [...(this.#open.get(rule) ?? [])].flatMap((number) => this.byNumber.get(number) ?? []);
  }

  /** Newest first, open ones included. */
  of(account: AccountId): Alert[] {
    return [...this.byNumber.values()].filter((one) => one.account === account).reverse();
  }

  /** Alerts with a notice that is not sent yet, oldest first. */
  *waiting(): Iterable<Alert> {
    for (const one of this.byNumber.values()) if (one.notices.some(({ state }) => state === 'waiting')) yield one;
  }

  /** Sets or replaces the alert. Only `evolve` calls this. */
  put(one: Alert): void {
    const before = this.byNumber.get(one.number);
    this.byNumber.set(one.number, one);
    this.#lastNumber = Math.max(this.#lastNumber, one.number);
    if (one.resolvedAtMs === 0) {
      const open = this.#open.get(one.rule) ?? new Set();
      this.#open.set(one.rule, open.add(one.number));
      return;
    }
    if (before !== undefined && before.resolvedAtMs !== 0) return;
    const open = this.#open.get(one.rule);
    open?.delete(one.number);
    if (open?.size === 0) this.#open.delete(one.rule);
    this.#keepEnded(one);
  }

  /** After the end of an account, its rules and alerts are removed. */
  dropOf(account: AccountId): void {
    for (const { id } of this.rulesOf(account)) this.deleteRule(id);
    for (const one of this.of(account)) this.#drop(one);
    this.#endedCount -= this.#endedByAccount.get(account)?.length ?? 0;
    this.#endedByAccount.delete(account);
  }

  #keepEnded({ account, number }: Alert): void {
    const own = this.#endedByAccount.get(account) ?? [];
    this.#endedByAccount.set(account, own);
    own.push(number);
    this.#endedCount += 1;
    if (own.length > MAX_ACCOUNT_ALERTS) this.#forgetOldest(account);
    if (this.#endedCount <= MAX_ALERTS) return;
    for (const { account: oldest, resolvedAtMs } of this.byNumber.values()) {
      if (resolvedAtMs === 0) continue;
      this.#forgetOldest(oldest);
      return;
    }
  }

  /** Alerts of an account are forgotten in the order of their numbers, so that live and rebuilt states are equal. */
  #forgetOldest(account: AccountId): void {
    const own = this.#endedByAccount.get(account) as number[];
    own.sort((a, b) => a - b);
    const oldest = this.byNumber.get(own.shift() as number);
    this.#endedCount -= 1;
    if (own.length === 0) this.#endedByAccount.delete(account);
    if (oldest !== undefined) this.#drop(oldest);
  }

  #drop({ number, rule }: Alert): void {
    this.byNumber.delete(number);
    const open = this.#open.get(rule);
    open?.delete(number);
    if (open?.size === 0) this.#open.delete(rule);
  }
}
