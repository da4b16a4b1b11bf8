/**
 * Where steps are in a run's list. Short lists are looked through; of long ones it is remembered, since a call may
 * bring a thousand steps, each to be looked for. Entries are appended, and stay where they are.
 */
import type { RunEntry } from './records.js';

/** As many entries are looked through as fast as one is found otherwise. */
export const SHORT_LIST = 32;

/** The latest of the step, in a short list; the first entry is the payload. @param targetStep undefined: any */
export function findStep(entries: readonly RunEntry[], stepId: number, targetStep?: number): RunEntry | undefined {
  for (let at = entries.length - 1; at > 0; at -= 1) {
    const step = entries[at]?.step;
    if (step?.stepId === stepId && (targetStep === undefined || step.targetStep === targetStep)) return entries[at];
  }
  return undefined;
}

/** Of one long list. */
export class StepPlaces {
  /** By step id alone, and with the target; the latest. */
  readonly #byStep = new Map<string, number>();
  /** Entries so far are in the map; the first one is the payload. */
  #known = 1;

  /** As `findStep`. */
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
