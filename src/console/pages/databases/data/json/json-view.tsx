/** A JSON document as a tree, or as its text. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../../../../api/ask.js';
import { binaryOfText, command, textOf, wordOf } from '../../../../api/kv.js';
import { mayChange } from '../../../../api/session.js';
import { bytes } from '../../../../parts/format.js';
import { Shown } from '../../../../parts/states.js';
import { said } from '../../../../parts/toast.js';
import type { TypeViewProps } from '../string-view.js';
import { ValueEditor } from '../value-editor.js';
import { JsonTree } from './json-tree.js';

/** A larger document is loaded when it is asked for. */
const UNASKED_BYTES = 1_024 * 1_024;

export function JsonView({ id, name, record, onChanged }: TypeViewProps) {
  const isText = useSignal(false);
  const isWanted = useSignal(record.bytes <= UNASKED_BYTES);
  const key = wordOf(name);
  const asked = useAsk(isWanted.value ? `${id} ${name}` : undefined, async () =>
    textOf(String((await command(id, 'JSON.GET', key)) ?? 'null')),
  );
  if (!isWanted.value) {
    return <Large bytes={record.bytes} isWanted={isWanted} />;
  }
  const change = async (...words: readonly string[]) => {
    const [first = '', ...rest] = words;
    await command(id, first, key, ...rest);
    said('Saved.');
    asked.reload();
    onChanged();
  };
  const save = (binary: string) => change('JSON.SET', '$', textOf(binary) ?? '');
  return (
    <div class="stack tight">
      <Forms isText={isText} />
      <Shown asked={asked}>
        {(text = 'null') =>
          isText.value ? (
            <ValueEditor
              label="Document"
              value={binaryOfText(text)}
              rows={20}
              isReadOnly={!mayChange.value}
              save={save}
            />
          ) : (
            <JsonTree text={text} change={change} />
          )
        }
      </Shown>
    </div>
  );
}

function Forms({ isText }: { readonly isText: Signal<boolean> }) {
  return (
    <fieldset class="choices">
      <legend class="visually-hidden">Shown as</legend>
      {(['Tree', 'Document'] as const).map((label) => (
        <button
          key={label}
          type="button"
          class="button small"
          aria-pressed={isText.value === (label === 'Document')}
          onClick={() => {
            isText.value = label === 'Document';
          }}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

function Large({ bytes: size, isWanted }: { readonly bytes: number; readonly isWanted: Signal<boolean> }) {
  return (
    <div class="note">
      <span class="grow">The document takes {bytes(size)}.</span>
      <button
        type="button"
        class="button small"
        onClick={() => {
          isWanted.value = true;
        }}
      >
        Load all
      </button>
    </div>
  );
}
