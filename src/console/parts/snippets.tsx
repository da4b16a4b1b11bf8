/** Ready lines for each client; the selected client is in the address. */
import { usePageQuery } from '../api/query.js';
import { SmallButton } from './button.js';
import { Code } from './code.js';
import { CodeText } from './code-text.js';

export interface Snippet {
  readonly id: string;
  readonly label: string;
  /** Steps before using it, and remarks. */
  readonly note: string;
  readonly text: string;
}

export interface SnippetsProps {
  readonly shown: readonly Snippet[];
  /** With the secrets, which are copied even when they are hidden. */
  readonly whole: readonly Snippet[];
}

export function Snippets({ shown, whole }: SnippetsProps) {
  const [query, set] = usePageQuery();
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
        {shown.map(({ id, label }, index) => (
          <SmallButton key={id} aria-pressed={index === at} onClick={() => set({ client: id })}>
            {label}
          </SmallButton>
        ))}
      </fieldset>
      <p class="muted">
        <CodeText text={snippet?.note ?? ''} />
      </p>
      <Code text={snippet?.text ?? ''} copied={whole[at]?.text} />
    </section>
  );
}
