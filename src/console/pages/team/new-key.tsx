/** Creates an API key and shows it once. */
import { useSignal } from '@preact/signals';
import { manage } from '../../api/call.js';
import { Code } from '../../parts/code.js';
import { Dialog } from '../../parts/dialog.js';
import { Check, Choice, TextField } from '../../parts/field.js';
import { failed } from '../../parts/toast.js';
import type { MadeApiKey, Team } from './records.js';

export interface NewApiKeyProps {
  readonly teams: readonly Team[];
  onClose(): void;
  onMade(): void;
}

export function NewApiKey({ teams, onClose, onMade }: NewApiKeyProps) {
  const name = useSignal('');
  const team = useSignal('');
  const isReadOnly = useSignal(false);
  const made = useSignal<MadeApiKey | undefined>(undefined);
  const send = async (event: Event) => {
    event.preventDefault();
    const ofTeam = team.value === '' ? {} : { team_id: team.value };
    try {
      const body = { name: name.value.trim(), readonly: isReadOnly.value, ...ofTeam };
      made.value = await manage('POST /v2/apikey', { body });
      onMade();
    } catch (error) {
      failed(error);
    }
  };
  if (made.value !== undefined) {
    const close = (
      <button type="button" class="button primary" onClick={onClose}>
        I have kept it
      </button>
    );
    return (
      <Dialog title={`Key ${made.value.name}`} foot={close} onClose={onClose}>
        <p class="note warn">This is the only time it is shown: copy it now.</p>
        <Code text={made.value.api_key} />
      </Dialog>
    );
  }
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="Name" value={name} isRequired placeholder="deploys" />
        <Choice
          label="Account"
          value={team}
          options={[['', 'The one I am signed in to'], ...teams.map((one) => [one.team_id, one.team_name] as const)]}
        />
        <Check label="Read-only: it sees everything and cannot make changes" value={isReadOnly} />
        <div>
          <button type="submit" class="button primary">
            Make the key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
