/** Events that change queues; the dispatcher is told of each. */
import type { QueueEventOf } from '../events.js';
import type { AccountParts } from './account-parts.js';
import type { OrderedQueue } from './ordered-queues.js';

export function queueSet(event: QueueEventOf<'QueueSet'>, parts: AccountParts): void {
  queueChanged(parts.queues.set(event), parts);
}

export function queueDeleted({ name }: QueueEventOf<'QueueDeleted'>, parts: AccountParts): void {
  queueChanged(parts.queues.delete(name), parts);
}

export function queueChanged(queue: OrderedQueue | undefined, { dispatch }: AccountParts): void {
  if (queue !== undefined) dispatch?.queueChanged(queue);
}
