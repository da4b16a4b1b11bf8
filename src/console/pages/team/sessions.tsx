/** Sessions of the signed-in user; for an owner or admin those of the account. */
import type { Operations } from '#api';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayChange } from '../../api/session.js';
import { SmallDangerButton } from '../../parts/button.js';
import { asked as askedFirst } from '../../parts/dialog.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';

type Listed = Operations['GET /v2/sessions'][number];

const EVERY_MS = 15_000;

export function Sessions() {
  const asked = useAsk('sessions', (signal) => manage('GET /v2/sessions', { signal }), EVERY_MS);
  const end = async ({ session_id: id, email }: Listed) => {
    const text = `${email} has to sign in again. A key or a role stays valid.`;
    if (!(await askedFirst({ title: 'End this session?', text, action: 'End it', isDangerous: true }))) return;
    const work = () => manage('DELETE /v2/sessions/{id}', { path: { id } });
    if (await doing(work, 'The session is ended')) asked.reload();
  };
  return (
    <div class="stack">
      <p class="muted">
        People who are signed in, with the time and the address. All processes refuse a session that was ended.
      </p>
      <Shown asked={asked}>
        {(sessions) => (
          <Table
            label="Sessions"
            rows={sessions}
            idOf={({ session_id }) => session_id}
            columns={columnsWith(end)}
            empty={<Empty title="No session is recorded yet" />}
          />
        )}
      </Shown>
    </div>
  );
}

function columnsWith(end: (session: Listed) => void): readonly Column<Listed>[] {
  const action: Column<Listed> = {
    title: 'Actions',
    cell: (session) => <SmallDangerButton onClick={() => end(session)}>End</SmallDangerButton>,
  };
  return [
    { title: 'Person', cell: ({ email }) => <span class="wrap-anywhere">{email}</span> },
    { title: 'By', cell: ({ provider, key }) => (provider === '' ? `key ${key}` : provider) },
    {
      title: 'Since',
      cell: ({ creation_time }) => (
        <span class="nowrap">
          <Time at={creation_time * 1_000} as="past" />
        </span>
      ),
    },
    { title: 'Address', isWideOnly: true, cell: ({ ip }) => <code class="small">{ip}</code> },
    {
      title: 'Client',
      isWideOnly: true,
      cell: ({ agent }) => <span class="small wrap-anywhere">{agent.slice(0, 80)}</span>,
    },
    ...(mayChange.value ? [action] : []),
  ];
}
