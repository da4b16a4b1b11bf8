/** Actions on one part of an index: rename, empty, delete. */
import { useSignal } from '@preact/signals';
import { SmallButton, SmallDangerButton } from '../../parts/button.js';
import { asked, Dialog } from '../../parts/dialog.js';
import { SubmitRow, TextField } from '../../parts/field.js';
import { setter } from '../../parts/setter.js';
import { doing } from '../../parts/toast.js';
import { type IndexPlane, type IndexRecord, shownPart } from './plane.js';

export interface PartActionsProps {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  readonly part: string;
  onChanged(): void;
}

export function PartActions({ plane, database, part, onChanged }: PartActionsProps) {
  const isRenaming = useSignal(false);
  const { id } = database;
  const empty = async () => {
    const text = `All its ${plane.item}s are deleted; the ${plane.part} stays. It cannot be taken back.`;
    const title = `Delete all ${plane.item}s?`;
    if (!(await asked({ title, text, action: 'Delete them', isDangerous: true, typed: shownPart(part) }))) return;
    if (await doing(() => plane.emptyPart(id, part), `The ${plane.part} is empty`)) onChanged();
  };
  const remove = async () => {
    const text = `The ${plane.part} goes with all its ${plane.item}s. It cannot be taken back.`;
    const title = `Delete this ${plane.part}?`;
    if (!(await asked({ title, text, action: 'Delete it', isDangerous: true, typed: part }))) return;
    if (await doing(() => plane.removePart(id, part), `The ${plane.part} is deleted`)) onChanged();
  };
  return (
    <div class="row">
      {part !== '' && <SmallButton onClick={setter(isRenaming, true)}>Rename</SmallButton>}
      <SmallDangerButton onClick={empty}>Empty</SmallDangerButton>
      {part !== '' && <SmallDangerButton onClick={remove}>Delete</SmallDangerButton>}
      {isRenaming.value && (
        <Renaming plane={plane} id={id} part={part} onClose={setter(isRenaming, false)} onDone={onChanged} />
      )}
    </div>
  );
}

interface RenamingProps {
  readonly plane: IndexPlane;
  readonly id: string;
  readonly part: string;
  onClose(): void;
  onDone(): void;
}

function Renaming({ plane, id, part, onClose, onDone }: RenamingProps) {
  const name = useSignal(part);
  const send = async (event: Event) => {
    event.preventDefault();
    const names = { namespace: part, newNamespace: name.value };
    if (!(await doing(() => plane.renamePart(id, names), 'Renamed'))) return;
    onDone();
    onClose();
  };
  return (
    <Dialog title={`Rename the ${plane.part}`} onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="New name" value={name} isRequired hint="Clients that use the old name get no results then." />
        <SubmitRow isDisabled={name.value === part}>Rename</SubmitRow>
      </form>
    </Dialog>
  );
}
