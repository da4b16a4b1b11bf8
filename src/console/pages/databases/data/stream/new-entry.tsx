/** The form for the fields of a new entry. */
import { useSignal } from '@preact/signals';
import { command } from '../../../../api/kv.js';
import type { Word } from '../../../../api/kv-bytes.js';
import { Button } from '../../../../parts/button.js';
import { Dialog } from '../../../../parts/dialog.js';
import { SubmitButton, TextField } from '../../../../parts/field.js';
import { Icon } from '../../../../parts/icon.js';
import { doing } from '../../../../parts/toast.js';

export interface NewEntryProps {
  readonly id: string;
  readonly stream: Word;
  onClose(): void;
  onAdded(): void;
}

export function NewEntry({ id, stream, onClose, onAdded }: NewEntryProps) {
  const entry = useSignal('*');
  const fields = useSignal<readonly (readonly [name: string, value: string])[]>([['', '']]);
  const put = (at: number, name: string, value: string) => {
    fields.value = fields.value.with(at, [name, value]);
  };
  const send = async (event: Event) => {
    event.preventDefault();
    if (await doing(() => command(id, 'XADD', stream, entry.value, ...fields.value.flat()), 'It is added.')) onAdded();
  };
  return (
    <Dialog title="Add an entry" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="Id" value={entry} hint="*: the server makes one." isRequired />
        {fields.value.map(([name, value], at) => (
          <div key={at} class="form-grid">
            <label class="field">
              <span>Field {at + 1}</span>
              <input
                value={name}
                autocomplete="off"
                onInput={({ currentTarget }) => put(at, currentTarget.value, value)}
              />
            </label>
            <label class="field">
              <span>Value {at + 1}</span>
              <input
                value={value}
                autocomplete="off"
                onInput={({ currentTarget }) => put(at, name, currentTarget.value)}
              />
            </label>
          </div>
        ))}
        <div class="row">
          <Button
            onClick={() => {
              fields.value = [...fields.value, ['', '']];
            }}
          >
            <Icon name="plus" />
            One more field
          </Button>
        </div>
        <SubmitButton>Add</SubmitButton>
      </form>
    </Dialog>
  );
}
