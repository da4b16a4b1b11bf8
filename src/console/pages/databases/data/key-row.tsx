/** One key in a list: name, type, time to live, size and selection. */
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../../../api/call.js';
import { shownOf } from '../../../api/kv.js';
import { bytes, duration } from '../../../parts/format.js';
import { addressOfKey, type ListedKey, TYPE_LABELS } from './listed-keys.js';

export interface KeyRowProps {
  readonly row: ListedKey;
  readonly isOpen: boolean;
  /** Undefined: keys cannot be selected. */
  readonly isChosen: boolean | undefined;
  /** The depth in folders, and the part of the name that they already show. */
  readonly depth?: number;
  readonly below?: string;
  onChoose(name: string): void;
}

/** Characters of a name that are shown. */
const SHOWN_CHARACTERS = 300;
const INDENT_PX = 16;

export function KeyRow({ row, isOpen, isChosen, depth = 0, below = '', onChoose }: KeyRowProps) {
  const { path, query } = useLocation();
  const { key: _, key64: __, ...others } = query;
  const { name, type, ttlMs, bytes: size } = row;
  const whole = shownOf(name).slice(0, SHOWN_CHARACTERS);
  return (
    <div class={`key-row ${isOpen ? 'is-open' : ''}`} style={{ paddingLeft: `${8 + depth * INDENT_PX}px` }}>
      {isChosen !== undefined && (
        <input type="checkbox" aria-label={`Choose ${whole}`} checked={isChosen} onChange={() => onChoose(name)} />
      )}
      <TypeMark type={type} />
      <a
        class="cut grow"
        dir="auto"
        title={whole}
        href={path + queryText({ ...others, ...addressOfKey(name) })}
        aria-current={isOpen ? 'true' : undefined}
      >
        {shownOf(name.slice(below.length)).slice(0, SHOWN_CHARACTERS) || '(empty)'}
      </a>
      <span class="key-ttl small muted">{ttlMs === null ? '' : duration(ttlMs)}</span>
      <span class="key-size small muted">{bytes(size)}</span>
    </div>
  );
}

export function TypeMark({ type }: { readonly type: ListedKey['type'] }): ComponentChildren {
  return <span class={`key-type of-${type.toLowerCase()}`}>{TYPE_LABELS[type]}</span>;
}
