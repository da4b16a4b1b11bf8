/** Forms for an own role, and for giving a role to a person or a group. */
import { type Signal, signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { session } from '../../api/session.js';
import { Check, Choice, SubmitRow, TextField } from '../../parts/field.js';
import { Shown } from '../../parts/states.js';
import { doing } from '../../parts/toast.js';
import type { Right, Role } from './records.js';

export function NewRole({ onMade }: { onMade(): void }) {
  const asked = useAsk('rights', (signal) => manage('GET /v2/rights', { signal }));
  return <Shown asked={asked}>{(rights) => <RoleForm rights={rights} onMade={onMade} />}</Shown>;
}

/** Only rights of the session can be given. */
function RoleForm({ rights, onMade }: { readonly rights: readonly Right[]; onMade(): void }) {
  const name = useSignal('');
  const description = useSignal('');
  const own = rights.filter(({ right }) => session.value?.rights.includes(right) === true);
  const chosen = useMemo(() => new Map(own.map(({ right }) => [right, signal(false)])), []);
  const send = async (event: Event) => {
    event.preventDefault();
    const given = own.map(({ right }) => right).filter((right) => chosen.get(right)?.value === true);
    const body = { name: name.value.trim(), rights: given, description: description.value };
    if (!(await doing(() => manage('POST /v2/roles', { body }), `${body.name} is a role now`))) return;
    name.value = '';
    description.value = '';
    for (const one of chosen.values()) one.value = false;
    onMade();
  };
  return (
    <form class="card stack" onSubmit={send}>
      <h2>New role</h2>
      <div class="form-grid">
        <TextField label="Name of the role" value={name} isRequired placeholder="support" />
        <TextField label="Purpose" value={description} />
      </div>
      {own.map(({ right, about }) => (
        <Check key={right} label={`${right}: ${about}`} value={chosen.get(right) ?? signal(false)} />
      ))}
      <SubmitRow>Make the role</SubmitRow>
    </form>
  );
}

const SUBJECTS = [
  ['person', 'A person, by e-mail'],
  ['group', 'A group of an identity provider, as provider:group'],
] as const;

export function GiveRole({ roles, onGiven }: { readonly roles: readonly Role[]; onGiven(): void }) {
  const kind = useSignal('person');
  const to = useSignal('');
  const role = useSignal('viewer');
  const resource = useSignal('');
  const send = async (event: Event) => {
    event.preventDefault();
    const text = to.value.trim();
    const colon = text.indexOf(':');
    const group = { provider: text.slice(0, Math.max(colon, 0)), group: text.slice(colon + 1) };
    const subject = kind.value === 'person' ? { email: text } : group;
    const only = resource.value.trim();
    const body = { role: role.value, ...subject, ...(only !== '' && { resource_id: only }) };
    if (!(await doing(() => manage('POST /v2/role-assignments', { body }), `${text} has the role ${role.value}`)))
      return;
    to.value = '';
    resource.value = '';
    onGiven();
  };
  return (
    <form class="card stack" onSubmit={send}>
      <h2>Give a role</h2>
      <div class="form-grid">
        <Choice label="Given to" value={kind} options={SUBJECTS} />
        <TextField label="Who" value={to} isRequired hint="Takes effect immediately; no invitation is sent." />
        <Choice label="Given role" value={role} options={roles.map(({ name }) => [name, name] as const)} />
        <OnlyFor resource={resource} />
      </div>
      <SubmitRow>Give the role</SubmitRow>
    </form>
  );
}

/** The resource that a role is limited to. */
export function OnlyFor({ resource }: { readonly resource: Signal<string> }) {
  const hint = 'The id of a database, queue account or index. Empty: the account.';
  return <TextField label="Only for" value={resource} hint={hint} />;
}
