/** Edits a part of a JSON document as text, or adds a part to an object or array. */
import { useSignal } from '@preact/signals';
import { Dialog } from '../../../../parts/dialog.js';
import { TextField } from '../../../../parts/field.js';
import { indentedJson } from '../../../../parts/json.js';
import { failed } from '../../../../parts/toast.js';

export interface JsonEdit {
  /** `set` replaces the part at the path; the others add to it. */
  readonly how: 'set' | 'object' | 'array';
  readonly path: string;
  readonly text: string;
}

export interface JsonPartDialogProps {
  readonly edit: JsonEdit;
  change(...words: readonly string[]): Promise<void>;
  onClose(): void;
}

export function JsonPartDialog({ edit, change, onClose }: JsonPartDialogProps) {
  const { how, path } = edit;
  const name = useSignal('');
  const value = useSignal(edit.text === '' ? '' : indentedJson(edit.text));
  const send = async (event: Event) => {
    event.preventDefault();
    try {
      if (how === 'array') await change('JSON.ARRAPPEND', path, value.value);
      else await change('JSON.SET', how === 'set' ? path : `${path}[${JSON.stringify(name.value)}]`, value.value);
      onClose();
    } catch (error) {
      failed(error);
    }
  };
  return (
    <Dialog title={how === 'set' ? 'Edit a part' : 'Add a part'} isLarge onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <p class="muted">
          <code class="wrap-anywhere">{path}</code>
        </p>
        {how === 'object' && <TextField label="Name" value={name} isRequired />}
        <TextField
          label="JSON"
          value={value}
          isLong
          rows={10}
          isRequired
          placeholder={'"text", 12, true, null, {} or []'}
        />
        <button type="submit" class="button primary">
          {how === 'set' ? 'Save' : 'Add'}
        </button>
      </form>
    </Dialog>
  );
}
