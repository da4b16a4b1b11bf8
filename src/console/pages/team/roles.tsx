/** Roles of the account: their rights, the people and groups who have them, own roles. */
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayGiveRoles } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { SmallDangerButton } from '../../parts/button.js';
import { asked as askedFirst } from '../../parts/dialog.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { doing } from '../../parts/toast.js';
import type { Role, RoleAssignment } from './records.js';
import { GiveRole, NewRole } from './role-forms.js';

export function Roles() {
  const roles = useAsk('roles', (signal) => manage('GET /v2/roles', { signal }));
  const given = useAsk('role assignments', (signal) => manage('GET /v2/role-assignments', { signal }));
  const reload = () => {
    roles.reload();
    given.reload();
  };
  const remove = async ({ name }: Role) => {
    const text = 'People and groups lose the role, and keys that have it are refused from then on.';
    const question = { title: 'Delete this role?', text, action: 'Delete it', isDangerous: true, typed: name };
    if (!(await askedFirst(question))) return;
    if (await doing(() => manage('DELETE /v2/roles/{name}', { path: { name } }), `${name} is deleted`)) reload();
  };
  const take = async (one: RoleAssignment) => {
    const work = () => manage('DELETE /v2/role-assignments/{id}', { path: { id: one.assignment_id } });
    if (await doing(work, `${subjectOf(one)} has lost the role ${one.role}`)) reload();
  };
  return (
    <div class="stack">
      <p class="muted">
        A role is a list of rights. A person has the rights of all roles together: as a member of the team, and those
        given here.
      </p>
      <Shown asked={roles}>
        {(all) => <Table label="Roles" rows={all} idOf={({ name }) => name} columns={roleColumns(remove)} />}
      </Shown>
      {mayGiveRoles.value && <NewRole onMade={reload} />}
      <h2>Given roles</h2>
      <Shown asked={given}>
        {(all) =>
          all.length === 0 ? (
            <p class="muted">No role is given to a person or a group.</p>
          ) : (
            <Table label="Given roles" rows={all} idOf={(one) => one.assignment_id} columns={givenColumns(take)} />
          )
        }
      </Shown>
      {mayGiveRoles.value && <GiveRole roles={roles.data ?? []} onGiven={reload} />}
    </div>
  );
}

function roleColumns(remove: (role: Role) => void): readonly Column<Role>[] {
  return [
    {
      title: 'Role',
      cell: ({ name, built_in }) => (
        <span class="wrap-anywhere" dir="auto">
          {name} {!built_in && <Badge tone="accent">own</Badge>}
        </span>
      ),
    },
    { title: 'Rights', cell: ({ rights }) => <span class="small muted wrap-anywhere">{rights.join(', ')}</span> },
    ...(mayGiveRoles.value
      ? [
          {
            title: 'Actions',
            cell: (role: Role) =>
              role.built_in ? null : <SmallDangerButton onClick={() => remove(role)}>Delete</SmallDangerButton>,
          },
        ]
      : []),
  ];
}

function givenColumns(take: (one: RoleAssignment) => void): readonly Column<RoleAssignment>[] {
  return [
    {
      title: 'To',
      cell: (one) => (
        <span class="wrap-anywhere" dir="auto">
          {subjectOf(one)}
        </span>
      ),
    },
    { title: 'Role', cell: ({ role }) => <Badge>{role}</Badge> },
    {
      title: 'For',
      isWideOnly: true,
      cell: ({ resource_id: id }) => (id === '' ? 'the account' : <code class="wrap-anywhere">{id}</code>),
    },
    ...(mayGiveRoles.value
      ? [
          {
            title: 'Actions',
            cell: (one: RoleAssignment) => <SmallDangerButton onClick={() => take(one)}>Take away</SmallDangerButton>,
          },
        ]
      : []),
  ];
}

function subjectOf({ email, provider, group }: RoleAssignment): string {
  return email === '' ? `${group} (${provider})` : email;
}
