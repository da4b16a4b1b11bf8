/** The parts that a decision of one turn works with. */
import type { FlowView, QueueReply } from '../model/commands.js';
import type { QueueContext } from '../model/decision.js';
import type { QueueEvent } from '../model/events.js';
import type { FlowKey } from '../model/state/flow-key.js';
import type { QueueState } from '../model/state/queue-state.js';

/** Spellings of headers in answers of destinations. */
export interface AttemptWords {
  /** Names, in each accepted spelling, of the header by which a destination refuses further attempts. */
  readonly nonRetryableNames: readonly string[];
  /** The prefix of the alias's headers in answers of endpoints; undefined: there is no alias. */
  readonly aliasHeaderWord: string | undefined;
}

/** The dispatcher, which knows the waiting messages of each flow-control key. */
export interface FlowReader {
  viewOf(flow: FlowKey, nowMs: number): FlowView;
  /** Due messages that wait for the stopped destination. */
  stoppedAt(url: string): number;
}

export interface QueueTurn {
  readonly state: QueueState;
  readonly flows: FlowReader;
  readonly context: QueueContext;
  readonly words: AttemptWords;
  /** Prefixes of the headers of deliveries: `Svc`, or the alias's. */
  readonly deliveredWords: readonly string[];
  /** Prefixes of the headers of deliveries to the endpoint of a run, by the spelling of its trigger. */
  readonly runWords: (isAlias: boolean) => readonly string[];
  /** Bytes of the answer to a successful attempt that are kept; 0: none. */
  readonly keptAnswerBytes: number;
  /** Whether customers get mails about their endpoints. */
  readonly mailsCustomers: boolean;
  /** Applies the event to the state and writes it to the entry; later reads of the state see it. */
  readonly evolve: (event: QueueEvent) => void;
}

/** A long command as steps of about 1 ms; the last step returns the reply. Other commands may run between steps. */
export interface QueueSteps extends Iterator<void, QueueReply> {
  /**
   * The steps are one decision: between them no other command or work of the account runs or is stored. The first
   * step records no event.
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
