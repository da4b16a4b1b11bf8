/** Decides commands about the queues of accounts: their plans and their owners. */
import { DEFAULT_ACCOUNT_LIMITS, refusedLimit } from './account-limits.js';
import { ACCOUNT_BUDGET_DOLLARS, ACCOUNT_PLAN_TERMS, accountPlanName } from './account-plans.js';
import type { ControlCommandOf } from './commands.js';
import { accountCreation, accountOf, refuseNewRecord, unknownAccount } from './decide-accounts.js';
import { isSame, refuseAsTarget, said } from './decide-management-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import type { ControlEvent } from './events.js';
import { type AccountPlan, DEFAULT_ACCOUNT_PLAN } from './management.js';
import { queueOwnerOf } from './people.js';
import type { Account, NewAccount } from './records.js';
import type { ControlState } from './state.js';

export function decideGetAccount({ account: id }: ControlCommandOf<'GetAccount'>, state: ControlState): Decision {
  const account = state.accounts.get(id);
  return account === undefined ? unknownAccount(id) : decided({ type: 'OneAccount', account });
}

export function decideListQueues({ account }: ControlCommandOf<'ListQueues'>, state: ControlState): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  return decided({ type: 'Accounts', accounts: accountsOf(state, state.people.queues.of(account)) });
}

