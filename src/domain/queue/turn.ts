/** What a decision of one turn has at hand, and how it makes things happen. */
import type { QueueState } from './accounts/queue-state.js';
import type { QueueReply } from './commands.js';
import type { QueueContext } from './decision.js';
import type { Dispatcher } from './delivery/dispatcher.js';
import type { QueueEvent } from './events.js';

/** How destinations may spell headers of answers. */
export interface AttemptWords {
  /** Names of the header by which a destination refuses for good, in every spelling that counts. */
  readonly nonRetryableNames: readonly string[];
  /** The alias's headers begin with it, which an endpoint may answer with; undefined: there is no alias. */
  readonly aliasHeaderWord: string | undefined;
}

export interface QueueTurn {
  readonly state: QueueState;
  readonly dispatcher: Dispatcher;
  readonly context: QueueContext;
  readonly words: AttemptWords;
  /** Headers begin with these, in the spellings that deliveries are in: `Svc`, or an alias's. */
  readonly deliveredWords: readonly string[];
  /** The event on the state, and into the entry: what is asked of the state next has it in. */
  readonly evolve: (event: QueueEvent) => void;
}

/** A command that takes long, in steps of about a millisecond; its answer comes last. Others may run between. */
export interface QueueSteps extends Iterator<void, QueueReply> {
  /**
   * It is one decision: between two of its steps nothing else of its account is decided, started or stored. The first
   * step records nothing.
   */
  readonly isWhole?: boolean;
}

export class WholeSteps implements QueueSteps {
  readonly isWhole = true;

  constructor(private readonly steps: Iterator<void, QueueReply>) {}

  next(): IteratorResult<void, QueueReply> {
    return this.steps.next();
  }
}
