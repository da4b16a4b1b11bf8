/** The outcome of judging a command: what it answers and what it makes happen; nothing, when it is refused. */
import type { ControlReply, RejectionReason } from './commands.js';
import type { ControlEvent } from './events.js';

export interface Decision {
  readonly reply: ControlReply;
  readonly events: readonly ControlEvent[];
}

export function decided(reply: ControlReply, ...events: readonly ControlEvent[]): Decision {
  return { reply, events };
}

export function rejected(reason: RejectionReason, message: string): Decision {
  return { reply: { type: 'Rejected', reason, message }, events: [] };
}
