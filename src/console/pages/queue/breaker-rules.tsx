/** The form with the rules of circuit breakers. */
import { type Signal, useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { ofQueue } from '../../api/call.js';
import { DangerButton } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Choice, SubmitButton, TextField } from '../../parts/field.js';
import { doing } from '../../parts/toast.js';

interface RulesProps {
  readonly account: string;
  /** Undefined: breakers are off. */
  readonly rules: Schemas['BreakerRules'] | undefined;
  onClose(): void;
}

const DAY_SECONDS = 86_400;

export function BreakerRules({ account, rules, onClose }: RulesProps) {
  const failures = useSignal(String(rules?.failures ?? 10));
  const seconds = useSignal(String(rules?.seconds ?? 60));
  const probeSeconds = useSignal(String(rules?.probeSeconds ?? 60));
  const days = useSignal(String((rules?.disableAfterSeconds ?? 5 * DAY_SECONDS) / DAY_SECONDS));
  const messages = useSignal<string>(rules?.messages ?? 'wait');
  const notifyUrl = useSignal(rules?.notifyUrl ?? '');
  const save = async (event: Event) => {
    event.preventDefault();
    const body = {
      failures: Number(failures.value),
      seconds: Number(seconds.value),
      probeSeconds: Number(probeSeconds.value),
      disableAfterSeconds: Math.round(Number(days.value) * DAY_SECONDS),
      messages: messages.value === 'dlq' ? ('dlq' as const) : ('wait' as const),
      ...(notifyUrl.value !== '' && { notifyUrl: notifyUrl.value }),
    };
    const done = 'Circuit breakers are on.';
    if (await doing(() => ofQueue(account, 'POST /v2/destinations/rules', { body }), done)) onClose();
  };
  const remove = async () => {
    const done = 'Circuit breakers are off.';
    if (await doing(() => ofQueue(account, 'DELETE /v2/destinations/rules'), done)) onClose();
  };
  return (
    <Dialog title="Circuit breakers" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        <TextField label="Failures in a row" type="number" value={failures} isRequired />
        <TextField label="Over at least this many seconds" type="number" value={seconds} isRequired />
        <TextField
          label="Seconds before the first probe"
          type="number"
          value={probeSeconds}
          hint="The wait doubles with each probe that fails, up to an hour."
        />
        <TextField label="Days of failures that disable" type="number" value={days} isRequired />
        <Choice
          label="Messages of a stopped destination"
          value={messages}
          options={[
            ['wait', 'wait'],
            ['dlq', 'go to the DLQ'],
          ]}
        />
        <NoticesField value={notifyUrl} />
        <div class="row">
          <SubmitButton>Save</SubmitButton>
          {rules !== undefined && <DangerButton onClick={() => void remove()}>Switch off</DangerButton>}
        </div>
      </form>
    </Dialog>
  );
}

function NoticesField({ value }: { readonly value: Signal<string> }) {
  return (
    <TextField
      label="Address for notices"
      type="url"
      value={value}
      placeholder="https://"
      hint="It gets a message when a destination is stopped, disabled or working again."
    />
  );
}
