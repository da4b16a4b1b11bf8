/** Actions on one index of a search database: rename, empty, delete. */
import { useSignal } from '@preact/signals';
import { ofIndex } from '../../api/call.js';
import { asked, Dialog } from '../../parts/dialog.js';
import { TextField } from '../../parts/field.js';
import { doing } from '../../parts/toast.js';
import type { SearchDatabase } from './search-databases.js';

export interface IndexActionsProps {
  readonly database: SearchDatabase;
  readonly index: string;
  onChanged(): void;
}

export function IndexActions({ database, index, onChanged }: IndexActionsProps) {
  const isRenaming = useSignal(false);
  const { id } = database;
  const empty = async () => {
    const text = 'All its documents are deleted; the index stays. It cannot be taken back.';
    const title = 'Delete all documents?';
    if (!(await asked({ title, text, action: 'Delete them', isDangerous: true, typed: index }))) return;
    const work = () => ofIndex(id, 'POST /search/{id}/reset/{index}', { path: { index } });
    if (await doing(work, 'The index is empty')) onChanged();
  };
  const remove = async () => {
    const text = 'The index goes with all its documents. It cannot be taken back.';
    if (!(await asked({ title: 'Delete this index?', text, action: 'Delete it', isDangerous: true, typed: index })))
      return;
    const work = () => ofIndex(id, 'POST /search/{id}/delete-namespace/{index}', { path: { index } });
    if (await doing(work, 'The index is deleted')) onChanged();
  };
  return (
    <div class="row">
      <button
        type="button"
        class="button small"
        onClick={() => {
          isRenaming.value = true;
        }}
      >
        Rename
      </button>
      <button type="button" class="button small danger" onClick={empty}>
        Empty
      </button>
      <button type="button" class="button small danger" onClick={remove}>
        Delete
      </button>
      {isRenaming.value && (
        <Renaming
          id={id}
          index={index}
          onClose={() => {
            isRenaming.value = false;
          }}
          onDone={onChanged}
        />
      )}
    </div>
  );
}

interface RenamingProps {
  readonly id: string;
  readonly index: string;
  onClose(): void;
  onDone(): void;
}

function Renaming({ id, index, onClose, onDone }: RenamingProps) {
  const name = useSignal(index);
  const send = async (event: Event) => {
    event.preventDefault();
    const body = { namespace: index, newNamespace: name.value };
    if (!(await doing(() => ofIndex(id, 'POST /search/{id}/rename-namespace', { body }), 'Renamed'))) return;
    onDone();
    onClose();
  };
  return (
    <Dialog title="Rename the index" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="New name" value={name} isRequired hint="Clients that use the old name get no results then." />
        <div>
          <button type="submit" class="button primary" disabled={name.value === index}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
