/** The state of a database at a moment. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { usePageQuery } from '../../api/query.js';
import { Badge } from '../../parts/badge.js';
import { Dialog } from '../../parts/dialog.js';
import { bytes, whole } from '../../parts/format.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Paging, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { MomentChoice } from './moment-choice.js';
import {
  expiryOf,
  moment,
  type OneDatabase,
  type PastKey,
  type PastState,
  type PastText,
  shownText,
  stateAt,
} from './moments.js';
import { PastValue } from './past-value.js';

export function StateTab({ database }: { readonly database: OneDatabase }) {
  const [query, set] = usePageQuery();
  const after = useSignal<PastText | undefined>(undefined);
  const atMs = Number(query.at) || Date.now();
  const asked = useAsk(`state ${database.database_id} ${query.at ?? ''} ${JSON.stringify(after.value ?? '')}`, () =>
    stateAt(database.database_id, moment(atMs), after.value),
  );
  const choose = (ms: number) => {
    after.value = undefined;
    set({ at: String(ms) });
  };
  return (
    <div class="stack">
      <MomentChoice label="State" fromMs={database.creation_time * 1_000} atMs={atMs} onChoose={choose} />
      <Shown asked={asked} rows={8}>
        {(past) => (
          <Keys
            past={past}
            isFirst={after.value === undefined}
            onPage={(key) => {
              after.value = key;
            }}
          />
        )}
      </Shown>
    </div>
  );
}

interface KeysProps {
  readonly past: PastState;
  readonly isFirst: boolean;
  onPage(after: PastText | undefined): void;
}

function Keys({ past, isFirst, onPage }: KeysProps) {
  const opened = useSignal<PastKey | undefined>(undefined);
  const { state, keys, more } = past;
  const columns: readonly Column<PastKey>[] = [
    {
      title: 'Key',
      cell: (key) => (
        <button
          type="button"
          class="link wrap-anywhere"
          onClick={() => {
            opened.value = key;
          }}
        >
          <span dir="auto">{shownText(key.key)}</span>
        </button>
      ),
    },
    { title: 'Type', cell: ({ type }) => <Badge>{type}</Badge> },
    { title: 'Expires', cell: (key) => <Time at={expiryOf(key)} as="ago" />, isWideOnly: true },
    { title: 'Digest', cell: ({ digest }) => <code>{digest.slice(0, 12)}</code>, isWideOnly: true },
  ];
  return (
    <>
      <p>
        <strong>{whole(state.keys)}</strong> keys, {bytes(state.bytes)}, at{' '}
        {state.shards.map(({ shard, position }) => `${shard} ${whole(position)}`).join(', ')}
      </p>
      <Table
        label="Keys at that moment"
        columns={columns}
        rows={keys}
        idOf={({ key }) => shownText(key)}
        empty={<Empty title="It was empty at that moment" />}
      />
      <Paging
        text={`${whole(keys.length)} of ${whole(state.keys)} keys`}
        onFirst={isFirst ? undefined : () => onPage(undefined)}
        onNext={more ? () => onPage(keys.at(-1)?.key) : undefined}
      />
      {opened.value !== undefined && (
        <Dialog
          title={shownText(opened.value.key)}
          isLarge
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <PastValue value={opened.value} />
        </Dialog>
      )}
    </>
  );
}
