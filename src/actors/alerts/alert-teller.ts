/**
 * Evaluates the alert rules and sends the notices of their alerts. Only the owner of the control shard does it, so each
 * alert is raised and logged by one process. The control state has the alerts, so they survive its end.
 *
 *  ALT1 an alert is raised when two successive looks show it; a state that passes is no alert
 *  ALT2 the owner logs each alert once, and once more when it is over
 *  ALT3 a rule whose reading is not available keeps its alerts as they are
 */
import {
  type Alert,
  type AlertRule,
  alertChanges,
  allAlertRules,
  type ControlState,
  type FiringSubject,
} from '../../domain/control/index.js';
import { type AccountId, type AlertRuleId, describeError } from '../../kernel/index.js';
import type { Bus, Clock, Log, ManagementControl, Timer, Timers } from '../../ports/index.js';
import { FIRST_NOTICE_WAIT_MS, MAX_NOTICE_TRIES, NOTICE_LOOK_MS } from './alert-limits.js';
import type { AlertNotices } from './alert-notices.js';

export interface AlertTellerPorts {
  readonly bus: Pick<Bus, 'isConnected'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly control: ManagementControl;
  readonly notices: Pick<AlertNotices, 'send'>;
  /** This process's copy. */
  readonly state: () => ControlState;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
  /** The subjects for which a rule is true now. @throws Error when the reading is not available */
  firing(rule: AlertRule): Promise<readonly FiringSubject[]>;
}

interface Observed {
  readonly account: AccountId;
  readonly rule: AlertRuleId;
  readonly firing: FiringSubject[];
}

interface NoticeTry {
  readonly count: number;
  readonly nextAtMs: number;
}

/** A notice with an outcome; the copy may not know it yet. */
const ENDED: NoticeTry = { count: MAX_NOTICE_TRIES, nextAtMs: Number.POSITIVE_INFINITY };

export class AlertTeller {
  /** Subjects of the previous look, by rule. */
  readonly #seen = new Map<AlertRuleId, ReadonlySet<string>>();
  /** Logged alerts, by rule and subject. */
  readonly #told = new Map<string, AlertRule & FiringSubject>();
  /** Notices that were tried, by alert and place. */
  readonly #tries = new Map<string, NoticeTry>();
  #timers: readonly Timer[] = [];
  #isStopped = false;

  constructor(
    private readonly ports: AlertTellerPorts,
    private readonly lookMs: number,
  ) {}

