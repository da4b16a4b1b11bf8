/** A form for one setting, with a button that is enabled when the value differs. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { doing } from '../../../parts/toast.js';

export interface SettingFormProps {
  readonly action: string;
  /** The message after success. */
  readonly done: string;
  readonly isSame: boolean;
  readonly children: ComponentChildren;
  /** Asks for a confirmation. @returns whether to send */
  confirm?(): Promise<boolean>;
  send(): Promise<void>;
}

export function SettingForm({ action, done, isSame, children, confirm, send }: SettingFormProps) {
  const isSending = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (confirm !== undefined && !(await confirm())) return;
    isSending.value = true;
    await doing(send, done);
    isSending.value = false;
  };
  return (
    <form class="db-setting" onSubmit={submit}>
      {children}
      <button type="submit" class="button" disabled={isSame || isSending.value}>
        {action}
      </button>
    </form>
  );
}
