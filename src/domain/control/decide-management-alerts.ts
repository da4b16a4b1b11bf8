/**
 * Decides commands about alert rules, and about observations of the owner of the control shard.
 *
 *  ALD1 an alert is raised and resolved once; an observation that repeats the present state has no events
 *  ALD2 each raise and each end is announced once to every channel of the rule. A silenced rule announces the raises of
 *       its open alerts when the silence is over, and no end of an alert that was not announced
 *  ALD3 before format level ALERTS_FORMAT_LEVEL no event is made, because earlier programs could not read it
 */
import type { AccountId, AlertRuleId } from '../../kernel/index.js';
import {
  ALERTS_FORMAT_LEVEL,
  AUDIT_EXPORT_FORMAT_LEVEL,
  BREAKERS_FORMAT_LEVEL,
  FIRST_FORMAT_LEVEL,
  TRIGGERS_FORMAT_LEVEL,
} from '../../kernel/index.js';
import { ALERT_KIND_TERMS, builtInRuleId, builtInRules } from './alert-kinds.js';
import type { Alert, AlertRule, FiringSubject } from './alerts.js';
import type { ControlCommandOf } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { type Decision, decided, rejected } from './decision.js';
import type { ControlEvent } from './events.js';
import {
  MAX_ACCOUNT_ALERT_RULES,
  MAX_ACCOUNT_ALERTS,
  MAX_ALERT_CHANNELS,
  MAX_ALERT_RULES,
  MAX_ALERT_SUBJECTS,
  MAX_ALERT_TARGET,
  MAX_ALERT_TEXT,
  MAX_ALERT_WINDOW_SECONDS,
} from './limits.js';
import { isEmail, refuseName } from './names.js';
import type { ControlState } from './state.js';

/** The format levels of kinds that later releases have added. */
const LEVELS: Partial<Readonly<Record<AlertRule['kind'], number>>> = {
  'trigger-lag': TRIGGERS_FORMAT_LEVEL,
  'stopped-destination': BREAKERS_FORMAT_LEVEL,
  'audit-export': AUDIT_EXPORT_FORMAT_LEVEL,
};

/** The rules of an account: the built-in ones of the first account come first, each as it was changed last. */
function alertRulesOf(state: ControlState, account: AccountId): AlertRule[] {
  const { alerts, firstStart } = state;
  const builtIn = firstStart?.account === account ? builtInRules(account) : [];
  const ids = new Set(builtIn.map(({ id }) => id));
  return [
    ...builtIn.map((rule) => alerts.rules.get(rule.id) ?? rule),
    ...alerts.rulesOf(account).filter(({ id }) => !ids.has(id)),
  ];
}

/** All rules of the installation. */
export function* allAlertRules(state: ControlState): Iterable<AlertRule> {
  const first = state.firstStart?.account;
  if (first !== undefined) yield* alertRulesOf(state, first);
  for (const rule of state.alerts.rules.values()) if (rule.account !== first) yield rule;
}

export function decideSetAlertRule(
  { rule, isNew }: ControlCommandOf<'SetAlertRule'>,
  state: ControlState,
  atMs: number,
): Decision {
  if (!state.accounts.has(rule.account)) return unknownAccount(rule.account);
  // A kind that was added later could not be read by earlier programs.
  const level = LEVELS[rule.kind] ?? ALERTS_FORMAT_LEVEL;
  if (levelOf(state) < level) {
    return rejected('CONFLICTS', `this alert rule needs format level ${level}: run millrace cluster upgrade`);
  }
  const before = alertRulesOf(state, rule.account).find(({ id }) => id === rule.id);
  if (!isNew && before === undefined) return unknownRule(rule.id);
  if (before === undefined && isTaken(rule, state)) return rejected('ID_TAKEN', 'there is such a rule already');
  const refusal = refuseRule(rule, before) ?? (before === undefined ? refuseAnother(rule, state) : undefined);
  if (refusal !== undefined) return refusal;
  if (before !== undefined && isSameRule(before, rule)) return decided({ type: 'OneAlertRule', rule });
  const isAboutSame = before?.kind === rule.kind && before.target === rule.target;
  const ended = rule.isEnabled && isAboutSame ? [] : state.alerts.openOf(rule.id).map((each) => resolved(each, atMs));
  return decided({ type: 'OneAlertRule', rule }, { type: 'AlertRuleSet', rule, atMs }, ...ended);
}

