/** Actions on a whole key: rename, copy, expire, delete. */
import { useSignal } from '@preact/signals';
import { CallError } from '../../../api/call.js';
import { binaryOfText, command, textOf, wordOf } from '../../../api/kv.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { SmallButton, SmallDangerButton } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Choice, SubmitButton, TextField } from '../../../parts/field.js';
import { setter } from '../../../parts/setter.js';
import { doing } from '../../../parts/toast.js';
import type { KeyPageProps, KeyRecord } from './key-record.js';

type KeyAction = 'rename' | 'copy' | 'expire';

export interface KeyActionsProps extends Omit<KeyPageProps, 'onSeen'> {
  readonly record: KeyRecord;
  onChanged(): void;
}

export function KeyActions(props: KeyActionsProps) {
  const opened = useSignal<KeyAction | undefined>(undefined);
  if (!mayChangeDatabases.value) return null;
  const close = () => {
    opened.value = undefined;
  };
  const button = (action: KeyAction, label: string) => (
    <SmallButton onClick={setter(opened, action)}>{label}</SmallButton>
  );
  return (
    <div class="row">
      {button('rename', 'Rename')}
      {button('copy', 'Copy')}
      {button('expire', 'Expiry')}
      <SmallDangerButton onClick={props.onDelete}>Delete</SmallDangerButton>
      {(opened.value === 'rename' || opened.value === 'copy') && (
        <NameDialog {...props} action={opened.value} onClose={close} />
      )}
      {opened.value === 'expire' && <ExpiryDialog {...props} onClose={close} />}
    </div>
  );
}

function NameDialog({ id, name, action, onClose, onMoved }: KeyActionsProps & { readonly action: 'rename' | 'copy' }) {
  const next = useSignal(textOf(name) ?? '');
  const isRename = action === 'rename';
  const send = async (event: Event) => {
    event.preventDefault();
    const work = async () => {
      const done = await command(id, isRename ? 'RENAMENX' : 'COPY', wordOf(name), next.value);
      if (done !== 1) throw new CallError(409, 'There is a key of that name already.');
    };
    if (!(await doing(work, isRename ? 'It has its new name.' : 'It is copied.'))) return;
    onClose();
    onMoved(binaryOfText(next.value));
  };
  return (
    <Dialog title={isRename ? 'Rename' : 'Copy'} onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label={isRename ? 'New name' : 'Name of the copy'} value={next} />
        <button type="submit" class="button primary" disabled={next.value === textOf(name)}>
          {isRename ? 'Rename' : 'Copy'}
        </button>
      </form>
    </Dialog>
  );
}

const EXPIRIES = [
  ['in', 'after seconds'],
  ['at', 'at a moment'],
  ['never', 'never: it stays'],
] as const;

function ExpiryDialog({ id, name, record, onClose, onChanged }: KeyActionsProps) {
  const how = useSignal<string>('in');
  const seconds = useSignal(record.ttlMs === null ? '3600' : String(Math.ceil(record.ttlMs / 1_000)));
  const moment = useSignal('');
  const send = async (event: Event) => {
    event.preventDefault();
    const key = wordOf(name);
    const work = () => {
      if (how.value === 'never') return command(id, 'PERSIST', key);
      if (how.value === 'in') return command(id, 'EXPIRE', key, seconds.value);
      return command(id, 'PEXPIREAT', key, new Date(moment.value).getTime());
    };
    if (!(await doing(work, how.value === 'never' ? 'It stays.' : 'It has its expiry.'))) return;
    onClose();
    onChanged();
  };
  return (
    <Dialog title="Expiry" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <Choice label="It expires" value={how} options={EXPIRIES} />
        {how.value === 'in' && <TextField label="Seconds" type="number" value={seconds} isRequired />}
        {how.value === 'at' && (
          <TextField label="Moment, in your zone" type="datetime-local" value={moment} isRequired />
        )}
        <SubmitButton>Set</SubmitButton>
      </form>
    </Dialog>
  );
}
