/**
 * Usage of the account: messages of the UTC day and month. Acceptances (callbacks and ticks of schedules included)
 * and retries count; the repetition of an attempt after a crash does not.
 */
import type { DailyUse } from '../commands.js';
import type { AccountTerms } from '../records.js';

const DAY_MS = 24 * 60 * 60 * 1000;

export class MessageUsage {
  /** Days since the epoch. */
  day = 0;
  messagesToday = 0;
  /** Months since year 0. */
  month = 0;
  messagesThisMonth = 0;
  isDailyLimitReached = false;

  count(atMs: number): void {
    this.turnTo(atMs);
    this.messagesToday += 1;
    this.messagesThisMonth += 1;
  }

  /** A new day or month starts at 0. */
  turnTo(atMs: number): void {
    const day = dayOf(atMs);
    if (day <= this.day) return;
    this.day = day;
    this.messagesToday = 0;
    this.isDailyLimitReached = false;
    const month = monthOf(atMs);
    if (month === this.month) return;
    this.month = month;
    this.messagesThisMonth = 0;
  }

  /** `limit`: the hard one if set, else the soft one. */
  dailyUse({ limits }: AccountTerms, nowMs: number): DailyUse {
    const limit = limits.maxMessagesPerDayHard || limits.maxMessagesPerDay;
    const used = this.usedOn(nowMs);
    return {
      limit,
      remaining: Math.max(0, limit - used),
      resetAtMs: (dayOf(nowMs) + 1) * DAY_MS,
      isAboveSoft: limits.maxMessagesPerDay > 0 && used > limits.maxMessagesPerDay,
    };
  }

  /** The limit that `count` more messages would pass. */
  refusalOf(count: number, account: AccountTerms, nowMs: number): 'DAILY_LIMIT' | 'BUDGET' | undefined {
    const { limits, centsPer100kMessages } = account;
    const { maxMessagesPerDayHard, budgetCents } = limits;
    if (count === 0) return undefined;
    if (maxMessagesPerDayHard > 0 && this.usedOn(nowMs) + count > maxMessagesPerDayHard) return 'DAILY_LIMIT';
    if (budgetCents === 0) return undefined;
    const cents = ((this.usedInMonthOf(nowMs) + count) * centsPer100kMessages) / 100_000;
    return cents > budgetCents ? 'BUDGET' : undefined;
  }

  usedOn(nowMs: number): number {
    return dayOf(nowMs) > this.day ? 0 : this.messagesToday;
  }

  private usedInMonthOf(nowMs: number): number {
    return monthOf(nowMs) > this.month ? 0 : this.messagesThisMonth;
  }
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

function monthOf(atMs: number): number {
  const date = new Date(atMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
