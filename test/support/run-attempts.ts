/** Attempts for messages of runs, in the form in which the engine passes them to the performer. */
import type { PartitionBodies, StartedAttempt } from '../../src/actors/queue/index.js';
import type { Envelope } from '../../src/domain/queue/index.js';
import type { RunEntry, RunPart, StepMark, WorkflowMark } from '../../src/domain/queue/runs/index.js';
import type { DlqId, MessageId, RunId } from '../../src/kernel/index.js';
import { PLAIN_ENVELOPE } from './plain-delivery.js';

export const RUN_ID = 'wfr_1' as RunId;
export const RUN_CREATED_AT_MS = 1_700_000_000_123;
export const STEP: StepMark = { stepId: 1, targetStep: 0, concurrent: 1, stepName: 'one', stepType: 'Run' };
export const MARK: WorkflowMark = {
  detectsTrigger: true,
  needsRecentClient: false,
  canFetch: true,
  isConfiguredByTrigger: true,
};

const OF_THE_RUN = { runId: RUN_ID, runCreatedAtMs: RUN_CREATED_AT_MS };

export function stepPart(index: number): RunPart {
  return { role: 'step', ...OF_THE_RUN, index, step: index === 0 ? undefined : STEP };
}

export const CALL_PART: RunPart = { role: 'call', ...OF_THE_RUN, step: STEP };
export const RESULT_PART: RunPart = { role: 'result', ...OF_THE_RUN, step: STEP, callId: 'msg_call' as MessageId };

export function failurePart(payload: { number: number; bytes: number }): RunPart {
  return { role: 'failure', ...OF_THE_RUN, dlqId: '1-1' as DlqId, payload };
}

/** Bodies by number, from 1; a number in `away` must be loaded first. */
export class Shelf implements Pick<PartitionBodies, 'get' | 'load'> {
  readonly contents: Uint8Array[];
  readonly away = new Set<number>();
  /** Called for each load; by default it finds the body. */
  onLoad: ((number: number) => void) | undefined;

  constructor(...texts: (string | Uint8Array)[]) {
    this.contents = texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : text));
  }

  get(number: number): Uint8Array | undefined {
    return this.away.has(number) ? undefined : this.contents[number - 1];
  }

  async load(number: number): Promise<Uint8Array> {
    this.onLoad?.(number);
    return this.contents[number - 1] as Uint8Array;
  }

  ref(number: number): { number: number; bytes: number } {
    return { number, bytes: number === 0 ? 0 : (this.contents[number - 1] as Uint8Array).byteLength };
  }
}

export function envelopeOf(parts: Partial<Envelope> = {}, mark: Partial<WorkflowMark> = {}): Envelope {
  return { ...PLAIN_ENVELOPE, workflow: { ...MARK, ...mark }, ...parts };
}

/** An attempt for the step of the last body; number 0 is an empty payload. */
export function stepAttempt(
  shelf: Shelf,
  numbers: readonly number[],
  mark: Partial<WorkflowMark> = {},
): StartedAttempt {
  const entries: RunEntry[] = numbers.map((number, index) => ({
    messageId: `msg_${index}` as MessageId,
    body: shelf.ref(number),
    step: index === 0 ? undefined : STEP,
    createdAtMs: RUN_CREATED_AT_MS,
  }));
  const last = entries.at(-1) as RunEntry;
  return {
    id: last.messageId,
    envelope: envelopeOf({}, mark),
    body: last.body,
    retried: 0,
    restarts: 0,
    run: { part: stepPart(entries.length - 1), entries },
  };
}

/** An attempt for a message that is no step; its body is the first. */
export function partAttempt(shelf: Shelf, part: RunPart, envelope: Partial<Envelope> = {}): StartedAttempt {
  return {
    id: 'msg_part' as MessageId,
    envelope: envelopeOf(envelope),
    body: shelf.ref(1),
    retried: 0,
    restarts: 0,
    run: { part, entries: [] },
  };
}
