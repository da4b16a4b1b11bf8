/** What a decision may depend on beside the state, and how a refusal looks. */
import type { Held, QueueBounds } from './accounts/held.js';
import type { QueueRejection, QueueReply } from './commands.js';
import type { AccountTerms } from './records.js';

export interface QueueContext {
  /** Never before the last entry's clock. */
  readonly nowMs: number;
  readonly account: AccountTerms;
  /** How much the account may hold, when it holds so much already. Left out: as much as it likes. */
  readonly boundsFor?: ((held: Held) => QueueBounds) | undefined;
}

export function rejection(reason: QueueRejection, message: string): QueueReply {
  return { type: 'Rejected', reason, message };
}
