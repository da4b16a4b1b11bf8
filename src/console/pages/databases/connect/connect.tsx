/** How to connect to a database: addresses, secrets, and examples for each client. */
import { type Signal, useSignal } from '@preact/signals';
import { manage } from '../../../api/call.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { Button, DangerButton } from '../../../parts/button.js';
import { CodeText } from '../../../parts/code-text.js';
import { asked } from '../../../parts/dialog.js';
import { SecretLine } from '../../../parts/secret-line.js';
import { toggler } from '../../../parts/setter.js';
import { Snippets } from '../../../parts/snippets.js';
import { doing } from '../../../parts/toast.js';
import type { DatabaseTabProps } from '../records.js';
import { addressesOf } from './addresses.js';
import { snippetsFor } from './snippets.js';

export function ConnectTab({ database, onChanged }: DatabaseTabProps) {
  const isOpen = useSignal(false);
  if (database.rest_token === undefined) {
    return (
      <p class="note warn">
        <span>
          <CodeText text="The tokens of this database are not stored, or you may not see them. An operator can replace them with `millrace db reset-password`." />
        </span>
      </p>
    );
  }
  return (
    <div class="stack">
      <Secrets database={database} isOpen={isOpen} onChanged={onChanged} />
      <Snippets
        shown={snippetsFor(addressesOf(database, isOpen.value))}
        whole={snippetsFor(addressesOf(database, true))}
      />
    </div>
  );
}

interface SecretsProps extends DatabaseTabProps {
  readonly isOpen: Signal<boolean>;
}

function Secrets({ database, isOpen, onChanged }: SecretsProps) {
  const open = addressesOf(database, true);
  return (
    <section class="card stack">
      <div class="row between">
        <h2>Addresses and secrets</h2>
        <div class="row">
          <Button aria-pressed={isOpen.value} onClick={toggler(isOpen)}>
            {isOpen.value ? 'Hide secrets' : 'Show secrets'}
          </Button>
          {mayChangeDatabases.value && <ResetButton database={database} onChanged={onChanged} />}
        </div>
      </div>
      <dl class="facts">
        <SecretLine name="REST address" text={open.restUrl} isOpen />
        <SecretLine name="Host" text={open.host} isOpen />
        <SecretLine name="Port" text={String(open.port)} isOpen />
        {!open.isReadOnly && <SecretLine name="Password" text={open.password} isOpen={isOpen.value} />}
        {!open.isReadOnly && <SecretLine name="REST token" text={open.token} isOpen={isOpen.value} />}
        <SecretLine name="Read-only token" text={open.readOnlyToken} isOpen={isOpen.value} />
      </dl>
      {open.isReadOnly && (
        <p class="small muted">A read-only key sees the read-only token. The password and the REST token are masked.</p>
      )}
    </section>
  );
}

function ResetButton({ database, onChanged }: DatabaseTabProps) {
  const { database_id: id, database_name: name } = database;
  const reset = async () => {
    const isSure = await asked({
      title: 'New password and tokens?',
      text: 'The present ones are refused from then on, and their connections are closed.',
      action: 'Give it new ones',
      isDangerous: true,
      typed: name,
    });
    if (!isSure) return;
    await doing(
      () => manage('POST /v2/kv/reset-password/{id}', { path: { id } }),
      'It has a new password and new tokens.',
    );
    onChanged();
  };
  return <DangerButton onClick={() => void reset()}>Reset</DangerButton>;
}
