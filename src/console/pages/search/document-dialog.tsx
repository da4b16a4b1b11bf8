/** Shows and edits a document as JSON, or adds new ones, single or in a list. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { ofIndex } from '../../api/call.js';
import { mayChange } from '../../api/session.js';
import { Code } from '../../parts/code.js';
import { Dialog } from '../../parts/dialog.js';
import { TextField } from '../../parts/field.js';
import { Empty, Shown } from '../../parts/states.js';
import { doing } from '../../parts/toast.js';
import type { SearchDatabase } from './search-databases.js';

export interface DocumentDialogProps {
  readonly database: SearchDatabase;
  readonly index: string;
  /** Undefined: new documents. */
  readonly id: string | undefined;
  onClose(): void;
  onChanged(): void;
}

const SAMPLE = JSON.stringify({ id: '', content: { title: '' }, metadata: {} }, null, 2);

export function DocumentDialog({ database, index, id, onClose, onChanged }: DocumentDialogProps) {
  // With the vector, because saving replaces the whole document.
  const body = { ids: [id], includeData: true, includeMetadata: true, includeVectors: true };
  const asked = useAsk(id && `document ${database.id} ${index} ${id}`, (signal) =>
    ofIndex(database.id, 'POST /search/{id}/fetch/{index}', { path: { index }, body, signal }),
  );
  const editor = (text: string) => (
    <Editor
      id={database.id}
      index={index}
      text={text}
      isNew={id === undefined}
      onClose={onClose}
      onChanged={onChanged}
    />
  );
  return (
    <Dialog title={id === undefined ? 'Add documents' : `Document ${id}`} isLarge onClose={onClose}>
      {id === undefined ? (
        editor(SAMPLE)
      ) : (
        <Shown asked={asked}>
          {({ result: [found] }) => {
            if (found == null) return <Empty title="There is no such document any more" />;
            const text = JSON.stringify(found, null, 2);
            return mayChange.value ? editor(text) : <Code text={text} />;
          }}
        </Shown>
      )}
    </Dialog>
  );
}

interface EditorProps {
  readonly id: string;
  readonly index: string;
  readonly text: string;
  readonly isNew: boolean;
  onClose(): void;
  onChanged(): void;
}

function Editor({ id, index, text, isNew, onClose, onChanged }: EditorProps) {
  const written = useSignal(text);
  const into = useSignal(index);
  const wrong = useSignal<string | undefined>(undefined);
  const save = async (event: Event) => {
    event.preventDefault();
    const body = parsedOr(written.value, wrong);
    if (body === undefined) return;
    const work = () => ofIndex(id, 'POST /search/{id}/upsert-data/{index}', { path: { index: into.value }, body });
    if (!(await doing(work, 'Stored; queries find it in a moment'))) return;
    onChanged();
    onClose();
  };
  return (
    <form class="stack" onSubmit={save}>
      {isNew && <TextField label="Index" value={into} isRequired hint="Its first document makes it." />}
      <TextField
        label="JSON"
        value={written}
        isLong
        rows={18}
        wrong={wrong.value}
        hint={
          isNew
            ? 'One document, or a list of them. One with the id of another replaces it.'
            : 'It replaces the document as a whole.'
        }
      />
      <div class="row">
        <button type="submit" class="button primary">
          {isNew ? 'Store' : 'Save'}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
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
