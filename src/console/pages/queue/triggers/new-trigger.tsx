/** The form for a new trigger. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../../../api/ask.js';
import { manage, ofQueue } from '../../../api/call.js';
import { Dialog } from '../../../parts/dialog.js';
import { Choice, SubmitRow, TextField } from '../../../parts/field.js';
import { doing } from '../../../parts/toast.js';

/** Those that most triggers select; the API has all. */
const EVENTS: readonly (readonly [event: string, label: string])[] = [
  ['set', 'a string is set'],
  ['field', 'fields of a hash are set'],
  ['fdel', 'fields of a hash are removed'],
  ['json', 'a JSON document changes'],
  ['del', 'a key is deleted'],
  ['expired', 'a key expires'],
  ['evicted', 'a key is evicted'],
  ['push', 'items of a list are added'],
  ['add', 'an entry is added to a stream'],
  ['member', 'members of a set change'],
  ['score', 'members of a sorted set change'],
  ['flush', 'all keys are removed'],
];

const FROM = [
  ['now', 'now'],
  ['snapshot', 'all keys as they are, then changes'],
] as const;

export interface NewTriggerProps {
  readonly account: string;
  onClose(): void;
}

export function NewTrigger({ account, onClose }: NewTriggerProps) {
  const fields = useFields();
  const save = async (event: Event) => {
    event.preventDefault();
    const work = () => ofQueue(account, 'POST /v2/triggers', { body: bodyOf(fields) });
    if (await doing(work, 'The trigger is made.')) onClose();
  };
  return (
    <Dialog title="New trigger" isLarge onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        <SelectionFields {...fields} />
        <div class="form-grid">
          <TextField
            label="Destination"
            value={fields.destination}
            isRequired
            placeholder="https://example.com/changed"
            hint="A URL, or the name of a URL group. Each change is a message."
          />
          <Choice label="Begin with" value={fields.from} options={FROM} />
        </div>
        <SubmitRow isDisabled={fields.events.value.size === 0}>Create</SubmitRow>
      </form>
    </Dialog>
  );
}

function useFields() {
  return {
    name: useSignal(''),
    database: useSignal(''),
    patterns: useSignal('*'),
    filter: useSignal(''),
    events: useSignal<ReadonlySet<string>>(new Set(['set', 'del', 'expired'])),
    destination: useSignal(''),
    from: useSignal('now'),
  };
}

type Fields = ReturnType<typeof useFields>;

function bodyOf({ name, database, patterns, filter, events, destination, from }: Fields): object {
  return {
    name: name.value.trim(),
    ...(database.value !== '' && { database: database.value }),
    patterns: patterns.value.split(/\s+/).filter((pattern) => pattern !== ''),
    ...(filter.value.trim() !== '' && { filter: filter.value.trim() }),
    events: [...events.value],
    destination: destination.value.trim(),
    from: from.value,
  };
}

function SelectionFields({ name, database, patterns, filter, events }: Fields) {
  const known = useAsk('trigger databases', (signal) =>
    manage('GET /v2/kv/databases', { query: { credentials: 'hide' }, signal }),
  );
  const databases = (known.data ?? []).map(({ database_id: id, database_name }) => [id, database_name] as const);
  return (
    <>
      <div class="form-grid">
        <TextField label="Name" value={name} placeholder="orders" />
        <Choice label="Database" value={database} options={[['', 'the oldest of the account'], ...databases]} />
      </div>
      <div class="form-grid">
        <TextField label="Patterns of keys" value={patterns} isRequired hint="Separated by spaces: order:* user:*" />
        <TextField label="Filter" value={filter} placeholder="price > 100" hint="On fields of hashes and JSON." />
      </div>
      <EventChoice events={events} />
    </>
  );
}

function EventChoice({ events }: { readonly events: Signal<ReadonlySet<string>> }) {
  return (
    <fieldset class="stack tight">
      <legend>Changes</legend>
      <div class="form-grid">
        {EVENTS.map(([event, label]) => (
          <label key={event} class="check">
            <input
              type="checkbox"
              checked={events.value.has(event)}
              onChange={({ currentTarget: { checked } }) => {
                const others = [...events.value].filter((one) => one !== event);
                events.value = new Set(checked ? [...others, event] : others);
              }}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
