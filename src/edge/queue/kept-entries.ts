/**
 * Chooses the entries with which a rerun begins: the payload and the results of all steps before the one to execute.
 * If that step is a member of a parallel group, the announcements and results of the other members stay too.
 */
import type { StepMark } from '../../domain/queue/runs/index.js';
import type { StoredEntry } from '../../ports/index.js';
import { queueBodyTooLarge } from '../error-map.js';
import { objectIn } from '../http/checked.js';
import { parseJson } from '../http/json-items.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { numberOf } from './checks/recorded-run.js';
import type { RerunRequest } from './requests/rerun-request.js';

/**
 * Bytes of the entries that a rerun keeps: they are one entry of the journal, which the owner copies in one go, at about
 * a millisecond per megabyte.
 */
export const MAX_RERUN_BYTES = 16 * 1024 * 1024;

export interface KeptEntry {
  readonly step: StepMark | undefined;
  readonly body: Uint8Array;
  readonly createdAtMs: number;
}

/** @throws Refused 400 for a step that the run does not have; 413 */
export function keptEntries(
  entries: readonly StoredEntry[],
  { fromStep, input, stepResult }: RerunRequest,
  nowMs: number,
): readonly KeptEntry[] {
  const stepId = stepIdOf(entries, fromStep);
  const kept = entries.filter((entry) => staysBefore(entry.step, stepId, groupOf(entries, stepId))).map(whole);
  const [payload, ...steps] = kept;
  if (payload === undefined || payload.step !== undefined) throw gone();
  const first = input === undefined ? payload : { ...payload, body: bytesOf(input), createdAtMs: nowMs };
  const results = stepResult === undefined ? [] : [{ ...edited(entries, stepId, stepResult), createdAtMs: nowMs }];
  const all = [first, ...steps, ...results];
  const bytes = all.reduce((sum, { body }) => sum + body.byteLength, 0);
  if (bytes > MAX_RERUN_BYTES) throw tooLarge();
  return all;
}

function stepIdOf(entries: readonly StoredEntry[], fromStep: number | string): number {
  const marks = entries.flatMap(({ step }) => (step === undefined ? [] : [step]));
  if (typeof fromStep === 'number') {
    // The step after the last one is the next that the endpoint would execute.
    const next = Math.max(0, ...marks.map(numberOf)) + 1;
    if (fromStep > next) throw invalid(`fromStep is ${fromStep}, but the run has steps up to ${next - 1}`);
    return fromStep;
  }
  const found = [...new Set(marks.filter(({ stepName }) => stepName === fromStep).map(numberOf))];
  const [stepId] = found;
  if (stepId === undefined) throw invalid(`the run has no step named ${JSON.stringify(fromStep)}`);
  if (found.length === 1) return stepId;
  throw invalid(`the steps ${found.join(', ')} are named ${JSON.stringify(fromStep)}: give the number of one`);
}

interface Group {
  readonly first: number;
  readonly size: number;
}

/** The parallel group with the step; a single step is a group of one. */
function groupOf(entries: readonly StoredEntry[], stepId: number): Group {
  const groups = new Map<number, Group>();
  for (const { step } of entries) {
    if (step === undefined || groups.has(numberOf(step))) continue;
    const group = { first: numberOf(step), size: Math.max(1, step.concurrent) };
    for (let id = group.first; id < group.first + group.size; id += 1) if (!groups.has(id)) groups.set(id, group);
  }
  return groups.get(stepId) ?? { first: stepId, size: 1 };
}

function staysBefore(step: StepMark | undefined, stepId: number, { first, size }: Group): boolean {
  if (step === undefined || numberOf(step) < first) return true;
  if (size === 1 || numberOf(step) >= first + size) return false;
  return step.stepId !== stepId;
}

/** The step's record with another result. */
function edited(entries: readonly StoredEntry[], stepId: number, result: unknown): KeptEntry {
  const found =
    entries.find(({ step }) => step?.stepId === stepId) ?? entries.find(({ step }) => step?.targetStep === stepId);
  if (stepId === 0 || found?.step === undefined) {
    throw invalid(`stepResult needs a recorded step, and the run has no record of step ${stepId}`);
  }
  const { step, body } = whole(found);
  if (step === undefined) throw gone();
  const record = { ...objectIn(parseJson(Buffer.from(body)), 'the record of the step') };
  const { concurrent, stepName, stepType } = step;
  const mark = { stepId, targetStep: 0, concurrent, stepName, stepType };
  const out = outOf(stepType, result);
  const wait = stepType === 'Wait' || stepType === 'WaitForWebhook' ? { waitTimeout: false } : {};
  return { step: mark, body: bytesOf({ ...record, ...mark, ...wait, out }), createdAtMs: found.createdAtMs };
}

/** The text of a result, in the form that a step of the type has in its record. */
function outOf(stepType: string, result: unknown): string {
  const text = JSON.stringify(result);
  switch (stepType) {
    case 'SleepFor':
    case 'SleepUntil':
      throw invalid('stepResult is not possible for a sleep, which has no result');
    case 'Wait':
    case 'WaitForWebhook':
      return Buffer.from(text).toString('base64');
    case 'Invoke':
      return JSON.stringify({ body: text, isCanceled: false, isFailed: false });
    default:
      return text;
  }
}

function whole({ body, ...entry }: StoredEntry): KeptEntry {
  if (body === undefined) throw tooLarge();
  return { ...entry, body };
}

function bytesOf(value: unknown): Uint8Array {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

function tooLarge(): RefusedRequest {
  const { status } = queueBodyTooLarge(MAX_RERUN_BYTES);
  const text = `the entries before the step have more than ${MAX_RERUN_BYTES} bytes, or are no longer in the log`;
  return new RefusedRequest({ status, text });
}

function gone(): RefusedRequest {
  return invalid('the payload of the run is no longer in the log');
}
