/** The form for a user's name and rules. It sets all rules, so the form shows the complete result. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { command } from '../../../api/kv.js';
import { Dialog } from '../../../parts/dialog.js';
import { Check, Choice, TextField } from '../../../parts/field.js';
import { doing } from '../../../parts/toast.js';
import { type AclUserLine, ruleWords } from './rules.js';

export interface UserDialogProps {
  readonly database: string;
  /** Default: a new user. */
  readonly user?: AclUserLine;
  onClose(): void;
}

const EXAMPLES = [
  ['~* resetchannels &* +@all', 'Everything'],
  ['~* resetchannels +@read +ping', 'Read all keys'],
  ['%R~user:* resetchannels +@read', 'Read keys that begin with user:'],
  ['~app:* resetchannels &app:* +@all -@dangerous -@admin', 'All but dangerous commands, below app:'],
] as const;

export function UserDialog({ database, user, onClose }: UserDialogProps) {
  const name = useSignal(user?.name ?? '');
  const isOn = useSignal(user?.isOn ?? true);
  const given = user?.rules.filter((rule) => rule !== 'on' && rule !== 'off') ?? [];
  const rules = useSignal(user === undefined ? EXAMPLES[1][0] : given.join(' '));
  const example = useSignal('');
  const password = useSignal('');
  const send = async (event: Event) => {
    event.preventDefault();
    const words = ['reset', isOn.value ? 'on' : 'off', ...ruleWords(rules.value)];
    if (password.value !== '') words.push(`>${password.value}`);
    const isDone = await doing(
      () => command(database, 'ACL', 'SETUSER', name.value.trim(), ...words),
      `${name.value} is set.`,
    );
    if (isDone) onClose();
  };
  useSignalEffect(() => {
    if (example.value !== '') rules.value = example.value;
  });
  return (
    <Dialog title={user === undefined ? 'New user' : `User ${user.name}`} onClose={onClose}>
      <form class="stack" onSubmit={send}>
        {user === undefined && <TextField label="Name" value={name} isRequired placeholder="reader" />}
        {user === undefined && (
          <Choice label="Begin with" value={example} options={[['', 'rules of your own'], ...EXAMPLES]} />
        )}
        <TextField
          label="Rules"
          value={rules}
          isLong
          rows={4}
          hint="Redis's: +command, -command, +@category, ~pattern of keys, %R~ and %W~, &channel, (a selector)."
        />
        <TextField
          label={user === undefined ? 'Password' : 'One more password'}
          type="password"
          value={password}
          hint="12 characters or more. Left empty: none is added, and a token can be made later."
        />
        <Check label="May sign in" value={isOn} />
        <button type="submit" class="button primary" disabled={name.value.trim() === ''}>
          {user === undefined ? 'Make it' : 'Save'}
        </button>
      </form>
    </Dialog>
  );
}
