/** Actions on a flow-control key. */
import { ofQueue } from '../../api/call.js';
import { SmallButton, SmallDangerButton } from '../../parts/button.js';
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
      <SmallButton
        onClick={() => void (isPaused ? act('resume', `${key} is resumed.`) : act('pause', `${key} is paused.`))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </SmallButton>
      <SmallButton onClick={onPin}>Pin</SmallButton>
      {(parallelism || rate) && (
        <SmallButton onClick={() => void act('unpin', `${key} goes by its messages.`)}>Unpin</SmallButton>
      )}
      <SmallButton onClick={() => void act('resetRate', 'A new window has begun.')}>New window</SmallButton>
      <SmallDangerButton onClick={() => void reset()}>Reset</SmallDangerButton>
    </span>
  );
}
