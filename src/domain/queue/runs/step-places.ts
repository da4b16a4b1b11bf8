/**
 * Where steps are in a run's list. Short lists are looked through; of long ones it is remembered, since a call may
 * bring a thousand steps, each to be looked for. Entries are appended, and stay where they are.
 */
import type { RunEntry } from './records.js';

/** So many entries are looked through as fast as one is found otherwise. */
const SHORT = 32;

export class StepPlaces {
  /** They are keyed by step id alone, and with the target; the latest. Most lists stay short. */
  #byStep: Map<string, number> | undefined;
  /** Entries so far are in the map; the first one is the payload. */
  #known = 1;

  constructor(private readonly entries: readonly RunEntry[]) {}

  /** The latest of the step. @param targetStep undefined: any */
  find(stepId: number, targetStep?: number): RunEntry | undefined {
    const { entries } = this;
    if (entries.length > SHORT) return entries[this.#placeOf(keyOf(stepId, targetStep))];
    for (let at = entries.length - 1; at > 0; at -= 1) {
      const step = entries[at]?.step;
      if (step?.stepId === stepId && (targetStep === undefined || step.targetStep === targetStep)) return entries[at];
    }
    return undefined;
  }

  #placeOf(key: string): number {
    this.#byStep ??= new Map();
    for (; this.#known < this.entries.length; this.#known += 1) {
      const step = this.entries[this.#known]?.step;
      if (step === undefined) continue;
      this.#byStep.set(keyOf(step.stepId, undefined), this.#known);
      this.#byStep.set(keyOf(step.stepId, step.targetStep), this.#known);
    }
    return this.#byStep.get(key) ?? -1;
  }
}

function keyOf(stepId: number, targetStep: number | undefined): string {
  return targetStep === undefined ? `${stepId}` : `${stepId} ${targetStep}`;
}
