/** Shows, edits or adds one member of a collection. */
import { useSignal } from '@preact/signals';
import { mayChangeDatabases } from '../../../api/session.js';
import { Dialog } from '../../../parts/dialog.js';
import { Check, TextField } from '../../../parts/field.js';
import { doing } from '../../../parts/toast.js';
import type { CollectionKind, CollectionMember, Place } from './collections/collection.js';
import { editedBytes, useValueEdit, ValueField } from './value-editor.js';

export interface MemberDialogProps {
  readonly kind: CollectionKind;
  readonly place: Place;
  /** Undefined: a new member. */
  readonly member: CollectionMember | undefined;
  onClose(): void;
  onSaved(): void;
}

export function MemberDialog({ kind, place, member, onClose, onSaved }: MemberDialogProps) {
  const { name = '', value = '', score: oldScore = '0', ttlMs = null } = member ?? {};
  const isNew = member === undefined;
  const nameEdit = useValueEdit(name);
  const valueEdit = useValueEdit(value);
  const score = useSignal(oldScore);
  const ttl = useSignal(ttlMs === null ? '' : String(Math.ceil(ttlMs / 1_000)));
  const isAtHead = useSignal(false);
  const isReadOnly = !mayChangeDatabases.value;
  const has = (part: CollectionKind['parts'][number]) => kind.parts.includes(part);
  const send = async (event: Event) => {
    event.preventDefault();
    const work = async () => {
      const parts = { name: editedBytes(name, nameEdit), value: editedBytes(value, valueEdit) };
      await kind.save(place, member, { ...parts, score: score.value, ttl: ttl.value, isAtHead: isAtHead.value });
    };
    if (await doing(work, 'Saved.')) onSaved();
  };
  return (
    <Dialog
      title={isNew ? `Add: ${kind.nameLabel.toLowerCase()}` : kind.nameLabel}
      isLarge={has('value')}
      onClose={onClose}
    >
      <form class="stack" onSubmit={send}>
        {has('score') && <TextField label="Score" value={score} isRequired />}
        {has('name') && (
          <ValueField
            label={kind.nameLabel}
            value={name}
            edit={nameEdit}
            rows={has('value') ? 2 : 5}
            isReadOnly={isReadOnly || (!isNew && kind.isNameFixed)}
          />
        )}
        {has('value') && <ValueField label="Value" value={value} edit={valueEdit} rows={10} isReadOnly={isReadOnly} />}
        {has('ttl') && !isReadOnly && (
          <TextField label="Expires after seconds" type="number" value={ttl} hint="Empty: it stays." />
        )}
        {isNew && has('index') && <Check label="At the head, before all others" value={isAtHead} />}
        {!isReadOnly && (
          <button type="submit" class="button primary">
            {isNew ? 'Add' : 'Save'}
          </button>
        )}
      </form>
    </Dialog>
  );
}
