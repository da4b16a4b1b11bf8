/** Undoing the writes of one author in a period: the plan is shown before it is executed. */
import { useSignal } from '@preact/signals';
import type { Operations } from '#api';
import { manage } from '../../../api/call.js';
import { DangerButton } from '../../../parts/button.js';
import { TextField } from '../../../parts/field.js';
import { counted } from '../../../parts/format.js';
import { failed, said } from '../../../parts/toast.js';

type Plan = Operations['POST /v2/kv/database/{id}/undo'];

const HOUR_MS = 3_600_000;

export function UndoForm({ id }: { readonly id: string }) {
  const nowMs = Date.now();
  const by = useSignal('');
  const from = useSignal(new Date(nowMs - HOUR_MS).toISOString());
  const to = useSignal(new Date(nowMs).toISOString());
  const keys = useSignal('');
  const plan = useSignal<Plan | undefined>(undefined);
  const send = async (isDryRun: boolean) => {
    const body = { by: by.value.trim(), from: from.value, to: to.value, dry_run: isDryRun };
    const pattern = keys.value.trim() === '' ? {} : { keys: keys.value.trim() };
    try {
      const answer = await manage('POST /v2/kv/database/{id}/undo', { path: { id }, body: { ...body, ...pattern } });
      plan.value = isDryRun ? answer : undefined;
      if (!isDryRun) said(`${counted(answer.key_count, 'key')} undone.`);
    } catch (error) {
      failed(error);
    }
  };
  const isComplete = by.value.trim() !== '';
  return (
    <form
      class="card stack"
      aria-label="Undo writes"
      onSubmit={(event) => {
        event.preventDefault();
        void send(true);
      }}
    >
      <h2>Undo the writes of one author</h2>
      <div class="row">
        <TextField label="User, address or token" value={by} placeholder="default" />
        <TextField label="From" value={from} />
        <TextField label="To" value={to} />
        <TextField label="Only keys like" value={keys} placeholder="user:*" />
      </div>
      <div class="row">
        <button type="submit" class="button" disabled={!isComplete}>
          Show the keys
        </button>
        {plan.value !== undefined && plan.value.key_count > 0 && (
          <DangerButton onClick={() => void send(false)}>Undo {counted(plan.value.key_count, 'key')}</DangerButton>
        )}
      </div>
      {plan.value !== undefined && <Planned plan={plan.value} />}
    </form>
  );
}

function Planned({ plan }: { readonly plan: Plan }) {
  const { keys, conflicts, conflict_count, key_count, unknown_writes } = plan;
  return (
    <div class="stack" aria-live="polite">
      <p>
        {counted(key_count, 'key')} would be undone, {counted(conflict_count, 'conflict')}.
        {unknown_writes > 0 && ` ${counted(unknown_writes, 'write')} without a known author.`}
      </p>
      <ul>
        {keys.map(({ key, change, writes }) => (
          <li key={key}>
            <span class="mono wrap-anywhere">{key}</span> {change}, {counted(writes, 'write')}
          </li>
        ))}
        {conflicts.map(({ key, author, time }) => (
          <li key={key}>
            <span class="mono wrap-anywhere">{key}</span> stays: {author || 'the server'} wrote it at {time}
          </li>
        ))}
      </ul>
    </div>
  );
}
