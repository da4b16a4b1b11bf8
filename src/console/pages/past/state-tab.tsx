/** The state of a database at a moment. */
import { useRef } from 'preact/hooks';
import { useAsk } from '../../api/ask.js';
import { type PageQuery, usePageQuery } from '../../api/query.js';
import { Badge } from '../../parts/badge.js';
import { Dialog } from '../../parts/dialog.js';
import { bytes, counted, whole } from '../../parts/format.js';
import { Empty, Loading, Shown } from '../../parts/states.js';
import { type Column, Paging, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { useActivity } from './activity.js';
import { MomentChoice } from './moment-choice.js';
import {
  addressOf,
  expiryOf,
  isInAddress,
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
  const after = query.after64 === undefined ? query.after : { base64: query.after64 };
  const given = Number(query.at) || undefined;
  // Without a moment in the address, the page opens at the last change.
  const activity = useActivity(database);
  const opened = useRef<number | undefined>(undefined);
  if (!activity.isLoading) opened.current ??= activity.data?.lastMs ?? Date.now();
  const atMs = given ?? opened.current;
  const asked = useAsk(
    atMs === undefined ? undefined : `state ${database.database_id} ${atMs} ${JSON.stringify(after ?? '')}`,
    () => stateAt(database.database_id, moment(atMs ?? Date.now()), after),
  );
  const choose = (ms: number) => set({ at: String(ms), ...pageAfter(undefined) });
  if (atMs === undefined) return <Loading rows={8} />;
  return (
    <div class="stack">
      <MomentChoice
        label="State"
        fromMs={database.creation_time * 1_000}
        activity={activity.data}
        {...{ atMs }}
        onChoose={choose}
      />
      <Shown asked={asked} rows={8}>
        {(past) => (
          <Keys
            past={past}
            isFirst={after === undefined}
            onPage={(key) => set({ at: String(atMs), ...pageAfter(key) }, false)}
            onOpen={(key) => set({ at: String(atMs), ...addressOf(key) }, false)}
          />
        )}
      </Shown>
    </div>
  );
}

/** The key in the address after which the page of keys begins. */
function pageAfter(key: PastText | undefined): PageQuery {
  const isText = typeof key === 'string';
  return { after: isText ? key : undefined, after64: isText ? undefined : key?.base64, ...addressOf(undefined) };
}

interface KeysProps {
  readonly past: PastState;
  readonly isFirst: boolean;
  onPage(after: PastText | undefined): void;
  /** Undefined: closes the open key. */
  onOpen(key: PastText | undefined): void;
}

function Keys({ past, isFirst, onPage, onOpen }: KeysProps) {
  const [query] = usePageQuery();
  const { state, keys, more } = past;
  const opened = keys.find(({ key }) => isInAddress(key, query));
  const columns: readonly Column<PastKey>[] = [
    {
      title: 'Key',
      cell: (key) => (
        <button type="button" class="link wrap-anywhere" onClick={() => onOpen(key.key)}>
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
        <strong>{counted(state.keys, 'key')}</strong>, {bytes(state.bytes)}, at{' '}
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
        text={`${whole(keys.length)} of ${counted(state.keys, 'key')}`}
        onFirst={isFirst ? undefined : () => onPage(undefined)}
        onNext={more ? () => onPage(keys.at(-1)?.key) : undefined}
      />
      {opened !== undefined && (
        <Dialog title={shownText(opened.key)} isLarge onClose={() => onOpen(undefined)}>
          <PastValue value={opened} />
        </Dialog>
      )}
    </>
  );
}
