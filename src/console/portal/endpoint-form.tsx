/** The form for a new endpoint, and for an existing one. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../api/ask.js';
import { Dialog } from '../parts/dialog.js';
import { TextField } from '../parts/field.js';
import { ask, type Endpoint } from './api.js';
import { word } from './words.js';

export interface EndpointFormProps {
  /** Undefined: a new one. */
  readonly endpoint: Endpoint | undefined;
  onClose(): void;
}

export function EndpointForm({ endpoint, onClose }: EndpointFormProps) {
  const url = useSignal(endpoint?.url ?? '');
  const description = useSignal(endpoint?.description ?? '');
  const types = useSignal<readonly string[]>(endpoint?.eventTypes ?? []);
  const filter = useSignal(endpoint?.filter ?? '');
  const headers = useSignal(linesOf(endpoint?.headers ?? {}));
  const problem = useSignal<string | undefined>(undefined);
  const save = async () => {
    const body = {
      url: url.value,
      description: description.value,
      eventTypes: types.value,
      filter: filter.value,
      headers: headersIn(headers.value),
    };
    try {
      if (endpoint === undefined) await ask('POST /v2/apps/{id}/endpoints', { body });
      else await ask('PATCH /v2/apps/{id}/endpoints/{endpoint}', { path: { endpoint: endpoint.id }, body });
      onClose();
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
  };
  const foot = (
    <button type="submit" form="endpoint" class="button primary">
      {word('save')}
    </button>
  );
  return (
    <Dialog title={endpoint === undefined ? word('add') : word('edit')} foot={foot} onClose={onClose}>
      <form
        id="endpoint"
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField label={word('url')} type="url" value={url} isRequired placeholder="https://" />
        <TextField label={word('description')} value={description} />
        <TypesField types={types} />
        <TextField label={word('filter')} hint={word('filterHint')} value={filter} />
        <TextField label={word('headers')} hint={word('headersHint')} value={headers} isLong rows={2} />
        {problem.value !== undefined && (
          <p class="wrong" role="alert">
            {problem.value}
          </p>
        )}
      </form>
    </Dialog>
  );
}

function TypesField({ types }: { readonly types: Signal<readonly string[]> }) {
  const { data } = useAsk('types', () => ask('GET /v2/apps/{id}/event-types'));
  const toggled = (name: string, isOn: boolean) => {
    types.value = isOn ? [...types.value, name] : types.value.filter((one) => one !== name);
  };
  return (
    <fieldset>
      <legend>{word('types')}</legend>
      <span class="hint">{word('typesHint')}</span>
      {data?.eventTypes.map(({ name }) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={types.value.includes(name)}
            onChange={({ currentTarget }) => toggled(name, currentTarget.checked)}
          />
          <span class="wrap-anywhere">{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon < 0 ? line.length : colon).trim(), colon < 0 ? '' : line.slice(colon + 1).trim()];
    }),
  );
}
