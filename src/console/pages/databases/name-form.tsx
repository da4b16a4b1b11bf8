/** The form that makes a backup or a branch of a database: its name and a button. */
import { useSignal } from '@preact/signals';
import { SubmitButton } from '../../parts/field.js';

export interface NameFormProps {
  readonly label: string;
  readonly placeholder: string;
  /** The text of the button. */
  readonly action: string;
  /** @returns whether it succeeded */
  make(name: string): Promise<boolean>;
  /** Called after each attempt. */
  onMade(): void;
}

export function NameForm({ label, placeholder, action, make, onMade }: NameFormProps) {
  const name = useSignal('');
  const send = async (event: Event) => {
    event.preventDefault();
    if (await make(name.value.trim())) name.value = '';
    onMade();
  };
  return (
    <form class="db-setting" onSubmit={send}>
      <label class="field">
        <span>{label}</span>
        <input
          value={name.value}
          placeholder={placeholder}
          autocomplete="off"
          onInput={({ currentTarget }) => {
            name.value = currentTarget.value;
          }}
        />
      </label>
      <SubmitButton isDisabled={name.value.trim() === ''}>{action}</SubmitButton>
    </form>
  );
}
