/** Shows and edits a document or a vector as JSON, or adds new ones, single or in a list. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { mayChangeIndexes } from '../../api/session.js';
import { Button } from '../../parts/button.js';
import { Code } from '../../parts/code.js';
import { Dialog } from '../../parts/dialog.js';
import { TextField } from '../../parts/field.js';
import { Empty, Shown } from '../../parts/states.js';
import { doing } from '../../parts/toast.js';
import type { IndexPlane, IndexRecord } from './plane.js';

export interface ItemDialogProps {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  readonly part: string;
  /** Undefined: new ones. */
  readonly id: string | undefined;
  onClose(): void;
  onChanged(): void;
}

export function ItemDialog({ plane, database, part, id, onClose, onChanged }: ItemDialogProps) {
  const asked = useAsk(id && `item ${database.id} ${part} ${id}`, async (signal) => ({
    found: await plane.fetch(database.id, part, id as string, signal),
  }));
  const editor = (text: string) => (
    <Editor
      plane={plane}
      id={database.id}
      part={part}
      text={text}
      isNew={id === undefined}
      onClose={onClose}
      onChanged={onChanged}
    />
  );
  return (
    <Dialog
      title={id === undefined ? `Add ${plane.item}s` : `${plane.item === 'vector' ? 'Vector' : 'Document'} ${id}`}
      isLarge
      onClose={onClose}
    >
      {id === undefined ? (
        editor(JSON.stringify(plane.sample, null, 2))
      ) : (
        <Shown asked={asked}>
          {({ found }) => {
            if (found == null) return <Empty title={`There is no such ${plane.item} any more`} />;
            const text = JSON.stringify(found, null, 2);
            return mayChangeIndexes.value ? editor(text) : <Code text={text} />;
          }}
        </Shown>
      )}
    </Dialog>
  );
}

interface EditorProps {
  readonly plane: IndexPlane;
  readonly id: string;
  readonly part: string;
  readonly text: string;
  readonly isNew: boolean;
  onClose(): void;
  onChanged(): void;
}

function Editor({ plane, id, part, text, isNew, onClose, onChanged }: EditorProps) {
  const written = useSignal(text);
  const into = useSignal(part);
  const wrong = useSignal<string | undefined>(undefined);
  const save = async (event: Event) => {
    event.preventDefault();
    const body = parsedOr(written.value, wrong);
    if (body === undefined) return;
    if (!(await doing(() => plane.store(id, into.value, body), 'Stored; queries find it in a moment'))) return;
    onChanged();
    onClose();
  };
  return (
    <form class="stack" onSubmit={save}>
      {isNew && (
        <TextField
          label={plane.part === 'index' ? 'Index' : 'Namespace'}
          value={into}
          isRequired={plane.firstPart !== ''}
          hint={`Its first ${plane.item} makes it.`}
        />
      )}
      <TextField
        label="JSON"
        value={written}
        isLong
        rows={18}
        wrong={wrong.value}
        hint={
          isNew
            ? `One ${plane.item}, or a list of them. One with the id of another replaces it.`
            : `It replaces the ${plane.item} as a whole.`
        }
      />
      <div class="row">
        <button type="submit" class="button primary">
          {isNew ? 'Store' : 'Save'}
        </button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}

function parsedOr(text: string, wrong: Signal<string | undefined>): unknown {
  try {
    wrong.value = undefined;
    return JSON.parse(text);
  } catch (error) {
    wrong.value = `This is no JSON: ${error instanceof Error ? error.message : String(error)}`;
    return undefined;
  }
}
