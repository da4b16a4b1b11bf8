/** The filters of a list. They are in the address, so that the list can be shared. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { usePageQuery } from '../api/query.js';
import { QuietButton } from './button.js';
import { setter } from './setter.js';

export interface Filter {
  /** Its name in the address. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Default: free text. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  /**
   * An instant is typed in the viewer's zone and stored in UTC in the address, so that a shared link has the same
   * meaning everywhere.
   */
  readonly type?: 'text' | 'datetime-local' | 'number';
  /** Shown on demand, or if it is set. */
  readonly isRare?: boolean;
}

export interface FilterBarProps {
  readonly filters: readonly Filter[];
  /** Shown next to the filters. */
  readonly children?: ComponentChildren;
}

export function FilterBar({ filters, children }: FilterBarProps) {
  const [query, set] = usePageQuery();
  const change = (name: string, value: string) => set({ [name]: value, cursor: undefined });
  const isAny = filters.some(({ name }) => query[name]);
  const isOpen = useSignal(filters.some(({ name, isRare }) => isRare && query[name]));
  const shown = filters.filter(({ name, isRare }) => isOpen.value || isRare !== true || query[name]);
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {shown.map((filter) => (
        <FilterField key={filter.name} filter={filter} value={query[filter.name] ?? ''} onChange={change} />
      ))}
      {shown.length < filters.length && <QuietButton onClick={setter(isOpen, true)}>More filters</QuietButton>}
      {isAny && (
        <QuietButton
          onClick={() => set(Object.fromEntries([...filters.map(({ name }) => [name, '']), ['cursor', '']]))}
        >
          Clear
        </QuietButton>
      )}
      {children}
    </form>
  );
}

interface FieldProps {
  readonly filter: Filter;
  readonly value: string;
  onChange(name: string, value: string): void;
}

/** Sends its value after Enter, or when the focus leaves it. */
export function FilterField({ filter, value, onChange }: FieldProps) {
  const { name, label, options, placeholder, type = 'text' } = filter;
  const isInstant = type === 'datetime-local';
  const shown = isInstant ? localOf(value) : value;
  // Keeps the text being typed while the page changes.
  const typed = useSignal(shown);
  useEffect(() => {
    typed.value = shown;
  }, [shown]);
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: its children contain the control
    <label>
      <span class="name">{label}</span>
      {options === undefined ? (
        <input
          type={type as 'text'}
          value={typed.value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
          }}
          onChange={({ currentTarget }) => onChange(name, isInstant ? utcOf(currentTarget.value) : currentTarget.value)}
        />
      ) : (
        <select value={value} onChange={({ currentTarget }) => onChange(name, currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

/** The value of the browser's field: in the viewer's zone, to the minute. */
function localOf(utc: string): string {
  const date = new Date(utc);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function utcOf(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, 16)}Z`;
}
