/**
 * What the headers of a message say of the run that it belongs to. They configure no delivery and are forwarded to
 * nobody; whoever wants one of them forwarded says so by a forward header of its own.
 */
import type { HeaderList } from '../../domain/queue/index.js';
import type { WorkflowMark } from '../../domain/queue/runs/index.js';
import { obtain, Remembered } from '../../kernel/index.js';
import { RUN_ID } from './run-names.js';

export interface RunHeaders {
  /** The id as it came; nobody has judged it yet. */
  readonly runId: string;
  /** Starts the run; else belongs to one that is there. */
  readonly isTrigger: boolean;
  /** A trigger by a step of another run, which waits for this one. */
  readonly isInvoke: boolean;
  /** A trigger by the endpoint that the run has reached already. */
  readonly isByEndpoint: boolean;
  /** A request of a third party, whose answer the endpoint waits for. */
  readonly isCall: boolean;
  /** A call's mark says with whose settings its result is delivered: that is its one delivery to the endpoint. */
  readonly mark: WorkflowMark;
}

export const FEATURES = 'svc-feature-set';
const FEATURES_OF_RESULT = 'svc-callback-feature-set';

const INIT = 'svc-workflow-init';
const INVOKE = 'svc-workflow-invoke';
/** A client says the same of all its messages; longer texts are read each time, so that the memory of them stays small. */
const marks = new Remembered<string, WorkflowMark>(100);
const MAX_KNOWN_CHARACTERS = 256;

const STEP_IN_BATCH = /-workflow-init"\s*:\s*"false"/i;
/** A destination and the headers of one message. */
const BEGINNING_BYTES = 48 * 1024;

/** @param headers lower-case neutral names @returns undefined for a message of no run */
export function runHeadersOf(headers: HeaderList): RunHeaders | undefined {
  const runId = headerValue(headers, RUN_ID);
  if (runId === undefined || runId === '') return undefined;
  const isTrigger = flag(headers, INIT);
  const isCall = !isTrigger && headerValue(headers, 'svc-workflow-calltype')?.toLowerCase() === 'tocallback';
  const mark = markOf(headers);
  return {
    runId,
    isTrigger,
    isInvoke: isTrigger && flag(headers, INVOKE),
    isByEndpoint: isTrigger && flag(headers, 'svc-workflow-trigger-by-sdk'),
    isCall,
    mark: isCall ? { ...mark, isConfiguredByTrigger: markOf(headers, FEATURES_OF_RESULT).isConfiguredByTrigger } : mark,
  };
}

/** Does an endpoint send it in the middle of a run? An endpoint reads refusals in its own way. */
export function isSentByRun(headers: HeaderList): boolean {
  return Boolean(headerValue(headers, RUN_ID)) && (!flag(headers, INIT) || flag(headers, INVOKE));
}

/**
 * The same of a batch that is not, or not yet, read: by how its text begins. Clients put headers before bodies, and a
 * body cannot look like that: inside of it quotes are escaped.
 */
export function beginsWithStep(batch: Buffer): boolean {
  return STEP_IN_BATCH.test(batch.toString('latin1', 0, BEGINNING_BYTES));
}

export function markOf(headers: HeaderList, header = FEATURES): WorkflowMark {
  const text = headerValue(headers, header) ?? '';
  return text.length > MAX_KNOWN_CHARACTERS ? markIn(text) : obtain(marks, text, () => markIn(text));
}

function markIn(text: string): WorkflowMark {
  const features = new Set(text.split(',').map((feature) => feature.trim()));
  return {
    detectsTrigger: features.has('WF_DetectTrigger'),
    needsRecentClient: false,
    canFetch: features.has('LazyFetch'),
    isConfiguredByTrigger: features.has('WF_TriggerOnConfig'),
  };
}

/** Trimmed. */
export function headerValue(headers: HeaderList, wanted: string): string | undefined {
  for (const [name, value] of headers) if (name === wanted) return value.trim();
  return undefined;
}

function flag(headers: HeaderList, name: string): boolean {
  return headerValue(headers, name)?.toLowerCase() === 'true';
}
