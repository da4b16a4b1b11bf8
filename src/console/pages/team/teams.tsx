/** Teams of the user, and the members of the selected one. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage, queryText } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { mayChange } from '../../api/session.js';
import { Dialog } from '../../parts/dialog.js';
import { Check, SubmitRow, TextField } from '../../parts/field.js';
import { NewButton } from '../../parts/icon.js';
import { setter } from '../../parts/setter.js';
import { Empty, Shown } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { failed, said } from '../../parts/toast.js';
import { Members } from './members.js';
import type { Team } from './records.js';

const SAMPLE = `curl -u <e-mail>:<key> ${location.origin}/v2/team -d '{"team_name":"crew","copy_cc":false}'`;

export function Teams() {
  const [query, set] = usePageQuery();
  const isMaking = useSignal(false);
  const asked = useAsk('teams', (signal) => manage('GET /v2/teams', { signal }));
  const shown = asked.data?.find(({ team_id }) => team_id === query.team) ?? asked.data?.[0];
  const open = (id: string) => {
    set({ team: id });
    asked.reload();
  };
  return (
    <div class="stack">
      {mayChange.value && (
        <div>
          <NewButton isMaking={isMaking}>New team</NewButton>
        </div>
      )}
      <Shown asked={asked}>{(teams) => <TeamTable teams={teams} shown={shown} />}</Shown>
      {shown !== undefined && <Members key={shown.team_id} team={shown} onDeleted={() => open('')} />}
      {isMaking.value && <NewTeam onClose={setter(isMaking, false)} onMade={open} />}
    </div>
  );
}

interface TeamTableProps {
  readonly teams: readonly Team[];
  readonly shown: Team | undefined;
}

function TeamTable({ teams, shown }: TeamTableProps) {
  return (
    <Table
      label="Teams"
      rows={teams}
      idOf={({ team_id }) => team_id}
      empty={
        <Empty title="You are in no team" command={SAMPLE}>
          A team is an account of several people, with its own databases, search, queue and audit log.
        </Empty>
      }
      columns={[
        {
          title: 'Team',
          cell: ({ team_id, team_name }) => (
            <a
              class="wrap-anywhere"
              dir="auto"
              href={queryText({ tab: 'teams', team: team_id })}
              aria-current={team_id === shown?.team_id ? 'true' : undefined}
            >
              {team_name}
            </a>
          ),
        },
        { title: 'Id', isWideOnly: true, cell: ({ team_id }) => <code class="small">{team_id}</code> },
      ]}
    />
  );
}

interface NewTeamProps {
  onClose(): void;
  onMade(id: string): void;
}

function NewTeam({ onClose, onMade }: NewTeamProps) {
  const name = useSignal('');
  const copiesCard = useSignal(false);
  const send = async (event: Event) => {
    event.preventDefault();
    try {
      const body = { team_name: name.value.trim(), copy_cc: copiesCard.value };
      const made = await manage('POST /v2/team', { body });
      said(`${made.team_name} is there, and you are its owner`);
      onMade(made.team_id);
      onClose();
    } catch (error) {
      failed(error);
    }
  };
  return (
    <Dialog title="New team" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="Name" value={name} isRequired placeholder="crew" />
        <Check label="It pays as you do: a word in its record" value={copiesCard} />
        <SubmitRow>Create the team</SubmitRow>
      </form>
    </Dialog>
  );
}
