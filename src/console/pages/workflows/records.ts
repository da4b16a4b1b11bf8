/** What the API says about runs, and the words that pages have for it. */
import type { Schemas } from '#api';
import { useLive, useWhenHappened } from '../../api/live.js';

export type Run = Schemas['Run'];
export type Step = Schemas['Step'];
export type NextStep = Schemas['NextStep'];
export type RunEvent = Schemas['RunEvent'];
export type FailedRun = Schemas['FailedRun'];
export type FunctionState = NonNullable<FailedRun['failureFunctionState']>;
export type WaitingStep = Schemas['WaitingStep'];

/** The API gives no more of them at once. */
export const RUNS_A_PAGE = 10;
/** Lists hold no bodies: they are seen on the run's own page. */
export const NO_BODIES = -1;

export const RUN_STATES = ['RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'] as const;
export const STATE_WORDS: Readonly<Record<(typeof RUN_STATES)[number], string>> = {
  RUN_STARTED: 'Under way',
  RUN_SUCCESS: 'Succeeded',
  RUN_FAILED: 'Failed',
  RUN_CANCELED: 'Cancelled',
};

/** The last part of the endpoint's address: what people call the workflow by. */
export function functionOf(url: string): string {
  try {
    const { pathname, host } = new URL(url);
    return pathname === '/' ? host : pathname;
  } catch {
    return url;
  }
}

/** Reloads when anything happened in the queue: the server says so within a second or two. */
export function useNews(account: string | undefined, reload: () => void): void {
  const statistics = useWhenHappened(reload);
  useLive(account === undefined ? undefined : `/v2/admin/queues/${account}/statistics`, { statistics });
}

export function durationOf({ workflowRunCreatedAt, workflowRunCompletedAt }: Run, nowMs: number): number {
  return Math.max((workflowRunCompletedAt ?? nowMs) - workflowRunCreatedAt, 0);
}

/** Milliseconds of a moment in the address, as a field of a form writes it. */
export function momentOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
