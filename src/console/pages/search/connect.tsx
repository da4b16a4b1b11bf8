/** How to connect to an index: address, tokens, and examples for each client. */
import { useSignal } from '@preact/signals';
import { mayChangeIndexes } from '../../api/session.js';
import { Button, DangerButton } from '../../parts/button.js';
import { MASKED_SECRET, SecretLine } from '../../parts/secret-line.js';
import { toggler } from '../../parts/setter.js';
import { type Snippet, Snippets } from '../../parts/snippets.js';
import { type IndexPlane, type IndexRecord, resetTokens } from './plane.js';

const HIDDEN = '••••••••';

export interface ConnectProps {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  snippetsFor(url: string, token: string): readonly Snippet[];
  onChanged(): void;
}

export function ConnectIndex({ plane, database, snippetsFor, onChanged }: ConnectProps) {
  const isOpen = useSignal(false);
  if (database.token === '') {
    return (
      <p class="note warn">
        The tokens of this {plane.name} are not stored, or you may not see them. An administrator can replace them.
      </p>
    );
  }
  const isReadOnly = database.token === MASKED_SECRET;
  const url = `${location.protocol}//${database.endpoint}`;
  const token = isReadOnly ? database.read_only_token : database.token;
  const reset = async () => {
    if (await resetTokens(plane, database)) onChanged();
  };
  return (
    <div class="stack">
      <section class="card stack">
        <div class="row between">
          <h2>Address and tokens</h2>
          <div class="row">
            <Button aria-pressed={isOpen.value} onClick={toggler(isOpen)}>
              {isOpen.value ? 'Hide tokens' : 'Show tokens'}
            </Button>
            {mayChangeIndexes.value && <DangerButton onClick={reset}>Reset tokens</DangerButton>}
          </div>
        </div>
        <dl class="facts">
          <SecretLine name="Endpoint" text={url} isOpen />
          {!isReadOnly && <SecretLine name="Token" text={database.token} isOpen={isOpen.value} />}
          <SecretLine name="Read-only token" text={database.read_only_token} isOpen={isOpen.value} />
        </dl>
        {isReadOnly && <p class="small muted">A read-only key sees the read-only token. The other one is masked.</p>}
        <p class="small muted">The read-only token may query, fetch, range and list, from pages of any origin too.</p>
      </section>
      <Snippets shown={snippetsFor(url, isOpen.value ? token : HIDDEN)} whole={snippetsFor(url, token)} />
    </div>
  );
}
