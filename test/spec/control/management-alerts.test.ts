/**
 * Alert rules and alerts: the rules of each account, the alerts that are raised, announced, resolved and kept. Proves ALD1, ALD2, ALD3,
 * ALS1, ALS2, ALS3.
 */
import { expect } from 'chai';
import {
  type AlertChannel,
  type AlertRule,
  type ControlCommand,
  type ControlEvent,
  type ControlReply,
  ControlState,
  decide,
  evolve,
  MAX_ACCOUNT_ALERT_RULES,
  MAX_ACCOUNT_ALERTS,
  MAX_ALERT_SUBJECTS,
  MAX_ALERT_TEXT,
  rebuildingEvents,
} from '../../../src/domain/control/index.js';
import { ALERTS_FORMAT_LEVEL, type AlertRuleId, TRIGGERS_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { ACCOUNT, given, INSTALLED, NOW_MS, stateAfter } from './given.js';
import { alertRule, OTHER, PEOPLE } from './management-given.js';

const id = (name: string) => `al-${name}` as AlertRuleId;
const RULE = alertRule(id('pay'));
const LEVEL: ControlEvent = { type: 'FormatRaised', level: ALERTS_FORMAT_LEVEL, by: 'test', atMs: NOW_MS };
const INSTALLATION = [...PEOPLE, LEVEL];
const ruleSet = (rule: AlertRule = RULE): ControlEvent => ({ type: 'AlertRuleSet', rule, atMs: NOW_MS });
const set = (rule: AlertRule, isNew = true): ControlCommand => ({ type: 'SetAlertRule', rule, isNew });
const observe = (...subjects: string[]): ControlCommand => ({
  type: 'ObserveAlerts',
  observed: [
    { account: ACCOUNT, rule: RULE.id, firing: subjects.map((subject) => ({ subject, text: `${subject}!` })) },
  ],
});
const raised = (subject: string, number = 1): ControlEvent => ({
  type: 'AlertRaised',
  number,
  rule: RULE.id,
  account: ACCOUNT,
  name: RULE.name,
  kind: RULE.kind,
  subject,
  text: `${subject}!`,
  atMs: NOW_MS,
});
const announced = (phase: 'raised' | 'resolved', number = 1, channels = RULE.channels): ControlEvent => ({
  type: 'AlertAnnounced',
  number,
  phase,
  channels,
  atMs: NOW_MS,
});
const resolved = (number = 1): ControlEvent => ({ type: 'AlertResolved', number, atMs: NOW_MS });
const FIRING = [...INSTALLATION, ruleSet(), raised('pay.example'), announced('raised')];

describe('an alert rule', () => {
  it('is created, replaced and deleted; a repetition changes no state', () => {
    given(...INSTALLATION)
      .when(set(RULE))
      .then(ruleSet())
      .answers({ type: 'OneAlertRule', rule: RULE });
    given(...INSTALLATION, ruleSet())
      .when(set(RULE))
      .then();
    const changed = { ...RULE, threshold: 7 };
    given(...INSTALLATION, ruleSet())
      .when(set(changed, false))
      .then(ruleSet(changed));
    given(...INSTALLATION, ruleSet())
      .when({ type: 'DeleteAlertRule', account: ACCOUNT, rule: RULE.id })
      .then({ type: 'AlertRuleDeleted', rule: RULE.id, atMs: NOW_MS });
  });

  it('of another account is unknown', () => {
    given(...INSTALLATION, ruleSet())
      .when(set({ ...RULE, account: OTHER }, false))
      .refuses('UNKNOWN_ALERT_RULE');
    given(...INSTALLATION, ruleSet())
      .when(set({ ...RULE, account: OTHER }))
      .refuses('ID_TAKEN');
    given(...INSTALLATION, ruleSet())
      .when({ type: 'DeleteAlertRule', account: OTHER, rule: RULE.id })
      .refuses('UNKNOWN_ALERT_RULE');
  });

  it('is refused before the format level that has it', () => {
    given(...PEOPLE)
      .when(set(RULE))
      .refuses('CONFLICTS');
    const ofTriggers = { ...RULE, kind: 'trigger-lag', threshold: 60, windowSeconds: 0, target: '' } as const;
    given(...INSTALLATION)
      .when(set(ofTriggers))
      .refuses('CONFLICTS');
    const raisedLevel = { ...LEVEL, level: TRIGGERS_FORMAT_LEVEL } as ControlEvent;
    given(...PEOPLE, raisedLevel)
      .when(set(ofTriggers))
      .then(ruleSet(ofTriggers));
    given(...PEOPLE, raisedLevel)
      .when(set({ ...ofTriggers, kind: 'audit-export' }))
      .refuses('CONFLICTS');
  });

  const wrong: readonly [string, Partial<AlertRule>][] = [
    ['a threshold outside of the bounds of its kind', { threshold: 0 }],
    ['a threshold that is not whole', { threshold: 1.5 }],
    ['a period above a week', { windowSeconds: 7 * 86_400 + 1 }],
    ['no period, where its kind counts within one', { windowSeconds: 0 }],
    ['a period, where its kind has none', { kind: 'queue-age', target: 'q', windowSeconds: 60 }],
    ['no target, where its kind needs one', { kind: 'schedule', target: '' }],
    ['a target, where its kind has none', { kind: 'dead-letters', target: 'x' }],
    ['a target that is too long', { target: 'x'.repeat(513) }],
    ['a kind of the installation', { kind: 'disk', threshold: 90, windowSeconds: 0 }],
    ['an invalid e-mail address', { channels: [{ type: 'email', address: 'ops' }] }],
    ['an instant that is not a number', { silentUntilMs: Number.NaN }],
  ];
  for (const [what, over] of wrong) {
    it(`is refused with ${what}`, () => {
      given(...INSTALLATION)
        .when(set({ ...RULE, ...over }))
        .refuses('BAD_VALUE');
    });
  }

  it('is refused without a name, and with more channels or rules than allowed', () => {
    given(...INSTALLATION)
      .when(set({ ...RULE, name: '' }))
      .refuses('BAD_NAME');
    const channels: AlertChannel[] = Array.from({ length: 6 }, (_, at) => ({
      type: 'email',
      address: `o${at}@b.example`,
    }));
    given(...INSTALLATION)
      .when(set({ ...RULE, channels }))
      .refuses('TOO_MANY');
    const full = Array.from({ length: MAX_ACCOUNT_ALERT_RULES }, (_, at) => ruleSet({ ...RULE, id: id(`r${at}`) }));
    given(...INSTALLATION, ...full)
      .when(set(RULE))
      .refuses('TOO_MANY');
  });

  it('is built in for each kind of the installation: it can be changed, not deleted, and only the first account has it', () => {
    const { rules } = listed(stateAfter(...INSTALLATION), ACCOUNT);
    expect(rules.map(({ kind }) => kind)).to.deep.equal(['cluster', 'disk', 'memory', 'read-models', 'certificate']);
    expect(listed(stateAfter(...INSTALLATION), OTHER).rules).to.deep.equal([]);
    const [, disk] = rules as readonly [AlertRule, AlertRule];
    const changed = { ...disk, threshold: 70, channels: RULE.channels };
    given(...INSTALLATION)
      .when(set(changed, false))
      .then(ruleSet(changed));
    given(...INSTALLATION)
      .when(set({ ...disk, kind: 'dead-letters', windowSeconds: 60 }, false))
      .refuses('BAD_VALUE');
    given(...INSTALLATION)
      .when(set({ ...disk, account: OTHER }, false))
      .refuses('UNKNOWN_ALERT_RULE');
    given(...INSTALLATION)
      .when({ type: 'DeleteAlertRule', account: ACCOUNT, rule: disk.id })
      .refuses('CONFLICTS');
  });
});

describe('an alert', () => {
  it('is raised once and announced to every channel of its rule', () => {
    given(...INSTALLATION, ruleSet())
      .when(observe('pay.example'))
      .then(raised('pay.example'), announced('raised'));
    given(...FIRING)
      .when(observe('pay.example'))
      .then();
  });

  it('is resolved once, with its end announced to the same channels', () => {
    given(...FIRING)
      .when(observe())
      .then(resolved(), announced('resolved'));
    given(...FIRING, resolved(), announced('resolved'))
      .when(observe())
      .then();
  });

  it('is one for each subject', () => {
    given(...FIRING)
      .when(observe('mail.example'))
      .then(raised('mail.example', 2), announced('raised', 2), resolved(), announced('resolved'));
  });

  it('of a silenced rule is raised without notices, which follow when the silence is over', () => {
    const silenced = { ...RULE, silentUntilMs: NOW_MS + 1 };
    given(...INSTALLATION, ruleSet(silenced))
      .when(observe('pay.example'))
      .then(raised('pay.example'));
    const quiet = [...INSTALLATION, ruleSet(silenced), raised('pay.example')];
    given(...quiet)
      .when(observe())
      .then(resolved());
    given(...quiet)
      .when(observe('pay.example'), NOW_MS + 1)
      .then({ ...announced('raised'), atMs: NOW_MS + 1 } as ControlEvent);
  });

  it('ends without a notice when its rule is disabled, deleted or watches another target', () => {
    given(...FIRING)
      .when(set({ ...RULE, isEnabled: false }, false))
      .then(ruleSet({ ...RULE, isEnabled: false }), resolved());
    given(...FIRING)
      .when(set({ ...RULE, target: 'mail.example' }, false))
      .then(ruleSet({ ...RULE, target: 'mail.example' }), resolved());
    given(...FIRING)
      .when({ type: 'DeleteAlertRule', account: ACCOUNT, rule: RULE.id })
      .then(resolved(), { type: 'AlertRuleDeleted', rule: RULE.id, atMs: NOW_MS });
  });

  it('is not raised for a disabled or deleted rule, nor before the format level that has it', () => {
    given(...INSTALLATION, ruleSet({ ...RULE, isEnabled: false }))
      .when(observe('pay.example'))
      .then();
    given(...INSTALLATION)
      .when(observe('pay.example'))
      .then();
    given(...INSTALLED)
      .when({ type: 'ObserveAlerts', observed: [] })
      .then();
  });

  it('is bounded: subjects of one rule, and the length of its texts', () => {
    const many = Array.from({ length: MAX_ALERT_SUBJECTS + 5 }, (_, at) => `host${at}`);
    const { events } = given(...INSTALLATION, ruleSet()).when(observe(...many));
    expect(events.filter(({ type }) => type === 'AlertRaised')).to.have.lengthOf(MAX_ALERT_SUBJECTS);
    const { events: long } = given(...INSTALLATION, ruleSet()).when(observe('x'.repeat(999)));
    expect(long[0]).to.have.property('subject', 'x'.repeat(MAX_ALERT_TEXT));
  });

  it('has notices that end once', () => {
    const end = { type: 'EndAlertNotice', number: 1, place: 0, state: 'sent', answer: 'msg_1' } as const;
    const ended = {
      type: 'AlertNoticeEnded',
      number: 1,
      place: 0,
      state: 'sent',
      answer: 'msg_1',
      atMs: NOW_MS,
    } as const;
    given(...FIRING)
      .when(end)
      .then(ended);
    given(...FIRING, ended)
      .when({ ...end, state: 'failed' })
      .then();
    given(...FIRING)
      .when({ ...end, number: 9 })
      .then();
  });

  it('is kept after its end, up to a bound, and in snapshots', () => {
    const state = stateAfter(...FIRING);
    for (let number = 2; number < MAX_ACCOUNT_ALERTS + 10; number += 1) {
      evolve(state, raised(`host${number}`, number));
      evolve(state, resolved(number));
    }
    const { alerts } = listed(state, ACCOUNT, MAX_ACCOUNT_ALERTS);
    expect(alerts).to.have.lengthOf(MAX_ACCOUNT_ALERTS + 1);
    expect(alerts[0]).to.include({ number: MAX_ACCOUNT_ALERTS + 9, resolvedAtMs: NOW_MS });
    expect(alerts.at(-1), 'an open one is not forgotten').to.include({ number: 1, resolvedAtMs: 0 });
    expect(listed(state, ACCOUNT, 3).alerts.map(({ number }) => number)).to.deep.equal([209, 208, 207, 1]);

    const again = new ControlState();
    for (const event of rebuildingEvents(state)) evolve(again, event);
    expect([...again.alerts.byNumber]).to.deep.equal([...state.alerts.byNumber]);
    expect(listed(again, ACCOUNT)).to.deep.equal(listed(state, ACCOUNT));
    expect(again.alerts.lastNumber).to.equal(state.alerts.lastNumber);
  });

  it('is removed with its account, as are the rules', () => {
    const state = stateAfter(...FIRING, { type: 'AccountDeleted', account: ACCOUNT, atMs: NOW_MS });
    expect([state.alerts.rules.size, state.alerts.byNumber.size]).to.deep.equal([0, 0]);
  });
});

function listed(state: ControlState, account: typeof ACCOUNT, count = 10) {
  const { reply } = decide({ type: 'ListAlerts', account, count }, state, { nowMs: NOW_MS });
  expect(reply.type).to.equal('AlertsAre');
  return reply as Extract<ControlReply, { type: 'AlertsAre' }>;
}
