/** Sets fixed limits of a flow-control key, which messages cannot change. */
import { useSignal } from '@preact/signals';
import { ofQueue } from '../../api/call.js';
import { Dialog } from '../../parts/dialog.js';
import { SubmitRow, TextField } from '../../parts/field.js';
import { doing } from '../../parts/toast.js';
import type { Flow } from './tab.js';

export interface PinProps {
  readonly account: string;
  /** Undefined: a key that may not exist yet. */
  readonly flow: Flow | undefined;
  onClose(): void;
}

export function PinFlow({ account, flow, onClose }: PinProps) {
  const key = useSignal(flow?.flowControlKey ?? '');
  const parallelism = useSignal(shown(flow?.parallelismMax));
  const rate = useSignal(shown(flow?.rateMax));
  const period = useSignal(rate.peek() === '' ? '' : shown(flow?.ratePeriod));
  const save = async (event: Event) => {
    event.preventDefault();
    const path = { key: key.value };
    const query = { parallelism: parallelism.value, rate: rate.value, period: period.value };
    const done = `${key.value} is pinned.`;
    if (await doing(() => ofQueue(account, 'POST /v2/flowControl/{key}/pin', { path, query }), done)) onClose();
  };
  return (
    <Dialog title={flow === undefined ? 'Set up a flow-control key' : `Pin ${flow.flowControlKey}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {flow === undefined && <TextField label="Key" value={key} isRequired />}
        <TextField label="Parallelism" type="number" value={parallelism} hint="Calls under way at a time" />
        <TextField label="Rate" type="number" value={rate} hint="Starts within a period" />
        <TextField label="Period" type="number" value={period} hint="In seconds; one where it is left out" />
        <p class="small muted">These limits are pinned: messages with this key do not change them.</p>
        <SubmitRow>Pin</SubmitRow>
      </form>
    </Dialog>
  );
}

function shown(value = 0): string {
  return value === 0 ? '' : String(value);
}