export function decideDeleteAlertRule(
  { account, rule: id }: ControlCommandOf<'DeleteAlertRule'>,
  state: ControlState,
  atMs: number,
): Decision {
  const rule = alertRulesOf(state, account).find((each) => each.id === id);
  if (rule === undefined) return unknownRule(id);
  if (isBuiltIn(rule)) return rejected('CONFLICTS', 'a built-in rule cannot be deleted: disable it');
  const ended = state.alerts.openOf(id).map((each) => resolved(each, atMs));
  return decided({ type: 'OneAlertRule', rule }, ...ended, { type: 'AlertRuleDeleted', rule: id, atMs });
}

export function decideListAlerts({ account, count }: ControlCommandOf<'ListAlerts'>, state: ControlState): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  const all = state.alerts.of(account);
  const most = Math.max(0, Math.min(count, MAX_ACCOUNT_ALERTS));
  const alerts = all.filter(({ resolvedAtMs }, at) => at < most || resolvedAtMs === 0);
  return decided({ type: 'AlertsAre', rules: alertRulesOf(state, account), alerts });
}

export function decideObserveAlerts(
  { observed }: ControlCommandOf<'ObserveAlerts'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const events: ControlEvent[] = [];
  let number = state.alerts.lastNumber;
  for (const { account, rule: id, firing } of observed) {
    const rule = alertRulesOf(state, account).find((each) => each.id === id);
    if (rule === undefined) continue;
    const changes = alertChanges(state, rule, firing, { nowMs, lastNumber: number });
    number += changes.filter(({ type }) => type === 'AlertRaised').length;
    events.push(...changes);
  }
  return decided({ type: 'AlertsNoted' }, ...events);
}

/** The events that follow from a rule's present subjects (ALD1, ALD2). */
export function alertChanges(
  state: ControlState,
  rule: AlertRule,
  firing: readonly FiringSubject[],
  { nowMs: atMs, lastNumber }: { readonly nowMs: number; readonly lastNumber: number },
): ControlEvent[] {
  if (!rule.isEnabled || levelOf(state) < ALERTS_FORMAT_LEVEL) return [];
  const isSilent = rule.silentUntilMs > atMs;
  const { channels, id, account, name, kind } = rule;
  const open = new Map(state.alerts.openOf(id).map((each) => [each.subject, each]));
  const present = new Map(
    firing.slice(0, MAX_ALERT_SUBJECTS).map(({ subject, text }) => [cut(subject), cut(text)] as const),
  );
  const events: ControlEvent[] = [];
  let last = lastNumber;
  for (const [subject, text] of present) {
    const known = open.get(subject);
    if (known === undefined) last += 1;
    const number = known?.number ?? last;
    if (known === undefined)
      events.push({ type: 'AlertRaised', number, rule: id, account, name, kind, subject, text, atMs });
    if (known?.isAnnounced === true || isSilent) continue;
    events.push({ type: 'AlertAnnounced', number, phase: 'raised', channels, atMs });
  }
  for (const [subject, each] of open) {
    if (present.has(subject)) continue;
    events.push(resolved(each, atMs));
    if (!each.isAnnounced || isSilent) continue;
    events.push({ type: 'AlertAnnounced', number: each.number, phase: 'resolved', channels, atMs });
  }
  return events;
}

/** A notice ends once. */
export function decideEndNotice(
  command: ControlCommandOf<'EndAlertNotice'>,
  state: ControlState,
  atMs: number,
): Decision {
  const { number, place, state: ended } = command;
  const notice = state.alerts.byNumber.get(number)?.notices[place];
  if (notice?.state !== 'waiting') return decided({ type: 'AlertsNoted' });
  const answer = cut(command.answer);
  return decided({ type: 'AlertsNoted' }, { type: 'AlertNoticeEnded', number, place, state: ended, answer, atMs });
}

/** Ids of built-in rules are those of the first account. */
function isTaken({ id, account }: AlertRule, { alerts }: ControlState): boolean {
  return alerts.rules.has(id) || builtInRules(account).some((rule) => rule.id === id);
}

