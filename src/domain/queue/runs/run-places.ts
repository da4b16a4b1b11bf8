/**
 * What pending messages are to their runs, also to runs that are over. Of a run that sleeps its own bytes say it.
 *
 *  WR3 what waits for a run that is over is a leftover until it is cancelled; nothing waits anew for one
 */
import type { MessageId } from '../../../kernel/index.js';
import { SplitMap } from '../collections/split-map.js';
import type { RunPart } from './records.js';
import type { Run } from './run.js';

/** A pending message's place in its run. */
export interface RunPlace {
  readonly part: RunPart;
  /** Undefined: it ended before the snapshot that this was rebuilt from. */
  readonly run: Run | undefined;
}

export class RunPlaces {
  readonly #byMessage = new SplitMap<MessageId, RunPlace>();
  readonly #leftovers = new Set<MessageId>();

  of(message: MessageId): RunPlace | undefined {
    return this.#byMessage.get(message);
  }

  /** WR3. Tolerates that they leave on the way. */
  get leftovers(): ReadonlySet<MessageId> {
    return this.#leftovers;
  }

  add(message: MessageId, part: RunPart, run: Run | undefined): void {
    this.#byMessage.set(message, { part, run });
    run?.opened(message);
  }

  /** The message is all that is open of its run, which sleeps from now on. */
  slept(message: MessageId): void {
    this.#byMessage.delete(message);
  }

  woke(message: MessageId, place: RunPlace): void {
    this.#byMessage.set(message, place);
  }

  /** From a snapshot, whose runs go on: a failure is told when its run is over, all else was left. */
  restore(message: MessageId, part: RunPart, run: Run | undefined, isWaiting: boolean): void {
    this.add(message, part, run);
    if (isWaiting && run === undefined && part.role !== 'failure') this.#leftovers.add(message);
  }

  /** It is pending no more. */
  delete(message: MessageId, { run }: RunPlace): void {
    this.#byMessage.delete(message);
    run?.ended(message);
    this.#leftovers.delete(message);
  }

  ended(run: Run, isWaiting: (message: MessageId) => boolean): void {
    for (const message of run.open) if (isWaiting(message)) this.#leftovers.add(message);
  }
}
