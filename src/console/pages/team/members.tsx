/** Members of a team and their roles: adding, removing, and deleting the team. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayChange, session } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { DangerButton, SmallDangerButton } from '../../parts/button.js';
import { asked as askedFirst } from '../../parts/dialog.js';
import { Choice, SubmitRow, TextField } from '../../parts/field.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { doing } from '../../parts/toast.js';
import { ROLES, type Team, type TeamMember } from './records.js';

export interface MembersProps {
  readonly team: Team;
  onDeleted(): void;
}

export function Members({ team, onDeleted }: MembersProps) {
  const { team_id: id, team_name: name } = team;
  const asked = useAsk(`members ${id}`, (signal) => manage('GET /v2/teams/{id}', { path: { id }, signal }));
  const own = asked.data?.find(({ member_email }) => member_email === session.value?.email)?.member_role;
  const mayManage = mayChange.value && (own === 'owner' || own === 'admin');
  const deleteTeam = async () => {
    const text =
      'It must be empty: no databases, search databases or queues of others. Its keys are refused from then on.';
    const question = { title: 'Delete this team?', text, action: 'Delete it', isDangerous: true, typed: name };
    if (!(await askedFirst(question))) return;
    if (await doing(() => manage('DELETE /v2/team/{id}', { path: { id } }), `${name} is deleted`)) onDeleted();
  };
  return (
    <section class="stack" aria-label={`Members of ${name}`}>
      <div class="row between">
        <h2 class="wrap-anywhere" dir="auto">
          Members of {name}
        </h2>
        {mayChange.value && own === 'owner' && <DangerButton onClick={deleteTeam}>Delete the team</DangerButton>}
      </div>
      <Shown asked={asked}>
        {(members) => (
          <Table
            label="Members"
            rows={members}
            idOf={({ member_email }) => member_email}
            columns={columnsWith(mayManage, asked.reload)}
          />
        )}
      </Shown>
      {mayManage && <AddMember team={team} onAdded={asked.reload} />}
    </section>
  );
}

function columnsWith(mayManage: boolean, onDone: () => void): readonly Column<TeamMember>[] {
  const remove = async ({ team_id, member_email }: TeamMember) => {
    const text = `${member_email} loses the team, with the keys that were made for it. Their own account stays.`;
    if (!(await askedFirst({ title: 'Remove from the team?', text, action: 'Remove', isDangerous: true }))) return;
    const work = () => manage('DELETE /v2/teams/member', { body: { team_id, member_email } });
    if (await doing(work, `${member_email} is no member any more`)) onDone();
  };
  return [
    {
      title: 'E-mail',
      cell: ({ member_email }) => (
        <span class="wrap-anywhere" dir="auto">
          {member_email}
        </span>
      ),
    },
    {
      title: 'Role',
      cell: ({ member_role }) => <Badge tone={member_role === 'owner' ? 'accent' : 'plain'}>{member_role}</Badge>,
    },
    ...(mayManage
      ? [
          {
            title: 'Actions',
            cell: (member: TeamMember) =>
              member.member_role === 'owner' ? null : (
                <SmallDangerButton onClick={() => remove(member)}>Remove</SmallDangerButton>
              ),
          },
        ]
      : []),
  ];
}

function AddMember({ team, onAdded }: { readonly team: Team; onAdded(): void }) {
  const email = useSignal('');
  const role = useSignal('dev');
  const send = async (event: Event) => {
    event.preventDefault();
    const body = { team_id: team.team_id, member_email: email.value.trim(), member_role: role.value };
    if (!(await doing(() => manage('POST /v2/teams/member', { body }), `${body.member_email} is a member now`))) return;
    email.value = '';
    onAdded();
  };
  return (
    <form class="card stack" onSubmit={send}>
      <h2>Add a member</h2>
      <div class="form-grid">
        <TextField
          label="E-mail"
          type="email"
          value={email}
          isRequired
          hint="Takes effect immediately; no invitation is sent."
        />
        <Choice label="Role" value={role} options={ROLES} hint="Changed by removing and adding." />
      </div>
      <SubmitRow>Add to the team</SubmitRow>
    </form>
  );
}
