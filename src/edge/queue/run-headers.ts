/**
 * Headers of a message that describe its workflow run. They configure no delivery and are not forwarded; a forward
 * header can still send one of them on.
 */
import { FEATURES, type HeaderList, headerValue } from '../../domain/queue/index.js';
import type { WorkflowMark } from '../../domain/queue/runs/index.js';
import { BoundedCache, getOrCreate } from '../../kernel/index.js';
import { RUN_ID } from './run-names.js';

export interface RunHeaders {
  /** The id as it arrived, not validated. */
  readonly runId: string;
  /** Starts the run; otherwise the message belongs to an existing one. */
  readonly isTrigger: boolean;
  /** A trigger by a step of another run, which waits for the result. */
  readonly isInvoke: boolean;
  /** A trigger by the endpoint that already runs it. */
  readonly isByEndpoint: boolean;
  /** A request to a third party, with a result that the endpoint waits for. */
  readonly isCall: boolean;
  /** For a call, the mark of its callback: the callback is its delivery to the endpoint. */
  readonly mark: WorkflowMark;
}

const FEATURES_OF_RESULT = 'svc-callback-feature-set';

const INIT = 'svc-workflow-init';
const INVOKE = 'svc-workflow-invoke';
/** A client sends the same mark with all messages; longer texts are parsed each time to limit the cache's size. */
const marks = new BoundedCache<string, WorkflowMark>(100);
const MAX_KNOWN_CHARACTERS = 256;

const STEP_IN_BATCH = /-workflow-init"\s*:\s*"false"/i;
/** The length of a destination and the headers of one message. */
const BEGINNING_BYTES = 48 * 1024;

/** @param headers neutral names in lower case @returns undefined for a message outside of runs */
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

/** Is it sent by an endpoint in the middle of a run? Then refusals need the endpoints' form. */
export function isSentByRun(headers: HeaderList): boolean {
  return Boolean(headerValue(headers, RUN_ID)) && (!flag(headers, INIT) || flag(headers, INVOKE));
}

/**
 * The same for an unparsed batch, by its first bytes. Clients put headers before bodies, and a body cannot match,
 * because its quotes are escaped.
 */
export function beginsWithStep(batch: Buffer): boolean {
  return STEP_IN_BATCH.test(batch.toString('latin1', 0, BEGINNING_BYTES));
}

const RUN_IN_BATCH = /-workflow-runid"\s*:\s*"([^"\\]{1,256})"/i;

/** The run of a batch of steps, from its first bytes. */
export function runInBeginning(batch: Buffer): string | undefined {
  return RUN_IN_BATCH.exec(batch.toString('latin1', 0, BEGINNING_BYTES))?.[1];
}

/** The run that gets a step. @returns undefined for triggers: an invoking step names its run in the body */
export function runOfStepIn(headers: HeaderList): string | undefined {
  const run = runHeadersOf(headers);
  return run === undefined || run.isTrigger ? undefined : run.runId;
}

export function markOf(headers: HeaderList, header = FEATURES): WorkflowMark {
  const text = headerValue(headers, header) ?? '';
  return text.length > MAX_KNOWN_CHARACTERS ? markIn(text) : getOrCreate(marks, text, () => markIn(text));
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

function flag(headers: HeaderList, name: string): boolean {
  return headerValue(headers, name)?.toLowerCase() === 'true';
}
