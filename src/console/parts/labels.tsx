/** Labels of one database, queue account or index, which divide the use of a month by cost centre or team. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../api/ask.js';
import { manage } from '../api/call.js';
import { mayPay, maySeeAccount } from '../api/session.js';
import { Badge } from './badge.js';
import { TextField } from './field.js';
import { Icon } from './icon.js';
import { Shown } from './states.js';
import { doing } from './toast.js';

export interface LabelsProps {
  readonly kind: 'database' | 'queue' | 'index';
  readonly id: string;
}

/** The name with a meaning for the program: it is suggested before any object has it. */
const COST_CENTRE = 'costCentre';

export function LabelsCard(props: LabelsProps) {
  if (!maySeeAccount.value) return null;
  return (
    <section class="card stack" aria-label="Labels">
      <h2>Labels</h2>
      <Labels {...props} />
    </section>
  );
}

export function Labels({ kind, id }: LabelsProps) {
  const asked = useAsk('labels', (signal) => manage('GET /v2/labels', { signal }));
  const set = async (name: string, value: string) => {
    const options = { path: { kind, id }, body: { labels: [{ name, value }] } };
    const done = value === '' ? `The label ${name} is removed.` : `The label ${name} is set.`;
    const isDone = await doing(() => manage('PATCH /v2/labels/{kind}/{id}', options), done);
    if (isDone) await asked.reload();
    return isDone;
  };
  return (
    <Shown asked={asked} rows={1}>
      {(all) => {
        const labels = Object.entries(all.find((one) => one.id === id)?.labels ?? {});
        const names = new Set([COST_CENTRE, ...all.flatMap((one) => Object.keys(one.labels))]);
        return (
          <>
            {labels.length === 0 ? (
              <p class="muted">No label: labels divide the use of a month by cost centre, team or project.</p>
            ) : (
              <ul class="plain-list row">
                {labels.map(([name, value]) => (
                  <li key={name}>
                    <Label name={name} value={String(value)} onRemove={() => void set(name, '')} />
                  </li>
                ))}
              </ul>
            )}
            {mayPay.value && <SetLabel names={[...names]} set={set} />}
          </>
        );
      }}
    </Shown>
  );
}

interface LabelProps {
  readonly name: string;
  readonly value: string;
  onRemove(): void;
}

function Label({ name, value, onRemove }: LabelProps) {
  if (!mayPay.value) {
    return (
      <Badge>
        <span class="wrap-anywhere" dir="auto">{`${name}: ${value}`}</span>
      </Badge>
    );
  }
  return (
    <button type="button" class="chip" title={value} onClick={onRemove}>
      <span class="visually-hidden">Remove the label </span>
      <span class="muted">{name}: </span>
      <span class="cut" dir="auto">
        {value}
      </span>
      <Icon name="close" />
    </button>
  );
}

interface SetLabelProps {
  readonly names: readonly string[];
  /** @returns whether it is set */
  set(name: string, value: string): Promise<boolean>;
}

function SetLabel({ names, set }: SetLabelProps) {
  const name = useSignal('');
  const value = useSignal('');
  const send = async (event: Event) => {
    event.preventDefault();
    if (!(await set(name.value.trim(), value.value.trim()))) return;
    name.value = '';
    value.value = '';
  };
  return (
    <form class="stack" onSubmit={send}>
      <div class="form-grid">
        <TextField label="Label" value={name} isRequired suggestions={names} placeholder={COST_CENTRE} />
        <TextField
          label="Value"
          value={value}
          isRequired
          placeholder="4711"
          hint="An existing label gets this value."
        />
      </div>
      <div>
        <button type="submit" class="button">
          Set the label
        </button>
      </div>
    </form>
  );
}