  start(): void {
    const { timers } = this.ports;
    this.#timers = [
      timers.every(this.lookMs, () => this.look()),
      timers.every(NOTICE_LOOK_MS, () => this.sendNotices()),
    ];
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
  }

  /** Never rejects: the next look repeats a failed one. */
  async look(): Promise<void> {
    const { bus, isOwner, state } = this.ports;
    // Without a connection to NATS readings cannot be asked for; the alerts stay as they are until they can.
    if (!bus.isConnected()) return;
    if (!isOwner()) {
      this.#seen.clear();
      this.#told.clear();
      return;
    }
    const rules = [...allAlertRules(state())].filter(({ isEnabled }) => isEnabled);
    const observed: Observed[] = [];
    for (const rule of rules) {
      if (this.#isStopped) return;
      const firing = await this.#steady(rule);
      if (firing === undefined) continue;
      this.#tell(rule, firing);
      observed.push({ account: rule.account, rule: rule.id, firing });
    }
    const known = new Set(rules.map(({ id }) => id));
    for (const id of this.#seen.keys()) if (!known.has(id)) this.#seen.delete(id);
    for (const [key, { id }] of this.#told) if (!known.has(id)) this.#told.delete(key);
    await this.#note(observed, rules);
  }

  /** Sends waiting notices. Never rejects. */
  async sendNotices(): Promise<void> {
    const { isOwner, state } = this.ports;
    if (!isOwner()) {
      this.#tries.clear();
      return;
    }
    const waiting = [...state().alerts.waiting()];
    const keys = new Set(waiting.flatMap(({ number, notices }) => notices.map((_, place) => keyOf(number, place))));
    for (const key of this.#tries.keys()) if (!keys.has(key)) this.#tries.delete(key);
    for (const alert of waiting) {
      for (const [place, notice] of alert.notices.entries()) {
        if (this.#isStopped || !isOwner()) return;
        if (notice.state === 'waiting') await this.#send(alert, place);
      }
    }
  }

  /** ALT1: present in this look and the previous one, or raised already. @returns undefined: unknown (ALT3) */
  async #steady(rule: AlertRule): Promise<FiringSubject[] | undefined> {
    const { firing, log, state } = this.ports;
    let present: readonly FiringSubject[];
    try {
      present = await firing(rule);
    } catch (error) {
      if (!this.#isStopped)
        log.warn('alert.reading-failed', { rule: rule.id, kind: rule.kind, cause: describeError(error) });
      return undefined;
    }
    const before = this.#seen.get(rule.id);
    this.#seen.set(rule.id, new Set(present.map(({ subject }) => subject)));
    const open = new Set(
      state()
        .alerts.openOf(rule.id)
        .map(({ subject }) => subject),
    );
    return present.filter(({ subject }) => before?.has(subject) === true || open.has(subject));
  }

  /** ALT2. */
  #tell(rule: AlertRule, firing: readonly FiringSubject[]): void {
    const { log } = this.ports;
    const present = new Set(firing.map(({ subject }) => keyOf(rule.id, subject)));
    for (const one of firing) {
      const key = keyOf(rule.id, one.subject);
      if (this.#told.has(key)) continue;
      this.#told.set(key, { ...rule, ...one });
      if (rule.kind === 'cluster') log.error('cluster.alarm', { alarm: one.text });
      else log.warn('alert.raised', { rule: rule.id, kind: rule.kind, alarm: one.text });
    }
    for (const [key, { id, kind, text }] of this.#told) {
      if (id !== rule.id || present.has(key)) continue;
      this.#told.delete(key);
      if (kind === 'cluster') log.info('cluster.alarm-over', { alarm: text });
      else log.info('alert.over', { rule: id, kind, alarm: text });
    }
  }

  /** Only observations that change the state are sent to the actor. */
  async #note(all: readonly Observed[], rules: readonly AlertRule[]): Promise<void> {
    const { control, state, clock, log } = this.ports;
    const now = { nowMs: clock.nowMs(), lastNumber: state().alerts.lastNumber };
    const byId = new Map(rules.map((rule) => [rule.id, rule]));
    const observed = all.filter(({ rule, firing }) => {
      const found = byId.get(rule);
      return found !== undefined && alertChanges(state(), found, firing, now).length > 0;
    });
    if (observed.length === 0) return;
    try {
      await control.send({ type: 'ObserveAlerts', observed });
    } catch (error) {
      log.warn('alert.not-noted', { cause: describeError(error) });
    }
  }

  async #send(alert: Alert, place: number): Promise<void> {
    const { control, notices, clock, log } = this.ports;
    const key = keyOf(alert.number, place);
    const { count, nextAtMs } = this.#tries.get(key) ?? { count: 0, nextAtMs: 0 };
    const notice = alert.notices[place];
    if (notice === undefined || clock.monotonicMs() < nextAtMs) return;
    const end = async (state: 'sent' | 'failed', answer: string) => {
      this.#tries.set(key, ENDED);
      await control.send({ type: 'EndAlertNotice', number: alert.number, place, state, answer });
    };
    try {
      const answer = await notices.send(alert, notice.phase, notice.channel);
      await end('sent', answer);
    } catch (error) {
      if (this.#isStopped) return;
      const cause = describeError(error);
      if (this.#tries.get(key) === ENDED) {
        // It was sent; only the outcome is not stored. A repetition is recognised by its id.
        this.#tries.set(key, { count, nextAtMs: clock.monotonicMs() + FIRST_NOTICE_WAIT_MS });
        log.warn('alert.not-noted', { cause });
        return;
      }
      log.warn('alert.not-sent', { rule: alert.rule, channel: notice.channel.type, tries: count + 1, cause });
      if (count + 1 >= MAX_NOTICE_TRIES) await end('failed', cause).catch(() => this.#tries.delete(key));
      else
        this.#tries.set(key, { count: count + 1, nextAtMs: clock.monotonicMs() + FIRST_NOTICE_WAIT_MS * 2 ** count });
    }
  }
}

function keyOf(...parts: readonly (string | number)[]): string {
  return parts.join(' ');
}
