/** Branches of a database: making, comparing, merging and discarding them. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../../api/ask.js';
import { manage } from '../../../api/call.js';
import { mayChangeDatabases, mayUseData } from '../../../api/session.js';
import { Badge } from '../../../parts/badge.js';
import { SmallButton, SmallDangerButton } from '../../../parts/button.js';
import { CodeText } from '../../../parts/code-text.js';
import { asked } from '../../../parts/dialog.js';
import { bytes } from '../../../parts/format.js';
import { Empty, Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { doing } from '../../../parts/toast.js';
import { NameForm } from '../name-form.js';
import type { Branch, DatabaseTabProps } from '../records.js';
import { BranchDetails } from './branch-details.js';
import { UndoForm } from './undo-form.js';

const REFRESH_MS = 10_000;

export function BranchesTab({ database }: DatabaseTabProps) {
  const id = database.database_id;
  const opened = useSignal<string | undefined>(undefined);
  const list = useAsk(
    `branches ${id}`,
    (signal) => manage('GET /v2/kv/database/{id}/branches', { path: { id }, signal }),
    REFRESH_MS,
  );
  if (database.branch_of !== undefined) return <OfBranch origin={database.branch_of} />;
  const isAllowed = mayChangeDatabases.value && mayUseData.value;
  const open = (branch: string | undefined) => {
    opened.value = branch;
  };
  const columns = isAllowed ? [...COLUMNS, actionsOf(opened.value, list.reload, open)] : COLUMNS;
  return (
    <div class="stack">
      {isAllowed && <NewBranch id={id} onMade={list.reload} />}
      <Shown asked={list}>
        {(branches) => {
          const shown = branches.find(({ branch_id }) => branch_id === opened.value);
          return (
            <>
              <Table
                label="Branches"
                columns={columns}
                rows={branches}
                idOf={(branch) => branch.branch_id}
                empty={
                  <Empty title="There is no branch">
                    A branch is a separate database that begins with the keys of this one: try a change there first.
                  </Empty>
                }
              />
              {shown !== undefined && <BranchDetails branch={shown} onMerged={list.reload} />}
            </>
          );
        }}
      </Shown>
      {isAllowed && <UndoForm id={id} />}
      <p class="small muted">
        <CodeText text="On the command line: `millrace branch` and `millrace undo`." />
      </p>
    </div>
  );
}

function OfBranch({ origin }: { readonly origin: string }) {
  return (
    <Empty title="This database is a branch">
      It is compared and merged on the page of <a href={`/console/databases/${origin}?tab=branches`}>its origin</a>.
    </Empty>
  );
}

const COLUMNS: readonly Column<Branch>[] = [
  {
    title: 'Name',
    cell: ({ name, branch_id, live }) => (
      <span class="row">
        <a class="wrap-anywhere" dir="auto" href={`/console/databases/${branch_id}`}>
          {name}
        </a>
        {live && <Badge tone="warn">sends messages</Badge>}
      </span>
    ),
  },
  { title: 'Data of', isWideOnly: true, cell: ({ at }) => <Time at={Date.parse(at)} as="past" /> },
  { title: 'Expires', cell: ({ expires_at }) => <Time at={Date.parse(expires_at)} as="ago" /> },
  {
    title: 'Retained',
    isNumber: true,
    isWideOnly: true,
    cell: ({ retained_bytes, copied_bytes }) => bytes(retained_bytes + copied_bytes),
  },
];

function actionsOf(
  opened: string | undefined,
  reload: () => void,
  open: (id: string | undefined) => void,
): Column<Branch> {
  const discard = async ({ branch_id: id, name }: Branch) => {
    const isSure = await asked({
      title: `Discard “${name}”?`,
      text: 'Its data and its held messages are deleted.',
      action: 'Discard',
      isDangerous: true,
    });
    if (!isSure) return;
    await doing(() => manage('DELETE /v2/kv/branch/{id}', { path: { id } }), `${name} is discarded.`);
    reload();
  };
  return {
    title: 'Actions',
    cell: (branch) => (
      <span class="row">
        <SmallButton
          aria-expanded={opened === branch.branch_id}
          onClick={() => open(opened === branch.branch_id ? undefined : branch.branch_id)}
        >
          Compare
        </SmallButton>
        <SmallDangerButton onClick={() => void discard(branch)}>Discard</SmallDangerButton>
      </span>
    ),
  };
}

function NewBranch({ id, onMade }: { readonly id: string; onMade(): void }) {
  const make = (name: string) =>
    doing(
      () => manage('POST /v2/kv/database/{id}/branches', { path: { id }, body: { name } }),
      `${name} is made. It exists for a day.`,
    );
  return (
    <NameForm label="Name of a new branch" placeholder="rehearsal" action="Make a branch" make={make} onMade={onMade} />
  );
}
