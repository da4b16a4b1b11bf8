/** The body of a message, checked if it should be JSON, and its headers for the destination. */
import { SmallButton } from '../../../parts/button.js';
import { Choice, TextField } from '../../../parts/field.js';
import { Icon } from '../../../parts/icon.js';
import type { Draft, HeaderRow } from './draft.js';

const TYPES = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'application/xml'];

export function BodyFields({ draft }: { readonly draft: Draft }) {
  const { method, contentType, body } = draft;
  const isBodiless = method.value === 'GET' || method.value === 'HEAD';
  const known = TYPES.includes(contentType.value) || contentType.value === '' ? TYPES : [contentType.value, ...TYPES];
  const problem = /\bjson\b/i.test(contentType.value) ? jsonProblem(body.value) : undefined;
  const isTidy = () => {
    body.value = JSON.stringify(JSON.parse(body.value), null, 2);
  };
  return (
    <section class="card stack" aria-label="Body and headers">
      {isBodiless ? (
        <p class="muted">{method.value} carries no body.</p>
      ) : (
        <>
          <Choice
            label="Content type"
            value={contentType}
            options={[...known.map((type) => [type, type] as const), ['', 'none']]}
          />
          <TextField label="Body" value={body} isLong rows={8} wrong={problem} isBlocking />
          {problem === undefined && /\bjson\b/i.test(contentType.value) && body.value.trim() !== '' && (
            <div class="row">
              <SmallButton onClick={isTidy}>Indent</SmallButton>
              <span class="small muted">It is JSON.</span>
            </div>
          )}
        </>
      )}
      <HeaderRows draft={draft} />
    </section>
  );
}

/** A destination that expects such a body gets it under another content type. */
function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}

function HeaderRows({ draft: { headers } }: { readonly draft: Draft }) {
  const change = (at: number, words: Partial<HeaderRow>) => {
    headers.value = headers.value.map((row, index) => (index === at ? { ...row, ...words } : row));
  };
  return (
    <fieldset class="plain stack tight">
      <legend>Headers for the destination</legend>
      {/* Rows are identified by their index, the only property that does not change while typing. */}
      {headers.value.map(({ name, value }, at) => (
        <div key={at} class="header-row">
          <input
            aria-label={`Name of header ${at + 1}`}
            value={name}
            placeholder="X-Trace"
            onInput={({ currentTarget }) => change(at, { name: currentTarget.value })}
          />
          <input
            aria-label={`Value of header ${at + 1}`}
            value={value}
            onInput={({ currentTarget }) => change(at, { value: currentTarget.value })}
          />
          <button
            type="button"
            class="button icon"
            aria-label={`Leave out header ${at + 1}`}
            onClick={() => {
              headers.value = headers.value.filter((_, index) => index !== at);
            }}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <div>
        <SmallButton
          onClick={() => {
            headers.value = [...headers.value, { name: '', value: '' }];
          }}
        >
          <Icon name="plus" />
          Add a header
        </SmallButton>
      </div>
    </fieldset>
  );
}
