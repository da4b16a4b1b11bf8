/** Filters of a list under names, kept by the browser. */
import { signal, useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/call.js';
import type { PageQuery } from '../api/query.js';
import { readStored, writeStored } from '../api/stored.js';
import { SubmitButton } from './field.js';
import { Icon } from './icon.js';
import { Menu } from './menu.js';

interface SavedFilter {
  /** The name of the list. */
  readonly list: string;
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
}

const STORE = 'millrace-filters';
/** Of one list; saving another one then removes the oldest. */
const MAX_SAVED = 20;
const MAX_NAME = 60;

const saved = signal<readonly SavedFilter[]>(readStored(STORE, areFilters) ?? []);

function areFilters(value: unknown): value is readonly SavedFilter[] {
  return (
    Array.isArray(value) &&
    value.every(({ list, name, query }: Partial<SavedFilter>) => typeof list === 'string' && name && query)
  );
}

function keep(next: readonly SavedFilter[]): void {
  saved.value = next;
  writeStored(STORE, next);
}

export interface SavedFiltersProps {
  readonly list: string;
  /** The address parameters that belong to a filter of this list. */
  readonly names: readonly string[];
}

export function SavedFilters({ list, names }: SavedFiltersProps) {
  const { path, query } = useLocation();
  const current = parametersIn(query, names);
  const ofList = saved.value.filter((one) => one.list === list);
  const others = saved.value.filter((one) => one.list !== list);
  const used = ofList.find((one) => queryText(one.query) === queryText(current));
  return (
    <Menu label={used?.name ?? 'Saved'} icon="star">
      {(close) => (
        <div class="stack tight">
          {ofList.length > 0 && (
            <ul class="plain-list" aria-label="Saved filters">
              {ofList.map((one) => (
                <li key={one.name} class="row nowrap saved-filter">
                  <a
                    class="grow cut"
                    href={path + queryText({ queue: query.queue, ...one.query })}
                    aria-current={one === used ? 'true' : undefined}
                    onClick={close}
                  >
                    {one.name}
                  </a>
                  <button
                    type="button"
                    class="button quiet small icon"
                    aria-label={`Remove the saved filter ${one.name}`}
                    onClick={() => keep(saved.value.filter((each) => each !== one))}
                  >
                    <Icon name="close" />
                  </button>
                </li>
              ))}
            </ul>
          )}
          {Object.keys(current).length === 0 ? (
            <p class="small muted">Choose filters first; they can then be saved under a name.</p>
          ) : (
            <SaveForm
              onSave={(name) => {
                const kept = ofList.filter((one) => one.name !== name).slice(1 - MAX_SAVED);
                keep([...others, ...kept, { list, name, query: current }]);
                close();
              }}
            />
          )}
        </div>
      )}
    </Menu>
  );
}

function SaveForm({ onSave }: { onSave(name: string): void }) {
  const name = useSignal('');
  return (
    <form
      class="row nowrap"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(name.value.trim());
      }}
    >
      <input
        aria-label="Name of the filter"
        placeholder="Save the current filter as…"
        maxLength={MAX_NAME}
        pattern=".*\S.*"
        required
        value={name.value}
        onInput={({ currentTarget }) => {
          name.value = currentTarget.value;
        }}
      />
      <SubmitButton>Save</SubmitButton>
    </form>
  );
}

function parametersIn(query: PageQuery, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name] as string]] : [])));
}
