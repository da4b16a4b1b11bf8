/** The number of partitions: a form that begins a change, and the progress of the one under way. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { LEAST_REFRESH_MS } from '../../../api/ask.js';
import { manage } from '../../../api/call.js';
import { Button } from '../../../parts/button.js';
import { asked } from '../../../parts/dialog.js';
import { TextField } from '../../../parts/field.js';
import { counted } from '../../../parts/format.js';
import { doing } from '../../../parts/toast.js';
import type { DatabaseTabProps, DatabaseView } from '../records.js';
import { SettingForm } from './setting-form.js';

type LayoutChange = NonNullable<DatabaseView['layout_change']>;

export function PartitionsCard({ database, onChanged }: DatabaseTabProps) {
  const { layout_change: change, branch_of: origin } = database;
  const isUnderWay = change !== undefined && change.phase !== 'failed';
  useEffect(() => {
    if (!isUnderWay) return undefined;
    const timer = setInterval(onChanged, LEAST_REFRESH_MS);
    return () => clearInterval(timer);
  }, [isUnderWay, onChanged]);
  if (origin !== undefined) return null;
  return (
    <section class="card stack">
      <h2>Partitions</h2>
      <p class="muted">
        A partition uses one processor. The keys are copied to the new partitions and compared while the database
        serves.
      </p>
      {change?.phase === 'failed' && <p class="note warn">The number was not changed: {change.reason}</p>}
      {isUnderWay ? (
        <UnderWay database={database} change={change} onChanged={onChanged} />
      ) : (
        <div class="form-grid">
          <Begin database={database} onChanged={onChanged} />
        </div>
      )}
    </section>
  );
}

function Begin({ database, onChanged }: DatabaseTabProps) {
  const { database_id: id, partitions: before } = database;
  const wanted = useSignal(String(before));
  const partitions = Number(wanted.value);
  const send = async () => {
    await manage('POST /v2/kv/partitions/{id}', { path: { id }, body: { partitions } });
    onChanged();
  };
  return (
    <SettingForm
      action="Change the number"
      done={`The change to ${counted(partitions, 'partition')} has begun.`}
      isSame={partitions === before}
      confirm={async () => before > 1 || (await isConfirmed())}
      send={send}
    >
      <TextField label="Number of partitions" type="number" value={wanted} isRequired />
    </SettingForm>
  );
}

function isConfirmed(): Promise<boolean> {
  return asked({
    title: 'Several partitions?',
    text: (
      <>
        A command, transaction or script on several keys then needs keys of one hash slot, such as{' '}
        <code>{'{user1}:cart'}</code> and <code>{'{user1}:orders'}</code>. Others are answered <code>CROSSSLOT</code>.
      </>
    ),
    action: 'Begin the change',
  });
}

interface UnderWayProps extends DatabaseTabProps {
  readonly change: LayoutChange;
}

function UnderWay({ database: { database_id: id }, change, onChanged }: UnderWayProps) {
  const cancel = async () => {
    const end = () => manage('DELETE /v2/kv/partitions/{id}', { path: { id } });
    if (await doing(end, 'The change is cancelled.')) onChanged();
  };
  return (
    <div class="row between">
      <label class="field grow">
        <span>{stepOf(change)}</span>
        <progress max={100} value={change.percent} />
      </label>
      {change.phase === 'copying' && <Button onClick={() => void cancel()}>Cancel the change</Button>}
    </div>
  );
}

function stepOf({ phase, partitions, percent }: LayoutChange): string {
  const target = counted(partitions, 'partition');
  if (phase === 'copying') return `The keys are copied to ${target}: ${percent}%`;
  return phase === 'switched' ? `${target} serve; the former ones are emptied` : 'The new partitions are emptied';
}
