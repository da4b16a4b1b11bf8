/**
 * A request that an endpoint made for a trial run, as the process that received it reports it to the process that
 * checks. It is sent over the bus and not stored. Fields of later releases come last, and earlier ones skip them.
 */
import type { AccountId, RunId } from '../kernel/index.js';
import { absent, integer, listOf, oneOf, openFields, openRecord, type TypeOf, text } from '../kernel/schema/index.js';

const step = openRecord({
  stepId: integer,
  targetStep: integer,
  concurrent: integer,
  stepName: text(),
  stepType: text(),
});

/** `record`: results or announcements of steps. `end`: the function has returned. `trigger`: a run is started. */
const TRIAL_REQUEST_KINDS = ['record', 'call', 'invoke', 'wait', 'end', 'cancel', 'trigger'] as const;

const request = openRecord({
  kind: oneOf(...TRIAL_REQUEST_KINDS),
  steps: listOf(step),
  /** Of a call, and of an invoked workflow. */
  url: absent(text()),
});
export type TrialRequest = TypeOf<typeof request>;

export const trialReport = openFields({
  runId: text<RunId>(),
  /** The account of the endpoint's token. */
  account: text<AccountId>(),
  request,
});
export type TrialReport = TypeOf<typeof trialReport>;
