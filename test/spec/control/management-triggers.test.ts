/** Triggers in the control state: the rights to make them, their bounds, and the formats that they need. */
import { expect } from 'chai';
import {
  type ControlCommand,
  type ControlEvent,
  ControlState,
  evolve,
  MAX_DATABASE_TRIGGERS,
  MAX_TRIGGER_LANES,
  MAX_TRIGGER_PATTERNS,
  rebuildingEvents,
  type Trigger,
} from '../../../src/domain/control/index.js';
import { TRIGGERS_FORMAT_LEVEL, type TriggerId } from '../../../src/kernel/index.js';
import { ACCOUNT, db, given, NOW_MS, stateAfter } from './given.js';
import { keyTrigger, OTHER, PEOPLE } from './management-given.js';

const id = (name: string) => `tr-${name}` as TriggerId;
const TRIGGER = keyTrigger(id('orders'));
const LEVEL: ControlEvent = { type: 'FormatRaised', level: TRIGGERS_FORMAT_LEVEL, by: 'test', atMs: NOW_MS };
const INSTALLATION = [...PEOPLE, LEVEL];
const set = (trigger: Trigger = TRIGGER, isNew = true): ControlCommand => ({ type: 'SetTrigger', trigger, isNew });
const isSet = (trigger: Trigger = TRIGGER): ControlEvent => ({ type: 'TriggerSet', trigger, atMs: NOW_MS });
const remove = (account = ACCOUNT): ControlCommand => ({ type: 'DeleteTrigger', account, trigger: TRIGGER.id });

describe('a trigger', () => {
  it('is created, changed and deleted; a repetition changes no state', () => {
    const paused = { ...TRIGGER, isPaused: true };
    given(...INSTALLATION)
      .when(set())
      .answers({ type: 'OneTrigger', trigger: TRIGGER })
      .then(isSet());
    given(...INSTALLATION, isSet())
      .when(set())
      .answers({ type: 'OneTrigger', trigger: TRIGGER })
      .then();
    given(...INSTALLATION, isSet())
      .when(set(paused, false))
      .answers({ type: 'OneTrigger', trigger: paused })
      .then(isSet(paused));
    given(...INSTALLATION, isSet())
      .when(remove())
      .answers({ type: 'OneTrigger', trigger: TRIGGER })
      .then({ type: 'TriggerDeleted', trigger: TRIGGER.id, atMs: NOW_MS });
  });

  it('belongs to its account, and its database to the owner of the account', () => {
    given(...INSTALLATION, isSet())
      .when(remove(OTHER))
      .refuses('UNKNOWN_TRIGGER');
    given(...INSTALLATION, isSet())
      .when(set({ ...TRIGGER, account: OTHER }, false))
      .refuses('UNKNOWN_TRIGGER');
    given(...INSTALLATION)
      .when(set({ ...TRIGGER, account: OTHER }))
      .refuses('UNKNOWN_DATABASE');
    given(...INSTALLATION)
      .when(set({ ...TRIGGER, database: db('none') }))
      .refuses('UNKNOWN_DATABASE');
    given(...INSTALLATION)
      .when(set(TRIGGER, false))
      .refuses('UNKNOWN_TRIGGER');
  });

  it('is refused before its format level, and outside of its bounds', () => {
    given(...PEOPLE)
      .when(set())
      .refuses('CONFLICTS');
    const refuses = (over: Partial<Trigger>) =>
      given(...INSTALLATION)
        .when(set({ ...TRIGGER, ...over }))
        .refuses('BAD_VALUE');
    refuses({ patterns: [] });
    refuses({ patterns: Array.from({ length: MAX_TRIGGER_PATTERNS + 1 }, () => '*') });
    refuses({ patterns: ['x'.repeat(10_000)] });
    refuses({ events: [] });
    refuses({ lanes: MAX_TRIGGER_LANES + 1 });
    refuses({ starts: [] });
    const many = Array.from({ length: MAX_DATABASE_TRIGGERS }, (_, n) => isSet({ ...TRIGGER, id: id(`t${n}`) }));
    given(...INSTALLATION, ...many)
      .when(set())
      .refuses('TOO_MANY');
  });

  it('ends with its database, and is in snapshots', () => {
    const state = stateAfter(...INSTALLATION, isSet());
    const rebuilt = new ControlState();
    for (const event of rebuildingEvents(state)) evolve(rebuilt, event);
    expect(rebuilt.triggers.of(ACCOUNT)).to.deep.equal([TRIGGER]);
    const after = stateAfter(...INSTALLATION, isSet(), {
      type: 'DatabaseDeleted',
      database: db('first'),
      atMs: NOW_MS,
    });
    expect(after.triggers.byId.size).to.equal(0);
  });
});
