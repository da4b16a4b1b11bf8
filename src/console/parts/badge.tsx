/** A state in one word, in the colour of its kind. */
import type { ComponentChildren } from 'preact';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

/** States of messages, runs, steps and parts of a cluster, by tone. */
const TONES: Readonly<Record<string, Tone>> = {
  ...inTone(
    'good',
    'DELIVERED',
    'RUN_SUCCESS',
    'STEP_SUCCESS',
    'ready',
    'serving',
    'well',
    'active',
    'completed',
    'SUCCESS',
    'ok',
  ),
  ...inTone(
    'warn',
    'RETRY',
    'RETRYING',
    'STEP_RETRY',
    'ERROR',
    'INTERRUPTED',
    'PAUSED',
    'paused',
    'silent',
    'not-ready',
    'draining',
    'pending',
    'warn',
  ),
  ...inTone(
    'bad',
    'FAILED',
    'RUN_FAILED',
    'STEP_FAILED',
    'gone',
    'missing',
    'no-store',
    'suspended',
    'failed',
    'fail',
    'FAIL',
  ),
  ...inTone(
    'info',
    'CREATED',
    'ACTIVE',
    'WAITING',
    'DELIVERING',
    'SCHEDULED',
    'RUN_STARTED',
    'IN_PROGRESS',
    'STEP_PROGRESS',
    'replaying',
    'claiming',
  ),
};

function inTone(tone: Tone, ...states: readonly string[]): Record<string, Tone> {
  return Object.fromEntries(states.map((state) => [state, tone]));
}

export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** @param state the API's name; shown in lower case, without its prefix */
export function StateBadge({ state }: { readonly state: string }) {
  const word = state
    .replace(/^(RUN|STEP)_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();
  return <Badge tone={TONES[state] ?? 'plain'}>{word}</Badge>;
}
