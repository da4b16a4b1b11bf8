/** What commands cost whoever holds them while they wait, in bytes. */
import type { PublishItem, QueueCommandOf } from './commands.js';

/** A command takes so many beside what it brings along; and of each message of a publish beside its body. */
export const COMMAND_BYTES = 256;
const ITEM_BYTES = 512;

export function bytesOfItems(items: readonly PublishItem[]): number {
  let bytes = COMMAND_BYTES;
  for (const { body, workflow } of items) {
    const stepText = workflow?.kind === 'trigger' ? workflow.invoker?.stepText : undefined;
    bytes += ITEM_BYTES + body.length + (stepText?.length ?? 0);
  }
  return bytes;
}

/** What was sent is held by the cache of bodies, too, but not for sure. */
export function bytesOfOutcome({ outcome, sentBody }: QueueCommandOf<'RecordAttempt'>): number {
  const received = outcome.kind === 'response' ? outcome.body.length : 0;
  return COMMAND_BYTES + received + (sentBody?.length ?? 0);
}
