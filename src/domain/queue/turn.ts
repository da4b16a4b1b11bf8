/** What a decision of one turn has at hand, and how it makes things happen. */
import type { QueueContext } from './decision.js';
import type { Dispatcher } from './dispatcher.js';
import type { QueueEvent } from './events.js';
import type { AccountState } from './state.js';

export interface Turn {
  readonly state: AccountState;
  readonly dispatcher: Dispatcher;
  readonly context: QueueContext;
  /** Of headers, in the spellings that deliveries are in: `Svc`, or an alias's. */
  readonly deliveredWords: readonly string[];
  /** Applies the event and records it: what is asked of the state next has it in. */
  readonly apply: (event: QueueEvent) => void;
}
