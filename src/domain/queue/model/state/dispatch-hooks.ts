/** Changes of the state that the dispatcher is told of. */
import type { Message } from '../messages/message.js';
import type { OrderedQueue } from './ordered-queues.js';

/** Each is called after the state has changed, except `leaves`. */
export interface DispatchHooks {
  waits(message: Message): void;
  /** Called before the message stops waiting. */
  leaves(message: Message): void;
  attemptStarted(message: Message): void;
  /** @param hasAnswered whether the destination answered; undefined: unknown */
  attemptEnded(message: Message, hasAnswered: boolean | undefined): void;
  flowChanged(key: string): void;
  queueChanged(queue: OrderedQueue): void;
  /** @param url of the breaker; undefined: the rules of all */
  breakerChanged(url: string | undefined): void;
}
