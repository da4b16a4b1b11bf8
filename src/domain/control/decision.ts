/** The result of a command: the reply, and its events; a refused command has none. */
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
