import { expect } from 'chai';
import {
  ACCOUNT_PLAN_NAMES,
  ACCOUNT_PLAN_TERMS,
  type AccountPlan,
  accountPlanName,
  type ControlCommand,
  type ControlEvent,
  DEFAULT_ACCOUNT_LIMITS,
  DEFAULT_ACCOUNT_PLAN,
  refusedLimit,
} from '../../../src/domain/control/index.js';
import type { AccountId } from '../../../src/kernel/index.js';
import { ACCOUNT, given, INSTALLED, NOW_MS, stateAfter } from './given.js';
import { ac, accountEvents, atMs, newAccount, OTHER, PEOPLE, TEAM, teamOf } from './management-given.js';

const UNKNOWN_ACCOUNT = 'ac-nobody' as AccountId;
const REPLACEMENT = newAccount(ac('replacement'), 'ignored@b.example');

const changePlan = (plan: Partial<AccountPlan>, account = ACCOUNT): ControlCommand => ({
  type: 'ChangeAccountPlan',
  account,
  plan,
  limits: {},
});
const planSet = (plan: Partial<AccountPlan>): ControlEvent => ({
  type: 'AccountPlanSet',
  account: ACCOUNT,
  plan: { ...DEFAULT_ACCOUNT_PLAN, ...plan },
  atMs,
});
const limitsSet = (over: object): ControlEvent => ({
  type: 'AccountLimitsSet',
  account: ACCOUNT,
  limits: { ...DEFAULT_ACCOUNT_LIMITS, ...over },
  atMs,
});
const list = (account: AccountId): ControlCommand => ({ type: 'ListQueues', account });
const move = (queue: AccountId, to: AccountId, account = ACCOUNT): ControlCommand => ({
  type: 'MoveQueue',
  account,
  queue,
  to,
  replacement: REPLACEMENT,
});
const moved = (account: AccountId, owner: AccountId): ControlEvent => ({ type: 'QueueMoved', account, owner, atMs });
const queuesOf = (account: AccountId, ...events: ControlEvent[]) => {
  const { reply } = given(...events).when(list(account));
  return reply.type === 'Accounts' ? reply.accounts.map(({ id }) => id) : reply;
};

describe('control: the plan of a queue', () => {
  it('sets its limits and the time, and keeps the budget', () => {
    const { limits } = ACCOUNT_PLAN_TERMS.msgq_fixed_1m;
    given(...INSTALLED, limitsSet({ budgetCents: 2500 }))
      .when(changePlan({ type: 'paid', reserved: 'msgq_fixed_1m' }))
      .then(
        planSet({ reserved: 'msgq_fixed_1m', lastPlanUpgradeAtMs: NOW_MS }),
        limitsSet({ ...limits, budgetCents: 2500 }),
      );
  });

  it('stays the same when it is requested again', () => {
    const command = changePlan({ type: 'paid', reserved: 'msgq_fixed_10m' });
    const { events, reply } = given(...INSTALLED).when(command);
    const again = given(...INSTALLED, ...events).when(command, NOW_MS + 5);
    again.then().answers(reply);
  });

  it('has a budget in dollars, which limits messages in cents', () => {
    given(...INSTALLED)
      .when(changePlan({ budgetDollars: 20 }))
      .then(planSet({ budgetDollars: 20 }), limitsSet({ budgetCents: 2000 }));
    given(...INSTALLED, planSet({ budgetDollars: 20 }), limitsSet({ budgetCents: 2000 }))
      .when(changePlan({ budgetDollars: 0 }))
      .then(planSet({}), limitsSet({ budgetCents: 0 }));
    for (const budgetDollars of [1, 19, 10_001, 20.5, -20]) {
      given(...INSTALLED)
        .when(changePlan({ budgetDollars }))
        .refuses('BAD_VALUE');
    }
  });

  it('applies explicit limits before those of the plan', () => {
    const command = { ...changePlan({ type: 'free', reserved: '' }), limits: { maxRetries: 7 } } as ControlCommand;
    const { events } = given(...INSTALLED).when(command);
    const account = stateAfter(...INSTALLED, ...events).accounts.get(ACCOUNT);
    expect(account?.limits).to.include({ maxRetries: 7, maxGroups: 1 });
    expect(given(...INSTALLED).when({ ...command, limits: { maxRetries: -1 } } as ControlCommand).reply).to.include({
      reason: 'BAD_LIMITS',
    });
  });

  it('changes the production pack alone', () => {
    given(...INSTALLED)
      .when(changePlan({ hasProdPack: true }))
      .then(planSet({ hasProdPack: true }));
  });

  it('is refused for an unknown plan and an unknown account', () => {
    given(...INSTALLED)
      .when(changePlan({ reserved: 'msgq_fixed_9m' as never }))
      .refuses('BAD_VALUE');
    given(...INSTALLED)
      .when(changePlan({ type: 'free', reserved: 'msgq_fixed_1m' }))
      .refuses('BAD_VALUE');
    given(...INSTALLED)
      .when(changePlan({}, UNKNOWN_ACCOUNT))
      .refuses('UNKNOWN_ACCOUNT');
  });

  for (const name of ACCOUNT_PLAN_NAMES) {
    it(`${name} has valid limits for a queue`, () => {
      const terms = ACCOUNT_PLAN_TERMS[name];
      expect(refusedLimit({ ...terms.limits, budgetCents: 0 })).to.equal(undefined);
      expect(accountPlanName(terms)).to.equal(name);
    });
  }
});

