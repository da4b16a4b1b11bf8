/** What is asked about an account's queue as a whole. */
import type { QueueCommandOf, QueueReply } from '../commands.js';
import type { QueueTurn } from '../turn.js';

export function getGlobalParallelism(
  _: QueueCommandOf<'GetGlobalParallelism'>,
  { state, context }: QueueTurn,
): QueueReply {
  const { maxGlobalParallelism: max } = context.account.limits;
  return { type: 'GlobalParallelism', max, active: state.messages.active.size };
}

/** Known to whoever keeps the journal, not to the state that it adds up to: the actor puts the position in. */
export function getPosition(): QueueReply {
  return { type: 'Position', position: 0 };
}
