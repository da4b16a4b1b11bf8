/** The keys that a branch has changed, its held messages, and merging keys into the origin. */
import { useSignal } from '@preact/signals';
import type { Operations } from '#api';
import { useAsk } from '../../../api/ask.js';
import { manage } from '../../../api/call.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { Badge } from '../../../parts/badge.js';
import { asked } from '../../../parts/dialog.js';
import { SubmitButton } from '../../../parts/field.js';
import { counted } from '../../../parts/format.js';
import { Empty, Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { failed, said } from '../../../parts/toast.js';
import type { Branch } from '../records.js';

type Difference = Operations['GET /v2/kv/branch/{id}/diff']['differences'][number];

const MOST_KEYS = 200;

export function BranchDetails({ branch, onMerged }: { readonly branch: Branch; onMerged(): void }) {
  const id = branch.branch_id;
  const keys = useSignal('');
  const query = { limit: String(MOST_KEYS), keys: keys.value.trim() };
  const list = useAsk(`branch diff ${id} ${query.keys}`, (signal) =>
    manage('GET /v2/kv/branch/{id}/diff', { path: { id }, query, signal }),
  );
  const merge = async (event: Event) => {
    event.preventDefault();
    await merged(branch, query.keys);
    list.reload();
    onMerged();
  };
  return (
    <section class="card stack" aria-label={`Differences of ${branch.name}`}>
      <h2>Changes of {branch.name}</h2>
      <form class="db-setting" onSubmit={merge}>
        <label class="field">
          <span>Only keys like</span>
          <input
            value={keys.value}
            placeholder="user:*"
            autocomplete="off"
            onChange={({ currentTarget }) => {
              keys.value = currentTarget.value;
            }}
          />
        </label>
        {mayChangeDatabases.value && <SubmitButton>Merge these keys</SubmitButton>}
      </form>
      <Shown asked={list}>
        {({ differences, more }) => (
          <>
            <Table
              label={`Keys that ${branch.name} has changed`}
              columns={COLUMNS}
              rows={differences}
              idOf={({ key, key_base64 }) => key_base64 ?? key}
              empty={<Empty title="No key differs" />}
            />
            {more && <p class="small muted">There are more than {MOST_KEYS} keys: give a pattern.</p>}
          </>
        )}
      </Shown>
      <HeldMessages id={id} />
    </section>
  );
}

function HeldMessages({ id }: { readonly id: string }) {
  const held = useAsk(`branch messages ${id}`, (signal) =>
    manage('GET /v2/kv/branch/{id}/messages', { path: { id }, signal }),
  );
  return (
    <Shown asked={held}>
      {({ count, messages }) => (
        <details>
          <summary>{counted(count, 'held message')}</summary>
          <pre class="code wrap-anywhere">{messages.map((message) => JSON.stringify(message)).join('\n')}</pre>
        </details>
      )}
    </Shown>
  );
}

const COLUMNS: readonly Column<Difference>[] = [
  {
    title: 'Key',
    cell: ({ key }) => (
      <span class="mono wrap-anywhere" dir="auto">
        {key}
      </span>
    ),
  },
  { title: 'Type', isWideOnly: true, cell: ({ type }) => type },
  { title: 'In the branch', cell: ({ branch }) => branch },
  {
    title: 'In the origin',
    cell: ({ origin, conflict }) => (
      <span class="row">
        {origin === 'same' ? '–' : origin}
        {conflict && <Badge tone="bad">conflict</Badge>}
      </span>
    ),
  },
];

/** Tries without writing first, so that conflicts are decided before the merge. */
async function merged({ branch_id: id, name }: Branch, pattern: string): Promise<void> {
  const keys = pattern === '' ? {} : { keys: pattern };
  const send = (body: object) => manage('POST /v2/kv/branch/{id}/merge', { path: { id }, body: { ...keys, ...body } });
  try {
    const plan = await send({ dry_run: true });
    const count = plan.conflict_count;
    const isSure = await asked({
      title: `Merge ${name}?`,
      text:
        count === 0
          ? `${counted(plan.written, 'key')} written and ${plan.removed} removed, in one transaction.`
          : `${counted(count, 'key')} changed on both sides: the values of the origin stay. ${counted(plan.written, 'other key')} written, ${plan.removed} removed.`,
      action: 'Merge',
    });
    if (!isSure) return;
    const { written, removed } = await send(count === 0 ? {} : { prefer: 'origin' });
    said(`${counted(written, 'key')} written, ${removed} removed.`);
  } catch (error) {
    failed(error);
  }
}