describe('control: the queues of an account', () => {
  it('are its own until it is moved away, and those that were moved to it', () => {
    expect(queuesOf(ACCOUNT, ...PEOPLE)).to.deep.equal([ACCOUNT]);
    expect(queuesOf(TEAM, ...PEOPLE, moved(ACCOUNT, TEAM))).to.have.members([ACCOUNT, TEAM]);
    expect(queuesOf(ACCOUNT, ...PEOPLE, moved(ACCOUNT, TEAM))).to.deep.equal([]);
    given(...PEOPLE)
      .when(list(UNKNOWN_ACCOUNT))
      .refuses('UNKNOWN_ACCOUNT');
  });

  it('include a new empty one after the last was moved away, which has no user', () => {
    const only = { ...REPLACEMENT, email: '' };
    const { events, reply } = given(...PEOPLE)
      .when(move(ACCOUNT, TEAM))
      .then(moved(ACCOUNT, TEAM), ...accountEvents(only), moved(REPLACEMENT.id, ACCOUNT));
    expect(reply.type === 'OneAccount' && reply.account).to.include({ id: ACCOUNT, queueOwner: TEAM });
    const all = [...PEOPLE, ...events];
    expect(queuesOf(ACCOUNT, ...all)).to.deep.equal([REPLACEMENT.id]);
    const state = stateAfter(...all);
    expect(state.people.mgmtKeys.has(REPLACEMENT.secrets.mgmtKey.sha256)).to.equal(false);
    expect(state.people.hasOwnAccount('a@b.example')).to.equal(true);
    given(...all)
      .when(move(ACCOUNT, TEAM))
      .then()
      .answers(reply);
  });

  it('are moved on to another team without a new one when another is left', () => {
    const second = ac('second');
    given(...PEOPLE, ...teamOf(second), moved(ACCOUNT, TEAM))
      .when(move(ACCOUNT, second, TEAM))
      .then(moved(ACCOUNT, second));
  });

  it('of others are answered as unknown', () => {
    given(...PEOPLE)
      .when(move(OTHER, TEAM))
      .refuses('UNKNOWN_ACCOUNT');
    given(...PEOPLE)
      .when(move(UNKNOWN_ACCOUNT, TEAM))
      .refuses('UNKNOWN_ACCOUNT');
    given(...PEOPLE)
      .when(move(ACCOUNT, OTHER))
      .refuses('UNKNOWN_TEAM');
    given(...PEOPLE)
      .when(move(TEAM, TEAM, TEAM))
      .refuses('CONFLICTS');
  });

  it('are not moved when the replacement cannot be created', () => {
    const command = { ...move(ACCOUNT, TEAM), replacement: newAccount(OTHER, '') } as ControlCommand;
    given(...PEOPLE)
      .when(command)
      .refuses('ID_TAKEN');
  });

  it('are shown one by one', () => {
    expect(given(...PEOPLE).when({ type: 'GetAccount', account: OTHER }).reply.type).to.equal('OneAccount');
    given(...PEOPLE)
      .when({ type: 'GetAccount', account: UNKNOWN_ACCOUNT })
      .refuses('UNKNOWN_ACCOUNT');
  });
});
