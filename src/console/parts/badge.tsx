/** A state in one word, in the colour of its kind. */
import type { ComponentChildren } from 'preact';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

/**
 * States of messages, runs, steps and parts of a cluster, by tone: delivered is good, failed bad, retrying warn, running
 * info. A state without an entry waits or is over without an outcome, and is plain.
 */
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
  ...inTone('warn', 'RETRY', 'RETRYING', 'STEP_RETRY', 'INTERRUPTED', 'silent', 'not-ready', 'draining', 'warn'),
  ...inTone(
    'bad',
    'FAILED',
    'ERROR',
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
  ...inTone('info', 'ACTIVE', 'DELIVERING', 'RUN_STARTED', 'IN_PROGRESS', 'STEP_PROGRESS', 'replaying', 'claiming'),
};

function inTone(tone: Tone, ...states: readonly string[]): Record<string, Tone> {
  return Object.fromEntries(states.map((state) => [state, tone]));
}

export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function toneOf(state: string): Tone {
  return TONES[state] ?? 'plain';
}

/** @param state the API's name; shown in lower case, without its prefix */
export function StateBadge({ state }: { readonly state: string }) {
  const word = state
    .replace(/^(RUN|STEP)_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();
  return <Badge tone={toneOf(state)}>{word}</Badge>;
}
