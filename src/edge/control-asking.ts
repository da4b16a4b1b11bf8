/** Sends commands to the control actor, for endpoints that pass its refusals to their clients. */
import type { ControlCommand, ControlReply } from '../domain/control/index.js';
import { assert } from '../kernel/index.js';
import type { ManagementControl } from '../ports/index.js';
import { controlRefusal } from './error-map.js';
import { RefusedRequest } from './http/refused.js';

export type ControlReplyOf<Type extends ControlReply['type']> = Extract<ControlReply, { readonly type: Type }>;

/** @throws Refused if the control actor refuses; errors of the connection to it */
export async function askControl<Type extends ControlReply['type']>(
  control: ManagementControl,
  command: ControlCommand,
  type: Type,
): Promise<ControlReplyOf<Type>> {
  const reply = await control.send(command);
  if (reply.type === 'Rejected') throw new RefusedRequest(controlRefusal(reply.reason, reply.message));
  assert(reply.type === type, 'a reply that does not answer its command', { reply: reply.type, expected: type });
  return reply as ControlReplyOf<Type>;
}
