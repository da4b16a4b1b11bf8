/** One key: its properties, actions, and the editor for its type. */

import { useEffect } from 'preact/hooks';
import lazy from 'preact-iso/lazy';
import { type Asked, useAsk } from '../../../api/ask.js';
import { CallError } from '../../../api/call.js';
import { pipeline, type Result, shownOf, wordOf } from '../../../api/kv.js';
import { usePageQuery } from '../../../api/query.js';
import { SmallButton } from '../../../parts/button.js';
import { CopyButton } from '../../../parts/code.js';
import { bytes, duration } from '../../../parts/format.js';
import { Icon } from '../../../parts/icon.js';
import { Shown } from '../../../parts/states.js';
import { CollectionView } from './collection-view.js';
import { COLLECTIONS } from './collections/index.js';
import { JsonView } from './json/json-view.js';
import { KeyActions } from './key-actions.js';
import type { KeyPageProps, KeyRecord, TypeViewProps } from './key-record.js';
import { TypeMark } from './key-row.js';
import { SHOWN_TYPES } from './listed-keys.js';
import { SearchView } from './search-view.js';
import { isSketch, SketchView } from './sketch-view.js';
import { StreamEntries } from './stream/stream-entries.js';
import { StreamGroups } from './stream/stream-groups.js';
import { StringView } from './string-view.js';

/** A stream: its entries, and the groups that read it. */
const PARTS = [
  [undefined, 'Entries'],
  ['groups', 'Groups'],
] as const;

/** The selected part is in the address. */
function StreamView(props: TypeViewProps) {
  const [query, set] = usePageQuery();
  const isGroups = query.part === 'groups';
  return (
    <div class="stack tight">
      <fieldset class="choices">
        <legend class="visually-hidden">Part of the stream</legend>
        {PARTS.map(([part, label]) => (
          <SmallButton key={label} aria-pressed={isGroups === (part === 'groups')} onClick={() => set({ part })}>
            {label}
          </SmallButton>
        ))}
      </fieldset>
      {isGroups ? <StreamGroups {...props} /> : <StreamEntries {...props} />}
    </div>
  );
}

const VectorView = lazy(() => import('./vector-view.js').then(({ VectorView: view }) => view));
const KeyHistory = lazy(() => import('./history/key-history.js'));

const SHOWN_CHARACTERS = 500;
const HISTORY = 'history';

export function KeyPage(props: KeyPageProps) {
  const { id, name, onClose } = props;
  const [query] = usePageQuery();
  const asked = useAsk(`${id} ${name}`, (signal) => recordOf(id, name, signal));
  return (
    <div class="stack">
      <div class="row top">
        <h2 class="grow wrap-anywhere key-name" dir="auto">
          {shownOf(name).slice(0, SHOWN_CHARACTERS) || '(the empty name)'}
        </h2>
        <CopyButton text={shownOf(name)} label="Copy name" />
        <button type="button" class="button icon" aria-label="Load it again" onClick={asked.reload}>
          <Icon name="reload" />
        </button>
        <button type="button" class="button icon" aria-label="Close the key" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <Parts />
      {query.part === HISTORY ? (
        <KeyHistory {...{ id, name }} onRestored={() => void asked.reload()} />
      ) : (
        <Shown asked={asked}>
          {(record) =>
            record === undefined ? (
              <p class="empty">There is no such key: it expired, or was deleted. Its history may still have it.</p>
            ) : (
              <Known {...props} record={record} asked={asked} />
            )
          }
        </Shown>
      )}
    </div>
  );
}

/** Value or history; the choice is in the address, and stays for the next key. */
function Parts() {
  const [{ part }, set] = usePageQuery();
  const isHistory = part === HISTORY;
  return (
    <fieldset class="choices">
      <legend class="visually-hidden">Parts of the key</legend>
      <SmallButton aria-pressed={!isHistory} onClick={() => set({ part: undefined })}>
        Value
      </SmallButton>
      <SmallButton aria-pressed={isHistory} onClick={() => set({ part: HISTORY })}>
        History
      </SmallButton>
    </fieldset>
  );
}

interface KnownProps extends KeyPageProps {
  readonly record: KeyRecord;
  readonly asked: Asked<KeyRecord | undefined>;
}

function Known({ record, asked, onSeen, ...props }: KnownProps) {
  useEffect(() => onSeen(record), [record]);
  const { type, ttlMs, bytes: size, encoding } = record;
  return (
    <>
      <div class="row">
        <TypeMark type={type} />
        <span class="muted">
          {bytes(size)} · {encoding} · {ttlMs === null ? 'no expiry' : `expires in ${duration(ttlMs)}`}
        </span>
      </div>
      <KeyActions {...props} record={record} onChanged={asked.reload} />
      <Value {...props} record={record} onChanged={asked.reload} />
    </>
  );
}

interface ValueProps extends Pick<KeyPageProps, 'id' | 'name'> {
  readonly record: KeyRecord;
  onChanged(): void;
}

function Value({ id, name, record, onChanged }: ValueProps) {
  const shared = { id, name, record, onChanged };
  if (record.type === 'string') return <StringView {...shared} />;
  if (record.type === 'stream') return <StreamView {...shared} />;
  if (record.type === 'vector') return <VectorView {...shared} />;
  if (record.type === 'ReJSON-RL') return <JsonView {...shared} />;
  if (record.type === 'search') return <SearchView {...shared} />;
  if (isSketch(record.type)) return <SketchView {...shared} type={record.type} />;
  return <CollectionView {...shared} kind={COLLECTIONS[record.type]} />;
}

/** Undefined: no such key. @throws CallError */
async function recordOf(id: string, name: string, signal: AbortSignal): Promise<KeyRecord | undefined> {
  const key = wordOf(name);
  const results = await pipeline(
    id,
    [
      ['TYPE', key],
      ['PTTL', key],
      ['MEMORY', 'USAGE', key],
      ['OBJECT', 'ENCODING', key],
    ],
    signal,
  );
  const [type, ttl, size, encoding] = results.map(resultOf);
  const known = SHOWN_TYPES.find((one) => one === type);
  if (known === undefined) return undefined;
  return { type: known, ttlMs: Number(ttl) < 0 ? null : Number(ttl), bytes: Number(size), encoding: String(encoding) };
}

function resultOf(result: Result) {
  if (!('error' in result)) return result.result;
  if (result.error.includes('not here')) return 'none';
  throw new CallError(400, result.error);
}
