/** Reads the mark of a step from its record, or from the headers of a call. */
import { type HeaderList, headerValue } from '../../domain/queue/index.js';
import { MAX_STEP_NAME_BYTES, type StepMark } from '../../domain/queue/runs/index.js';
import { objectIn } from '../http/checked.js';
import { parseJson } from '../http/json-items.js';
import { invalid } from '../http/refused.js';

const OF_CALL = 'svc-callback-forward-svc-workflow-';

/** The step recorded in an entry's body. @throws Refused 400 */
export function stepOfRecord(body: Buffer): StepMark {
  if (body.length === 0) throw invalid('the step has no record');
  return stepOfObject(parseJson(body));
}

/** The same for a parsed record, with or without its result. @throws Refused 400 */
export function stepOfObject(record: unknown): StepMark {
  const { stepId, targetStep, concurrent, stepName, stepType } = objectIn(record, 'the step');
  return checkedStep({ stepId, targetStep: targetStep ?? 0, concurrent: concurrent ?? 1, stepName, stepType });
}

/** The step that calls a third party; the call's callback will carry it. @throws Refused 400 */
export function stepOfCall(headers: HeaderList): StepMark {
  return checkedStep({
    stepId: numberIn(headers, 'stepid'),
    targetStep: 0,
    concurrent: numberIn(headers, 'concurrent') ?? 1,
    stepName: headerValue(headers, `${OF_CALL}stepname`),
    stepType: headerValue(headers, `${OF_CALL}steptype`) ?? 'Call',
  });
}

function checkedStep({ stepId, targetStep, concurrent, stepName, stepType }: Record<keyof StepMark, unknown>) {
  if (!isCount(stepId) || !isCount(targetStep)) throw invalid('the step has no valid stepId and targetStep');
  // An entry is a step's result, or announces one.
  if (stepId === 0 && targetStep === 0) throw invalid('the step has neither a stepId nor a targetStep');
  if (!isCount(concurrent) || concurrent === 0)
    throw invalid('concurrent of the step must be a whole number of at least 1');
  return { stepId, targetStep, concurrent, stepName: word('stepName', stepName), stepType: word('stepType', stepType) };
}

function word(member: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalid(`${member} of the step is missing`);
  if (Buffer.byteLength(value) <= MAX_STEP_NAME_BYTES) return value;
  throw invalid(`${member} of the step is longer than ${MAX_STEP_NAME_BYTES} bytes`);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function numberIn(headers: HeaderList, name: string): number | undefined {
  const text = headerValue(headers, OF_CALL + name);
  return text === undefined || text === '' ? undefined : Number(text);
}
