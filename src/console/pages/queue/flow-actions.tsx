/** Actions on a flow-control key. */
import { ofQueue } from '../../api/call.js';
import { asked } from '../../parts/dialog.js';
import { doing } from '../../parts/toast.js';
import type { Flow } from './tab.js';

export interface FlowActionsProps {
  readonly account: string;
  readonly flow: Flow;
  onPin(): void;
  onDone(): void;
}

type Action = 'pause' | 'resume' | 'unpin' | 'resetRate' | 'reset';

export function FlowActions({ account, flow, onPin, onDone }: FlowActionsProps) {
  const { flowControlKey: key, isPaused, isPinnedParallelism: parallelism, isPinnedRate: rate } = flow;
  const act = (action: Action, done: string) =>
    doing(
      () =>
        ofQueue(account, `POST /v2/flowControl/{key}/${action}`, {
          path: { key },
          ...(action === 'unpin' && { query: { parallelism, rate } }),
        }),
      done,
    ).then(onDone);
  const reset = async () => {
    const text = 'A new window begins, and calls under way do not count any more: more may run than the limit says.';
    const isSure = await asked({ title: `Reset the key ${key}?`, text, action: 'Reset', isDangerous: true });
    if (isSure) await act('reset', `${key} is reset.`);
  };
  return (
    <span class="row">
      <button
        type="button"
        class="button small"
        onClick={() => void (isPaused ? act('resume', `${key} is resumed.`) : act('pause', `${key} is paused.`))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </button>
      <button type="button" class="button small" onClick={onPin}>
        Pin
      </button>
      {(parallelism || rate) && (
        <button type="button" class="button small" onClick={() => void act('unpin', `${key} goes by its messages.`)}>
          Unpin
        </button>
      )}
      <button type="button" class="button small" onClick={() => void act('resetRate', 'A new window has begun.')}>
        New window
      </button>
      <button type="button" class="button small danger" onClick={() => void reset()}>
        Reset
      </button>
    </span>
  );
}
