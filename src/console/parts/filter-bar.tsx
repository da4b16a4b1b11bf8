/** What a list is narrowed by. It is kept in the address, so that the list can be sent to a colleague. */
import type { ComponentChildren } from 'preact';
import { usePageQuery } from '../api/query.js';

export interface Filter {
  /** Its word in the address. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** Left out: a text. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  readonly type?: 'text' | 'datetime-local' | 'number';
}

export interface FilterBarProps {
  readonly filters: readonly Filter[];
  /** Beside the filters. */
  readonly children?: ComponentChildren;
}

export function FilterBar({ filters, children }: FilterBarProps) {
  const [query, set] = usePageQuery();
  const change = (name: string, value: string) => set({ [name]: value, cursor: undefined });
  const isAny = filters.some(({ name }) => query[name]);
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {filters.map((filter) => (
        <FilterField key={filter.name} filter={filter} value={query[filter.name] ?? ''} onChange={change} />
      ))}
      {isAny && (
        <button
          type="button"
          class="button quiet"
          onClick={() => set(Object.fromEntries([...filters.map(({ name }) => [name, '']), ['cursor', '']]))}
        >
          Clear
        </button>
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

function FilterField({ filter, value, onChange }: FieldProps) {
  const { name, label, options, placeholder, type = 'text' } = filter;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is what stands in it
    <label>
      <span class="name">{label}</span>
      {options === undefined ? (
        <input
          type={type as 'text'}
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          onChange={({ currentTarget }) => onChange(name, currentTarget.value)}
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
