/** Compares an endpoint's next request with the recorded one: order, names, types and URLs of steps. */
import type { TrialRequest } from '../../../protocol/index.js';
import type { RecordedStep, Unit } from './recorded-run.js';

/** A difference; `breaks`: the run could not continue. */
export interface Difference {
  readonly step: RecordedStep | undefined;
  readonly breaks: boolean;
  readonly text: string;
  /** The step of the endpoint in that place. */
  readonly found?: Omit<RecordedStep, 'stepId'> | undefined;
}

const KINDS: Readonly<Record<string, TrialRequest['kind']>> = {
  Call: 'call',
  Invoke: 'invoke',
  Wait: 'wait',
  WaitForWebhook: 'wait',
};

/** The request that announces the unit, or submits its only step. */
export function differenceOf(unit: Unit, request: TrialRequest): Difference | undefined {
  const [first] = unit.steps;
  const isGroup = unit.steps.length > 1;
  const found = [...request.steps].sort((one, other) => one.targetStep - other.targetStep);
  const [only] = found;
  const isAnnounced = request.kind === 'record' && found.every(({ stepId }) => stepId === 0);
  if (isGroup !== (isAnnounced && found.length > 0) || found.length !== unit.steps.length) {
    const text = `the endpoint has ${wordsFor(request)} instead of ${wordsForUnit(unit)}`;
    return { step: first, breaks: true, text, found: foundStep(only, request) };
  }
  for (const [at, step] of unit.steps.entries()) {
    const one = found[at];
    const number = isGroup ? one?.targetStep : one?.stepId;
    const isSame = number === step.stepId && one?.stepName === step.stepName && one.stepType === step.stepType;
    if (isSame && (isGroup || request.kind === kindOf(step))) continue;
    const text = `the endpoint has ${wordsFor(request)} instead of ${wordsForUnit(unit)}`;
    return { step, breaks: true, text, found: foundStep(one, request) };
  }
  return first === undefined || isGroup ? undefined : urlDifference(first, request);
}

/** The URL of an invoked workflow differs from the endpoint's only in the last segment of the path, which is compared. */
export function urlDifference(step: RecordedStep, request: TrialRequest): Difference | undefined {
  if (step.url === undefined || request.url === undefined) return undefined;
  const part = (url: string) => (step.stepType === 'Invoke' ? URL.parse(url)?.pathname.split('/').at(-1) : url);
  if (part(step.url) === part(request.url)) return undefined;
  const verb = step.stepType === 'Invoke' ? 'invokes' : 'calls';
  const text = `the endpoint ${verb} ${request.url} instead of ${step.url}`;
  return { step, breaks: false, text, found: foundStep(request.steps[0], request) };
}

export function kindOf({ stepType }: RecordedStep): TrialRequest['kind'] {
  return KINDS[stepType] ?? 'record';
}

export function wordsForUnit({ steps }: Unit): string {
  const words = steps.map(({ stepName, stepType }) => `${JSON.stringify(stepName)} (${stepType})`).join(', ');
  return steps.length > 1 ? `the parallel steps ${words}` : `step ${steps[0]?.stepId} ${words}`;
}

function wordsFor({ kind, steps }: TrialRequest): string {
  if (kind === 'end') return 'the end of the run';
  if (kind === 'cancel') return 'the cancellation of the run';
  if (steps.length === 0) return 'the start of another run';
  const words = steps.map(({ stepName, stepType }) => `${JSON.stringify(stepName)} (${stepType})`).join(', ');
  return steps[0]?.stepId === 0 ? `the parallel steps ${words}` : `step ${steps[0]?.stepId} ${words}`;
}

function foundStep(
  step: TrialRequest['steps'][number] | undefined,
  { url }: TrialRequest,
): Difference['found'] | undefined {
  return step === undefined ? undefined : { stepName: step.stepName, stepType: step.stepType, url };
}
