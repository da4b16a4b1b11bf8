/** Notifies of an event: one run, or all runs that wait for it. */
import { useSignal } from '@preact/signals';
import { ofQueue } from '../../api/call.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Choice, SubmitButton, TextField } from '../../parts/field.js';
import { failed, said } from '../../parts/toast.js';

export interface NotifyProps {
  readonly account: string;
  readonly eventId: string;
  readonly runId: string;
  onClose(): void;
  onDone(): void;
}

export function NotifyDialog({ account, eventId, runId, onClose, onDone }: NotifyProps) {
  const body = useSignal('{}');
  const recipients = useSignal('run');
  const isBusy = useSignal(false);
  const send = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    try {
      const isOneRun = recipients.value === 'run';
      const told = { eventId, body: body.value, runId: isOneRun ? runId : undefined };
      const woken = await notify(account, told);
      said(spoken(woken, isOneRun));
      onDone();
      onClose();
    } catch (error) {
      failed(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title="Notify an event" onClose={onClose}>
      <form id="notify" class="stack" onSubmit={send}>
        <p class="wrap-anywhere">
          Event <code dir="auto">{eventId}</code>, for which <code dir="auto">{runId}</code> waits.
        </p>
        <TextField label="Data of the event" value={body} isLong hint="The step's result, byte for byte." />
        <Choice
          label="Waiting runs"
          value={recipients}
          options={[
            ['run', 'This run alone; kept for it when it does not wait any more'],
            ['all', 'All runs that wait for it'],
          ]}
        />
        <div class="row">
          <SubmitButton isDisabled={isBusy.value}>Notify</SubmitButton>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

function spoken(count: number, isOneRun: boolean): string {
  if (count === 0)
    return isOneRun ? 'It does not wait any more: the event is kept for it' : 'No run waits for it any more';
  return count === 1 ? 'One run resumes' : `${count} runs resume`;
}

/** Sends an event to waiting runs. */
interface EventNotice {
  readonly eventId: string;
  readonly body: string;
  /** Undefined: all waiting runs. */
  readonly runId: string | undefined;
}

/** @returns the number of runs that continue */
async function notify(account: string, { eventId, body, runId }: EventNotice): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  // The run's id precedes the event's, separated by a slash.
  const event = [runId, eventId].filter((part) => part !== undefined).map(encodeURIComponent);
  const operation = `POST /v2/notify/${event.join('/')}` as 'POST /v2/notify/{event}';
  const woken = await ofQueue(account, operation, { body, headers });
  return woken.length;
}
