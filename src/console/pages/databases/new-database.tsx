/** The form for a new database; opens the database afterwards. */
import { type Signal, useSignal } from '@preact/signals';
import { manage } from '../../api/call.js';
import { Dialog } from '../../parts/dialog.js';
import { Check, Choice, SubmitButton, TextField } from '../../parts/field.js';
import { useMaking } from '../../parts/making.js';
import { PLANS, REGIONS } from './plans.js';

type Fields = Readonly<Record<'plan' | 'region' | 'budget' | 'partitions', Signal<string>>>;

function PlaceFields({ plan, region, budget, partitions }: Fields) {
  return (
    <div class="form-grid">
      <Choice label="Plan" value={plan} options={PLANS} hint="Its limits; they can be changed later." />
      <Choice
        label="Primary region"
        value={region}
        options={REGIONS.map((one) => [one, one])}
        hint="A word in its record: the data is where this server runs."
      />
      <TextField label="Budget a month, dollars" type="number" value={budget} hint="0: no limit." />
      <TextField label="Partitions" type="number" value={partitions} hint="Parts its keys are spread over, for ever." />
    </div>
  );
}

export function NewDatabaseDialog({ onClose }: { onClose(): void }) {
  const name = useSignal('');
  const region = useSignal<string>(REGIONS[0]);
  const plan = useSignal<string>('payg');
  const budget = useSignal('0');
  const partitions = useSignal('1');
  const isEvicting = useSignal(false);
  const isCluster = useSignal(false);
  const { isSending, send } = useMaking(async () => {
    const made = await manage('POST /v2/kv/database', {
      body: {
        database_name: name.value.trim(),
        primary_region: region.value,
        plan: plan.value,
        budget: Number(budget.value),
        eviction: isEvicting.value,
        partitions: Number(partitions.value),
        cluster: isCluster.value,
      },
    });
    return { name: made.database_name, href: `/console/databases/${made.database_id}?tab=connect` };
  }, onClose);
  return (
    <Dialog title="New database" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="Name" value={name} isRequired placeholder="shop" />
        <PlaceFields plan={plan} region={region} budget={budget} partitions={partitions} />
        <Check label="Evict keys when it is full" value={isEvicting} />
        <Check label="Cluster mode, for cluster clients of Redis" value={isCluster} />
        <SubmitButton isDisabled={isSending.value || name.value.trim() === ''}>Make it</SubmitButton>
      </form>
    </Dialog>
  );
}