/** Oldest first. */
export function accountsOf(state: ControlState, ids: Iterable<Account['id']>): Account[] {
  const accounts = [...ids].flatMap((id) => state.accounts.get(id) ?? []);
  return accounts.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

/** A new plan sets its limits, except the budget, which is set per account. */
export function decidePlan(
  command: ControlCommandOf<'ChangeAccountPlan'>,
  state: ControlState,
  atMs: number,
): Decision {
  const before = state.accounts.get(command.account);
  if (before === undefined) return unknownAccount(command.account);
  const planBefore = before.plan ?? DEFAULT_ACCOUNT_PLAN;
  const limitsBefore = before.limits ?? DEFAULT_ACCOUNT_LIMITS;
  const { prometheusToken = planBefore.prometheusToken, ...plain } = command.plan;
  const { prometheusToken: _, ...others } = { ...planBefore, ...said(plain) };
  const wanted: AccountPlan = { ...others, ...(prometheusToken && { prometheusToken }) };
  const refusal = refusePlan(wanted) ?? refuseScrapeToken(wanted, before, state);
  if (refusal !== undefined) return refusal;
  const hasOtherPlan = accountPlanName(wanted) !== accountPlanName(planBefore);
  const isDated = command.plan.lastPlanUpgradeAtMs !== undefined;
  const plan = hasOtherPlan && !isDated ? { ...wanted, lastPlanUpgradeAtMs: atMs } : wanted;
  const hasOtherBudget = plan.budgetDollars !== planBefore.budgetDollars;
  const limits = {
    ...limitsBefore,
    ...(hasOtherPlan ? ACCOUNT_PLAN_TERMS[accountPlanName(plan)].limits : {}),
    ...(hasOtherBudget ? { budgetCents: plan.budgetDollars * 100 } : {}),
    ...said(command.limits),
  };
  const wrong = refusedLimit(limits);
  if (wrong !== undefined) return rejected('BAD_LIMITS', wrong);
  const { id: account } = before;
  const planEvents: ControlEvent[] = isSame(plan, planBefore) ? [] : [{ type: 'AccountPlanSet', account, plan, atMs }];
  const limitEvents: ControlEvent[] = isSame(limits, limitsBefore)
    ? []
    : [{ type: 'AccountLimitsSet', account, limits, atMs }];
  const after: Account = {
    ...before,
    ...(planEvents.length > 0 ? { plan } : {}),
    ...(limitEvents.length > 0 ? { limits } : {}),
  };
  return decided({ type: 'OneAccount', account: after }, ...planEvents, ...limitEvents);
}

function refuseScrapeToken({ prometheusToken }: AccountPlan, { id }: Account, state: ControlState) {
  const sha256 = prometheusToken?.sha256 ?? '';
  const owner = state.queueScrapeTokens.get(sha256);
  const isTaken = state.scrapeTokens.has(sha256) || (owner !== undefined && owner !== id);
  return isTaken ? rejected('SECRET_TAKEN', 'a token is in use already') : undefined;
}

function refusePlan(plan: AccountPlan): Decision | undefined {
  const { type, reserved, budgetDollars } = plan;
  if (!Object.hasOwn(ACCOUNT_PLAN_TERMS, accountPlanName(plan)) || (reserved !== '' && type !== 'paid')) {
    return rejected('BAD_VALUE', 'plan_name: there is no such plan');
  }
  const { low, high } = ACCOUNT_BUDGET_DOLLARS;
  const isBudget = budgetDollars === 0 || (budgetDollars >= low && budgetDollars <= high);
  if (isBudget && Number.isSafeInteger(budgetDollars)) return undefined;
  return rejected('BAD_VALUE', `budget must be a whole number of dollars from ${low} to ${high}, or 0 for no limit`);
}

/** A repetition finds the queue that it created. */
export function decideCreateQueue(
  command: ControlCommandOf<'CreateQueue'>,
  state: ControlState,
  atMs: number,
): Decision {
  const { account, queue, region } = command;
  const owner = state.accounts.get(account);
  if (owner === undefined) return unknownAccount(account);
  const known = state.accounts.get(queue.id);
  if (known !== undefined && isMadeFrom(queue, known) && queueOwnerOf(known) === account) {
    return decided({ type: 'OneAccount', account: known });
  }
  if (owner.state === 'passive') return rejected('CONFLICTS', 'the account is suspended');
  const queues = accountsOf(state, state.people.queues.of(account));
  if (queues.some(({ plan = DEFAULT_ACCOUNT_PLAN }) => plan.region === region)) {
    return rejected('CONFLICTS', `region: the account has a message queue in ${region} already`);
  }
  const { prometheusToken: _, ...terms } = queues[0]?.plan ?? DEFAULT_ACCOUNT_PLAN;
  const plan: AccountPlan = { ...terms, region };
  const limits = queues[0]?.limits;
  // Without an e-mail the account is only a queue, and no person can sign in for it.
  const made: NewAccount = { ...queue, email: '', ...(limits === undefined ? {} : { limits }) };
  const refused = refuseNewRecord(made, state);
  if (refused !== undefined) return refused;
  return decided(
    { type: 'OneAccount', account: { ...accountOf(made, atMs), plan, queueOwner: account } },
    ...accountCreation(made, atMs),
    { type: 'QueueMoved', account: made.id, owner: account, atMs },
    { type: 'AccountPlanSet', account: made.id, plan, atMs },
  );
}

function isMadeFrom({ secrets }: NewAccount, known: Account): boolean {
  return known.secrets.queueToken.sha256 === secrets.queueToken.sha256;
}

/** A repetition finds the replacement that it created; without one, the queue already belongs to another account. */
export function decideMoveQueue(command: ControlCommandOf<'MoveQueue'>, state: ControlState, atMs: number): Decision {
  const { account, queue: id, to, replacement } = command;
  const queue = state.accounts.get(id);
  if (queue === undefined) return unknownAccount(id);
  if (wasReplaced(command, queue, state)) return decided({ type: 'OneAccount', account: queue });
  if (queueOwnerOf(queue) !== account) return unknownAccount(id);
  const refusal = refuseAsTarget(state, account, to);
  if (refusal !== undefined) return refusal;
  const events: ControlEvent[] = [{ type: 'QueueMoved', account: id, owner: to, atMs }];
  if (state.people.queues.of(account).size === 1) {
    // Without an e-mail the account is only a queue, and no person can sign in for it.
    const made: NewAccount = { ...replacement, email: '' };
    const refused = refuseNewRecord(made, state);
    if (refused !== undefined) return refused;
    events.push(...accountCreation(made, atMs), { type: 'QueueMoved', account: made.id, owner: account, atMs });
  }
  return decided({ type: 'OneAccount', account: { ...queue, queueOwner: to } }, ...events);
}

function wasReplaced(
  { account, to, replacement }: ControlCommandOf<'MoveQueue'>,
  queue: Account,
  state: ControlState,
): boolean {
  const made = state.accounts.get(replacement.id);
  return (
    made !== undefined && queueOwnerOf(made) === account && queueOwnerOf(queue) === to && isMadeFrom(replacement, made)
  );
}
