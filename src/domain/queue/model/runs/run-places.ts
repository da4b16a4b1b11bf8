/**
 * The roles of pending messages in their runs, also for runs that have ended. A sleeping run stores the role of its
 * message itself.
 *
 *  WR3 a waiting message of a run that has ended is a leftover until it is cancelled; no further message waits for
 *      that run
 */
import type { MessageId } from '../../../../kernel/index.js';
import { SplitMap } from '../../collections/split-map.js';
import type { RunPart } from '../run-records.js';
import type { Run } from './run.js';

/** A pending message's place in its run. */
export interface RunPlace {
  readonly part: RunPart;
  /** Undefined: the run ended before the snapshot from which this was rebuilt. */
  readonly run: Run | undefined;
}

export class RunPlaces {
  readonly #byMessage = new SplitMap<MessageId, RunPlace>();
  readonly #leftovers = new Set<MessageId>();

  of(message: MessageId): RunPlace | undefined {
    return this.#byMessage.get(message);
  }

  /** WR3 (a waiting message of a run that has ended is a leftover). Messages may leave during an iteration. */
  get leftovers(): ReadonlySet<MessageId> {
    return this.#leftovers;
  }

  add(message: MessageId, part: RunPart, run: Run | undefined): void {
    this.#byMessage.set(message, { part, run });
    run?.opened(message);
  }

  /** The message is the only open one of its run, which now sleeps. */
  slept(message: MessageId): void {
    this.#byMessage.delete(message);
  }

  woke(message: MessageId, place: RunPlace): void {
    this.#byMessage.set(message, place);
  }

  /**
   * From a snapshot with active runs: a waiting message without a run is a leftover, except the call of a failure
   * function.
   */
  restore(message: MessageId, part: RunPart, run: Run | undefined, isWaiting: boolean): void {
    this.add(message, part, run);
    if (isWaiting && run === undefined && part.role !== 'failure') this.#leftovers.add(message);
  }

  /** The message has ended. */
  delete(message: MessageId, { run }: RunPlace): void {
    this.#byMessage.delete(message);
    run?.ended(message);
    this.#leftovers.delete(message);
  }

  ended(run: Run, isWaiting: (message: MessageId) => boolean): void {
    for (const message of run.open) if (isWaiting(message)) this.#leftovers.add(message);
  }
}
