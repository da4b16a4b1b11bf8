/** The state of a run's failure function. */
import { Badge, type Tone } from '../../parts/badge.js';
import type { FunctionState } from './records.js';

const WORDS: Readonly<Record<FunctionState, readonly [Tone, string]>> = {
  CALLBACK_INPROGRESS: ['info', 'being called'],
  CALLBACK_SUCCESS: ['good', 'has answered'],
  CALLBACK_FAIL: ['bad', 'failed'],
  CALLBACK_CANCELED: ['plain', 'taken back'],
};

export function FailureFunctionBadge({ state }: { readonly state: FunctionState | undefined }) {
  if (state === undefined) return <span class="muted">none</span>;
  const [tone, word] = WORDS[state];
  return <Badge tone={tone}>{word}</Badge>;
}
