/** Creates an API key, also with a role, and shows it once. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { maySeeAccount, session } from '../../api/session.js';
import { PrimaryButton } from '../../parts/button.js';
import { Code } from '../../parts/code.js';
import { Dialog } from '../../parts/dialog.js';
import { Check, Choice, SubmitRow, TextField } from '../../parts/field.js';
import { failed } from '../../parts/toast.js';
import type { MadeApiKey, Role, Team } from './records.js';
import { OnlyFor } from './role-forms.js';

export interface NewApiKeyProps {
  readonly teams: readonly Team[];
  onClose(): void;
  onMade(): void;
}

export function NewApiKey({ teams, onClose, onMade }: NewApiKeyProps) {
  const name = useSignal('');
  const team = useSignal('');
  const role = useSignal('');
  const resource = useSignal('');
  const isReadOnly = useSignal(false);
  const roles = useAsk(maySeeAccount.value ? 'roles of keys' : undefined, (signal) =>
    manage('GET /v2/roles', { signal }),
  );
  const made = useSignal<MadeApiKey | undefined>(undefined);
  const send = async (event: Event) => {
    event.preventDefault();
    const ofTeam = team.value === '' ? {} : { team_id: team.value };
    const only = resource.value.trim();
    const limit = role.value === '' ? {} : { role: role.value, ...(only !== '' && { resource_id: only }) };
    try {
      const body = { name: name.value.trim(), readonly: isReadOnly.value, ...ofTeam, ...limit };
      made.value = await manage('POST /v2/apikey', { body });
      onMade();
    } catch (error) {
      failed(error);
    }
  };
  if (made.value !== undefined) return <Made made={made.value} onClose={onClose} />;
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="Name" value={name} isRequired placeholder="deploys" />
        <Choice
          label="Account"
          value={team}
          options={[['', 'The one I am signed in to'], ...teams.map((one) => [one.team_id, one.team_name] as const)]}
        />
        <Choice
          label="Role"
          value={role}
          options={[['', 'None: all rights of its person'], ...rolesFor(team.value, roles.data ?? [])]}
          hint="A key with a role has only the rights of the role, and makes no keys."
        />
        {role.value !== '' && <OnlyFor resource={resource} />}
        <Check label="Read-only: it sees everything and cannot make changes" value={isReadOnly} />
        <SubmitRow>Make the key</SubmitRow>
      </form>
    </Dialog>
  );
}

function Made({ made, onClose }: { readonly made: MadeApiKey; onClose(): void }) {
  const close = <PrimaryButton onClick={onClose}>I have kept it</PrimaryButton>;
  return (
    <Dialog title={`Key ${made.name}`} foot={close} onClose={onClose}>
      <p class="note warn">This is the only time it is shown: copy it now.</p>
      <Code text={made.api_key} />
    </Dialog>
  );
}

/** Own roles are known for the account of the session alone. @param team '': that account */
function rolesFor(team: string, roles: readonly Role[]): readonly (readonly [value: string, label: string])[] {
  const isHere = team === '' || team === session.value?.customer_id;
  return roles.filter(({ built_in }) => built_in || isHere).map(({ name }) => [name, name] as const);
}
