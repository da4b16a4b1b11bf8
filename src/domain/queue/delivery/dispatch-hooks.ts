/** What whoever plans attempts has to hear of the state. */
import type { Message } from '../messages/message.js';
import type { OrderedQueue } from '../queues/ordered-queues.js';

/** Each is called when the state has changed, but for `leaves`. */
export interface DispatchHooks {
  waits(message: Message): void;
  /** It is about to be no longer waiting. */
  leaves(message: Message): void;
  attemptStarted(message: Message): void;
  /** @param hasAnswered whether its destination has; undefined: nothing is known of that */
  attemptEnded(message: Message, hasAnswered: boolean | undefined): void;
  flowChanged(key: string): void;
  queueChanged(queue: OrderedQueue): void;
}
