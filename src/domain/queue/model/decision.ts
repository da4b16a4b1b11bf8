/** The context of a decision apart from the state, and the form of a refusal. */
import type { QueueRejection, QueueReply } from './commands.js';
import type { AccountUsage, QueueBounds } from './held.js';
import type { AccountTerms } from './records.js';

export interface QueueContext {
  /** Never earlier than the clock of the last entry. */
  readonly nowMs: number;
  readonly account: AccountTerms;
  /** The bounds of the account, given its present holdings. Default: no bounds. */
  readonly boundsFor?: ((held: AccountUsage) => QueueBounds) | undefined;
}

export function rejection(reason: QueueRejection, message: string): QueueReply {
  return { type: 'Rejected', reason, message };
}
