/** The settings of a database: name, plan, budget, allowed addresses and switches. */
import { useSignal } from '@preact/signals';
import { manage, type Operation } from '../../../api/call.js';
import { mayUseData } from '../../../api/session.js';
import { Choice, TextField } from '../../../parts/field.js';
import { doing } from '../../../parts/toast.js';
import { PLANS } from '../plans.js';
import type { DatabaseTabProps } from '../records.js';
import { SettingForm } from './setting-form.js';

export function SettingsCard({ database, onChanged }: DatabaseTabProps) {
  return (
    <section class="card stack">
      <h2>Settings</h2>
      <div class="form-grid">
        {mayUseData.value && <Name database={database} onChanged={onChanged} />}
        <Plan database={database} onChanged={onChanged} />
        <Budget database={database} onChanged={onChanged} />
      </div>
      {mayUseData.value && <Addresses database={database} onChanged={onChanged} />}
      {mayUseData.value && <Switches database={database} onChanged={onChanged} />}
    </section>
  );
}

function Name({ database, onChanged }: DatabaseTabProps) {
  const { database_id: id, database_name: before } = database;
  const name = useSignal(before);
  const send = async () => {
    await manage('POST /v2/kv/rename/{id}', { path: { id }, body: { name: name.value.trim() } });
    onChanged();
  };
  return (
    <SettingForm action="Rename" done="It has its new name." isSame={name.value.trim() === before} send={send}>
      <TextField label="Name" value={name} isRequired />
    </SettingForm>
  );
}

function Plan({ database, onChanged }: DatabaseTabProps) {
  const id = database.database_id;
  const before = PLANS.find(([, label]) => plain(label) === plain(database.database_type))?.[0] ?? 'payg';
  const plan = useSignal<string>(before);
  const send = async () => {
    await manage('POST /v2/kv/change-plan/{id}', { path: { id }, body: { plan_name: plan.value } });
    onChanged();
  };
  return (
    <SettingForm action="Change" done="It has the limits of its new plan." isSame={plan.value === before} send={send}>
      <Choice label="Plan" value={plan} options={PLANS} />
    </SettingForm>
  );
}

/** The API writes `Fixed 1GB` where the page has a space. */
function plain(label: string): string {
  return label.replaceAll(' ', '').toLowerCase();
}

function Budget({ database, onChanged }: DatabaseTabProps) {
  const { database_id: id, budget: before } = database;
  const budget = useSignal(String(before));
  const send = async () => {
    await manage('PATCH /v2/kv/update-budget/{id}', { path: { id }, body: { budget: Number(budget.value) } });
    onChanged();
  };
  return (
    <SettingForm action="Set" done="The budget is set." isSame={budget.value === String(before)} send={send}>
      <TextField label="Budget a month, dollars (0: no limit)" type="number" value={budget} isRequired />
    </SettingForm>
  );
}

function Addresses({ database, onChanged }: DatabaseTabProps) {
  const id = database.database_id;
  const before = database.allowed_ip_ranges.join('\n');
  const text = useSignal(before);
  const send = async () => {
    const allowed = text.value.split(/[\s,]+/).filter((word) => word !== '');
    await manage('POST /v2/kv/update-allowlist/{id}', { path: { id }, body: { allowed_ips: allowed } });
    onChanged();
  };
  return (
    <SettingForm action="Set addresses" done="The addresses are set." isSame={text.value === before} send={send}>
      <TextField
        label="Allowed IPv4 addresses and blocks, one a line"
        value={text}
        isLong
        rows={3}
        placeholder="203.0.113.0/24"
        hint="Empty: from everywhere. This page reaches the data from its server, which has to be allowed then, too."
      />
    </SettingForm>
  );
}

const SWITCHES = [
  ['eviction', 'Evict keys when it is full', 'eviction'],
  ['auto_upgrade', 'Change to the next plan when a limit is reached', 'autoupgrade'],
  ['daily_backup_enabled', 'Keep a backup every day', 'dailybackup'],
] as const;

/** Each switch is sent when it is clicked. */
function Switches({ database, onChanged }: DatabaseTabProps) {
  const { database_id: id } = database;
  const turn = (word: string, label: string, isOn: boolean) =>
    doing(
      async () => {
        await manage(`POST /v2/kv/${isOn ? 'enable' : 'disable'}-${word}/{id}` as Operation, { path: { id } });
        onChanged();
      },
      `${label}: ${isOn ? 'on' : 'off'}.`,
    );
  return (
    <div class="row db-switches">
      {SWITCHES.map(([field, label, word]) => (
        <label key={field} class="check">
          <input
            type="checkbox"
            checked={database[field]}
            onChange={({ currentTarget }) => void turn(word, label, currentTarget.checked)}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}
