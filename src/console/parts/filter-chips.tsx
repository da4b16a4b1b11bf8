/** The filter bar of a list: filters in use are chips that can be removed, others are in a menu. */
import type { ComponentChildren } from 'preact';
import { usePageQuery } from '../api/query.js';
import { type Filter, FilterField } from './filter-bar.js';
import { Icon } from './icon.js';
import { Menu } from './menu.js';
import { SavedFilters } from './saved-filters.js';
import { momentText } from './time.js';

export interface FilterChipsProps {
  /** The name under which filters of this list are saved. */
  readonly list: string;
  readonly filters: readonly Filter[];
  /** Other address parameters that a saved filter keeps. */
  readonly alsoSaved?: readonly string[];
  /** Shown before the chips. */
  readonly children?: ComponentChildren;
}

export function FilterChips({ list, filters, alsoSaved = [], children }: FilterChipsProps) {
  const [query, set] = usePageQuery();
  const used = filters.filter(({ name }) => query[name]);
  const change = (name: string, value: string) => set({ [name]: value, cursor: undefined });
  return (
    <section class="filter-bar" aria-label="Filters">
      {children}
      {used.length > 0 && (
        <ul class="plain-list row" aria-label="Filters in use">
          {used.map((filter) => {
            const text = textOf(filter, query[filter.name] as string);
            return (
              <li key={filter.name}>
                <button type="button" class="chip" onClick={() => change(filter.name, '')}>
                  <span class="visually-hidden">Remove the filter </span>
                  <span class="muted">{filter.label}: </span>
                  <span class="cut" dir="auto">
                    {text}
                  </span>
                  <Icon name="close" />
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <Menu label="Filter" icon="plus">
        {() => (
          <form class="filter-fields" onSubmit={(event) => event.preventDefault()}>
            {filters.map((filter) => (
              <FilterField key={filter.name} filter={filter} value={query[filter.name] ?? ''} onChange={change} />
            ))}
          </form>
        )}
      </Menu>
      <SavedFilters list={list} names={[...alsoSaved, ...filters.map(({ name }) => name)]} />
      {used.length > 1 && (
        <button
          type="button"
          class="button quiet small"
          onClick={() => set(Object.fromEntries([...filters.map(({ name }) => [name, '']), ['cursor', '']]))}
        >
          Clear
        </button>
      )}
    </section>
  );
}

function textOf({ type, options }: Filter, value: string): string {
  const option = options?.find(([id]) => id === value)?.[1];
  const atMs = type === 'datetime-local' ? new Date(value).getTime() : Number.NaN;
  return option ?? (Number.isNaN(atMs) ? value : momentText(atMs));
}
