/** How to connect to a search database: address, tokens, and examples for each client. */
import { type Signal, useSignal } from '@preact/signals';
import { usePageQuery } from '../../api/query.js';
import { mayChange } from '../../api/session.js';
import { Code } from '../../parts/code.js';
import { MASKED_SECRET, SecretLine } from '../../parts/secret-line.js';
import { resetTokens, type SearchDatabase } from './search-databases.js';
import { snippetsFor } from './snippets.js';

export interface ConnectProps {
  readonly database: SearchDatabase;
  readonly index: string | undefined;
  onChanged(): void;
}

export function ConnectIndex({ database, index = 'default', onChanged }: ConnectProps) {
  const isOpen = useSignal(false);
  if (database.token === '') {
    return (
      <p class="note warn">
        The tokens of this database are not stored, or you may not see them. An administrator can replace them.
      </p>
    );
  }
  const isReadOnly = database.token === MASKED_SECRET;
  const url = `${location.protocol}//${database.endpoint}`;
  const reset = async () => {
    if (await resetTokens(database)) onChanged();
  };
  return (
    <div class="stack">
      <section class="card stack">
        <div class="row between">
          <h2>Address and tokens</h2>
          <div class="row">
            <button
              type="button"
              class="button"
              aria-pressed={isOpen.value}
              onClick={() => {
                isOpen.value = !isOpen.value;
              }}
            >
              {isOpen.value ? 'Hide tokens' : 'Show tokens'}
            </button>
            {mayChange.value && (
              <button type="button" class="button danger" onClick={reset}>
                Reset tokens
              </button>
            )}
          </div>
        </div>
        <dl class="facts">
          <SecretLine name="Endpoint" text={url} isOpen />
          {!isReadOnly && <SecretLine name="Token" text={database.token} isOpen={isOpen.value} />}
          <SecretLine name="Read-only token" text={database.read_only_token} isOpen={isOpen.value} />
        </dl>
        {isReadOnly && <p class="small muted">A read-only key sees the read-only token. The other one is masked.</p>}
        <p class="small muted">The read-only token may search, fetch, range and list, from pages of any origin too.</p>
      </section>
      <Snippets
        url={url}
        token={isReadOnly ? database.read_only_token : database.token}
        index={index}
        isOpen={isOpen}
      />
    </div>
  );
}

interface SnippetsProps {
  readonly url: string;
  readonly token: string;
  readonly index: string;
  readonly isOpen: Signal<boolean>;
}

/** Copied text contains the token even when it is hidden. */
function Snippets({ url, token, index, isOpen }: SnippetsProps) {
  const [query, set] = usePageQuery();
  const shown = snippetsFor(url, isOpen.value ? token : '••••••••', index);
  const whole = snippetsFor(url, token, index);
  const at = Math.max(
    0,
    shown.findIndex(({ id }) => id === query.client),
  );
  const snippet = shown[at];
  return (
    <section class="card stack">
      <h2>Ready lines</h2>
      <fieldset class="choices">
        <legend class="visually-hidden">Client</legend>
        {shown.map(({ id, label }, place) => (
          <button
            key={id}
            type="button"
            class="button small"
            aria-pressed={place === at}
            onClick={() => set({ client: id })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <p class="muted">{snippet?.note}</p>
      <Code text={snippet?.text ?? ''} copied={whole[at]?.text} />
    </section>
  );
}
