/** Refusals common to all commands that make messages: the account's state, its usage, its number of queues. */
import type { QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import type { QueueTurn } from './turn.js';

export function suspended(): QueueReply {
  return rejection('SUSPENDED', 'the account is suspended');
}

/**
 * @param count new messages
 * @returns the refusal, if that many more messages would pass a limit
 */
export function usageRefusal(count: number, { state, context }: QueueTurn): QueueReply | undefined {
  const { account, nowMs } = context;
  const reason = state.usage.refusalOf(count, account, nowMs);
  if (reason === undefined) return undefined;
  const { maxMessagesPerDayHard, budgetCents } = account.limits;
  const message =
    reason === 'BUDGET'
      ? `quota budget exceeded, current limit: ${budgetCents} cents`
      : `quota maxMessagesPerDay exceeded, current limit: ${maxMessagesPerDayHard}`;
  return { type: 'Rejected', reason, message, daily: state.usage.dailyUse(account, nowMs) };
}

/** @param names queues that would have to be created */
export function queuesRefusal(names: ReadonlySet<string>, { state, context }: QueueTurn): QueueReply | undefined {
  const { maxQueues } = context.account.limits;
  if (names.size === 0 || state.queues.size + names.size <= maxQueues) return undefined;
  return rejection('TOO_MANY', `quota maxQueues exceeded, current limit: ${maxQueues}`);
}
