/** What events do to an account as a whole. */
import type { QueueEventOf } from '../events.js';
import type { AccountParts } from './account-parts.js';

export function intakeTaken({ position }: QueueEventOf<'IntakeTaken'>, parts: AccountParts): void {
  parts.intakePosition = position;
}

export function dailyLimitReached(_: QueueEventOf<'DailyLimitReached'>, { usage }: AccountParts): void {
  usage.isDailyLimitReached = true;
}

/** Out of a snapshot: its numbers, and what it has used. */
export function accountRestored(event: QueueEventOf<'AccountRestored'>, parts: AccountParts): void {
  parts.bodies.next = event.nextBody;
  parts.nextOrder = event.nextOrder;
  parts.deadLetters.next = event.nextDlq;
  parts.intakePosition = event.intakePosition;
  parts.nowMs = event.nowMs;
  parts.usage.day = event.day;
  parts.usage.messagesToday = event.messagesToday;
  parts.usage.month = event.month;
  parts.usage.messagesThisMonth = event.messagesThisMonth;
  parts.usage.isDailyLimitReached = event.isDailyLimitReached;
}

export function deduplicationRestored(
  { entries }: QueueEventOf<'DeduplicationRestored'>,
  { deduplication }: AccountParts,
): void {
  for (const [key, id, atMs] of entries) deduplication.reserve(key, id, atMs);
}
