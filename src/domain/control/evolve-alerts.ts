/** Events of alert rules and alerts. */
import { assert } from '../../kernel/index.js';
import type { Alert } from './alerts.js';
import type { ControlEventOf } from './events.js';
import type { ControlState } from './state.js';

export function alertRuleSet({ rule }: ControlEventOf<'AlertRuleSet'>, { alerts }: ControlState): void {
  alerts.putRule(rule);
}

export function alertRuleDeleted({ rule }: ControlEventOf<'AlertRuleDeleted'>, { alerts }: ControlState): void {
  alerts.deleteRule(rule);
}

export function alertRaised(event: ControlEventOf<'AlertRaised'>, { alerts }: ControlState): void {
  const { type: _, atMs, ...raised } = event;
  alerts.put({ ...raised, raisedAtMs: atMs, resolvedAtMs: 0, isAnnounced: false, notices: [] });
}

export function alertResolved({ number, atMs }: ControlEventOf<'AlertResolved'>, state: ControlState): void {
  state.alerts.put({ ...existing(state, number), resolvedAtMs: atMs });
}

export function alertAnnounced(event: ControlEventOf<'AlertAnnounced'>, state: ControlState): void {
  const { number, phase, channels } = event;
  const { notices, ...rest } = existing(state, number);
  const added = channels.map((channel) => ({ phase, channel, state: 'waiting' as const, answer: '' }));
  state.alerts.put({ ...rest, isAnnounced: true, notices: [...notices, ...added] });
}

export function alertNoticeEnded(event: ControlEventOf<'AlertNoticeEnded'>, state: ControlState): void {
  const { number, place, state: ended, answer } = event;
  const before = existing(state, number);
  const notices = before.notices.map((notice, at) => (at === place ? { ...notice, state: ended, answer } : notice));
  state.alerts.put({ ...before, notices });
}

export function alertRestored({ alert }: ControlEventOf<'AlertRestored'>, { alerts }: ControlState): void {
  alerts.put(alert);
}

function existing({ alerts }: ControlState, number: number): Alert {
  const found = alerts.byNumber.get(number);
  assert(found !== undefined, 'an event of an alert that is not there', { number });
  return found;
}
