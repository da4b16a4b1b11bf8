/** The API's types for runs, and their labels. */
import type { Schemas } from '#api';
import { useLive, useWhenHappened } from '../../api/live.js';

export type Run = Schemas['Run'];
export type Step = Schemas['Step'];
export type NextStep = Schemas['NextStep'];
export type RunEvent = Schemas['RunEvent'];
export type FailedRun = Schemas['FailedRun'];
export type FunctionState = NonNullable<FailedRun['failureFunctionState']>;
export type WaitingStep = Schemas['WaitingStep'];

/** The API's maximum per page. */
export const RUNS_A_PAGE = 50;
/** Bytes of each body in lists, enough for the message of an error; the run's page shows the whole body. */
export const LISTED_BYTES = 300;

export const RUN_STATES = ['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'] as const;
export const STATE_WORDS: Readonly<Record<(typeof RUN_STATES)[number], string>> = {
  RUN_STARTED: 'Under way',
  RUN_SUCCESS: 'Succeeded',
  RUN_FAILED: 'Failed',
  RUN_CANCELED: 'Cancelled',
};

/** The path of the endpoint's address, the usual name of a workflow. */
export function functionOf(url: string): string {
  try {
    const { pathname, host } = new URL(url);
    return pathname === '/' ? host : pathname;
  } catch {
    return url;
  }
}

/** Reloads after events of the queue, which arrive within one or two seconds. */
export function useNews(account: string | undefined, reload: () => void): void {
  const statistics = useWhenHappened(reload);
  useLive(account === undefined ? undefined : `/v2/admin/queues/${account}/statistics`, { statistics });
}

export function durationOf({ workflowRunCreatedAt, workflowRunCompletedAt }: Run, nowMs: number): number {
  return Math.max((workflowRunCompletedAt ?? nowMs) - workflowRunCreatedAt, 0);
}

/** Milliseconds of a moment in the address, in the format of a form field. */
export function momentOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
