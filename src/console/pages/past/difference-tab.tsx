/** The differences of a database between two moments, by key, with the entries that made them. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { usePageQuery } from '../../api/query.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { whole } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { useActivity } from './activity.js';
import { MomentChoice } from './moment-choice.js';
import {
  addressOf,
  type Change,
  changesBetween,
  isInAddress,
  moment,
  type OneDatabase,
  type PastLook,
  shownText,
} from './moments.js';
import { PastValue } from './past-value.js';

const TONES: Readonly<Record<Change['change'], Tone>> = {
  created: 'good',
  changed: 'info',
  deleted: 'bad',
  same: 'plain',
  settings: 'plain',
};

/** Rows rendered at a time. */
const SHOWN = 100;

export function DifferenceTab({ database }: { readonly database: OneDatabase }) {
  const [query, set] = usePageQuery();
  const createdMs = database.creation_time * 1_000;
  const fromMs = Number(query.from) || createdMs;
  const toMs = Number(query.to) || Date.now();
  const asked = useAsk(`diff ${database.database_id} ${fromMs} ${query.to ?? ''}`, () =>
    changesBetween(database.database_id, moment(Math.min(fromMs, toMs)), moment(Math.max(fromMs, toMs))),
  );
  const activity = useActivity(database).data;
  const shared = { fromMs: createdMs, activity };
  return (
    <div class="stack">
      <div class="grid wide">
        <MomentChoice label="From" {...shared} atMs={fromMs} onChoose={(ms) => set({ from: String(ms) })} />
        <MomentChoice label="To" {...shared} atMs={toMs} onChoose={(ms) => set({ to: String(ms) })} />
      </div>
      <Shown asked={asked} rows={8}>
        {({ changes, more }) => (
          <Changes
            changes={changes}
            hasMore={more}
            onOpen={(key) => set({ from: String(fromMs), to: String(toMs), ...addressOf(key) }, false)}
          />
        )}
      </Shown>
    </div>
  );
}

interface ChangesProps {
  readonly changes: readonly Change[];
  readonly hasMore: boolean;
  /** Undefined: closes the open change. */
  onOpen(key: Change['key'] | undefined): void;
}

function Changes({ changes, hasMore, onOpen }: ChangesProps) {
  const [query] = usePageQuery();
  const shown = useSignal(SHOWN);
  const settings = useSignal<Change | undefined>(undefined);
  const opened = settings.value ?? changes.find(({ key }) => isInAddress(key, query));
  const columns = columnsOf((change) => {
    if (change.key === null) settings.value = change;
    else onOpen(change.key);
  });
  return (
    <>
      <Table
        label="Changed keys"
        columns={columns}
        rows={changes.slice(0, shown.value)}
        idOf={({ key }) => shownText(key)}
        empty={<Empty title="No changes between these moments" />}
      />
      {changes.length > shown.value && (
        <div class="row">
          <Button
            onClick={() => {
              shown.value += SHOWN;
            }}
          >
            Show more of {whole(changes.length)}
          </Button>
        </div>
      )}
      {hasMore && <p class="note warn">There is more than is shown: choose moments that are closer.</p>}
      {opened !== undefined && (
        <OneChange
          change={opened}
          onClose={() => {
            if (opened.key === null) settings.value = undefined;
            else onOpen(undefined);
          }}
        />
      )}
    </>
  );
}

function columnsOf(open: (change: Change) => void): readonly Column<Change>[] {
  return [
    {
      title: 'Key',
      cell: (change) => (
        <button type="button" class="link wrap-anywhere" onClick={() => open(change)}>
          <span dir="auto">{shownText(change.key)}</span>
        </button>
      ),
    },
    {
      title: 'What',
      cell: ({ change, hasExpired }) => <Badge tone={TONES[change]}>{hasExpired ? 'expired' : change}</Badge>,
    },
    { title: 'Entries', cell: ({ entryCount }) => whole(entryCount), isNumber: true },
    {
      title: 'Last change',
      cell: ({ entries }) => <Time at={entries.at(-1)?.time} as="past" />,
      isWideOnly: true,
    },
  ];
}

function OneChange({ change, onClose }: { readonly change: Change; onClose(): void }) {
  const { key, before, after, entries } = change;
  return (
    <Dialog title={shownText(key)} isLarge onClose={onClose}>
      <div class="grid">
        <Side title="Before" value={before} />
        <Side title="After" value={after} />
      </div>
      <h3>Entries that changed it</h3>
      <ul class="plain-list stack tight">
        {entries.map(({ position, time, commands }) => (
          <li key={position} class="row between">
            <span>
              {whole(position)}: <code>{commands.join(', ')}</code>
            </span>
            <Time at={time} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function Side({ title, value }: { readonly title: string; readonly value: PastLook | null }) {
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      {value === null ? <p class="muted">It was not there.</p> : <PastValue value={value} />}
    </section>
  );
}
