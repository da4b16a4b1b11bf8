/** A token for a user: a new random one, or the one for an existing password. It is shown once. */
import { useSignal } from '@preact/signals';
import { command, shownOf } from '../../../api/kv.js';
import { PrimaryButton } from '../../../parts/button.js';
import { Code } from '../../../parts/code.js';
import { Dialog } from '../../../parts/dialog.js';
import { TextField } from '../../../parts/field.js';
import { failed } from '../../../parts/toast.js';
import { addressesOf } from '../connect/addresses.js';
import type { DatabaseView } from '../records.js';

export interface TokenDialogProps {
  readonly database: DatabaseView;
  readonly user: string;
  onClose(): void;
}

export function TokenDialog({ database, user, onClose }: TokenDialogProps) {
  const id = database.database_id;
  const token = useSignal('');
  const password = useSignal('');
  const show = async (work: () => Promise<string>) => {
    try {
      token.value = await work();
    } catch (error) {
      failed(error);
    }
  };
  const ofPassword = (event: Event) => {
    event.preventDefault();
    void show(async () => shownOf(String(await command(id, 'ACL', 'RESTTOKEN', user, password.value))));
  };
  return (
    <Dialog title={`Token for ${user}`} onClose={onClose}>
      {token.value === '' ? (
        <>
          <p>A new one is added to those that it has; it is a password, too.</p>
          <PrimaryButton onClick={() => void show(() => newToken(id, user))}>Make a new token</PrimaryButton>
          <form class="stack" onSubmit={ofPassword}>
            <TextField label="Or show the token of a password" type="password" value={password} />
            <button type="submit" class="button" disabled={password.value === ''}>
              Show it
            </button>
          </form>
        </>
      ) : (
        <>
          <p>Copy it now: it is not shown again.</p>
          <Code text={token.value} />
          <Code text={`curl -H 'Authorization: Bearer ${token.value}' ${addressesOf(database, true).restUrl}/ping`} />
        </>
      )}
    </Dialog>
  );
}

async function newToken(id: string, user: string): Promise<string> {
  const token = shownOf(String(await command(id, 'ACL', 'GENTOKEN', user)));
  await command(id, 'ACL', 'SETUSER', user, `>${token}`);
  return token;
}