export function isBuiltIn({ id, kind }: Pick<AlertRule, 'id' | 'kind'>): boolean {
  return id === builtInRuleId(kind);
}

function levelOf({ format }: ControlState): number {
  return format?.level ?? FIRST_FORMAT_LEVEL;
}

function refuseAnother({ account }: AlertRule, { alerts }: ControlState): Decision | undefined {
  if (alerts.rulesOf(account).length >= MAX_ACCOUNT_ALERT_RULES) {
    return rejected('TOO_MANY', `an account has at most ${MAX_ACCOUNT_ALERT_RULES} alert rules`);
  }
  if (alerts.rules.size < MAX_ALERT_RULES) return undefined;
  return rejected('TOO_MANY', `an installation has at most ${MAX_ALERT_RULES} alert rules`);
}

function refuseRule(rule: AlertRule, before: AlertRule | undefined): Decision | undefined {
  const refusal = refuseName(rule.name);
  if (refusal !== undefined) return refusal;
  const { least, most, windowSeconds, target, isBuiltIn: isOfInstallation } = ALERT_KIND_TERMS[rule.kind];
  const bad = (text: string) => rejected('BAD_VALUE', text);
  if (isOfInstallation === true && before?.kind !== rule.kind) {
    return bad(`kind: a rule of the kind ${rule.kind} exists already for the first account, and only there`);
  }
  if (before !== undefined && isBuiltIn(before) && before.kind !== rule.kind) {
    return bad('kind: a built-in rule keeps its kind');
  }
  if (!isWhole(rule.threshold, least, most)) return bad(`threshold: must be a whole number from ${least} to ${most}`);
  const hasWindow = windowSeconds > 0;
  if (!isWhole(rule.windowSeconds, hasWindow ? 1 : 0, hasWindow ? MAX_ALERT_WINDOW_SECONDS : 0)) {
    return bad(
      hasWindow
        ? `window: must be a whole number of seconds from 1 to ${MAX_ALERT_WINDOW_SECONDS}`
        : `window: a rule of the kind ${rule.kind} has none`,
    );
  }
  if (target === 'none' && rule.target !== '') return bad(`target: a rule of the kind ${rule.kind} has none`);
  if (target === 'required' && rule.target === '') return bad(`target: a rule of the kind ${rule.kind} needs one`);
  if (rule.target.length > MAX_ALERT_TARGET) return bad(`target: must have at most ${MAX_ALERT_TARGET} characters`);
  return refuseChannels(rule) ?? refuseInstant(rule);
}

/** Whether a URL may be called was checked before, by the rules for destinations. */
function refuseChannels({ channels }: AlertRule): Decision | undefined {
  if (channels.length > MAX_ALERT_CHANNELS)
    return rejected('TOO_MANY', `a rule has at most ${MAX_ALERT_CHANNELS} channels`);
  for (const { type, address } of channels) {
    if (type === 'email' && !isEmail(address))
      return rejected('BAD_VALUE', 'channels: must have valid e-mail addresses');
  }
  return undefined;
}

function refuseInstant({ silentUntilMs }: AlertRule): Decision | undefined {
  const isInstant = Number.isSafeInteger(silentUntilMs) && silentUntilMs >= 0;
  return isInstant ? undefined : rejected('BAD_VALUE', 'silent_until: must be an instant');
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

function isSameRule(a: AlertRule, b: AlertRule): boolean {
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
}

function ordered(rule: AlertRule) {
  const { id, account, name, kind, target, threshold, windowSeconds, channels, isEnabled, silentUntilMs } = rule;
  const addresses = channels.map(({ type, address }) => [type, address]);
  return [id, account, name, kind, target, threshold, windowSeconds, addresses, isEnabled, silentUntilMs];
}

function resolved({ number }: Alert, atMs: number): ControlEvent {
  return { type: 'AlertResolved', number, atMs };
}

function cut(text: string): string {
  return text.slice(0, MAX_ALERT_TEXT);
}

function unknownRule(id: AlertRuleId): Decision {
  return rejected('UNKNOWN_ALERT_RULE', `there is no alert rule ${id}`);
}
