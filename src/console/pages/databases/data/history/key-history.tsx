/** The history of a key: its versions, the difference of two of them, and a way back to each. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../../../api/ask.js';
import { textOf } from '../../../../api/kv.js';
import { mayChangeDatabases } from '../../../../api/session.js';
import { Badge } from '../../../../parts/badge.js';
import { PrimaryButton } from '../../../../parts/button.js';
import { asked as askedFor } from '../../../../parts/dialog.js';
import { Choice } from '../../../../parts/field.js';
import { bytes, counted } from '../../../../parts/format.js';
import { Empty, Shown } from '../../../../parts/states.js';
import { type Column, Table } from '../../../../parts/table.js';
import { momentText, Time } from '../../../../parts/time.js';
import { doing } from '../../../../parts/toast.js';
import type { PastLook } from '../../../past/moments.js';
import { linesOf } from '../../../past/value-shapes.js';
import { LineDiff } from './line-diff.js';
import { restoreVersion, type Version, type Versions, valueAfter, versionsOf } from './versions.js';

export interface KeyHistoryProps {
  readonly id: string;
  /** A binary string. */
  readonly name: string;
  /** Called after a version is restored. */
  onRestored(): void;
}

export default function KeyHistory({ id, name, onRestored }: KeyHistoryProps) {
  const asked = useAsk(`history ${id} ${name}`, () => versionsOf(id, name));
  const chosen = useSignal<number | undefined>(undefined);
  const restore = async (version: Version, value: PastLook) => {
    const isSure = await askedFor({
      title: 'Restore this version?',
      text: `The key gets its value of ${momentText(version.atMs)} again. The current value stays in the history.`,
      action: 'Restore',
    });
    if (!isSure || !(await doing(() => restoreVersion(id, name, value), 'The version is restored.'))) return;
    chosen.value = undefined;
    await asked.reload();
    onRestored();
  };
  return (
    <Shown asked={asked} rows={5}>
      {({ versions, hasOlder }) => {
        const shown = versions.find(({ position }) => position === chosen.value) ?? versions[0];
        if (shown === undefined) {
          return <Empty title="The journal has no change of this key">Its entries are no longer kept.</Empty>;
        }
        return (
          <div class="stack">
            <VersionTable
              versions={versions}
              shown={shown}
              onChoose={({ position }) => {
                chosen.value = position;
              }}
            />
            {hasOlder && <p class="small muted">{`These are the newest ${counted(versions.length, 'version')}.`}</p>}
            <OneVersion key={shown.position} {...{ id, name, versions, shown }} onRestore={restore} />
          </div>
        );
      }}
    </Shown>
  );
}

interface VersionTableProps extends Pick<Versions, 'versions'> {
  readonly shown: Version;
  onChoose(version: Version): void;
}

function VersionTable({ versions, shown, onChoose }: VersionTableProps) {
  const columns: readonly Column<Version>[] = [
    {
      title: 'Version',
      cell: (version) => (
        <button type="button" class="link nowrap" onClick={() => onChoose(version)}>
          {momentText(version.atMs)}
        </button>
      ),
    },
    {
      title: 'Change',
      cell: ({ commands, known }) =>
        known === null ? <Badge tone="bad">deleted</Badge> : <code class="wrap-anywhere">{commands.join(', ')}</code>,
    },
    { title: 'Written', isNumber: true, cell: ({ bytes: written }) => bytes(written) },
    { title: 'By', isWideOnly: true, cell: ({ author }) => author ?? <span class="muted">a client</span> },
  ];
  return (
    <div class="versions">
      <Table
        label="Versions"
        columns={columns}
        rows={versions}
        idOf={({ position }) => String(position)}
        current={String(shown.position)}
      />
    </div>
  );
}

interface OneVersionProps extends Pick<KeyHistoryProps, 'id' | 'name'>, Pick<Versions, 'versions'> {
  readonly shown: Version;
  onRestore(version: Version, value: PastLook): Promise<void>;
}

const PREVIOUS = 'previous';

function OneVersion({ id, name, versions, shown, onRestore }: OneVersionProps) {
  const [newest] = versions;
  const against = useSignal(PREVIOUS);
  const previous = versions[versions.indexOf(shown) + 1] ?? { position: shown.position - 1, known: undefined };
  const other = versions.find(({ position }) => String(position) === against.value) ?? previous;
  const asked = useAsk(`version ${id} ${name} ${shown.position} ${other.position}`, async () => {
    // One after the other: an account may replay one moment at a time.
    const value = await lookOf(id, name, shown);
    // The journal may no longer reach back to the moment before the oldest version.
    return { value, compared: await lookOf(id, name, other).catch(() => undefined) };
  });
  const isNewest = shown === newest;
  const options = [
    [PREVIOUS, 'the version before'],
    ...versions
      .filter((version) => version !== shown)
      .map(({ position, atMs }): readonly [string, string] => [String(position), momentText(atMs)]),
  ] as const;
  return (
    <section class="stack tight" aria-label="The version">
      <div class="row between top">
        <div>
          <h3>{isNewest ? 'The current version' : 'Version of'}</h3>
          <Time at={shown.atMs} />
        </div>
        {mayChangeDatabases.value && !isNewest && textOf(name) !== undefined && (
          <PrimaryButton
            disabled={asked.data?.value === undefined}
            onClick={() => asked.data?.value !== undefined && void onRestore(shown, asked.data.value)}
          >
            Restore this version
          </PrimaryButton>
        )}
      </div>
      <Choice label="Compared with" value={against} options={options} />
      <Shown asked={asked} rows={3}>
        {({ value, compared }) => (
          <>
            {value === undefined && <p class="muted">The key did not exist after this change.</p>}
            {compared === undefined && value !== undefined && <p class="muted">The key did not exist before.</p>}
            <LineDiff before={linesOf(compared)} after={linesOf(value)} />
          </>
        )}
      </Shown>
    </section>
  );
}

async function lookOf(id: string, name: string, { known, position }: Pick<Version, 'known' | 'position'>) {
  return known === undefined ? valueAfter(id, name, position) : (known ?? undefined);
}
