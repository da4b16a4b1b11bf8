/**
 * The record of a run as units in the order of its function: single steps, and groups of parallel steps. A check plays
 * whole units to an endpoint, because an incomplete group makes an endpoint wait.
 */
import type { RunState, StepMark } from '../../../domain/queue/runs/index.js';
import type { LoggedRun, LoggedStep, StoredEntry } from '../../../ports/index.js';

export interface RecordedStep {
  readonly stepId: number;
  readonly stepName: string;
  readonly stepType: string;
  /** The URL that it calls or invokes. */
  readonly url: string | undefined;
}

export interface Unit {
  /** In the order of their numbers; one for a single step. */
  readonly steps: readonly RecordedStep[];
  /** As they were recorded: announcements and results. Empty for a step without a record. */
  readonly entries: readonly UnitEntry[];
}

export interface UnitEntry {
  readonly step: StepMark;
  readonly body: Uint8Array;
}

export interface RecordedRun {
  readonly state: RunState;
  readonly payload: Uint8Array;
  /** Those with all their results. */
  readonly units: readonly Unit[];
  /** The next unit, if it is known: a step in progress outside of the endpoint, or a group without all its results. */
  readonly next: Unit | undefined;
}

/** Types of steps that the server itself executes, so that they are known before they have a result. */
const OUTSIDE: ReadonlySet<string> = new Set(['Call', 'Wait', 'WaitForWebhook', 'Invoke']);

/** @returns undefined: an entry is missing, or has no body */
export function recordedRun(log: LoggedRun, stored: readonly StoredEntry[]): RecordedRun | undefined {
  const [first, ...others] = stored;
  const entries: UnitEntry[] = [];
  for (const { step, body } of others) {
    if (step === undefined || body === undefined) return undefined;
    entries.push({ step, body });
  }
  if (first?.body === undefined || first.step !== undefined) return undefined;
  const logged = log.groups.flatMap((group) => (group.type === 'next' ? [] : group.steps));
  const urls = new Map(logged.map((step) => [step.stepId, step.call?.url ?? step.invoke?.url]));
  const units = unitsOf(entries, urls);
  const open = units.findIndex((unit) => !isWhole(unit));
  const whole = open < 0 ? units : units.slice(0, open);
  const next = open < 0 ? nextOutside(logged, (whole.at(-1)?.steps.at(-1)?.stepId ?? 0) + 1) : units[open];
  return { state: log.state, payload: first.body, units: whole, next };
}

function unitsOf(entries: readonly UnitEntry[], urls: ReadonlyMap<number | undefined, string | undefined>): Unit[] {
  const units: { first: number; size: number; entries: UnitEntry[] }[] = [];
  for (const entry of entries) {
    const number = numberOf(entry.step);
    const known = units.find(({ first, size }) => number >= first && number < first + size);
    if (known !== undefined) known.entries.push(entry);
    else units.push({ first: number, size: entry.step.concurrent, entries: [entry] });
  }
  return units
    .sort((one, other) => one.first - other.first)
    .map((unit) => ({ entries: unit.entries, steps: stepsOf(unit.entries, urls) }));
}

function stepsOf(
  entries: readonly UnitEntry[],
  urls: ReadonlyMap<number | undefined, string | undefined>,
): readonly RecordedStep[] {
  const steps = new Map<number, RecordedStep>();
  for (const { step } of entries) {
    const stepId = numberOf(step);
    const { stepName, stepType } = step;
    steps.set(stepId, { stepId, stepName, stepType, url: urls.get(stepId) });
  }
  return [...steps.values()].sort((one, other) => one.stepId - other.stepId);
}

/** A rerun may have a result without its announcement. */
function isWhole({ entries, steps }: Unit): boolean {
  const results = entries.filter(({ step }) => step.stepId > 0).length;
  return results >= Math.max(1, entries[0]?.step.concurrent ?? 1) && results === steps.length;
}

function nextOutside(logged: readonly LoggedStep[], number: number): Unit | undefined {
  const found = logged.find(
    ({ stepId, concurrent, stepType }) => stepId === number && concurrent === 1 && OUTSIDE.has(stepType),
  );
  if (found === undefined) return undefined;
  const { stepName, stepType, call, invoke } = found;
  return { steps: [{ stepId: number, stepName, stepType, url: call?.url ?? invoke?.url }], entries: [] };
}

/** An announcement has the number of the announced step. */
export function numberOf({ stepId, targetStep }: StepMark): number {
  return stepId === 0 ? targetStep : stepId;
}
