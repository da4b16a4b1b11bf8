/**
 * What pending messages are to their runs, also to runs that are over.
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

  /** From a snapshot, whose runs go on: a failure is told when its run is over, all else was left. */
  restore(message: MessageId, part: RunPart, run: Run | undefined, isWaiting: boolean): void {
    this.add(message, part, run);
    if (isWaiting && run === undefined && part.role !== 'failure') this.#leftovers.add(message);
  }

  /** It is pending no more. @returns what it was */
  delete(message: MessageId): RunPart | undefined {
    const place = this.#byMessage.get(message);
    if (place === undefined) return undefined;
    this.#byMessage.delete(message);
    place.run?.ended(message);
    this.#leftovers.delete(message);
    return place.part;
  }

  ended(run: Run, isWaiting: (message: MessageId) => boolean): void {
    for (const message of run.open) if (isWaiting(message)) this.#leftovers.add(message);
  }
}
