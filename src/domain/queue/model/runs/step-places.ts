/**
 * Finds steps in a run's list. Short lists are searched; long ones have an index, because one call may bring a
 * thousand steps. Entries are only appended and never move.
 */
import type { RunEntry } from '../run-records.js';

/** Up to this length a linear search is as fast as the index. */
export const SHORT_LIST = 32;

/**
 * The latest entry of the step in a short list; the first entry is the payload and is not searched.
 * @param targetStep undefined: any
 */
export function findStep(entries: readonly RunEntry[], stepId: number, targetStep?: number): RunEntry | undefined {
  for (let at = entries.length - 1; at > 0; at -= 1) {
    const step = entries[at]?.step;
    if (step?.stepId === stepId && (targetStep === undefined || step.targetStep === targetStep)) return entries[at];
  }
  return undefined;
}

/** The index of one long list. */
export class StepPlaces {
  /** The latest index by step id, and by step id and target. */
  readonly #byStep = new Map<string, number>();
  /** The number of indexed entries; the first one is the payload. */
  #known = 1;

  /** Same result as `findStep`. */
  find(entries: readonly RunEntry[], stepId: number, targetStep?: number): RunEntry | undefined {
    for (; this.#known < entries.length; this.#known += 1) {
      const step = entries[this.#known]?.step;
      if (step === undefined) continue;
      this.#byStep.set(keyOf(step.stepId, undefined), this.#known);
      this.#byStep.set(keyOf(step.stepId, step.targetStep), this.#known);
    }
    return entries[this.#byStep.get(keyOf(stepId, targetStep)) ?? -1];
  }
}

function keyOf(stepId: number, targetStep: number | undefined): string {
  return targetStep === undefined ? `${stepId}` : `${stepId} ${targetStep}`;
}
