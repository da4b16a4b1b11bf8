/** The address that gets each change of the audit log, with the state of its export. */
import { useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { mayGiveRoles, maySeeAccount } from '../../api/session.js';
import { DangerButton } from '../../parts/button.js';
import { asked as confirmed } from '../../parts/dialog.js';
import { SubmitButton, TextField } from '../../parts/field.js';
import { duration, whole } from '../../parts/format.js';
import { Shown } from '../../parts/states.js';
import { doing } from '../../parts/toast.js';

type Export = Schemas['AuditExportAnswer'];

const EVERY_MS = 10_000;

export function AuditExport() {
  const asked = useAsk('audit export', (signal) => manage('GET /v2/auditlogs/export', { signal }), EVERY_MS);
  if (!maySeeAccount.value) return null;
  return (
    <section class="card stack" aria-label="Export of the audit log">
      <h2>Export to an address</h2>
      <Shown asked={asked} rows={2}>
        {(found) => (
          <>
            <State of={found} />
            <AddressForm key={found.url} url={found.url} onChanged={asked.reload} />
          </>
        )}
      </Shown>
    </section>
  );
}

function State({ of }: { readonly of: Export }) {
  if (of.url === '')
    return <p class="muted">No export: an address gets each change from then on, as signed messages.</p>;
  return (
    <>
      <dl class="facts">
        <dt>Accepted up to position</dt>
        <dd>{whole(of.position ?? 0)}</dd>
        <dt>Waits for the queue</dt>
        <dd>{ageText(of.lag_seconds)}</dd>
        <dt>Waits for the address</dt>
        <dd>{ageText(of.undelivered_seconds)}</dd>
      </dl>
      {of.problem !== undefined && <p class="note bad wrap-anywhere">{`Last error: ${of.problem}`}</p>}
    </>
  );
}

function ageText(seconds: number): string {
  return seconds === 0 ? 'no change' : `changes since ${duration(seconds * 1_000)} ago`;
}

interface AddressFormProps {
  readonly url: string;
  onChanged(): Promise<void>;
}

function AddressForm({ url, onChanged }: AddressFormProps) {
  const address = useSignal(url);
  const save = async (event: Event) => {
    event.preventDefault();
    const body = { url: address.value.trim() };
    const done = 'The audit log is exported to this address.';
    if (await doing(() => manage('POST /v2/auditlogs/export', { body }), done)) await onChanged();
  };
  const remove = async () => {
    const text = `${url} gets no more changes.`;
    if (!(await confirmed({ title: 'End the export?', text, action: 'End the export', isDangerous: true }))) return;
    const done = 'The audit log is no longer exported.';
    if (await doing(() => manage('DELETE /v2/auditlogs/export'), done)) await onChanged();
  };
  return (
    <form onSubmit={(event) => void save(event)}>
      <fieldset class="plain stack" disabled={!mayGiveRoles.value}>
        <TextField
          label="Address of the export"
          type="url"
          value={address}
          placeholder="https://"
          isRequired
          {...(!mayGiveRoles.value && { hint: 'Changing it needs the right members:change.' })}
        />
        <div class="row">
          <SubmitButton>Save</SubmitButton>
          {url !== '' && <DangerButton onClick={() => void remove()}>End the export</DangerButton>}
        </div>
      </fieldset>
    </form>
  );
}
